"""Plans → sqlglot trees → SQL text in a dialect. Pure: nothing here touches a connection.

Identifiers that people give are always quoted and qualified; no user string is ever
pasted into SQL. Fixed parts are the files of `sql/statistics`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache

import sqlglot
from sqlglot import exp

from sqlvalid.catalog import Index
from sqlvalid.identifiers import column
from sqlvalid.plan import Plan
from sqlvalid.statistics import Statistic

DIALECTS = (
    "duckdb", "postgres", "spark", "databricks", "clickhouse", "snowflake",
    "bigquery", "trino", "redshift", "tsql", "mysql", "sqlite",
)  # fmt: skip

# What holds an exact integer of 38 digits (HUGEINT in the files) in each dialect.
_EXACT_INTEGER = {
    "duckdb": "HUGEINT",
    "clickhouse": "INT256",
    "bigquery": "BIGNUMERIC",
    "sqlite": "INTEGER",
}
_EXACT_DEFAULT = "DECIMAL(38, 0)"


def literal(value: object) -> exp.Expr:
    """A constant of Python as a constant of SQL."""
    if isinstance(value, float) and not math.isfinite(value):
        return exp.cast(exp.Literal.string(str(value)), "DOUBLE")
    return exp.convert(value)


def cells(
    source: exp.Expr,
    truth: str | None,
    keys: Sequence[tuple[str, ...]],
    weight: str | None = None,
    where: Sequence[exp.Expr] = (),
) -> exp.Select:
    """The statement that goes to the data: the contingency cells of every key, in one scan.

    Without a truth all points are of one class. A key is the label column of a
    partition, or the two label columns of a comparison; each is one grouping set, so the
    data is read once whatever their number. NULLs stay, to be counted.

    >>> from sqlvalid.identifiers import table
    >>> print(cells(table("t"), "species", [("km3",)]).sql("duckdb"))
    SELECT 0 AS part, src."species" AS truth, src."km3" AS label, COUNT(*) AS n FROM "t" AS src \
