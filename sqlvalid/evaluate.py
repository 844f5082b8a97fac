"""Cells → statistics → kernels → formulas, all on small tables at home."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sqlvalid import compile
from sqlvalid.catalog import Index
from sqlvalid.cells import Cells, part_names
from sqlvalid.engines.duckdb import Connection, session
from sqlvalid.errors import BadData, UndefinedIndex, listed
from sqlvalid.kernels import chance, matching, tails
from sqlvalid.plan import Plan, plan

Ints = NDArray[np.int64]
Table = tuple[Ints, Ints, Ints]
Columns = Mapping[str, Sequence[Any]]
Series = dict[str, pl.Series]

_SD_DIS = ("centroid_max", "centroid_min", "inverse_separations")
INCOMPARABLE = "truth and labels have types that cannot be compared to the letter"


@dataclass(slots=True)
class Found:
    """Statistics of the partitions of a call, in one order: a column of values each.

    `comparable` says of each partition whether its labels compare with the truth.
    """

    partitions: list[Any]
    columns: dict[str, list[Any]]
    comparable: list[bool]

    def add(self, names: Sequence[Any], columns: Columns, comparable: bool) -> None:
        """Add the partitions that some cells hold."""
        before = len(self.partitions)
        self.partitions.extend(names)
        self.comparable.extend([comparable] * len(names))
        for name in columns:
            self.columns.setdefault(name, [None] * before).extend(columns[name])
        for values in self.columns.values():
            values.extend([None] * (len(self.partitions) - len(values)))

    def ordered(self, order: Mapping[Any, int]) -> Found:
        """The same partitions in another order."""
        places = sorted(range(len(self.partitions)), key=lambda i: order[self.partitions[i]])
        return Found(
            [self.partitions[i] for i in places],
            {name: [values[i] for i in places] for name, values in self.columns.items()},
            [self.comparable[i] for i in places],
        )


def evaluate(found: Found, indices: Sequence[Index], log_unit: float = 1.0) -> pl.DataFrame:
    """Values of indices, one row per partition: n, k, the values, `undefined`."""
    planned = plan(indices, ("n", "k"))
    unknown: list[Any] = [None] * len(found.partitions)
    columns = {name: found.columns.get(name, unknown) for name in planned.columns}
    giver = None
    if "sd_alpha" in columns:
        giver, columns["sd_alpha"] = _alpha(found)
    values, undefined = values_of(columns, indices, log_unit)
    for index in indices:
        if index.literal:
            for reasons, comparable in zip(undefined, found.comparable, strict=True):
                if not comparable:
                    reasons[:] = [r for r in reasons if not r.startswith(f"{index.name}: ")]
                    reasons.append(f"{index.name}: {INCOMPARABLE}")
    table = scores({i.name: values[i.name] for i in indices}, undefined)
    counts = {name: integers(columns[name]) for name in ("n", "k")}
    if giver is not None and any(i.name == "sd" for i in indices):
        names = list(table)
        at = names.index("sd") + 1
        said = {"sd_alpha_of": pl.Series([giver] * len(found.partitions))}
        table = {n: table[n] for n in names[:at]} | said | {n: table[n] for n in names[at:]}
    return pl.DataFrame(counts | table)


def _alpha(found: Found) -> tuple[Any, list[float | None]]:
    """The partition with most clusters, the first of them, and its sd_dis (D 84)."""
    at = max(range(len(found.partitions)), key=lambda i: (found.columns["k"][i], -i))
    column = {name: found.columns[name][at] for name in _SD_DIS}
    least = column["centroid_min"]
    alpha = None
    if least:
        alpha = column["centroid_max"] / least * column["inverse_separations"]
    return found.partitions[at], [alpha] * len(found.partitions)


def scores(values: Mapping[str, Sequence[float | None]], undefined: Sequence[list[str]]) -> Series:
    """The columns of a frame of scores: a Float64 column per index, then the reasons."""
    columns = {name: pl.Series(given, dtype=pl.Float64) for name, given in values.items()}
    return columns | {"undefined": pl.Series(undefined, dtype=pl.List(pl.String))}


def statistics_of(cells: Cells, planned: Plan) -> tuple[list[Any], Columns]:
    """The statistics of a plan that cells give: the parts, and columns with a value of each."""
    with session({"fetched": cells.table}, cells.table.num_rows) as con:
        parts, columns = _statistics(con, planned, cells)
        kernels = [kernel for kernel in planned.kernels if kernel.name in _KERNELS]
        reads_cells = any("contingency" in kernel.reads for kernel in kernels)
        split = list(tables(contingencies(con, cells), parts)) if reads_cells else []
    for kernel in kernels:
        columns = {**columns, **_KERNELS[kernel.name](split, columns)}
    return parts, columns


def clusters_of(cells: Cells) -> pa.Table:
    """The clusters of each part and their points: part, label, n, in order of both.

    A NULL label stands for n points, each a cluster of its own.
    """
    policy = cells.policy
    text = compile.sizes_sql(policy.noise, policy.noise_as, cells.floats)
    with session({"fetched": cells.table}, cells.table.num_rows) as con:
        return con.sql(text).to_arrow_table()


def refuse_undefined(frame: pl.DataFrame) -> None:
    """Raise for the first undefined values of a frame of scores."""
    found = [reason for reasons in frame["undefined"].to_list() for reason in reasons]
    if found:
        raise UndefinedIndex(f"undefined here: {listed(dict.fromkeys(found), most=6)}")


def contingencies(con: Connection, cells: Cells) -> pa.Table:
    """The contingency of all parts, NULLs and noise seen to."""
    policy = cells.policy
    text = compile.root_sql(cells.root, policy.noise, policy.noise_as, cells.floats)
    return con.sql(text).to_arrow_table()


def _statistics(con: Connection, planned: Plan, cells: Cells) -> tuple[list[Any], Columns]:
    policy = cells.policy
    text = compile.statistics_sql(planned, cells.root, policy.noise, policy.noise_as, cells.floats)
    rows = con.execute(text).fetchall()
    names = [described[0] for described in con.description or ()]
    columns = dict(zip(names, zip(*rows, strict=True), strict=True)) if rows else {}
    parts = list(columns.pop("part", ()))
    missing = set(pc.unique(cells.table["part"]).to_pylist()).difference(parts)
    if missing:
        left_out = "NULLs and noise" if policy.noise_as == "exclude" else "NULLs"
        which = part_names(cells, sorted(missing))
        raise BadData(f"no usable rows are left for {which} after {left_out} are left out")
    return parts, columns


def integers(values: Sequence[int]) -> pl.Series:
    """Exact counts: Int64, and wider only where a count does not fit it."""
    widest = max((abs(int(v)) for v in values), default=0)
    return pl.Series(values, dtype=pl.Int64 if widest < 2**63 else pl.Decimal(38, 0))


def values_of(
    columns: Columns, indices: Sequence[Index], log_unit: float = 1.0
) -> tuple[dict[str, list[float | None]], list[list[str]]]:
    """The values of indices over columns of statistics, and why some are undefined."""
    indices = tuple(indices)
    parts = len(next(iter(columns.values())))
    if not indices:
        return {}, [[] for _ in range(parts)]
    # DuckDB keeps the order of rows of a table that is only projected.
    table = pl.DataFrame({name: _numbers(values) for name, values in columns.items()})
    with session({"statistics": table}, parts) as con:
        rows = con.execute(compile.formulas_sql(indices, log_unit)).fetchall()
        nulls = [i for i, index in enumerate(indices) if any(row[i] is None for row in rows)]
        undefined: list[list[str]] = [[] for _ in rows]
        if nulls:
            asked = tuple(indices[i] for i in nulls)
            reasons = con.execute(compile.reasons_sql(asked)).fetchall()
            for told, row, why in zip(undefined, rows, reasons, strict=True):
                for i, reason in zip(nulls, why, strict=True):
                    if row[i] is None:
                        told.append(f"{indices[i].name}: {reason or 'a zero denominator'}")
    values = {index.name: [row[i] for row in rows] for i, index in enumerate(indices)}
    return values, undefined


def _numbers(values: Sequence[Any]) -> pl.Series:
    return pl.Series(np.asarray(values, dtype=np.float64)).fill_nan(None)


def tables(contingency: pa.Table, parts: Sequence[Any]) -> Iterator[Table]:
    """The contingency of each part as arrays: code of the class, code of the cluster, count.

    Points that stand alone (a NULL label) are one cell of count 1 per class, in a
    cluster of its own: no assignment can use more.
    """
    part = _codes(contingency["part"], parts)
    truth = _codes(contingency["truth"])
    label = _codes(contingency["label"])
    n = contingency["n"].cast(pa.int64()).to_numpy()
    order = np.argsort(part, kind="stable")
    ends = np.cumsum(np.bincount(part, minlength=len(parts)))
    for rows in np.split(order, ends[:-1]):
        yield truth[rows], label[rows], n[rows]


def _codes(values: pa.ChunkedArray, known: Sequence[Any] | None = None) -> Ints:
    """Give values integer codes, in the order of `known` if given; NULL is -1."""
    if known is not None:
        codes = pc.index_in(values, value_set=pa.array(known, type=values.type))
    else:
        encoded = values.dictionary_encode().combine_chunks()
        encoded = encoded.chunk(0) if isinstance(encoded, pa.ChunkedArray) else encoded
        codes = encoded.indices
    result: Ints = pc.fill_null(codes, -1).to_numpy(zero_copy_only=False).astype(np.int64)
    return result


def assignment(table: Table) -> NDArray[np.intp]:
    """The positions of the cells on the best assignment of clusters to classes."""
    truth, label, n = table
    alone = label < 0
    label = np.where(alone, label.max(initial=0) + 1 + truth, label)
    return matching.assign(truth, label, np.where(alone, 1, n))


def _matching(split: Sequence[Table], columns: Columns) -> Columns:
    matched = []
    for table in split:
        counts = np.where(table[1] < 0, 1, table[2])
        matched.append(int(counts[assignment(table)].sum()))
    return {"matched_points": matched}


def _chance(split: Sequence[Table], columns: Columns) -> Columns:
    expected = []
    for truth, label, n in split:
        alone = label < 0
        classes = _sizes(truth, n)
        clusters = _sizes(label[~alone], n[~alone], ones=int(n[alone].sum()))
        total = int(n.sum())
        expected.append(chance.expected_mutual_information(*classes, *clusters, total))
    return {"expected_mi_nats": expected}


def _sizes(codes: Ints, n: Ints, ones: int = 0) -> tuple[Ints, Ints]:
    """Distinct sizes of groups and how many groups have each; `ones` more have size 1."""
    totals = np.zeros(codes.max(initial=-1) + 1, dtype=np.int64)
    np.add.at(totals, codes, n)
    sizes, times = np.unique(totals[totals > 0], return_counts=True)
    if ones:
        sizes, times = np.append(sizes, 1), np.append(times, ones)
    return sizes, times


def _tail(split: Sequence[Table], columns: Columns) -> Columns:
    yn, ny = (np.asarray(columns[name], dtype=np.float64) for name in ("yn", "ny"))
    return {"chi2_tail": tails.mcnemar_tail(yn, ny).tolist()}


_KERNELS: dict[str, Callable[[Sequence[Table], Columns], Columns]] = {
    "matching": _matching,
    "chance": _chance,
    "tail": _tail,
}
