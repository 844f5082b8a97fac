"""Points → sums over the points of each cluster, in as few scans as it takes.

One scan gives the moments of every cluster of every partition; one more, where distances
are asked for, everything about the centroids. Points that fit in memory are read once.
Larger data is added up in SQL where it lies, or passes through in batches where there are
many partitions, many features, or sums over every other centroid.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from sqlglot import exp
from threadpoolctl import ThreadpoolController

from sqlvalid.compile import points as statements
from sqlvalid.engines import Engine, Scan
from sqlvalid.errors import BadData
from sqlvalid.features import Features, refuse_faults
from sqlvalid.kernels import points as kernels
from sqlvalid.kernels.geometry import Clusters
from sqlvalid.kernels.points import Codes, Floats, Sums, Target

ROWS = 65_536  # of a batch
IN_MEMORY = 128 * 2**20  # bytes of points that are kept between scans
SQL_FEATURES = 32  # beyond it batches are faster than SQL
SQL_PARTITIONS = 2
BALLS_CLUSTERS = 10_000

# Where a cluster's sum of squares is less than this share of what it was subtracted from,
# it is taken again about the centroid.
_CANCELLED = 1e-4
_OFF_CENTRE = 1e4
CHANGED = "the data changed between two reads of it; score a copy that stays"
_EPS = float(np.finfo(np.float64).eps)
_OTHERS = frozenset({"nearest", "mean_squares", "balls"})


@dataclass(frozen=True, slots=True)
class Part:
    """One partition: its label column, the labels of its clusters, and the points of each.

    `alone` is the label whose points are each a cluster of their own.
    """

    label: exp.Expr
    labels: pa.Array
    n: Floats
    alone: Any = None


@dataclass(frozen=True, slots=True)
class Batch:
    """Some points about the shift, the codes of their clusters in each part, their weights."""

    x: Floats
    codes: Sequence[Codes]
    weights: Floats | None = None


@dataclass(slots=True)
class Measured:
    """What was found of the clusters of each part, and how points were brought to one scale."""

    clusters: list[Clusters]
    shift: tuple[float | int, ...]
    scale: Floats | None
    scans: int = 0


Work = Callable[[Batch], list[dict[str, Any]]]


class Points:
    """The points of a call where they lie, with what is needed to read them."""

    def __init__(
        self, engine: Engine, scan: Scan, features: Features, parts: Sequence[Part],
        weight: str | None, where: Sequence[exp.Expr], rows: int,
    ) -> None:  # fmt: skip
        self.engine, self.scan, self.features = engine, scan, features
        self.parts, self.weight, self.where = list(parts), weight, tuple(where)
        self.coders = [coder(part.labels, part.alone) for part in parts]
        self.fits = rows * (8 * features.p + 4 * len(parts) + 8) <= IN_MEMORY
        self.scans = 0
        self._kept: list[Batch] | None = None

    def fold(self, work: Work) -> list[dict[str, Any]]:
        """Add up what `work` finds in every batch, for every part."""
        if self._kept is not None:
            return folded(self._kept, work)
        self.scans += 1
        query = statements.points(
            self.scan.table,
            self.features.expressions(),
            [part.label for part in self.parts],
            self.weight,
            self.where,
        )
        kept: list[Batch] = []

        def both(raw: pa.RecordBatch) -> list[dict[str, Any]]:
            batch = self._ready(raw)
            if self.fits:
                kept.append(batch)
            return work(batch)

        total = folded(self.engine.stream(query, ROWS), both)
        if self.fits:
            self._kept = kept
        return total

    def all(self, key: exp.Expr) -> tuple[Floats, pa.Array, Floats | None]:
        """Every point in memory, with the value of an expression for each, and the weights."""
        query = statements.points(
            self.scan.table, self.features.expressions(), [key], self.weight, self.where
        )
        batches = list(self.engine.stream(query, ROWS))
        if not batches:
            raise BadData("no usable points are left")
        ready = [self._ready(raw) for raw in batches]
        x = np.concatenate([batch.x for batch in ready])
        if not np.isfinite(x).all():
            refuse_faults(self.engine, self.scan, self.features, self.where)
        keys = pa.concat_arrays([raw.column("l0") for raw in batches])
        weights = [batch.weights for batch in ready if batch.weights is not None]
        return x, keys, np.concatenate(weights) if weights else None

    def _ready(self, raw: pa.RecordBatch) -> Batch:
        x = self._matrix(raw)
        codes = [code(raw.column(f"l{i}")) for i, code in enumerate(self.coders)]
        weights = None
        if self.weight is not None:
            weights = raw.column("w").to_numpy(zero_copy_only=False)
        return Batch(x, codes, weights)

    def _matrix(self, raw: pa.RecordBatch) -> Floats:
        p = self.features.p
        x: Floats = np.empty((raw.num_rows, p))
        if self.features.array is None:
            for j in range(p):
                x[:, j] = raw.column(j).to_numpy(zero_copy_only=False)
            return x
        lists = raw.column(0)
        if lists.null_count:
            x.fill(np.nan)  # seen in the sums, and refused with a count
            return x
        values = lists.flatten().to_numpy(zero_copy_only=False)
        np.subtract(values.reshape(-1, p), np.array(self.features.shift), out=x)
        return x

    def moved(self, by: Floats) -> None:
        """Take the points about another shift from now on."""
        old = self.features.shift
        new = tuple(
            s + round(float(m)) if isinstance(s, int) else s + float(m)
            for s, m in zip(old, by, strict=True)
        )
        self.features = replace(self.features, shift=new)
        if self._kept is not None:
            step = np.array([float(b - a) for a, b in zip(old, new, strict=True)])
            self._kept = [replace(batch, x=batch.x - step) for batch in self._kept]


def measure(points: Points, wanted: frozenset[str], standardize: bool = False) -> Measured:
    """The clusters of every part, with the sums that are wanted."""
    in_sql = not points.fits and _adds_up_in_sql(points)
    sizes = [len(part.n) for part in points.parts]
    work = _moments(sizes, [part.alone is not None for part in points.parts])

    def moments() -> list[dict[str, Any]]:
        found = _sql_moments(points) if in_sql else points.fold(work)
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

    def around(targets: list[Target | None]) -> list[dict[str, Any]]:
        if in_sql and not any(t is not None and t.wanted & _OTHERS for t in targets):
            return _sql_around(points, targets, scale)
        return points.fold(_around(targets, sizes, scale))

    finish(found, alone, wanted, around)
    return Measured(found, points.features.shift, scale, points.scans)


def measure_held(
    batch: Batch, part_n: Floats, alone: bool, wanted: frozenset[str], scale: Floats | None = None
) -> Clusters:
    """The clusters of one partition of points in memory, with the sums that are wanted."""
    batches = [
        Batch(
            batch.x[start : start + ROWS],
            [codes[start : start + ROWS] for codes in batch.codes],
            None if batch.weights is None else batch.weights[start : start + ROWS],
        )
        for start in range(0, len(batch.x), ROWS)
    ]

    def fold(work: Work) -> list[dict[str, Any]]:
        total: list[dict[str, Any]] = []
        for piece in batches:
            _add(total, work(piece))
        return total

    sizes = [len(part_n)]
    sums = fold(_moments(sizes, [alone]))[0]
    if not np.array_equal(sums["n"], part_n):
        raise BadData(CHANGED)
    clusters = _clusters(sums, scale)
    lone = [clusters.centroids[len(part_n) :]]
    finish([clusters], lone, wanted, lambda targets: fold(_around(targets, sizes, scale)))
    return clusters


def centred(x: Floats, weights: Floats | None) -> tuple[Floats, Floats]:
    """Points in memory about their mean where that keeps digits, and their standard deviations."""
    (total,) = _moments([], [])(Batch(x, [], weights))
    off = _off_centre(total)
    if off is not None:
        x = x - off
        (total,) = _moments([], [])(Batch(x, [], weights))
    return x, _scale(total)


def finish(
    found: list[Clusters],
    alone: Sequence[Floats],
    wanted: frozenset[str],
    around: Callable[[list[Target | None]], list[dict[str, Any]]],
) -> None:
    """Take the second scan, and before it one more where sums of squares have cancelled."""
    again = [_target(c, frozenset({"refine"})) if _cancelled(c) else None for c in found]
    if any(again):
        for clusters, sums, target in zip(found, around(again), again, strict=True):
            if target is not None:
                _refine(clusters, sums)
    targets = [_target(c, _able(c, wanted)) for c in found]
    if any(t.wanted for t in targets):
        sums = around([t if t.wanted else None for t in targets])
        for clusters, target, own, single in zip(found, targets, sums, alone, strict=True):
            if target.wanted:
                _fill(clusters, _with_singles(own, single, target), target.wanted)


def _moments(sizes: Sequence[int], single: Sequence[bool]) -> Work:
    def work(batch: Batch) -> list[dict[str, Any]]:
        x, w = batch.x, batch.weights
        squares = x * x
        found: list[dict[str, Any]] = []
        for codes, k, alone in zip(batch.codes, sizes, single, strict=True):
            sums = dict(kernels.moments(x, squares, np.minimum(codes, k), w, k))
            if alone:
                lone = codes == k + 1
                times = 1 if w is None else w[lone].astype(np.int64)
                sums["singles"] = [np.repeat(x[lone], times, axis=0)]
            found.append(sums)
        total: dict[str, Any] = {
            "n": float(len(x)) if w is None else w.sum(),
            "sums": x.sum(axis=0) if w is None else w @ x,
            "squares": squares.sum(axis=0) if w is None else w @ squares,
        }
        return [*found, total]

    return work


def _around(
    targets: Sequence[Target | None], named: Sequence[int], scale: Floats | None = None
) -> Work:
    def work(batch: Batch) -> list[dict[str, Any]]:
        x = batch.x if scale is None else batch.x / scale
        found: list[dict[str, Any]] = []
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


def folded(batches: Iterable[Any], work: Callable[[Any], list[dict[str, Any]]]) -> list[Any]:
    """Add up the work of all batches, on all cores where there are several."""
    total: list[dict[str, Any]] = []
    source = iter(batches)
    first = next(source, None)
    if first is None:
        return total
    second = next(source, None)
    if second is None:
        _add(total, work(first))
        return total
    threads = max(1, len(os.sched_getaffinity(0)))
    running: deque[Future[list[dict[str, Any]]]] = deque()
    with _blas().limit(limits=1), ThreadPoolExecutor(threads) as pool:
        try:
            for batch in _chained(first, second, source):
                running.append(pool.submit(work, batch))
                if len(running) > 2 * threads:
                    _add(total, running.popleft().result())
            while running:
                _add(total, running.popleft().result())
        finally:
            for future in running:
                future.cancel()
    return total


def _chained(first: Any, second: Any, rest: Iterator[Any]) -> Iterator[Any]:
    yield first
    yield second
    yield from rest


@cache
def _blas() -> ThreadpoolController:
    """The libraries of linear algebra; each batch gets one thread of them."""
    return ThreadpoolController()


def _add(total: list[dict[str, Any]], more: list[dict[str, Any]]) -> None:
    if not total:
        total.extend(more)
        return
    for old, new in zip(total, more, strict=True):
        for name, value in new.items():
            old[name] = old[name] + value


def coder(known: pa.Array, alone: Any = None) -> Callable[[pa.Array], Codes]:
    """Give known labels a code in their order; k is left out, k + 1 is a cluster of its own."""
    k = len(known)
    codes = np.arange(k, dtype=np.int32)
    if alone is not None:
        lone = pa.array([alone]).cast(known.type)
        known, codes = pa.concat_arrays([known, lone]), np.append(codes, np.int32(k + 1))
    codes = np.append(codes, np.int32(k)).astype(np.int32)

    def by_search(labels: pa.Array) -> Codes:
        found = pc.fill_null(pc.index_in(labels, value_set=known), len(known))
        places = found.to_numpy(zero_copy_only=False)
        return codes[places]

    if pa.types.is_integer(known.type) and len(known):
        limits = pc.min_max(known).as_py()
        low, high = limits["min"], limits["max"]
        if high - low < 2**20:
            table = np.full(high - low + 3, k, dtype=np.int32)
            table[known.to_numpy().astype(np.int64) - low + 1] = codes[:-1]

            def by_table(labels: pa.Array) -> Codes:
                if labels.null_count:
                    return by_search(labels)
                places = labels.to_numpy(zero_copy_only=False).astype(np.int64)
                places -= low - 1
                return table.take(places, mode="clip")

            return by_table

    return by_search


def _check(points: Points, found: list[dict[str, Any]]) -> None:
    """Refuse sums that are not numbers, and data that changes while it is read."""
    for part, sums in zip(points.parts, found, strict=False):
        if not (np.isfinite(sums["sums"]).all() and np.isfinite(sums["squares"]).all()):
            refuse_faults(points.engine, points.scan, points.features, points.where)
        if not np.array_equal(sums["n"], part.n):
            raise BadData(CHANGED)


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


def _refine(of: Clusters, sums: Sums) -> None:
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
        able -= {"distances", "cluster_products", *_OTHERS}
    if (of.n <= p).any():
        able -= {"cluster_products"}  # a cluster of few points has a singular scatter
    if k > BALLS_CLUSTERS:
        able -= {"balls"}
    return able


def _target(of: Clusters, wanted: frozenset[str]) -> Target:
    return Target(of.n, of.centroids, of.mean, wanted, of.wgss / of.n, of.radius2)


def _with_singles(sums: dict[str, Any], alone: Floats, target: Target) -> dict[str, Any]:
    """Add the points that are clusters of their own to the sums of all others."""
    if not len(alone):
        return sums
    total = [sums]
    codes = np.arange(len(target.n) - len(alone), len(target.n), dtype=np.int32)
    for start in range(0, len(alone), ROWS):
        rows = slice(start, start + ROWS)
        _add(total, [dict(kernels.around(alone[rows], codes[rows], None, target))])
    return total[0]


def _fill(of: Clusters, sums: dict[str, Any], wanted: frozenset[str]) -> None:
    if "distances" in wanted:
        of.distances, of.total_distances = sums["distances"], float(sums["total_distances"])
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
        names = ("ratios", "simplified", "alternative", "on_other_centroid", "on_both_centroids")
        of.neighbours = {name: sums[name] for name in names}
    if "mean_squares" in wanted:
        of.squared = {name: sums[name] for name in ("squared_silhouettes", "same_places")}
    if "balls" in wanted:
        of.balls = {name: sums[name] for name in ("inside", "halfway")}


def _adds_up_in_sql(points: Points) -> bool:
    few = len(points.parts) <= SQL_PARTITIONS and points.features.p <= SQL_FEATURES
    plain = points.features.array is None
    return few and plain and all(part.alone is None for part in points.parts)


def _sql_moments(points: Points) -> list[dict[str, Any]]:
    """The moments of every part by one aggregation each, and those of all points."""
    found = []
    for part, code in zip(points.parts, points.coders, strict=True):
        points.scans += 1
        query = statements.moments(
            points.scan.table, points.features.expressions(), part.label, points.weight,
            points.where,
        )  # fmt: skip
        table = points.engine.fetch(query).combine_chunks()
        codes = code(_whole(table["label"]))
        p, k = points.features.p, len(part.n)
        if not table["rows"].equals(table["present"]):
            refuse_faults(points.engine, points.scan, points.features, points.where)
        found.append((codes, _columns(table, "n"), _columns(table, "s", p), _columns(table, "q", p), k))
    parts = []
    for codes, n, sums, squares, k in found:
        order = np.argsort(codes, kind="stable")
        kept = order[codes[order] < k]
        parts.append({"n": n[kept, 0], "sums": sums[kept], "squares": squares[kept]})
    _, n, sums, squares, _ = found[0]
    return [*parts, {"n": n.sum(), "sums": sums.sum(axis=0), "squares": squares.sum(axis=0)}]


def _whole(values: pa.ChunkedArray) -> pa.Array:
    return values.chunk(0) if values.num_chunks == 1 else pa.concat_arrays(values.chunks)


def _columns(table: pa.Table, prefix: str, p: int = 0) -> NDArray[np.float64]:
    names = [prefix] if p == 0 else [f"{prefix}{i}" for i in range(p)]
    arrays = [table[name].to_numpy().astype(np.float64) for name in names]
    return np.stack(arrays, axis=1) if arrays else np.empty((table.num_rows, 0))


def _sql_around(
    points: Points, targets: Sequence[Target | None], scale: Floats | None
) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for part, target in zip(points.parts, targets, strict=True):
        if target is None:
            found.append({})
            continue
        points.scans += 1
        k, p = target.centroids.shape
        columns = {f"c{i}": target.centroids[:, i] for i in range(p)}
        clusters = points.engine.register(
            pa.table({"label": part.labels, "code": np.arange(k), **columns})
        )
        query = statements.about(
            points.scan.table, clusters, points.features.expressions(scale=scale), part.label,
            target.mean.tolist(), points.weight, points.where, target.wanted,
        )  # fmt: skip
        table = points.engine.fetch(query).sort_by("code").combine_chunks()
        if table.num_rows != k:
            raise BadData(CHANGED)
        found.append(_read_around(table, p, target.wanted))
    return found


def _read_around(table: pa.Table, p: int, wanted: frozenset[str]) -> dict[str, Any]:
    sums: dict[str, Any] = {}
    if "s0" in table.column_names:
        sums["sums"] = _columns(table, "s", p)
    if "refine" in wanted:
        sums["squares"] = _columns(table, "q", p)
    if "distances" in wanted:
        sums["distances"] = _columns(table, "d")[:, 0]
        sums["total_distances"] = _columns(table, "e").sum()
    if "products" in wanted or "cluster_products" in wanted:
        scatters = np.empty((table.num_rows, p, p))
        for i in range(p):
            for j in range(i + 1):
                scatters[:, i, j] = scatters[:, j, i] = _columns(table, f"w{i}_{j}")[:, 0]
        sums |= {"scatters": scatters} if "cluster_products" in wanted else {
            "scatter": scatters.sum(axis=0)
        }
    return sums
