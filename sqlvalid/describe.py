"""What there is and what would be done: `indices`, `explain` and `sql`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
from sqlglot import exp

from sqlvalid import compile, measure, partitions
from sqlvalid.catalog import CATALOG
from sqlvalid.cells import readings
from sqlvalid.compile import points
from sqlvalid.compile.statement import Wanted, is_expressible, one_statement
from sqlvalid.engines import Scan
from sqlvalid.engines.duckdb import Connection, engine_for
from sqlvalid.errors import BadArgument, one_of
from sqlvalid.features import has_lists
from sqlvalid.identifiers import split_name, table
from sqlvalid.partitions import NoiseAs, Nulls, Policy, Undefined
from sqlvalid.plan import Plan, plan
from sqlvalid.score import (
    Call,
    Reader,
    affordable,
    applicable,
    check_standardize,
    label_of,
    log_unit,
    opened,
)

# Seconds per row and grouping set, measured on two cores of DuckDB 2.0 with 100 x 100 cells;
# and the fixed cost of planning a call.
_SECONDS_PER_ROW = 3.7e-9
_SECONDS_PER_NUMBER = 2e-9
_SECONDS_PER_CALL = 0.025

_STEPS = {
    "kept": "the data, read once and kept",
    "faults": "the features, searched for NULL, NaN and infinity",
    "lengths": "the lengths of the lists",
    "labels": "the labels, counted",
    "moments": "the features, added up by cluster",
    "about": "the points about the centroids",
}
_WAYS = {
    "sql": "in SQL",
    "memory": "kept in memory from then on",
    "batches": "in passing batches",
}


def indices() -> pl.DataFrame:
    """List every index of the catalog.

    `rule` says which value is best: "max", "min" or "zero" (nearest to it).

    Examples
    --------
    >>> import sqlvalid as sv
    >>> sv.indices().filter(pl.col("name") == "jaccard").select("source", "formula").row(0)
    ('D 128, Z 17.11, V 53', 'yy / (yy + yn + ny)')
    """
    return pl.DataFrame(
        [
            {
                "name": row.name,
                "family": row.family,
                "aliases": list(row.aliases),
                "groups": list(row.groups),
                "source": row.source,
                "formula": row.formula,
                "rule": row.rule,
                "lower": row.lower,
                "upper": row.upper,
                "symmetric": row.swapped == row.name,
                "undefined_when": [case.reason for case in row.undefined],
                "statistics": [s.name for s in plan([row]).statistics] if not row.parameter else [],
                "about": row.about,
            }
            for row in CATALOG
        ],
        schema_overrides={
            "aliases": pl.List(pl.String),
            "undefined_when": pl.List(pl.String),
            "statistics": pl.List(pl.String),
        },
    )


@dataclass(frozen=True, slots=True)
class Explanation:
    """The plan of a call; print it to read it."""

    rows: int | None
    scans: int
    statements: tuple[str, ...]
    statistics: pl.DataFrame
    seconds: float | None
    steps: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        """Lay the plan out for reading."""
        size = "an unknown number of rows" if self.rows is None else f"{self.rows:,} rows"
        cost = "unknown" if self.seconds is None else f"about {self.seconds:.2g} s"
        lines = [f"{self.scans} scan{'s' * (self.scans != 1)} of {size}; estimated cost {cost}"]
        lines += [f"  {_STEPS[what]}, {_WAYS[by]}" for what, by in self.steps] + [""]
        lines.append("Statistics, each computed once:")
        width = max(len(name) for name in self.statistics["statistic"])
        for row in self.statistics.iter_rows(named=True):
            read_by = ", ".join(row["read_by"][:6]) + (", …" if len(row["read_by"]) > 6 else "")
            lines.append(f"  {row['statistic']:<{width}}  {row['by']:<6}  read by {read_by}")
        for number, text in enumerate(self.statements, 1):
            lines += ["", f"-- statement {number}", text]
        return "\n".join(lines)

    __repr__ = __str__


def explain(
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
) -> Explanation:
    """Show what `score` would do with the same arguments: scans, statistics, SQL, cost.

    Nothing is computed but the number of rows of a frame, a table, a view or a parquet file;
    of features the first rows are looked at. There is one scan more where the first rows turn
    out to be far from the mean, and one where a small cluster lies so far out that its sum of
    squares has to be taken again. Streams and relations are not touched, and taken to fit in
    memory.

    Examples
    --------
    >>> import polars as pl, sqlvalid as sv
    >>> df = pl.DataFrame({"t": [1, 1, 2], "a": [1, 2, 2], "b": [1, 1, 1]})
    >>> plan = sv.explain(df, ["a", "b"], truth="t", indices="rand")
    >>> plan.scans
    1
    >>> plan.statistics["statistic"].to_list()[-2:]
    ['ordered_pairs', 'pair_counts']
    """
    one_of("undefined", undefined, ("null", "raise"))
    policy = Policy.of(nulls, noise, noise_as)
    unit = log_unit(log_base)
    check_standardize(standardize, features)
    call = opened(data, labels, truth, weight, con, features, needs_truth=False)
    chosen = tuple(applicable(indices, call.truth, call.features))
    planned = plan(chosen, ("n", "k"))
    with engine_for([call.source], con) as engine:
        scan = engine.scan(call.source, call.columns)
        rows = None
        if call.source.counted:
            counted = exp.Select().select("COUNT(*) AS n").from_(scan.table.copy())
            rows = engine.fetch(counted)["n"][0].as_py()
        batches = list(partitions.batches(call.keys, scan.types))
        trees: list[exp.Expr] = [
            compile.cells(scan.table.copy(), call.truth, batch, weight) for batch in batches
        ]
        took = [("labels", "sql")] * len(batches)
        if planned.of_points:
            took = _before(call, scan, policy.nulls) + took
        if planned.of_points and call.source.kind not in ("stream", "relation"):
            reader = Reader(engine, scan, call, policy.nulls, glance=True)
            if indices is None:
                chosen = tuple(affordable(chosen, reader.p, 0, [])[0])
                planned = plan(chosen, ("n", "k"))
            of_points = PointScans.of(reader, planned, rows, policy.noise_as == "singletons")
            took += of_points.scans
            trees += of_points.statements
        elif planned.of_points:
            took.append(("moments", "memory"))
    label = scan.types[call.labels[0]]
    kinds = {"truth": scan.types[call.truth] if call.truth else "INTEGER", "label": label}
    floats, _ = readings(kinds)
    root = compile.root("contingency", noise=policy.noise, noise_as=policy.noise_as, floats=floats)
    trees.append(compile.statistics_query(planned, {"contingency": root}))
    trees.append(compile.formulas_query(chosen, ("part", "n", "k"), unit))
    return Explanation(
        rows,
        len(took),
        tuple(tree.sql("duckdb", pretty=True) for tree in trees),
        _statistics(planned),
        None if rows is None else _seconds(rows, took, len(call.labels), len(call.features)),
        tuple(took),
    )


@dataclass(frozen=True, slots=True)
class PointScans:
    """The scans of the points of a call, and the statements they run."""

    scans: list[tuple[str, str]]
    statements: list[exp.Expr]

    @classmethod
    def of(cls, reader: Reader, planned: Plan, rows: int | None, lone: bool) -> PointScans:
        """Foresee the scans."""
        call, scan, features = reader.call, reader.scan, reader.features
        assert features is not None
        array = features.array is not None
        how = measure.way(rows or 0, features.p, len(call.labels), array, lone)
        scans: list[tuple[str, str]] = list(measure.scans(how, len(call.labels), planned.sums))
        where = [*reader.where(reader.nulls), *features.usable]
        numbers, names = features.expressions(), [label_of(name, scan) for name in call.labels]
        found: list[exp.Expr] = []
        for what, by in dict.fromkeys(scans):
            if by != "sql":
                found.append(points.points(scan.table, numbers, names, call.weight, where))
                continue
            for name in names:
                if what == "moments":
                    query = points.moments(scan.table, numbers, name, call.weight, where)
                else:
                    mean = [0.0] * features.p
                    wanted = planned.sums - {"moments"}
                    query = points.about(
                        scan.table, exp.to_table("clusters"), numbers, name, mean, call.weight,
                        where, wanted,
                    )  # fmt: skip
                found.append(query)
        return cls(scans, list(dict.fromkeys(found)))


def _before(call: Call, scan: Scan, nulls: Nulls) -> list[tuple[str, str]]:
    """The scans that come before the labels are counted."""
    found = []
    if call.source.kind in ("stream", "relation"):
        found.append(("kept", "sql"))
    if nulls == "drop":
        found.append(("faults", "sql"))
    if has_lists(scan.types[call.features[0]]):
        found.append(("lengths", "sql"))
    return found


def _seconds(rows: int, took: Sequence[tuple[str, str]], labels: int, features: int) -> float:
    seconds = _SECONDS_PER_CALL * len(took)
    for what, by in took:
        if what == "labels":
            seconds += _SECONDS_PER_ROW * rows * labels / sum(w == "labels" for w, _ in took)
        else:
            times = labels if by == "batches" else 1
            seconds += _SECONDS_PER_NUMBER * rows * (features + 8) * times
    return seconds


def _statistics(planned: Plan) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "statistic": [s.name for s in planned.statistics],
            "by": ["kernel" if s.is_kernel else "SQL" for s in planned.statistics],
            "provides": [list(s.provides) for s in planned.statistics],
            "read_by": [planned.readers(s) for s in planned.statistics],
            "about": [s.about for s in planned.statistics],
        }
    )


def sql(
    indices: str | Iterable[str] | None = None,
    *,
    table: str,
    label: str,
    truth: str | None = None,
    features: str | Iterable[str] | None = None,
    dialect: str = "duckdb",
    weight: str | None = None,
    standardize: bool = False,
    log_base: float | None = None,
) -> str:
    """Write one statement that computes indices on a table, in the SQL of any engine.

    With `truth` there are external indices, with `features` (a list of names, here not a
    glob) internal ones. Rows with a NULL truth, label or feature are left out; NaN is a label
    like any other, and must not occur in a feature. The names are quoted as given: write them
    as the engine stores them (Snowflake stores unquoted names in upper case). With `weight` the
    statement trusts that column to hold whole numbers, 0 or more. By default all indices that
    SQL can express, except the three that compare labels to the letter and so need truth and
    labels of one type; one that needs a numpy kernel is an error. `sd` takes its α from the one
    partition there is. SQLite's integers have 64 bits, so that near chance its `ari`,
    `hubert` and `phi` are right to 1e-15 absolute and not relative.

    Examples
    --------
    >>> import sqlvalid as sv, duckdb
    >>> con = duckdb.connect()
    >>> _ = con.execute("CREATE TABLE t AS SELECT i % 3 AS a, i % 6 AS b FROM range(60) AS r(i)")
    >>> text = sv.sql(["rand", "purity"], table="t", truth="a", label="b")
    >>> con.sql(text).fetchall()
    [('b', 60, 6, 0.8305084745762712, 1.0)]
    """
    named = {"table": table, "label": label, "truth": truth, "weight": weight}
    for name, given in named.items():
        needed = name in ("table", "label")
        if (given is not None or needed) and (not isinstance(given, str) or not given):
            raise BadArgument(f"{name}={given!r}: give a name as text")
    check_standardize(standardize, features)
    numbers = [] if features is None else partitions.names_in("features", features)
    for name in numbers:
        if any(c in name for c in "*?["):
            raise BadArgument(f"features: {name!r} is a glob; a statement needs the names in full")
    roles = [name for name in (label, truth, weight, *numbers) if name is not None]
    twice = [name for name in dict.fromkeys(roles) if roles.count(name) > 1]
    if twice:
        raise BadArgument(f"column {twice[0]!r} is given in two roles")
    unit = log_unit(log_base)
    chosen = applicable(indices, truth, numbers)
    if indices is None:
        chosen = [row for row in chosen if is_expressible(plan([row])) and not row.literal]
    wanted = Wanted(_table(table), label, truth, tuple(numbers), weight, standardize)
    return one_statement(plan(chosen, ("n", "k")), wanted, dialect, unit)


def _table(name: str) -> exp.Table:
    return table(*split_name(name))
