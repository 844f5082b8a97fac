"""The contingency cells of a call: fetched from where the data is in one scan, and checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from sqlvalid import compile
from sqlvalid.engines import Engine, Scan
from sqlvalid.errors import BadData, listed
from sqlvalid.partitions import Policy, is_float, kind_of


@dataclass(frozen=True, slots=True)
class Cells:
    """Cells brought home: part, truth, label (and other, for comparisons), n.

    Parts are numbered. `keys` gives the label columns of each, and is empty for runs,
    whose names are in `runs`. `floats` are the columns that may hold NaN.
    """

    table: pa.Table
    keys: tuple[tuple[str, ...], ...]
    policy: Policy
    floats: tuple[str, ...]
    comparable: bool
    root: str = "contingency"
    runs: pa.Array | None = None


def fetch_cells(
    engine: Engine,
    scan: Scan,
    truth: str | None,
    keys: Sequence[tuple[str, ...]],
    weight: str | None,
    policy: Policy,
    where: Sequence[exp.Expr] = (),
) -> Cells:
    """Fetch the cells of keys whose columns have the same types, and refuse bad ones."""
    table = engine.fetch(compile.cells(scan.table, truth, keys, weight, where))
    columns = dict.fromkeys(c for key in keys for c in key)
    fits = {policy.fitted(column, scan.types[column]) for column in columns}
    fitted = fits.pop() if len(fits) == 1 else policy  # text is compared with any type
    types = {
        role: "INTEGER" if c is None else scan.types[c]
        for role, c in zip(("truth", "label", "other"), (truth, *keys[0]), strict=False)
    }
    cells = Cells(
        table,
        tuple(keys),
        fitted,
        *readings(types, table),
        root="contingency" if len(keys[0]) == 1 else "triples",
    )
    roles = {"truth": [truth or ""] * len(keys), "label": [key[0] for key in keys]}
    if len(keys[0]) == 2:
        roles["other"] = [key[1] for key in keys]
    check(cells, roles, weight)
    return cells


def readings(types: dict[str, str], table: pa.Table | None = None) -> tuple[tuple[str, ...], bool]:
    """Which of the columns truth, label and other are floats; whether truth and label compare.

    Integers that a float cannot hold do not compare with floats.
    """
    floats = tuple(role for role, type_name in types.items() if is_float(type_name))
    comparable = kind_of(types["truth"]) == kind_of(types["label"])
    if comparable and table is not None and ("truth" in floats) != ("label" in floats):
        whole = table["label" if "truth" in floats else "truth"]
        limits = pc.min_max(whole).as_py()
        comparable = all(v is None or abs(v) <= 2**53 for v in limits.values())
    return floats, comparable


def check(cells: Cells, roles: dict[str, list[str]], weight: str | None) -> None:
    """Refuse cells that cannot be scored: no rows, bad weights, NULL or NaN labels.

    `roles` names, for each of truth, label and other, the column that each part has there.
    """
    if cells.table.num_rows == 0:
        raise BadData("there are no rows to score")
    if weight is not None:
        _check_weights(cells.table, weight)
    rows = cells.table["n_rows" if "n_rows" in cells.table.column_names else "n"]
    usable = None
    for role, columns in roles.items():
        for what, bad in _bad_labels(cells.table[role]):
            if cells.policy.nulls == "raise":
                part = cells.table["part"] if cells.keys else None
                raise BadData(_bad_message(what, bad, rows, part, columns))
            usable = bad if usable is None else pc.or_(usable, bad)
    if usable is not None:
        _check_something_left(cells, usable)


def _bad_labels(values: pa.ChunkedArray) -> list[tuple[str, pa.ChunkedArray]]:
    found = []
    if values.null_count:
        found.append(("NULL", pc.is_null(values)))
    if pa.types.is_floating(values.type):
        nan = pc.fill_null(pc.is_nan(values), False)
        if pc.any(nan).as_py():
            found.append(("NaN", nan))
    return found


def _bad_message(
    what: str, bad: pa.ChunkedArray, rows: pa.ChunkedArray, part: pa.ChunkedArray | None,
    columns: Sequence[str],
) -> str:  # fmt: skip
    column = columns[0]
    if part is not None:
        first = pc.min(pc.filter(part, bad)).as_py()
        column = columns[first]
        bad = pc.and_(bad, pc.equal(part, first))
    count = pc.sum(pc.filter(rows, bad)).as_py()
    s = "" if count == 1 else "s"
    return (
        f"column {column!r} is {what} in {count} row{s};"
        f' give nulls="drop" to leave such rows out, or fill them'
    )


def _check_weights(table: pa.Table, weight: str) -> None:
    # With several grouping sets every row is counted once in each: the first set tells.
    table = table.filter(pc.equal(table["part"], table["part"][0]))
    faults = {
        "weights_null": "NULL",
        "weights_negative": "negative",
        "weights_fractional": "not a whole number below 2**63",
    }
    for column, what in faults.items():
        bad = pc.sum(table[column]).as_py()
        if bad:
            s = "" if bad == 1 else "s"
            raise BadData(
                f"weight: column {weight!r} is {what} in {bad} row{s};"
                " weights are whole numbers of rows, 0 or more"
            )
    total = pc.sum(pc.cast(table["n"], pa.decimal128(38, 0))).as_py() or 0
    if table["n"].null_count or int(total) > 2**63 - 1:
        raise BadData(f"weight: column {weight!r} sums to more than 9.2e18 rows")
    if total == 0:
        raise BadData(f"weight: column {weight!r} is 0 in every row; there is nothing to score")


def _check_something_left(cells: Cells, dropped: pa.ChunkedArray) -> None:
    part = cells.table["part"]
    left = pc.unique(pc.filter(part, pc.invert(dropped))).to_pylist()
    empty = [p for p in pc.unique(part).to_pylist() if p not in set(left)]
    if empty:
        raise BadData(
            f"no usable rows are left for {part_names(cells, empty)} after NULLs are dropped"
        )


def part_names(cells: Cells, parts: Sequence[Any]) -> str:
    """Name parts for a message."""
    if cells.runs is not None:
        return listed(cells.runs[p].as_py() for p in parts)
    return listed(" vs ".join(cells.keys[p]) for p in parts)
