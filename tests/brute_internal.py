"""Every linear internal index again, slowly: from its definition, over points and centroids.

Nothing here is shared with the package. A double is a fraction, so there is a unit in which
all points, centroids and means are whole numbers; sums of squares, scatter matrices and
determinants are then exact integers, and whether two centroids are equal or a matrix is
singular is a fact, not a tolerance. Only roots, logarithms and the last quotients are rounded.
None stands for what the formula leaves undefined.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import combinations
from typing import Any

import numpy as np

Whole = np.ndarray[Any, np.dtype[np.object_]]  # of Python integers
Rows = tuple[tuple[float, ...], ...]

EPSILON = 1e-6  # V 20


@dataclass(frozen=True, eq=False)
class Clusters:
    """The points of each cluster, and the centroids, in whole numbers of one unit."""

    unit: Fraction
    points: tuple[Whole, ...]
    centroids: tuple[Whole, ...]
    mean: Whole

    @property
    def n(self) -> int:
        return sum(self.sizes)

    @property
    def k(self) -> int:
        return len(self.points)

    @property
    def p(self) -> int:
        return len(self.mean)

    @property
    def sizes(self) -> list[int]:
        return [len(points) for points in self.points]

    def square(self, whole: int) -> Fraction:
        """A squared length that was found in squared units."""
        return whole * self.unit**2

    def length(self, whole: int) -> float:
        """The length whose square in squared units is given."""
        return math.sqrt(self.square(whole))

    @cached_property
    def to_own(self) -> list[list[int]]:
        """Squared distances of the points of each cluster from its centroid."""
        return [
            [squared(point, centroid) for point in points]
            for points, centroid in zip(self.points, self.centroids, strict=True)
        ]

    @cached_property
    def to_nearest_other(self) -> list[list[int]]:
        """Squared distances of the points of each cluster from the nearest other centroid."""
        return [
            [
                min(squared(point, g) for other, g in enumerate(self.centroids) if other != own)
                for point in points
            ]
            for own, points in enumerate(self.points)
        ]

    @cached_property
    def between_centroids(self) -> dict[tuple[int, int], int]:
        """Squared distances of the centroids of every two clusters."""
        return {
            (one, other): squared(self.centroids[one], self.centroids[other])
            for one, other in combinations(range(self.k), 2)
        }

    @cached_property
    def within(self) -> list[Whole]:
        """WG{k} of every cluster, D 11, in squared units."""
        return [
            scatter(points - centroid)
            for points, centroid in zip(self.points, self.centroids, strict=True)
        ]

    @cached_property
    def w(self) -> Whole:
        return sum(self.within)  # D 14

    @cached_property
    def b(self) -> Whole:
        return sum(  # D 21
            size * np.outer(centroid - self.mean, centroid - self.mean)
            for size, centroid in zip(self.sizes, self.centroids, strict=True)
        )

    @cached_property
    def t(self) -> Whole:
        return scatter(np.concatenate(self.points) - self.mean)  # D 3


def clusters_of(
    x: Any, labels: Sequence[Hashable], weights: Sequence[int] | None = None
) -> Clusters:
    """The clusters of the rows of x; a row with a weight is that many rows."""
    rows, given = np.asarray(x, dtype=float), list(labels)
    rows = rows.reshape(len(given), -1)
    if weights is not None:
        rows = np.repeat(rows, weights, axis=0)
        given = [label for label, times in zip(given, weights, strict=True) for _ in range(times)]
    return _clusters(tuple(tuple(row) for row in rows.tolist()), tuple(given))


@lru_cache(maxsize=4)
def _clusters(rows: Rows, labels: tuple[Hashable, ...]) -> Clusters:
    members: dict[Hashable, list[int]] = {}
    for row, label in enumerate(labels):
        members.setdefault(label, []).append(row)
    sizes = [len(rows) for rows in members.values()]
    # Doubles are multiples of a power of two; a mean of n adds a divisor n, a midpoint another 2.
    halves = max(value.as_integer_ratio()[1] for row in rows for value in row)
    unit = Fraction(1, halves * math.lcm(len(rows), *sizes) * 2)
    whole = np.array([[int(Fraction(value) / unit) for value in row] for row in rows], dtype=object)
    points = tuple(whole[at] for at in members.values())
    return Clusters(unit, points, tuple(mean_of(each) for each in points), mean_of(whole))


def mean_of(points: Whole) -> Whole:
    total = points.sum(axis=0)
    assert not any(total % len(points)), "the unit makes every mean whole"
    return total // len(points)


def squared(one: Whole, other: Whole) -> int:
    """The squared Euclidean distance."""
    return int(((one - other) ** 2).sum())


def scatter(centred: Whole) -> Whole:
    return centred.T @ centred


def determinant(matrix: Whole) -> int:
    """Bareiss' elimination, in which every division comes out even."""
    rows, sign, before = [list(row) for row in matrix], 1, 1
    for step in range(len(rows) - 1):
        pivot = next((row for row in range(step, len(rows)) if rows[row][step]), None)
        if pivot is None:
            return 0
        if pivot != step:
            rows[step], rows[pivot], sign = rows[pivot], rows[step], -sign
        for row in range(step + 1, len(rows)):
            for column in range(step + 1, len(rows)):
                crossed = (
                    rows[row][column] * rows[step][step] - rows[row][step] * rows[step][column]
                )
                rows[row][column] = crossed // before
        before = rows[step][step]
    return sign * int(rows[-1][-1])


