"""Points → sums over the points of each cluster, in as few scans as it takes.

One scan gives the moments of every cluster of every partition; one more, where distances
are asked for, everything about the centroids. Points that fit in memory are read once.
Larger data is added up in SQL where it lies, or passes through in batches where there are
many partitions, many features, or sums over every other centroid.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from sqlglot import exp

from sqlvalid.errors import BadData
from sqlvalid.features import Shift, refuse_faults
from sqlvalid.kernels import points as kernels
from sqlvalid.kernels.geometry import Clusters
from sqlvalid.kernels.points import Floats, Target
from sqlvalid.measure import aggregate
from sqlvalid.measure.batches import (
    CHANGED,
    ROWS,
    Batch,
    Part,
    Points,
    Sums,
    Way,
    Work,
    add,
    coder,
    pieces,
    way,
)  # fmt: skip

__all__ = [
    "Batch", "Measured", "Part", "Points",
    "coder", "held", "measure", "measure_held", "scans", "way",
]  # fmt: skip

# Where a cluster's sum of squares is less than this share of what it was subtracted from,
# it is taken again about the centroid.
_CANCELLED = 1e-4
_OFF_CENTRE = 1e4
_LEAST_SQUARE = 1e-280  # below it the squares of residuals lose digits to underflow
_BALLS_CLUSTERS = 4_000
_EPS = float(np.finfo(np.float64).eps)
_OTHERS = frozenset({"nearest", "mean_squares", "balls"})


@dataclass(slots=True)
class Measured:
    """What was found of the clusters of each part, and how points were brought to one scale."""

    clusters: list[Clusters]
    shift: Shift
    scale: Floats | None


def scans(way: Way, parts: int, wanted: frozenset[str]) -> list[tuple[str, Way]]:
    """The scans of the points that a call takes, and how each is done.

    There is one more where the sums of squares of a cluster that is small and far out
    have to be taken again, and one more where the first rows are far from the mean.
    """
    if way == "memory":
        return [("moments", way)]
    found: list[tuple[str, Way]] = [("moments", way)] * (parts if way == "sql" else 1)
    about = wanted - {"moments"}
    if about & _OTHERS:
        found.append(("about", "batches"))
    elif about:
        found += [("about", way)] * (parts if way == "sql" else 1)
    return found


def measure(points: Points, wanted: frozenset[str], standardize: bool = False) -> Measured:
    """The clusters of every part, with the sums that are wanted."""
    in_sql = points.way == "sql"
    sizes = [len(part.n) for part in points.parts]
    work = _moments(sizes, [part.alone is not None for part in points.parts])

    def moments() -> Sums:
        found = aggregate.moments(points) if in_sql else points.fold(work)
        _check(points, found)
        return found

    first = moments()
    off = _off_centre(first[-1])
    if off is not None:
        points.moved(off)
        first = moments()
    scale = _scale(first[-1]) if standardize else None
    found = [_clusters(sums, scale) for sums in first[:-1]]
    alone = [c.centroids[len(part.n) :] for c, part in zip(found, points.parts, strict=True)]

    def around(targets: list[Target | None]) -> Sums:
        if in_sql and not any(t is not None and t.wanted & _OTHERS for t in targets):
            return aggregate.around(points, targets, scale)
        return points.fold(_around(targets, sizes, scale))

    finish(found, alone, wanted, around)
    return Measured(found, points.features.shift, scale)


def measure_held(
    batch: Batch, part_n: Floats, alone: bool, wanted: frozenset[str], scale: Floats | None = None
) -> Clusters:
    """The clusters of one partition of points in memory, with the sums that are wanted."""
    batches = list(pieces(batch, ROWS))

    def fold(work: Work) -> Sums:
        total: Sums = []
        for piece in batches:
            add(total, work(piece))
        return total

    sizes = [len(part_n)]
    (sums,) = fold(_moments(sizes, [alone], every=False))
    if not _same_points(sums["n"], part_n):
        raise BadData(CHANGED)
    clusters = _clusters(sums, scale)
    lone = [clusters.centroids[len(part_n) :]]
    finish([clusters], lone, wanted, lambda targets: fold(_around(targets, sizes, scale)))
    return clusters


def held(points: Points, key: exp.Expr) -> tuple[Batch, pa.Array, Floats]:
    """All points in memory, with the value of a key for each, and their standard deviations."""
    x, keys, weights = points.all(key)
    (total,) = _moments([], [])(Batch(x, [], weights))
    _check_total(points, total)
    off = _off_centre(total)
    if off is not None:
        x = x - off
        (total,) = _moments([], [])(Batch(x, [], weights))
    return Batch(x, [], weights), keys, _scale(total)


def finish(
    found: list[Clusters],
    alone: Sequence[Floats],
    wanted: frozenset[str],
    around: Callable[[list[Target | None]], Sums],
) -> None:
    """Take the second scan, and before it one more where sums of squares have cancelled."""
    again = [_target(c, frozenset({"refine"})) if _cancelled(c) else None for c in found]
    if any(again):
        for clusters, more, target in zip(found, around(again), again, strict=True):
            if target is not None:
                _refine(clusters, more)
    targets = [_target(c, _able(c, wanted)) for c in found]
    if any(t.wanted for t in targets):
        sums = around([t if t.wanted else None for t in targets])
        for clusters, to, own, single in zip(found, targets, sums, alone, strict=True):
            if to.wanted:
                _fill(clusters, to.shared | _with_singles(own, single, to), to.wanted)


def _moments(sizes: Sequence[int], single: Sequence[bool], *, every: bool = True) -> Work:
    """The moments of each part, and after them those of all points together."""

    def work(batch: Batch) -> Sums:
        total: Sums = []
        rows = max(kernels.BLOCK // max(1, batch.x.shape[1]), 1024, *sizes)
        for piece in pieces(batch, rows):
            add(total, block(piece))
        return total

    def block(batch: Batch) -> Sums:
        x, w = batch.x, batch.weights
        with np.errstate(over="ignore", invalid="ignore"):  # seen in the sums, and refused
            squares = x * x
        found: Sums = []
        for codes, k, alone in zip(batch.codes, sizes, single, strict=True):
            sums = dict(kernels.moments(x, squares, np.minimum(codes, k), w, k))
            if alone:
                lone = codes == k + 1
                times = 1 if w is None else w[lone].astype(np.int64)
                sums["singles"] = [np.repeat(x[lone], times, axis=0)]
            found.append(sums)
        if not every:
            return found
        each = np.ones(len(x)) if w is None else w
        return [*found, {"n": float(each.sum()), "sums": each @ x, "squares": each @ squares}]

    return work


def _around(
    targets: Sequence[Target | None], named: Sequence[int], scale: Floats | None = None
) -> Work:
    def work(batch: Batch) -> Sums:
        x = batch.x if scale is None else batch.x / scale
        found: Sums = []
        for target, codes, k_named in zip(targets, batch.codes, named, strict=True):
            if target is None:
                found.append({})
                continue
            k = len(target.n)
            if k_named < k:  # points that are clusters of their own are added at the end
                codes = np.where(codes < k_named, codes, np.int32(k))
            found.append(dict(kernels.around(x, codes, batch.weights, target)))
        return found

    return work


def _check(points: Points, found: Sums) -> None:
    """Refuse sums that are not numbers, and data that changes while it is read."""
    _check_total(points, found[-1])
    for part, sums in zip(points.parts, found, strict=False):
        if not _same_points(sums["n"], part.n):
            raise BadData(CHANGED)


def _same_points(found: Floats, expected: Floats) -> bool:
    """Whether two counts agree; sums of large weights are rounded."""
    return len(found) == len(expected) and np.allclose(found, expected, rtol=1e-12, atol=0)


def _check_total(points: Points, total: dict[str, Any]) -> None:
    """Refuse features that are not numbers, and those whose squares overflow or underflow."""
    if not (np.isfinite(total["sums"]).all() and np.isfinite(total["squares"]).all()):
        refuse_faults(points.engine, points.scan, points.features, points.where)
    squares = total["squares"] / total["n"]
    varies = (squares > 0) | (total["sums"] != 0)
    tiny = np.nonzero(varies & (squares < _LEAST_SQUARE))[0]
    if len(tiny):
        raise BadData(
            f"features: the values of {points.features.names[tiny[0]]!r} lie so close together that"
            " their squares lose digits; scale them"
        )


def _off_centre(total: dict[str, Any]) -> Floats | None:
    """How far the mean is from the shift, where it is so far that digits would be lost."""
    mean = total["sums"] / total["n"]
    variance = np.maximum(total["squares"] / total["n"] - mean**2, 0.0)
    far = mean**2 > _OFF_CENTRE * variance
    return np.where(far, mean, 0.0) if (far & (variance > 0)).any() else None


def _scale(total: dict[str, Any]) -> Floats:
    """The standard deviations of the features; a constant one stays as it is."""
    n = total["n"]
    variance = total["squares"] / n - (total["sums"] / n) ** 2
    scale: Floats = np.sqrt(np.where(variance > 0, variance, 1.0))
    return scale


def _clusters(sums: dict[str, Any], scale: Floats | None) -> Clusters:
    n, totals, squares = sums["n"], sums["sums"], sums["squares"]
    if sums.get("singles"):
        lone = np.concatenate(sums["singles"])
        n = np.append(n, np.ones(len(lone)))
        totals = np.concatenate([totals, lone])
        squares = np.concatenate([squares, lone**2])
    unit = 1.0 if scale is None else scale
    centroids = totals / n[:, None] / unit
    about_shift = squares / unit**2
    within = np.maximum(about_shift - n[:, None] * centroids**2, 0.0)
    within[n == 1] = 0.0
    return Clusters(n, centroids, within)


def _cancelled(of: Clusters) -> bool:
    """Whether some cluster is so small and far out that its sum of squares has lost digits."""
    about_shift = of.wgss + of.n * (of.centroids**2).sum(axis=1)
    return bool(((of.n > 1) & (of.wgss < _CANCELLED * about_shift)).any())


def _refine(of: Clusters, sums: dict[str, Any]) -> None:
    correction = sums["sums"] / of.n[:, None]
    of.squares = np.maximum(sums["squares"] - of.n[:, None] * correction**2, 0.0)
    # Numbers that differ at all differ by more than this.
    of.squares[of.squares <= 0.01 * (_EPS * of.centroids) ** 2] = 0.0
    of.squares[of.n == 1] = 0.0
    of.centroids = of.centroids + correction


def _able(of: Clusters, wanted: frozenset[str]) -> frozenset[str]:
    """What of the wanted sums makes sense for these clusters."""
    k, p = of.centroids.shape
    able = wanted - {"moments"}
    if k < 2:
        able -= {"distances", "mean_distances", "cluster_products", *_OTHERS}
    if (of.n <= p).any():
        able -= {"cluster_products"}  # a cluster of few points has a singular scatter
    if k > _BALLS_CLUSTERS:
        able -= {"balls"}
    return able


def _target(of: Clusters, wanted: frozenset[str]) -> Target:
    room = kernels.room(len(of.n), of.centroids.shape[1], wanted)
    target = Target(of.n, of.centroids, of.mean, wanted, of.wgss / of.n, shared=room)
    if "balls" not in wanted:
        return target
    from scipy.spatial.distance import cdist

    quarter = cdist(of.centroids, of.centroids, "sqeuclidean") / 4
    gaps = np.sqrt(np.where(np.eye(len(of.n), dtype=bool), np.inf, quarter)).min(axis=0)
    return replace(target, radius2=of.radius2, quarter_gaps2=quarter, half_gaps=gaps)


def _with_singles(sums: dict[str, Any], alone: Floats, target: Target) -> dict[str, Any]:
    """Add the points that are clusters of their own to the sums of all others."""
    if not len(alone):
        return sums
    total = [sums]
    codes = np.arange(len(target.n) - len(alone), len(target.n), dtype=np.int32)
    for start in range(0, len(alone), ROWS):
        rows = slice(start, start + ROWS)
        add(total, [dict(kernels.around(alone[rows], codes[rows], None, target))])
    return total[0]


def _fill(of: Clusters, sums: dict[str, Any], wanted: frozenset[str]) -> None:
    if "distances" in wanted:
        of.distances = sums["distances"]
    if "mean_distances" in wanted:
        of.total_distances = float(sums["total_distances"])
    if "scatters" in sums or "scatter" in sums:
        # About the very mean of each cluster, whatever rounding the centroid has.
        means = sums["sums"] / of.n[:, None]
        weighted = sums["sums"]
        if "scatters" in sums:
            of.scatters = sums["scatters"] - weighted[:, :, None] * means[:, None, :]
            of.scatter = of.scatters.sum(axis=0)
        else:
            of.scatter = sums["scatter"] - weighted.T @ means
        flat = np.diag(of.scatter) <= of.total * (8 * _EPS * np.abs(of.centroids).max(axis=0)) ** 2
        of.scatter[flat, :] = of.scatter[:, flat] = 0.0
    if "nearest" in wanted:
        of.neighbours = {name: sums[name] for name in kernels.SUMS["nearest"]}
    if "mean_squares" in wanted:
        of.squared = {name: sums[name] for name in kernels.SUMS["mean_squares"]}
    if "balls" in wanted:
        of.balls = {name: sums[name] for name in kernels.SUMS["balls"]}
