"""Draw docs/demo.svg, the picture at the head of the README: python docs/picture.py."""

from __future__ import annotations

import io
import re
from pathlib import Path

from rich.console import Console

import sqlvalid as sv
from sqlvalid import show


def main() -> None:
    console = Console(record=True, width=96, force_terminal=True, file=io.StringIO())
    frame = sv.iris()
    chosen = ["ari", "jaccard", "hubert", "accuracy", "purity", "bcubed_f1", "nmi", "ami", "vi"]
    labels = frame.columns[5:]
    console.print("[bold]$ sqlvalid demo[/]\n")
    console.print(show.scored(sv.score(frame, labels, truth="species", indices=chosen)))
    picture = console.export_svg(title="sqlvalid")
    picture = re.sub(
        r"@font-face \{.*?\}\s*", "", picture, flags=re.DOTALL
    )  # nothing from elsewhere
    (Path(__file__).parent / "demo.svg").write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    main()