def logarithm(value: Fraction | None) -> float | None:
    """None at 0 and where there is nothing to take it of."""
    if not value:
        return None
    if 1e-300 < value < 1e300:
        return math.log(value)
    return math.log(value.numerator) - math.log(value.denominator)  # beyond doubles


def over(numerator: Fraction | int, denominator: Fraction | int) -> Fraction | None:
    """A quotient, None for a zero denominator."""
    return None if denominator == 0 else Fraction(numerator) / Fraction(denominator)


def rounded(value: Fraction | None) -> float | None:
    """The nearest double; None where there is none."""
    try:
        return None if value is None else float(value)
    except OverflowError:
        return None


def mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


# Sums of squares and distances to centroids


def ball_hall(c: Clusters) -> float | None:
    parts = [Fraction(sum(own), len(own)) for own in c.to_own]  # D 30
    return float(sum(parts) / c.k * c.unit**2)


def ball_hall_distance(c: Clusters) -> float | None:
    return mean([c.length(square) for own in c.to_own for square in own])  # V 47


def banfeld_raftery(c: Clusters) -> float | None:
    terms = []
    for own in c.to_own:
        log = logarithm(c.square(sum(own)) / len(own))  # D 31
        if log is None:
            return None
        terms.append(len(own) * log)
    return math.fsum(terms)


def wgss(c: Clusters) -> int:
    return sum(sum(own) for own in c.to_own)  # D 16


def bgss(c: Clusters) -> int:
    return sum(n * squared(g, c.mean) for n, g in zip(c.sizes, c.centroids, strict=True))  # D 23


def calinski_harabasz(c: Clusters) -> float | None:
    return rounded(over(bgss(c) * (c.n - c.k), wgss(c) * (c.k - 1)))  # D 33


def _davies_bouldin(c: Clusters, spread: list[float]) -> float | None:
    """The mean over clusters of the worst ratio of two spreads to the distance of centroids."""
    if not all(c.between_centroids.values()):
        return None
    worst = [0.0] * c.k
    for (one, other), square in c.between_centroids.items():
        ratio = (spread[one] + spread[other]) / c.length(square)
        worst[one], worst[other] = max(worst[one], ratio), max(worst[other], ratio)
    return mean(worst)


def davies_bouldin(c: Clusters) -> float | None:
    return _davies_bouldin(c, [mean([c.length(s) for s in own]) for own in c.to_own])  # D 35


def davies_bouldin_rms(c: Clusters) -> float | None:
    return _davies_bouldin(  # Z 17.2, Davies-Bouldin
        c, [math.sqrt(c.square(sum(own)) / len(own)) for own in c.to_own]
    )


def log_ss_ratio(c: Clusters) -> float | None:
    return logarithm(over(bgss(c), wgss(c)))  # D 59


def log10_ss_ratio(c: Clusters) -> float | None:
    between = sum(  # V 46: not the BGSS of D unless there are two clusters
        square / (Fraction(1, c.sizes[one]) + Fraction(1, c.sizes[other]))
        for (one, other), square in c.between_centroids.items()
    )
    ratio = over(between, wgss(c))
    return math.log10(ratio) if ratio else None


def pbm(c: Clusters) -> float | None:
    within = math.fsum(c.length(square) for own in c.to_own for square in own)  # D 64
    total = math.fsum(  # D 65
        c.length(squared(point, c.mean)) for points in c.points for point in points
    )
    farthest = c.length(max(c.between_centroids.values()))  # D 63
    return (total / within * farthest / c.k) ** 2 if within else None  # D 66


def _explained(c: Clusters) -> list[Fraction] | None:
    """The part of each feature's sum of squares that lies between clusters; None for 0/0."""
    parts = [over(c.b[j, j], c.t[j, j]) for j in range(c.p)]
    return None if None in parts else parts  # type: ignore[return-value]


