"""What there is and what would be done: `indices`, `explain` and `sql`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import polars as pl
from sqlglot import exp

from sqlvalid import compile, partitions
from sqlvalid.catalog import CATALOG, EXTERNAL, resolve
from sqlvalid.cells import readings
from sqlvalid.engines.duckdb import Connection, engine_for
from sqlvalid.errors import BadArgument, one_of
from sqlvalid.identifiers import split_name, table
from sqlvalid.partitions import NoiseAs, Nulls, Policy, Undefined
from sqlvalid.plan import Plan, plan
from sqlvalid.score import log_unit, opened

# Seconds per row and grouping set, measured on two cores of DuckDB 2.0 with 100 x 100 cells;
# and the fixed cost of planning a call.
_SECONDS_PER_ROW = 3.7e-9
_SECONDS_PER_CALL = 0.025


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

    def __str__(self) -> str:
        """Lay the plan out for reading."""
        size = "an unknown number of rows" if self.rows is None else f"{self.rows:,} rows"
        cost = "unknown" if self.seconds is None else f"about {self.seconds:.2g} s"
        lines = [f"{self.scans} scan{'s' * (self.scans != 1)} of {size}; estimated cost {cost}", ""]
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
    indices: str | Iterable[str] | None = None,
    weight: str | None = None,
    noise: int | float | str | bool | None = None,
    noise_as: NoiseAs | None = None,
    nulls: Nulls = "raise",
    undefined: Undefined = "null",
    log_base: float | None = None,
    con: Connection | None = None,
) -> Explanation:
    """Show what `score` would do with the same arguments: scans, statistics, SQL, cost.

    Nothing is computed but the number of rows of a frame, a table, a view or a parquet file.

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
    chosen = tuple(resolve(indices, EXTERNAL))
    source, truth, names = opened(data, labels, truth, weight, con)
    wanted = [truth, *names, *([weight] if weight else [])]
    with engine_for([source], con) as engine:
        scan = engine.scan(source, wanted)
        rows = None
        if source.counted:
            counted = exp.Select().select("COUNT(*) AS n").from_(scan.table.copy())
            rows = engine.fetch(counted)["n"][0].as_py()
    batches = list(partitions.batches([(name,) for name in names], scan.types))
    planned = plan(chosen, ("n", "k"))
    floats, _ = readings({"truth": scan.types[truth], "label": scan.types[names[0]]})
    root = compile.root("contingency", noise=policy.noise, noise_as=policy.noise_as, floats=floats)
    trees = [compile.cells(scan.table.copy(), truth, batch, weight) for batch in batches]
    trees.append(compile.statistics_query(planned, {"contingency": root}))
    trees.append(compile.formulas_query(chosen, ("part", "n", "k"), unit))
    seconds = None
    if rows is not None:
        seconds = _SECONDS_PER_CALL * len(batches) + _SECONDS_PER_ROW * rows * len(names)
    return Explanation(
        rows,
        len(batches),
        tuple(tree.sql("duckdb", pretty=True) for tree in trees),
        _statistics(planned),
        seconds,
    )


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
    truth: str,
    label: str,
    dialect: str = "duckdb",
    weight: str | None = None,
    log_base: float | None = None,
) -> str:
    """Write one statement that computes indices on a table, in the SQL of any engine.

    Rows with a NULL truth or label are left out, and NaN is a label like any other. The
    names are quoted as given: write them as the engine stores them (Snowflake stores
    unquoted names in upper case). With `weight` the statement trusts that column to hold
    whole numbers, 0 or more. By default all indices that SQL can express, except the three
    that compare labels to the letter and so need truth and labels of one type; one that
    needs a numpy kernel is an error. SQLite's integers have 64 bits, so that near chance
    its `ari`, `hubert` and `phi` are right to 1e-15 absolute and not relative.

    Examples
    --------
    >>> import sqlvalid as sv, duckdb
    >>> con = duckdb.connect()
    >>> _ = con.execute("CREATE TABLE t AS SELECT i % 3 AS a, i % 6 AS b FROM range(60) AS r(i)")
    >>> text = sv.sql(["rand", "purity"], table="t", truth="a", label="b")
    >>> con.sql(text).fetchall()
    [('b', 60, 6, 0.8305084745762712, 1.0)]
    """
    named = {"table": table, "truth": truth, "label": label} | (
        {"weight": weight} if weight else {}
    )
    for name, given in named.items():
        if not isinstance(given, str) or not given:
            raise BadArgument(f"{name}={given!r}: give a name as text")
    unit = log_unit(log_base)
    chosen = resolve(indices, EXTERNAL)
    if indices is None:
        chosen = [row for row in chosen if not plan([row]).kernels and not row.literal]
    planned = plan(chosen, ("n", "k"))
    source = _table(table)
    return compile.one_statement(planned, source, truth, label, dialect, unit, weight)


def _table(name: str) -> exp.Table:
    return table(*split_name(name))
