"""Statements over points: their features, sums by cluster, sums about centroids.

What repeats for every feature is built, column by column: wide columns are what engines
add up fastest. Sums are taken about a shift, a value near the middle of the data, so
that data far from zero keeps its digits.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from functools import reduce

from sqlglot import exp

from sqlvalid.compile import literal
from sqlvalid.identifiers import column

ARRAY = "x"


def number(name: str) -> exp.Expr:
    """A feature as a DOUBLE."""
    return exp.cast(column(name), "DOUBLE")


def shifted(name: str, shift: float | int | Decimal) -> exp.Expr:
    """A feature about the shift; numbers that a DOUBLE cannot hold are shifted first."""
    if isinstance(shift, Decimal):
        digits = max(0, -int(shift.as_tuple().exponent))
        kind = exp.DataType.build(f"DECIMAL(38, {digits})")
        near = exp.cast(exp.Literal.string(f"{shift:f}"), kind)
        gap = exp.Sub(this=column(name), expression=near)
        return exp.cast(exp.Paren(this=gap), "DOUBLE")
    if isinstance(shift, int):
        whole = exp.cast(column(name), "HUGEINT")
        return exp.cast(exp.Paren(this=exp.Sub(this=whole, expression=literal(shift))), "DOUBLE")
    if shift == 0:
        return number(name)
    return exp.Paren(this=exp.Sub(this=number(name), expression=literal(float(shift))))


def finite(name: str, *, array: bool) -> exp.Expr:
    """Whether a feature has a value that is a number."""
    present = exp.Not(this=exp.Is(this=column(name), expression=exp.null()))
    if not array:
        return exp.and_(present, exp.func("ISFINITE", number(name)))
    element = exp.to_identifier("v")
    bad = exp.or_(
        exp.Is(this=exp.column("v"), expression=exp.null()),
        exp.Not(this=exp.func("ISFINITE", exp.cast(exp.column("v"), "DOUBLE"))),
    )
    kept = exp.func("LIST_FILTER", column(name), exp.Lambda(this=bad, expressions=[element]))
    none = exp.EQ(this=exp.func("LEN", kept), expression=exp.Literal.number(0))
    return exp.and_(present, none)


def _from(source: exp.Expr, where: Iterable[exp.Expr]) -> exp.Select:
    query = exp.Select().from_(exp.alias_(source.copy(), "src", table=True))
    return query.where(*(condition.copy() for condition in where))


def head(
    source: exp.Expr, names: Sequence[str], where: Iterable[exp.Expr], rows: int
) -> exp.Select:
    """Some rows, to see what the features look like."""
    return _from(source, where).select(*(column(name) for name in names)).limit(rows)


def lengths(source: exp.Expr, name: str, where: Iterable[exp.Expr]) -> exp.Select:
    """The shortest and the longest list of a column."""
    length = exp.func("LEN", column(name))
    return _from(source, where).select(
        exp.alias_(exp.func("MIN", length), "shortest"),
        exp.alias_(exp.func("MAX", length.copy()), "longest"),
    )


def faults(
    source: exp.Expr, names: Sequence[str], where: Iterable[exp.Expr], *, array: bool
) -> exp.Select:
    """Count the rows in which each feature is NULL, and in which it is NaN or infinite."""
    query = _from(source, where)
    for place, name in enumerate(names):
        absent = exp.Is(this=column(name), expression=exp.null())
        broken = exp.and_(exp.not_(absent.copy()), exp.not_(finite(name, array=array)))
        for what, condition in (("null", absent), ("broken", broken)):
            counted = exp.Case().when(condition, exp.Literal.number(1))
            query = query.select(exp.alias_(exp.Count(this=counted), f"{what}_{place}"), copy=False)
    return query


def points(
    source: exp.Expr,
    features: Sequence[exp.Expr],
    labels: Sequence[exp.Expr],
    weight: str | None,
    where: Iterable[exp.Expr],
) -> exp.Select:
    """The points themselves: x0, x1, …, then l0, l1, …, then w."""
    query = _from(source, where)
    chosen = [(f"x{i}", f) for i, f in enumerate(features)]
    chosen += [(f"l{i}", label) for i, label in enumerate(labels)]
    if weight is not None:
        chosen.append(("w", exp.cast(column(weight), "DOUBLE")))
    return query.select(*(exp.alias_(f.copy(), name) for name, f in chosen))


def moments(
    source: exp.Expr,
    features: Sequence[exp.Expr],
    label: exp.Expr,
    weight: str | None,
    where: Iterable[exp.Expr],
) -> exp.Select:
    """Sums and sums of squares of the features of each cluster, in one scan.

    `present` counts the rows in which every feature has a value.

    >>> from sqlvalid.identifiers import column, table
    >>> print(moments(table("t"), [shifted("x", 5.0)], column("km"), None, []).sql("duckdb"))
    SELECT src."km" AS label, COUNT(*) AS rows, COUNT((CAST(src."x" AS DOUBLE) - 5.0)) AS present, \