def ratkowsky_lance(c: Clusters) -> float | None:
    parts = _explained(c)
    return None if parts is None else math.sqrt(sum(parts) / c.p / c.k)  # D 74


def c_over_sqrt_k(c: Clusters) -> float | None:
    parts = _explained(c)  # V 31: the mean of the roots
    return None if parts is None else mean([math.sqrt(part) for part in parts]) / math.sqrt(c.k)


def ray_turi(c: Clusters) -> float | None:
    return rounded(over(wgss(c), c.n * min(c.between_centroids.values())))  # D 76


def trace_w(c: Clusters) -> float | None:
    return float(c.square(wgss(c)))  # D 102


def trace_cov_w(c: Clusters) -> float | None:
    return rounded(over(c.square(wgss(c)), c.n - c.k))  # V 40


def _shares(c: Clusters) -> Iterator[list[tuple[int, int]]]:
    """For each cluster, the squared distances of its points to the own and the next centroid."""
    for own, other in zip(c.to_own, c.to_nearest_other, strict=True):
        yield list(zip(own, other, strict=True))


def wemmert_gancarski(c: Clusters) -> float | None:
    total = 0.0
    for points in _shares(c):
        if not all(other for _, other in points):
            return None
        ratios = [c.length(own) / c.length(other) for own, other in points]  # D 104
        total += len(points) * max(0.0, 1 - mean(ratios))  # D 105
    return total / c.n  # D 106


def silhouette_simplified(c: Clusters) -> float | None:
    widths: list[float] = []
    for points in _shares(c):
        if len(points) == 1:
            widths.append(0.0)
            continue
        for own, other in points:
            if own == other == 0:
                return None
            a, b = c.length(own), c.length(other)
            widths.append((b - a) / max(a, b))  # V 18 with centroids
    return mean(widths)


def silhouette_alternative_simplified(c: Clusters) -> float | None:
    widths: list[float] = []
    for points in _shares(c):
        alone = len(points) == 1
        widths += [
            0.0 if alone else c.length(other) / (c.length(own) + EPSILON)  # V 20 with centroids
            for own, other in points
        ]
    return mean(widths)


def silhouette_squared(c: Clusters) -> float | None:
    """The silhouette of squared distances between points, over all pairs of points."""
    widths: list[float] = []
    for own, points in enumerate(c.points):
        for point in points:
            if len(points) == 1:
                widths.append(0.0)
                continue
            sums = [int(((each - point) ** 2).sum()) for each in c.points]
            a = Fraction(sums[own], len(points) - 1)
            b = min(Fraction(sums[q], c.sizes[q]) for q in range(c.k) if q != own)
            width = over(b - a, max(a, b))
            if width is None:
                return None
            widths.append(float(width))
    return mean(widths)


# Determinants of scatter matrices


def det_w(c: Clusters) -> Fraction:
    return determinant(c.w) * c.unit ** (2 * c.p)


def _det_ratio(c: Clusters) -> Fraction | None:
    return over(determinant(c.t), determinant(c.w))


def det_ratio(c: Clusters) -> float | None:
    return rounded(_det_ratio(c))  # D 36


def log_det_ratio(c: Clusters) -> float | None:
    log = logarithm(_det_ratio(c))
    return None if log is None else c.n * log  # D 58


def log10_det_ratio(c: Clusters) -> float | None:
    ratio = _det_ratio(c)
    return c.n * math.log10(ratio) if ratio else None  # V 44


def ksq_detw(c: Clusters) -> float | None:
    return rounded(c.k**2 * det_w(c))  # D 57


def scott_symons(c: Clusters) -> float | None:
    terms = []
    for size, matrix in zip(c.sizes, c.within, strict=True):
        log = logarithm(determinant(matrix) * c.unit ** (2 * c.p) / Fraction(size) ** c.p)  # D 77
        if log is None:
            return None
        terms.append(size * log)
    return math.fsum(terms)


def trace_wib(c: Clusters) -> float | None:
    """Cramer's rule for the diagonal of the inverse of W times B (D 103)."""
    below = determinant(c.w)
    total = 0
    for column in range(c.p):
        replaced = c.w.copy()
        replaced[:, column] = c.b[:, column]
        total += determinant(replaced)
    return rounded(over(total, below))


# Scattering, separation and density


def _variance_norm(c: Clusters, matrix: Whole, size: int) -> float:
    """The length of the vector of variances of the features (D 78, 79)."""
    return math.sqrt(sum((c.square(matrix[j, j]) / size) ** 2 for j in range(c.p)))


