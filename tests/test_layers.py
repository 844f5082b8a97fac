"""The modules import only what docs/architecture.md says they may."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "sqlvalid"
ROW = re.compile(r"\| `(\w+)` \| .* \| ([\w, ]*) ?\|")


def allowed() -> dict[str, set[str]]:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rows = (ROW.fullmatch(line.strip()) for line in text.splitlines())
    return {row[1]: set(re.findall(r"\w+", row[2])) for row in rows if row}


def layer_of(file: Path) -> str:
    return file.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(file: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == "sqlvalid":
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sqlvalid."):
            found.add(str(node.module).split(".")[1])
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names if alias.name.split(".")[0] == "sqlvalid"]
            found |= {[*name.split("."), "sqlvalid"][1] for name in names}
    return found


FILES = [f for f in sorted(PACKAGE.rglob("*.py")) if f != PACKAGE / "__init__.py"]


def test_every_module_has_a_row() -> None:
    assert {layer_of(f) for f in FILES} == set(allowed())


@pytest.mark.parametrize("file", FILES, ids=lambda f: str(f.relative_to(PACKAGE)))
def test_a_module_stays_in_its_layer(file: Path) -> None:
    layer = layer_of(file)
    assert imports(file) - {layer} <= allowed()[layer]


def test_importing_loads_nothing_optional() -> None:
    code = "import sys, sqlvalid; print(*sorted(m.split('.')[0] for m in sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(run.stdout.split())
    assert loaded.isdisjoint({"pandas", "sklearn", "typer", "rich", "scipy", "hypothesis"})