COUNT(*) AS n, SUM((CAST(src."x" AS DOUBLE) - 5.0)) AS s0, SUM((CAST(src."x" AS DOUBLE) - 5.0) \
* (CAST(src."x" AS DOUBLE) - 5.0)) AS q0 FROM "t" AS src GROUP BY src."km"
    """
    query = _from(source, where)
    query = query.select(exp.alias_(label.copy(), "label"), "COUNT(*) AS rows")
    together = reduce(lambda a, b: exp.Add(this=a, expression=b), (f.copy() for f in features))
    query = query.select(exp.alias_(exp.Count(this=together), "present"), copy=False)
    query = query.select(exp.alias_(_total(weight), "n"), copy=False)
    for place, feature in enumerate(features):
        query = query.select(exp.alias_(_sum(feature, weight), f"s{place}"), copy=False)
    for place, feature in enumerate(features):
        squared = exp.Mul(this=feature.copy(), expression=feature.copy())
        query = query.select(exp.alias_(_sum(squared, weight), f"q{place}"), copy=False)
    return query.group_by(label.copy())


def about(
    source: exp.Expr,
    clusters: exp.Expr,
    features: Sequence[exp.Expr],
    label: exp.Expr,
    mean: Sequence[float],
    weight: str | None,
    where: Iterable[exp.Expr],
    wanted: frozenset[str],
) -> exp.Select:
    """Sums over the points of each cluster about its centroid, in one scan.

    `clusters` holds label, code and the centroid c0, c1, …; wanted are "refine" (sums
    and squares of the residuals), "distances" to the centroid, "mean_distances" to the
    mean, "products" and "cluster_products".
    """
    residuals = [
        exp.Paren(this=exp.Sub(this=f.copy(), expression=exp.column(f"c{i}", table="k")))
        for i, f in enumerate(features)
    ]
    on = exp.EQ(this=label.copy(), expression=exp.column("label", table="k"))
    code = exp.column("code", table="k")
    query = _from(source, where).join(exp.alias_(clusters, "k", table=True), on=on)
    query = query.select(exp.alias_(code, "code"), exp.alias_(_total(weight), "n"))
    if wanted & {"refine", "products", "cluster_products"}:
        for i, r in enumerate(residuals):
            query = query.select(exp.alias_(_sum(r, weight), f"s{i}"), copy=False)
    if "refine" in wanted:
        for i, r in enumerate(residuals):
            squared = exp.Mul(this=r.copy(), expression=r.copy())
            query = query.select(exp.alias_(_sum(squared, weight), f"q{i}"), copy=False)
    if "distances" in wanted:
        query = query.select(exp.alias_(_sum(_norm(residuals), weight), "d"), copy=False)
    if "mean_distances" in wanted:
        from_mean = [
            exp.Paren(this=exp.Sub(this=f.copy(), expression=literal(float(m))))
            for f, m in zip(features, mean, strict=True)
        ]
        query = query.select(exp.alias_(_sum(_norm(from_mean), weight), "e"), copy=False)
    if wanted & {"products", "cluster_products"}:
        for i, left in enumerate(residuals):
            for j, right in enumerate(residuals[: i + 1]):
                product = exp.Mul(this=left.copy(), expression=right.copy())
                query = query.select(exp.alias_(_sum(product, weight), f"w{i}_{j}"), copy=False)
    return query.group_by(code.copy())


def _total(weight: str | None) -> exp.Expr:
    if weight is None:
        return exp.Count(this=exp.Star(), big_int=True)
    return exp.Sum(this=exp.cast(column(weight), "DOUBLE"))


def _sum(value: exp.Expr, weight: str | None) -> exp.Expr:
    if weight is not None:
        value = exp.Mul(this=exp.cast(column(weight), "DOUBLE"), expression=value.copy())
    return exp.Sum(this=value.copy())


def _norm(parts: Sequence[exp.Expr]) -> exp.Expr:
    squares: list[exp.Expr] = [exp.Mul(this=r.copy(), expression=r.copy()) for r in parts]
    return exp.Sqrt(this=reduce(lambda a, b: exp.Add(this=a, expression=b), squares))
