"""The whole computation of some indices as one statement in the SQL of an engine."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from sqlglot import exp

from sqlvalid.catalog import Index
from sqlvalid.compile import DIALECTS, formulas_query, joined, written
from sqlvalid.errors import Inexpressible, listed, one_of
from sqlvalid.identifiers import column
from sqlvalid.plan import Plan, columns_read
from sqlvalid.statistics import Statistic, of_points

_PREFIX = "sqlvalid_"
_VECTORS = frozenset("xcmqtb")  # in sql/points these stand for a column per feature


@dataclass(frozen=True, slots=True)
class Wanted:
    """The table of a statement and the columns it reads."""

    source: exp.Table
    label: str
    truth: str | None = None
    features: tuple[str, ...] = ()
    weight: str | None = None
    standardize: bool = False


def one_statement(plan: Plan, wanted: Wanted, dialect: str, log_unit: float) -> str:
    """The whole computation of some indices as one statement in a dialect."""
    one_of("dialect", dialect, DIALECTS)
    twins = of_points()
    kernels = [kernel for kernel in plan.kernels if kernel.name not in twins]
    if kernels:
        _refuse(plan, kernels)
    in_sql = [s for s in plan.statistics if not s.is_kernel]
    used: dict[str, Statistic] = {}
    for kernel in plan.kernels:
        _visit(twins[kernel.name], used)
    in_sql += [_widened(s, len(wanted.features)) for s in used.values()]
    roots = {"contingency": _contingency(wanted)}
    if used:
        roots |= _points(wanted, numbered="reaches" in used)
    query = joined(roots, in_sql, plan.columns)
    ctes = {cte.alias: cte.this for cte in query.ctes}
    body = query.copy()
    body.set("with_", None)
    ctes["statistics"] = body
    outer = _prefixed(formulas_query(plan.indices, ("part", "n", "k"), log_unit), ctes)
    for name, definition in ctes.items():
        # The roots read the user's table, which may be named like anything.
        own = definition if name in roots else _prefixed(definition, ctes)
        outer = outer.with_(f"{_PREFIX}{name}", as_=own, copy=False)
    return written(outer, dialect)


def _refuse(plan: Plan, kernels: Sequence[Statistic]) -> None:
    unable = [i.name for i in plan.indices if _needs(i, kernels)]
    able = [i.name for i in plan.indices if i.name not in unable]
    raise Inexpressible(
        f"{listed(unable)} cannot be written in SQL: a numpy kernel computes it"
        f" ({'; '.join(k.about for k in kernels)}). Use sqlvalid.score for it"
        + (f", and ask here for {listed(able, most=60)}" if able else "")
    )


def _needs(index: Index, kernels: Sequence[Statistic]) -> bool:
    return any(columns_read(index) & set(kernel.provides) for kernel in kernels)


def is_expressible(plan: Plan) -> bool:
    """Whether SQL has all statistics of a plan."""
    return all(kernel.name in of_points() for kernel in plan.kernels)


def _visit(statistic: Statistic, used: dict[str, Statistic]) -> None:
    if statistic.name not in used:
        for name in statistic.reads:
            if name in of_points():
                _visit(of_points()[name], used)
        used[statistic.name] = statistic


def _widened(statistic: Statistic, p: int) -> Statistic:
    """A statistic of points with a column for each of p features."""
    assert statistic.query is not None
    query = statistic.query.copy()
    chosen: list[exp.Expr] = []
    for projection in query.expressions:
        inside = projection.this if isinstance(projection, exp.Alias) else projection
        if isinstance(inside, exp.Anonymous) and inside.name.upper() == "EACH":
            name = projection.alias
            chosen += [
                exp.alias_(_of_feature(inside.expressions[0], i), f"{name}{i}") for i in range(p)
            ]
        else:
            chosen.append(projection)
    query.set("expressions", chosen)

    def total(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Anonymous) and node.name.upper() == "TOTAL":
            terms: list[exp.Expr] = [
                exp.Paren(this=_of_feature(node.expressions[0], i)) for i in range(p)
            ]
            return exp.Paren(this=reduce(_plus, terms))
        return node

    widened = query.transform(total)
    assert isinstance(widened, exp.Select)
    return replace(statistic, query=widened)


def _plus(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    return exp.Add(this=left, expression=right)


def _of_feature(expression: exp.Expr, place: int) -> exp.Expr:
    def numbered(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Column) and node.name in _VECTORS:
            return exp.column(f"{node.name}{place}", table=node.table or None)
        return node

    return expression.copy().transform(numbered)


def _conditions(wanted: Wanted) -> list[exp.Expr]:
    """Rows of some weight without a NULL in what is read."""
    read = [c for c in (wanted.truth, wanted.label, *wanted.features) if c is not None]
    found: list[exp.Expr] = [
        exp.Not(this=exp.Is(this=column(c), expression=exp.null())) for c in read
    ]
    if wanted.weight is not None:
        found.append(exp.GT(this=column(wanted.weight), expression=exp.Literal.number(0)))
    return found


def _rows(wanted: Wanted) -> exp.Select:
    source = exp.alias_(wanted.source.copy(), "src", table=True)
    return exp.Select().from_(source).where(*_conditions(wanted))


def _contingency(wanted: Wanted) -> exp.Select:
    n: exp.Expr = exp.Count(this=exp.Star(), big_int=True)
    if wanted.weight is not None:
        n = exp.Sum(this=exp.cast(column(wanted.weight), "BIGINT"))
    of_class = exp.Literal.number(0) if wanted.truth is None else column(wanted.truth)
    grouped = [column(c) for c in (wanted.truth, wanted.label) if c is not None]
    return (
        _rows(wanted)
        .select(
            exp.alias_(exp.Literal.string(wanted.label), "part"),
            exp.alias_(of_class, "truth"),
            exp.alias_(column(wanted.label), "label"),
            exp.alias_(n, "n"),
        )
        .group_by(*grouped)
    )


def _points(wanted: Wanted, *, numbered: bool) -> dict[str, exp.Select]:
    """The points about the mean of all, and by their standard deviations if that is asked for."""
    numbers = [exp.cast(column(name), "DOUBLE") for name in wanted.features]
    weight: exp.Expr = exp.cast(exp.Literal.number(1), "DOUBLE")
    if wanted.weight is not None:
        weight = exp.cast(column(wanted.weight), "DOUBLE")
    total = exp.Sum(this=weight.copy())

    def mean(value: exp.Expr) -> exp.Expr:
        weighted = exp.Sum(this=exp.Mul(this=weight.copy(), expression=value))
        return exp.Div(this=weighted, expression=total.copy())

    centre = _rows(wanted)
    for i, number in enumerate(numbers):
        centre = centre.select(exp.alias_(mean(number.copy()), f"m{i}"), copy=False)
    roots = {"centre": centre}
    at = exp.alias_(exp.to_table(f"{_PREFIX}centre"), "o", table=True)
    about: list[exp.Expr] = [
        exp.Paren(this=exp.Sub(this=number, expression=exp.column(f"m{i}", table="o")))
        for i, number in enumerate(numbers)
    ]
    points = _rows(wanted).join(at.copy(), join_type="cross")
    if wanted.standardize:
        scale = _rows(wanted).join(at.copy(), join_type="cross")
        for i, off in enumerate(about):
            squared = exp.Mul(this=off.copy(), expression=off.copy())
            deviation = exp.Sqrt(this=mean(squared))
            scale = scale.select(exp.alias_(deviation, f"s{i}"), copy=False)
        roots["scale"] = scale
        by = exp.alias_(exp.to_table(f"{_PREFIX}scale"), "s", table=True)
        points = points.join(by, join_type="cross")
        about = [_divided(off, exp.column(f"s{i}", table="s")) for i, off in enumerate(about)]
    points = points.select(
        exp.alias_(exp.Literal.string(wanted.label), "part"),
        exp.alias_(column(wanted.label), "label"),
        exp.alias_(weight, "w"),
    )
    if numbered:
        order = exp.Order(expressions=[exp.Ordered(this=column(wanted.label))])
        place = exp.Window(this=exp.RowNumber(), order=order)
        points = points.select(exp.alias_(place, "point"), copy=False)
    for i, off in enumerate(about):
        points = points.select(exp.alias_(off, f"x{i}"), copy=False)
    return roots | {"points": points}


def _divided(value: exp.Expr, deviation: exp.Expr) -> exp.Expr:
    positive = exp.GT(this=deviation.copy(), expression=exp.Literal.number(0))
    by = exp.Case().when(positive, deviation).else_(exp.Literal.number(1))
    return exp.Paren(this=exp.Div(this=value, expression=by))


def _prefixed(query: exp.Select, names: Container[str]) -> exp.Select:
    """Give the CTEs that a query reads names that no table of a user has."""
    for node in list(query.find_all(exp.Table, exp.Column)):
        part = node.this if isinstance(node, exp.Table) else node.args.get("table")
        if isinstance(part, exp.Identifier) and part.name in names:
            part.set("this", f"{_PREFIX}{part.name}")
    return query