def _cluster_norms(c: Clusters) -> list[float]:
    return [_variance_norm(c, wg, n) for wg, n in zip(c.within, c.sizes, strict=True)]


def sd_scat(c: Clusters) -> float | None:
    whole = _variance_norm(c, c.t, c.n)
    return mean(_cluster_norms(c)) / whole if whole else None  # D 80


def sd_dis(c: Clusters) -> float | None:
    lengths = {pair: c.length(square) for pair, square in c.between_centroids.items()}
    if not all(lengths.values()):
        return None
    sums = [math.fsum(d for pair, d in lengths.items() if k in pair) for k in range(c.k)]
    spread = max(lengths.values()) / min(lengths.values())
    return spread * math.fsum(1 / total for total in sums)  # D 83


def sd(c: Clusters, alpha: float | None = None) -> float | None:
    """D 84; alpha is the separation of the finest partition, without one that of this."""
    scat, dis = sd_scat(c), sd_dis(c)
    weight = dis if alpha is None else alpha
    return None if scat is None or dis is None or weight is None else weight * scat + dis


def _radius(c: Clusters) -> float:
    return math.sqrt(math.fsum(_cluster_norms(c))) / c.k  # D 85


def _centres(c: Clusters, one: int, other: int) -> tuple[Whole, Whole, Whole]:
    """Both centroids and the point in the middle, which the unit makes whole."""
    g, h = c.centroids[one], c.centroids[other]
    return g, h, (g + h) // 2


def s_dbw(c: Clusters) -> float | None:
    radius, ratios = _radius(c), []
    for one, other in c.between_centroids:
        both = np.concatenate([c.points[one], c.points[other]])
        g, h, middle = (
            sum(c.length(squared(point, centre)) < radius for point in both)
            for centre in _centres(c, one, other)
        )
        if max(g, h) == 0:
            return None
        ratios.append(middle / max(g, h))  # D 86
    scat = sd_scat(c)
    return None if scat is None else scat + mean(ratios)  # D 87, 88


def a_point_is_on_a_sphere(c: Clusters, relative: float = 1e-9) -> bool:
    """Whether rounding decides s_dbw: a point is as far from a centre as the radius is long."""
    radius = _radius(c)
    return any(
        math.isclose(c.length(squared(point, centre)), radius, rel_tol=relative)
        for one, other in c.between_centroids
        for point in np.concatenate([c.points[one], c.points[other]])
        for centre in _centres(c, one, other)
    )


FORMULAS: dict[str, Callable[..., float | None]] = {
    "ball_hall": ball_hall,
    "ball_hall_distance": ball_hall_distance,
    "banfeld_raftery": banfeld_raftery,
    "calinski_harabasz": calinski_harabasz,
    "davies_bouldin": davies_bouldin,
    "davies_bouldin_rms": davies_bouldin_rms,
    "det_ratio": det_ratio,
    "log_det_ratio": log_det_ratio,
    "log10_det_ratio": log10_det_ratio,
    "ksq_detw": ksq_detw,
    "log_ss_ratio": log_ss_ratio,
    "log10_ss_ratio": log10_ss_ratio,
    "pbm": pbm,
    "ratkowsky_lance": ratkowsky_lance,
    "c_over_sqrt_k": c_over_sqrt_k,
    "ray_turi": ray_turi,
    "scott_symons": scott_symons,
    "sd_scat": sd_scat,
    "sd_dis": sd_dis,
    "sd": sd,
    "s_dbw": s_dbw,
    "trace_w": trace_w,
    "trace_cov_w": trace_cov_w,
    "trace_wib": trace_wib,
    "wemmert_gancarski": wemmert_gancarski,
    "silhouette_simplified": silhouette_simplified,
    "silhouette_alternative_simplified": silhouette_alternative_simplified,
    "silhouette_squared": silhouette_squared,
}


def _over_clusters(formula: Callable[..., float | None]) -> Callable[..., float | None]:
    """The formula of points and labels; one cluster leaves every internal index undefined."""

    def value(
        x: Any,
        labels: Sequence[Hashable],
        weights: Sequence[int] | None = None,
        **options: float | None,
    ) -> float | None:
        clusters = clusters_of(x, labels, weights)
        return None if clusters.k == 1 else formula(clusters, **options)

    return value


INTERNAL: dict[str, Callable[..., float | None]] = {
    name: _over_clusters(formula) for name, formula in FORMULAS.items()
}


def scores(
    x: Any, labels: Sequence[Hashable], weights: Sequence[int] | None = None
) -> dict[str, float | None]:
    """Every index of one partition; sd as of the only partition of a call."""
    return {name: index(x, labels, weights) for name, index in INTERNAL.items()}
