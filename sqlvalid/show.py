"""Frames for people: tables on a terminal, and files."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

import polars as pl
from rich.console import Console, JustifyMethod
from rich.markup import escape
from rich.measure import Measurement
from rich.table import Table

from sqlvalid.catalog import CATALOG
from sqlvalid.errors import BadArgument, listed

Format = Literal["table", "csv", "json", "parquet"]
FORMATS = ("table", "csv", "json", "parquet")

_RULES = {row.name: row.rule for row in CATALOG}
_FAMILIES = {row.name: row.family for row in CATALOG}


def console(file: object = None) -> Console:
    """A console that never cuts a table: as wide as it needs to be when it is not a terminal."""
    stream = sys.stdout if file is None else file
    wide = None if getattr(stream, "isatty", lambda: False)() else 10_000
    return Console(file=stream, width=wide, highlight=False)  # type: ignore[arg-type]


def put(to: Console, table: Table) -> None:
    """Print a table whole: a narrow terminal may wrap its lines, but nothing is cut."""
    whole = to.options.update(max_width=10_000)
    to.width = max(to.width, Measurement.get(to, whole, table).maximum)
    to.print(table)


def number(value: object) -> str:
    """Write a value for reading, as text that means nothing more to the terminal.

    >>> number(0.71428), number(1.5e-7), number(12345.678), number(None), number(7)
    ('0.7143', '1.5e-07', '12345.7', '—', '7')
    """
    if value is None:
        return "—"
    if not isinstance(value, float):
        return escape(str(value))
    if value == 0 or 1e-3 <= abs(value) < 1e4:
        return f"{value:.4f}"
    return f"{value:.6g}" if abs(value) >= 1e4 else f"{value:.4g}"


def plain(frame: pl.DataFrame) -> Table:
    """A frame as a table, a row a row."""
    table = Table(header_style="bold")
    for name, dtype in frame.schema.items():
        if name != "undefined":
            side: JustifyMethod = "right" if dtype.is_numeric() else "left"
            table.add_column(escape(name), justify=side)
    for row in frame.drop("undefined", strict=False).iter_rows():
        table.add_row(*(escape(", ".join(v)) if isinstance(v, list) else number(v) for v in row))
    return table


def compared(frame: pl.DataFrame) -> Table:
    """A frame of comparisons with a measure a row and an ordered pair a column, if they are few."""
    if frame.height > 6:
        return plain(frame)
    table = Table(header_style="bold")
    table.add_column("measure")
    for primary, alternative in frame.select("primary", "alternative").iter_rows():
        table.add_column(escape(f"{primary} → {alternative}"), justify="right")
    for name in frame.columns[2:-1]:
        table.add_row(name, *(number(v) for v in frame[name]))
    return table


def scored(frame: pl.DataFrame) -> Table:
    """A frame of scores with an index a row and a partition a column, the best marked."""
    table = Table(header_style="bold")
    table.add_column("index")
    for name in frame["partition"]:
        table.add_column(escape(str(name)), justify="right")
    table.add_column("best is", style="dim")
    for name in ("n", "k"):
        table.add_row(name, *(number(v) for v in frame[name]))
    family = None
    for name in frame.columns[3:-1]:
        if name == "sd_alpha_of":
            continue  # told in a note
        base = name.split("(")[0]
        if _FAMILIES.get(base) != family:
            table.add_section()
            family = _FAMILIES.get(base)
        rule = _RULES.get(base, "")
        values = frame[name].to_list()
        best = _best(values, rule)
        shown = [
            f"[bold green]{number(v)}[/]" if v is not None and v == best else number(v)
            for v in values
        ]
        table.add_row(name, *shown, rule)
    return table


def _best(values: Iterable[float | None], rule: str) -> float | None:
    known = [v for v in values if v is not None]
    if len(set(known)) < 2 or rule.endswith("_diff"):
        return None
    if rule == "zero":
        return min(known, key=abs)
    return max(known) if rule == "max" else min(known)


def notes(frame: pl.DataFrame) -> list[str]:
    """What is to be told below a table: why values are undefined, where α of sd comes from."""
    if "undefined" not in frame.columns:
        return []
    who: dict[str, list[str]] = {}
    for row in frame.iter_rows(named=True):
        name = (
            str(row["partition"])
            if "partition" in row
            else "{primary} vs {alternative}".format(**row)
        )
        for reason in row["undefined"]:
            who.setdefault(reason, []).append(name)
    found = [
        reason if reason.startswith("left out:") else f"undefined: {reason} ({', '.join(names)})"
        for reason, names in who.items()
    ]
    if "sd_alpha_of" in frame.columns and frame.height:
        giver = frame["sd_alpha_of"][0]
        found.append(f"sd: α is sd_dis of {giver}, the partition with most clusters in this call")
    return found


def write(
    frame: pl.DataFrame, format_: str | None, output: Path | None, table: Table | None = None
) -> None:
    """Put a frame on the terminal or into a file, whose ending decides if nothing else does."""
    if format_ is None:
        ending = output.suffix.lstrip(".").lower() if output is not None else "txt"
        format_ = "table" if ending in ("", "txt") else ending
        if format_ not in FORMATS:
            raise BadArgument(
                f"{str(output)!r}: the ending {ending!r} says no format; add --format, one of"
                f" {listed(FORMATS)}"
            )
    if format_ == "parquet":
        if output is None:
            raise BadArgument("parquet needs a file: add -o FILE")
        frame.write_parquet(output)
    elif format_ == "table":
        _write_table(table or plain(frame), notes(frame), output)
    else:
        text = _flat(frame).write_csv() if format_ == "csv" else frame.write_json() + "\n"
        if output is None:
            sys.stdout.write(text)
        else:
            output.write_text(text, encoding="utf-8")


def _write_table(table: Table, reasons: list[str], output: Path | None) -> None:
    if output is None:
        to = console()
        put(to, table)
        for reason in reasons:
            to.print(reason, style="dim", markup=False, soft_wrap=True)
    else:
        with output.open("w", encoding="utf-8") as file:
            to = console(file)
            to.print(table)
            for reason in reasons:
                to.print(reason, markup=False)


def _flat(frame: pl.DataFrame) -> pl.DataFrame:
    """CSV has no lists: join them."""
    lists = [name for name, dtype in frame.schema.items() if dtype == pl.List(pl.String)]
    return frame.with_columns(pl.col(name).list.join("; ") for name in lists)