GROUP BY src."species", src."km3"
    """
    classes = [] if truth is None else [truth]
    sets = [[column(name) for name in (*classes, *key)] for key in keys]
    query = exp.Select().from_(exp.alias_(source, "src", table=True), copy=False)
    query = query.where(*(condition.copy() for condition in where), copy=False)
    several = len(keys) > 1
    part: exp.Expr = exp.Literal.number(0)
    if several:
        part = _case([(_is_grouped(key), exp.Literal.number(i)) for i, key in enumerate(keys)])
    of_class = exp.Literal.number(0) if truth is None else column(truth)
    chosen = [exp.alias_(part, "part"), exp.alias_(of_class, "truth")]
    for place, role in enumerate(("label", "other")[: len(keys[0])]):
        value: exp.Expr = column(keys[0][place])
        if several:
            value = _case([(_is_grouped(key), column(key[place])) for key in keys])
        chosen.append(exp.alias_(value, role))
    grouping = exp.GroupingSets(expressions=[exp.Tuple(expressions=s) for s in sets])
    group = exp.Group(grouping_sets=[grouping]) if several else exp.Group(expressions=sets[0])
    query.set("group", group)
    return query.select(*chosen, *_counted(weight), copy=False)


def _is_grouped(key: tuple[str, ...]) -> exp.Expr:
    return exp.and_(
        *(
            exp.EQ(this=exp.func("GROUPING", column(c)), expression=exp.Literal.number(0))
            for c in key
        )
    )


def _case(branches: Sequence[tuple[exp.Expr, exp.Expr]]) -> exp.Case:
    case = exp.Case()
    for condition, value in branches:
        case = case.when(condition, value, copy=False)
    return case


def _counted(weight: str | None, of: str = "src") -> list[exp.Expr]:
    """The number of points of a cell; with a weight column also what is wrong with it."""
    if weight is None:
        return [exp.alias_(exp.Count(this=exp.Star(), big_int=True), "n")]
    parts = _weighted_parts()
    given = column(weight, of)
    return [exp.replace_placeholders(part, weight=given) for part in parts]


@cache
def _weighted_parts() -> list[exp.Expr]:
    whole = "TRY_CAST(:weight AS BIGINT)"
    return [
        sqlglot.parse_one(text, read="duckdb")
        for text in (
            f"TRY_CAST(SUM({whole}) AS BIGINT) AS n",
            "COUNT(*) AS n_rows",
            "COUNT(*) - COUNT(:weight) AS weights_null",
            "SUM(CASE WHEN :weight < 0 THEN 1 ELSE 0 END) AS weights_negative",
            f"SUM(CASE WHEN {whole} <> :weight OR :weight IS NOT NULL AND {whole} IS NULL"
            " THEN 1 ELSE 0 END) AS weights_fractional",
        )
    ]


def run_cells(
    runs: exp.Expr,
    points: exp.Expr,
    run: str,
    point: str,
    label: str,
    truth: str | None,
    weight: str | None = None,
    usable: Sequence[exp.Expr] = (),
) -> exp.Select:
    """The cells of every run of a run table, joined to the points that hold the truth.

    Points that are not usable are of an unknown class; without a truth all others are of one.

    `marks` sums a 64-bit hash of the points met, `marks_xor` combines it another way:
    a run that has every point once has the marks of the whole points table.
    """
    marked = (
        exp.Select()
        .from_(exp.alias_(points, "src", table=True))
        .select(
            exp.alias_(column(point), "point"),
            exp.alias_(_class(truth, usable), "truth"),
            exp.alias_(exp.func("HASH", column(point)), "mark"),
        )
    )
    if weight is not None:
        marked = marked.select(exp.alias_(column(weight), "weight"))
    of_run, of_label = column(run, "r"), column(label, "r")
    on = exp.EQ(this=column(point, "r"), expression=exp.column("point", table="p"))
    counted = _counted("weight", "p") if weight is not None else _counted(None)
    return (
        exp.Select()
        .from_(exp.alias_(runs, "r", table=True))
        .join(marked.subquery("p"), on=on, join_type="left")
        .select(
            exp.alias_(of_run, "part"),
            exp.alias_(exp.column("truth", table="p"), "truth"),
            exp.alias_(of_label, "label"),
            *counted,
            "COUNT(*) AS met",
            "COUNT(p.mark) AS known",
            "SUM(p.mark) AS marks",
            "BIT_XOR(p.mark) AS marks_xor",
        )
        .group_by(of_run.copy(), exp.column("truth", table="p"), of_label.copy())
    )


def _class(truth: str | None, usable: Sequence[exp.Expr]) -> exp.Expr:
    given = exp.Literal.number(0) if truth is None else column(truth)
    if not usable:
        return given
    return exp.Case().when(exp.and_(*(condition.copy() for condition in usable)), given)


def points_summary(
    points: exp.Expr, point: str, truth: str | None, weight: str | None = None
) -> exp.Select:
    """What the points of a run table add up to, to tell whole runs by, and their faults."""
    query = (
        exp.Select()
        .from_(exp.alias_(points, "src", table=True))
        .select(
            "COUNT(*) AS points",
            exp.alias_(
                exp.Count(this=exp.Distinct(expressions=[column(point)])), "points_distinct"
            ),
            _nulls(point, "points_null"),
            exp.alias_(exp.Literal.number(0), "truth_null")
            if truth is None
            else _nulls(truth, "truth_null"),
            exp.alias_(exp.func("SUM", exp.func("HASH", column(point))), "marks"),
            exp.alias_(exp.func("BIT_XOR", exp.func("HASH", column(point))), "marks_xor"),
        )
    )
    return query.select(*_counted(weight)) if weight is not None else query


def _nulls(name: str, alias: str) -> exp.Expr:
    counted = exp.Sub(this=exp.Count(this=exp.Star()), expression=exp.Count(this=column(name)))
    return exp.alias_(counted, alias)


def run_labels(
    runs: exp.Expr, numbered: exp.Expr, run: exp.Expr, point: str, label: exp.Expr,
    some: exp.Expr | None = None,
) -> exp.Select:  # fmt: skip
    """The labels that runs give to numbered points; `some` is a table of the runs to read."""
    on = exp.EQ(this=column(point), expression=exp.column("point", table="p"))
    query = (
        exp.Select()
        .from_(exp.alias_(runs.copy(), "src", table=True))
        .join(exp.alias_(numbered, "p", table=True), on=on)
        .select(exp.alias_(run.copy(), "run"), "p.place AS place", exp.alias_(label, "label"))
    )
    if some is None:
        return query
    on = exp.EQ(this=run.copy(), expression=exp.column("run", table="s"))
    return query.join(exp.alias_(some, "s", table=True), on=on)


def points_twice(runs: exp.Expr, run: str, point: str, value: object) -> exp.Select:
    """Points that one run has more than once, a few of them."""
    return (
        exp.Select()
        .from_(exp.alias_(runs, "src", table=True))
        .select(exp.alias_(column(point), "point"))
        .where(exp.EQ(this=column(run), expression=literal(value)))
        .group_by(column(point))
        .having("COUNT(*) > 1")
        .order_by(column(point))
        .limit(4)
    )


@cache
def completeness_sql() -> str:
    """What each run of fetched cells adds up to, to be held against `points_summary`."""
    return (
        exp.Select()
        .from_("fetched")
        .select("part", "SUM(met)", "SUM(known)", "SUM(marks)", "BIT_XOR(marks_xor)")
        .group_by("part")
        .sql("duckdb")
    )


# Typed caches: noise labels 1, 1.0 and True are equal to Python and not to SQL.
@lru_cache(maxsize=256, typed=True)
def root(
    name: str, *, noise: object = None, noise_as: str | None = None, floats: tuple[str, ...] = ()
) -> exp.Select:
    """`contingency` or `triples` from fetched cells, without what is empty, NULL, NaN or noise."""
    labels = ["label"] if name == "contingency" else ["label", "other"]
    query = exp.Select().from_("fetched").select("part", _unsigned_zero("truth", floats))
    query = query.where("n > 0", "truth IS NOT NULL", *(f"{c} IS NOT NULL" for c in labels))
    query = query.where(*(f"NOT ISNAN({c})" for c in floats))
    for label in labels:
        if noise_as == "exclude":
            query = query.where(exp.NEQ(this=exp.column(label), expression=literal(noise)))
        if noise_as == "singletons":
            named = exp.func("NULLIF", exp.column(label), literal(noise))
            query = query.select(exp.alias_(named, label))
        else:
            query = query.select(_unsigned_zero(label, floats))
    return query.select("n")


def _unsigned_zero(name: str, floats: tuple[str, ...]) -> str:
    """0.0 and -0.0 are one label to SQL, and must be one to what reads the cells."""
    return f"CASE WHEN {name} = 0 THEN 0 ELSE {name} END AS {name}" if name in floats else name


def statistics_query(plan: Plan, roots: Mapping[str, exp.Select]) -> exp.Select:
    """One statement with every SQL statistic of a plan as a CTE, one row per part."""
    in_sql = [s for s in plan.statistics if not s.is_kernel]
    from_kernels = {c for kernel in plan.kernels for c in kernel.provides}
    return joined(roots, in_sql, [c for c in plan.columns if c not in from_kernels])


def joined(
    roots: Mapping[str, exp.Select], in_sql: Sequence[Statistic], wanted: Sequence[str]
) -> exp.Select:
    """The wanted columns of statistics, which are CTEs over the roots: one row per part."""
    return _joined(_with(exp.Select(), in_sql, roots), in_sql, wanted)


def _with(
    query: exp.Select, in_sql: Sequence[Statistic], roots: Mapping[str, exp.Select]
) -> exp.Select:
    for name, definition in roots.items():
        query = query.with_(name, as_=definition.copy(), copy=False)
    for statistic in in_sql:
        if statistic.query is not None:
            query = query.with_(statistic.name, as_=statistic.query.copy(), copy=False)
    return query


def _joined(query: exp.Select, in_sql: Sequence[Statistic], wanted: Sequence[str]) -> exp.Select:
    """Join the statistics that provide the wanted columns on their part."""
    providers = [s for s in in_sql if not s.is_table and set(s.provides) & set(wanted)]
    first = providers[0].name
    query = query.select(exp.column("part", table=first)).from_(first)
    for statistic in providers:
        for name in statistic.provides:
            if name in wanted:
                query = query.select(exp.column(name, table=statistic.name), copy=False)
        if statistic.name != first:
            on = f"{statistic.name}.part = {first}.part"
            query = query.join(statistic.name, on=on, join_type="left", copy=False)
    return query


def value(index: Index, log_unit: float = 1.0) -> exp.Expr:
    """The expression of an index over statistic columns: NULL where it is undefined."""
    formula: exp.Expr = sqlglot.parse_one(index.formula, read="duckdb")
    formula = formula.transform(_fill(log_unit))
    if not index.undefined:
        return formula
    condition = exp.or_(*(sqlglot.parse_one(case.when, read="duckdb") for case in index.undefined))
    return exp.Case().when(condition, exp.null()).else_(formula)


def _fill(log_unit: float):  # type: ignore[no-untyped-def]
    def fill(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Column) and node.name == "log_unit":
            return literal(log_unit)
        return node

    return fill


def reason(index: Index) -> exp.Expr:
    """The expression that says why an index is undefined: the first case that holds, else NULL."""
    cases = [
        (sqlglot.parse_one(case.when, read="duckdb"), exp.Literal.string(case.reason))
        for case in index.undefined
    ]
    return _case(cases) if cases else exp.null()


def formulas_query(indices: Sequence[Index], keep: Sequence[str], log_unit: float) -> exp.Select:
    """The values of indices over a table `statistics`, after the columns to keep."""
    query = exp.Select().from_("statistics").select(*keep)
    for index in indices:
        named = exp.to_identifier(index.name, quoted=True)
        query = query.select(exp.alias_(_double(value(index, log_unit)), named), copy=False)
    return query


def _double(expression: exp.Expr) -> exp.Expr:
    return exp.cast(expression, "DOUBLE")


@lru_cache(maxsize=256)
def formulas_sql(indices: tuple[Index, ...], log_unit: float) -> str:
    """`formulas_query` as DuckDB text, kept from call to call."""
    return formulas_query(indices, (), log_unit).sql("duckdb")


@lru_cache(maxsize=64)
def reasons_sql(indices: tuple[Index, ...]) -> str:
    """The statement that tells why indices are undefined, over a table `statistics`."""
    query = exp.Select().from_("statistics")
    for index in indices:
        named = exp.to_identifier(index.name, quoted=True)
        query = query.select(exp.alias_(exp.cast(reason(index), "VARCHAR"), named), copy=False)
    return query.sql("duckdb")


@lru_cache(maxsize=256, typed=True)
def statistics_sql(
    plan: Plan, root_name: str, noise: object, noise_as: str | None, floats: tuple[str, ...]
) -> str:
    """`statistics_query` over fetched cells as DuckDB text, kept from call to call."""
    roots = {root_name: root(root_name, noise=noise, noise_as=noise_as, floats=floats)}
    return statistics_query(plan, roots).sql("duckdb")


@lru_cache(maxsize=64, typed=True)
def sizes_sql(noise: object, noise_as: str | None, floats: tuple[str, ...]) -> str:
    """The clusters of each part and their points, from fetched cells."""
    cells = root("contingency", noise=noise, noise_as=noise_as, floats=floats)
    return (
        exp.Select()
        .from_(cells.subquery("contingency"))
        .select("part", "label", "CAST(SUM(n) AS BIGINT) AS n")
        .group_by("part", "label")
        .order_by("part", "label")
        .sql("duckdb")
    )


@lru_cache(maxsize=64, typed=True)
def root_sql(name: str, noise: object, noise_as: str | None, floats: tuple[str, ...]) -> str:
    """`root` as DuckDB text, kept from call to call."""
    return root(name, noise=noise, noise_as=noise_as, floats=floats).sql("duckdb")


def written(query: exp.Expr, dialect: str) -> str:
    """SQL text in a dialect, laid out for reading, every identifier quoted."""
    exact = exp.DataType.build(
        _EXACT_INTEGER.get(dialect, _EXACT_DEFAULT), dialect=dialect, udt=dialect == "bigquery"
    )

    def retype(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.DataType) and node.is_type(exp.DataType.Type.INT128):
            return exact.copy()
        return node

    return query.transform(retype).sql(dialect, pretty=True, identify=True)
