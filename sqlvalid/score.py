"""`score`: indices of clusterings against a truth, against their points, or both."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from sqlvalid import partitions
from sqlvalid.catalog import EXTERNAL, INTERNAL, Index, resolve
from sqlvalid.cells import Cells, fetch_cells
from sqlvalid.engines import Scan
from sqlvalid.engines.duckdb import Connection, DuckDB, engine_for, open_source
from sqlvalid.engines.sources import Source
from sqlvalid.errors import BadArgument, BadData, UnknownIndex, listed, one_of
from sqlvalid.evaluate import Found, clusters_of, evaluate, refuse_undefined, statistics_of
from sqlvalid.features import Features, choose_features, open_features
from sqlvalid.identifiers import column
from sqlvalid.kernels import geometry
from sqlvalid.measure import Measured, Part, Points, measure
from sqlvalid.partitions import NoiseAs, Nulls, Policy, Undefined
from sqlvalid.plan import Plan, plan

# Beyond so many features or distances, indices that need them must be named.
DEAR_FEATURES = 256
DEAR_DISTANCES = 2e10
_PRODUCTS = frozenset({"determinants", "cluster_determinants"})
_REACHES = frozenset({"neighbours", "squared", "densities"})
_PAIRS = frozenset({"separation", "spread"})
SINGLES = 5_000_000


def score(
    data: Any,
    labels: str | Iterable[str],
    *,
    truth: str | None = None,
    features: str | Iterable[str] | None = None,
    indices: str | Iterable[str] | None = None,
    weight: str | None = None,
    standardize: bool = False,
    noise: int | float | str | bool | None = None,
    noise_as: NoiseAs | None = None,
    nulls: Nulls = "raise",
    undefined: Undefined = "null",
    log_base: float | None = None,
    con: Connection | None = None,
) -> pl.DataFrame:
    """Score label columns against a truth column, against the points' features, or both.

    Parameters
    ----------
    data
        A Polars DataFrame or LazyFrame, a pyarrow Table, RecordBatchReader or Dataset,
        a pandas DataFrame, anything with `__arrow_c_stream__`, a path or glob to parquet,
        CSV or Arrow IPC files, a DuckDB relation, or a table or view name with `con=`.
    labels
        The clusterings: the name of a column, a list of names, or a glob such as "km*".
    truth
        The column with the true classes, for the external indices.
    features
        The columns of numbers that the points were clustered by, for the internal indices:
        a name, a list, a glob, or one column of arrays or lists of numbers (an embedding).
    indices
        Names, aliases, unambiguous prefixes or groups; all that apply by default.
    weight
        A column of row counts, for data that has been aggregated.
    standardize
        Divide every feature by its standard deviation over all rows.
    noise, noise_as
        A label that means noise, and what to do with its points: "exclude" them (the
        default once `noise` is given), keep them as one "cluster", or make each one of
        "singletons".
    nulls
        "raise" an error for NULL or NaN labels and for features that are NULL, NaN or
        infinite, or "drop" their rows.
    undefined
        "null" where an index has no value, with the reason in the last column, or "raise".
    log_base
        The base of logarithms for entropies; e by default.
    con
        The DuckDB connection that holds the table; it is left as it was found.

    Returns
    -------
    polars.DataFrame
        One row per partition: `partition`, `n`, `k`, a column per index, `undefined`.
        With `sd` there is a column `sd_alpha_of`: the partition that gave its α.

    Examples
    --------
    >>> import polars as pl, sqlvalid as sv
    >>> df = pl.DataFrame({"truth": [1, 1, 1, 2, 2, 3, 3], "found": [1, 1, 2, 1, 1, 3, 3]})
    >>> sv.score(df, labels="found", truth="truth", indices=["accuracy", "ari"]).to_dicts()
    [{'partition': 'found', 'n': 7, 'k': 3, 'max_matching': 0.7142857142857143, \
'ari': 0.3076923076923077, 'undefined': []}]
    >>> df = pl.DataFrame({"x": [0.0, 1.0, 5.0, 6.0], "y": [0, 0, 0, 0], "km": [1, 1, 2, 2]})
    >>> sv.score(df, labels="km", features=["x", "y"], indices="calinski_harabasz").to_dicts()
    [{'partition': 'km', 'n': 4, 'k': 2, 'calinski_harabasz': 50.0, 'undefined': []}]
    """
    one_of("undefined", undefined, ("null", "raise"))
    policy = Policy.of(nulls, noise, noise_as)
    unit = log_unit(log_base)
    check_standardize(standardize, features)
    call = opened(data, labels, truth, weight, con, features, needs_truth=False)
    chosen = applicable(indices, call.truth, call.features)
    planned = plan(chosen, ("n", "k"))
    found = Found([], {}, [])
    dear: list[str] = []
    with reading(call, con, policy.nulls) as reader:
        batches = list(reader.cells(policy))
        for cells in batches:
            refuse_incomparable(cells, chosen, indices)
            names = [key[0] for key in cells.keys]
            able = tuple(i for i in chosen if cells.comparable or not i.literal)
            parts, columns = statistics_of(cells, plan(able, ("n", "k")))
            found.add([names[part] for part in parts], columns, cells.comparable)
        if planned.of_points:
            parts_of = reader.parts(batches)
            if indices is None:
                ks = [float(part.k) for part in parts_of]
                chosen, dear = affordable(chosen, reader.p, reader.rows, ks)
                planned = plan(chosen, ("n", "k"))
            measured = reader.measured(parts_of, planned.sums, standardize)
            of_points = [geometry_columns(planned, clusters) for clusters in measured.clusters]
            for name in of_points[0]:
                by_label = {p: c[name] for p, c in zip(reader.order, of_points, strict=True)}
                found.columns[name] = [by_label[p] for p in found.partitions]
    found = found.ordered({name: place for place, name in enumerate(call.labels)})
    frame = named(found, evaluate(found, chosen, unit))
    if undefined == "raise":
        refuse_undefined(frame)
    return with_notes(frame, dear)


def affordable(
    chosen: Sequence[Index], p: int, rows: int, clusters: Sequence[float]
) -> tuple[list[Index], list[str]]:
    """Leave out what takes long unless it is named: the indices that stay, and a note of the rest.

    `clusters` are the numbers of clusters of the partitions.
    """
    reaches, pairs = rows * sum(clusters), sum(k * k for k in clusters)
    notes = []
    kept = list(chosen)
    for dear, reads, why in (
        (p > DEAR_FEATURES, _PRODUCTS, f"{p * (p + 1) // 2:,} products of features a point"),
        (reaches > DEAR_DISTANCES, _REACHES, f"{reaches:.2g} distances of points to centroids"),
        (pairs > DEAR_DISTANCES, _PAIRS, f"{pairs:.2g} distances of centroids"),
    ):
        left = [i for i in kept if dear and reads & {s.name for s in plan([i]).statistics}]
        if left:
            kept = [i for i in kept if i not in left]
            names = ", ".join(i.name for i in left)
            notes.append(f"left out: {names} ({why}; name them in indices= to have them)")
    return kept, notes


def with_notes(frame: pl.DataFrame, notes: Sequence[str]) -> pl.DataFrame:
    """Tell in every row what was left out."""
    if not notes:
        return frame
    return frame.with_columns(pl.col("undefined").list.concat(pl.lit(pl.Series([list(notes)]))))


def applicable(
    indices: str | Iterable[str] | None, truth: str | None, features: Sequence[str]
) -> list[Index]:
    """The indices that are asked for, among those that apply to what is given."""
    if truth is None and not features:
        raise BadArgument(
            "give truth=, the column with the true classes, or features=, the columns that the"
            " points were clustered by, or both"
        )
    among = (*(EXTERNAL if truth is not None else ()), *(INTERNAL if features else ()))
    try:
        return resolve(indices, among)
    except UnknownIndex:
        lacking = "features" if not features else "truth"
        if truth is not None and features:
            raise
        found = resolve(indices, (*EXTERNAL, *INTERNAL))  # unknown altogether: says so
        unmet = [i.name for i in found if i not in among]
        raise BadArgument(f"{listed(unmet)}: give {lacking}= to have it") from None


def geometry_columns(planned: Plan, of: geometry.Clusters) -> dict[str, float | None]:
    """The statistics of a plan that the points of one partition give."""
    found: dict[str, float | None] = {}
    for statistic in planned.of_points:
        if len(of.n) < 2:
            found |= dict.fromkeys(statistic.provides)
        else:
            found |= geometry.STATISTICS[statistic.name](of)
    return found


@dataclass(frozen=True, slots=True)
class Call:
    """What a call names in its data."""

    source: Source
    truth: str | None
    labels: list[str]
    weight: str | None
    features: list[str]
    pairs: bool = False

    @property
    def keys(self) -> list[tuple[str, ...]]:
        """The label columns that are grouped together: one by one, or in pairs."""
        if self.pairs:
            return list(combinations(self.labels, 2))
        return [(name,) for name in self.labels]

    @property
    def columns(self) -> list[str]:
        """Every column that is read."""
        named = (self.truth, *self.labels, self.weight, *self.features)
        return list(dict.fromkeys(c for c in named if c is not None))


def opened(
    data: Any,
    labels: str | Iterable[str],
    truth: str | None,
    weight: str | None,
    con: Connection | None,
    features: str | Iterable[str] | None = None,
    *,
    needs_truth: bool = True,
    pairs: bool = False,
) -> Call:
    """Check what a call names in its data."""
    source = open_source(data, con)
    if truth is None and needs_truth:
        raise BadArgument("give truth=, the column with the true classes")
    if truth is not None:
        truth = source.require(truth, "truth")
    if weight is not None:
        source.require(weight, "weight")
    named = [] if features is None else _literal_names(source, features)
    names = partitions.choose_labels(
        source, labels, {truth: "truth", weight: "weight"} | dict.fromkeys(named, "a feature")
    )
    if weight is not None and weight in (truth, *names):
        raise BadArgument(f"column {weight!r} is given as weight and in another role")
    taken = dict.fromkeys(names, "a label column")
    taken |= {c: role for c, role in ((truth, "truth"), (weight, "weight")) if c is not None}
    chosen = [] if features is None else choose_features(source, features, taken)
    return Call(source, truth, names, weight, chosen, pairs)


def _literal_names(source: Source, features: str | Iterable[str]) -> list[str]:
    """The features that are named in full, which a glob of labels leaves out."""
    given = partitions.names_in("features", features)
    return [name for name in given if name in source.columns]


def check_standardize(standardize: object, features: object) -> None:
    """Refuse what is neither yes nor no, and a yes with nothing to standardize."""
    if not isinstance(standardize, (bool, np.bool_)):
        raise BadArgument(f"standardize={standardize!r}: give True or False")
    if standardize and features is None:
        raise BadArgument("standardize=True needs features=, the columns to standardize")


def log_unit(log_base: float | None) -> float:
    """The natural logarithm of the base, which entropies in nats are divided by."""
    log_base = partitions.plain(log_base)
    if log_base is None:
        return 1.0
    if isinstance(log_base, bool) or not isinstance(log_base, (int, float)):
        raise BadArgument(f"log_base={log_base!r}: give a number, as 2 or 10")
    if not math.isfinite(log_base) or log_base <= 1:
        raise BadArgument(f"log_base={log_base!r}: a base is greater than 1")
    return math.log(log_base)


class Reader:
    """The data of a call, open to be read."""

    def __init__(
        self, engine: DuckDB, scan: Scan, call: Call, nulls: Nulls, *, glance: bool = False
    ) -> None:
        self.engine, self.scan, self.call, self.nulls = engine, scan, call, nulls
        self.features: Features | None = None
        self.order: list[str] = []
        self.rows = 0
        if call.features:
            where = self.where(nulls)
            self.features = open_features(engine, scan, call.features, nulls, where, glance=glance)

    @property
    def p(self) -> int:
        """The number of features."""
        return 0 if self.features is None else self.features.p

    def where(self, nulls: Nulls) -> list[exp.Expr]:
        """Which rows count at all: those of some weight, and of a known class."""
        found: list[exp.Expr] = []
        if self.call.weight is not None:
            found.append(exp.GT(this=column(self.call.weight), expression=exp.Literal.number(0)))
        if self.call.truth is not None and nulls == "drop":
            truth = column(self.call.truth)
            found.append(exp.Not(this=exp.Is(this=truth, expression=exp.null())))
            if partitions.is_float(self.scan.types[self.call.truth]):
                found.append(exp.Not(this=exp.func("ISNAN", truth.copy())))
        return found

    def cells(self, policy: Policy) -> Iterator[Cells]:
        """The cells of the call's keys, a batch at a time; every batch is one scan of the data."""
        usable = () if self.features is None else self.features.usable
        for batch in partitions.batches(self.call.keys, self.scan.types):
            yield fetch_cells(
                self.engine, self.scan, self.call.truth, batch, self.call.weight, policy, usable
            )

    def parts(self, batches: Sequence[Cells]) -> list[Part]:
        """The clusters of every label column, from the cells; `order` names the columns."""
        found: list[Part] = []
        self.order = []
        for cells in batches:
            sizes = clusters_of(cells)
            counted = cells.table["n_rows" if "n_rows" in cells.table.column_names else "n"]
            self.rows = max(self.rows, int(pc.sum(counted).as_py()) // len(cells.keys))
            for part, key in enumerate(cells.keys):
                own = sizes.filter(pc.equal(sizes["part"], part))
                found.append(part_of(own, label_of(key[0], self.scan), cells.policy))
                if found[-1].k == 0:
                    raise BadData(f"no usable rows are left for {key[0]!r}: all points are noise")
                if found[-1].singles > SINGLES:
                    raise BadData(
                        f"column {key[0]!r} has {found[-1].singles:,} noise points, too many to be"
                        ' clusters of their own; give noise_as="exclude" or "cluster"'
                    )
                self.order.append(key[0])
        return found

    def measured(
        self, parts: Sequence[Part], wanted: frozenset[str], standardize: bool
    ) -> Measured:
        """The clusters of every label column, as sums over their points."""
        assert self.features is not None
        where = [*self.where(self.nulls), *self.features.usable]
        points = Points(
            self.engine, self.scan, self.features, parts, self.call.weight, where, self.rows
        )
        return measure(points, wanted, standardize)


def part_of(sizes: pa.Table, label: exp.Expr, policy: Policy) -> Part:
    """One partition, from the labels of its clusters and their points."""
    lone = policy.noise if policy.noise_as == "singletons" else None
    held = sizes.filter(pc.is_valid(sizes["label"])) if lone is not None else sizes
    n = held["n"].to_numpy().astype(np.float64)
    singles = int(pc.sum(sizes["n"]).as_py() or 0) - int(n.sum())
    return Part(label, plain(held["label"]), n, lone, singles)


def plain(values: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Values as one array, without a dictionary."""
    if isinstance(values, pa.ChunkedArray):
        chunks = values.chunks or [pa.array([], values.type)]
        values = pa.concat_arrays(chunks) if len(chunks) > 1 else chunks[0]
    return values.cast(values.type.value_type) if pa.types.is_dictionary(values.type) else values


def label_of(name: str, scan: Scan) -> exp.Expr:
    """A label column as it is read beside its points: one zero, and enumerations as text."""
    kind = scan.types[name].upper()
    if partitions.is_float(kind):
        return exp.Paren(this=exp.Add(this=column(name), expression=exp.Literal.number(0)))
    return exp.cast(column(name), "VARCHAR") if kind.startswith("ENUM") else column(name)


@contextmanager
def reading(call: Call, con: Connection | None, nulls: Nulls = "raise") -> Iterator[Reader]:
    """Open the data of a call; data that can be read once is kept where it is read twice."""
    with engine_for([call.source], con) as engine:
        scan = engine.scan(call.source, call.columns)
        for name in (call.truth, *call.labels):
            if name is not None:
                partitions.check_label_type(name, scan.types[name])
        if call.weight is not None:
            partitions.check_weight_type(call.weight, scan.types[call.weight])
        scans = len(list(partitions.batches(call.keys, scan.types)))
        if (call.source.kind == "stream" and (scans > 1 or call.features)) or (
            call.source.kind == "relation" and call.features
        ):
            scan = engine.kept(scan, call.columns)
        yield Reader(engine, scan, call, nulls)


def refuse_incomparable(
    cells: Cells, chosen: Sequence[Index], asked: str | Iterable[str] | None
) -> None:
    """Refuse literal comparison of unlike types where it was asked for by name."""
    literal = [index for index in chosen if index.literal]
    if cells.comparable or not literal or asked is None:
        return
    by_name = [asked] if isinstance(asked, str) else list(asked)
    for name in by_name:
        found = resolve(name, (*EXTERNAL, *INTERNAL))
        if len(found) == 1 and found[0].literal:
            types = ", ".join(str(cells.table[c].type) for c in ("truth", "label"))
            raise BadData(
                f"{found[0].name} compares labels to the letter, but truth and labels have"
                f" different types ({types}); cast one of them"
            )


def named(
    found: Found, frame: pl.DataFrame, dtype: pl.DataType | type[pl.String] = pl.String
) -> pl.DataFrame:
    """Put the names of the partitions before their scores."""
    return frame.select(pl.Series("partition", found.partitions, dtype=dtype), pl.all())
