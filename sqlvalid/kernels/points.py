"""Sums over a batch of points: by cluster, about the centroids, and to the other centroids.

A batch is a matrix of points (rows) and features (columns) about a common shift, the
code of each point's cluster, and weights or None. Codes from k on are points that are
left out. Sums of batches add up to the sums of all points.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]
Sums = Mapping[str, Any]

# Where x·c expansions have cancelled to this share of their terms, differences are taken instead.
_CANCELLED = 1e-4
# Elements of a block of distances: they stay in a core's cache, and threads do not wait for the
# interpreter (at a quarter of it three clusterings of 10M points took 7.6 s, now 4.5 s).
BLOCK = 2**18
_SHARED = 2**20  # elements of a sum from which on batches share it
EPSILON = 1e-6  # of the alternative silhouette (V 20)


@dataclass(frozen=True, slots=True)
class Target:
    """The clusters that points are measured against, and what is wanted of it.

    `dispersions` are the mean squared distances to the centroids. For the balls of s_dbw,
    `radius2` is their squared radius, and `quarter_gaps2` a quarter of the squared
    distances of all centroids. `shared` holds the sums that are large, once for all batches.
    """

    n: Floats
    centroids: Floats
    mean: Floats
    wanted: frozenset[str]
    dispersions: Floats
    radius2: float = 0.0
    quarter_gaps2: Floats | None = None
    half_gaps: Floats | None = None
    shared: dict[str, Floats] = field(default_factory=dict)
    lock: Any = field(default_factory=threading.Lock)


def by_cluster(codes: Codes, weights: Floats | None, k: int) -> Any:
    """The matrix that adds up rows by cluster: k + 1 rows, the last for what is left out."""
    import scipy.sparse

    data = np.ones(len(codes)) if weights is None else weights
    starts = np.arange(len(codes) + 1, dtype=np.int32)
    return scipy.sparse.csc_array((data, codes, starts), shape=(k + 1, len(codes)))


def moments(x: Floats, squares: Floats, codes: Codes, weights: Floats | None, k: int) -> Sums:
    """Points, sums and sums of squares (about the shift) of each cluster."""
    adder = by_cluster(codes, weights, k)
    return {
        "n": np.bincount(codes, weights, minlength=k + 1)[:k].astype(np.float64),
        "sums": (adder @ x)[:k],
        "squares": (adder @ squares)[:k],
    }


def around(x: Floats, codes: Codes, weights: Floats | None, to: Target) -> Sums:
    """What is wanted of the points about their own centroids and near the other ones."""
    k, p = to.centroids.shape
    if len(codes) and codes.max() >= k:
        used = codes < k
        x, codes = x[used], codes[used]
        weights = None if weights is None else weights[used]
    found = _zeros(k, p, to.wanted)
    # Large sums are added to where all batches share them; of small ones each batch has its own.
    own = {} if k * max(k, p * p) > _SHARED else room(k, p, to.wanted)
    large, lock = (own, nullcontext()) if own else (to.shared, to.lock)
    # A block stays in a core's cache, and has rows enough for the products of each cluster.
    rows = max(BLOCK // p, 1024, 64 * k if "cluster_products" in to.wanted else 0)
    for start in range(0, len(x), rows):
        block = slice(start, start + rows)
        w = None if weights is None else weights[block]
        _about_own(x[block], codes[block], w, to, found, Large(large, lock))
    with to.lock:
        for name, sums in own.items():
            to.shared[name] += sums
    return found


@dataclass(frozen=True, slots=True)
class Large:
    """Where sums that may be large are added to, and what guards them."""

    sums: dict[str, Floats]
    lock: AbstractContextManager[Any]


_BY_CLUSTER = {
    "distances": ("distances",),
    "nearest": ("ratios", "simplified", "alternative", "on_other_centroid", "on_both_centroids"),
    "mean_squares": ("squared_silhouettes", "same_places"),
}
SUMS = _BY_CLUSTER | {"balls": ("inside", "halfway")}


def _zeros(k: int, p: int, wanted: frozenset[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for asked, names in _BY_CLUSTER.items():
        if asked in wanted:
            found |= {name: np.zeros(k) for name in names}
    if "mean_distances" in wanted:
        found["total_distances"] = 0.0
    if wanted & {"refine", "products", "cluster_products"}:
        found["sums"] = np.zeros((k, p))
    if "refine" in wanted:
        found["squares"] = np.zeros((k, p))
    if "products" in wanted and "cluster_products" not in wanted:
        found["scatter"] = np.zeros((p, p))
    return found


def room(k: int, p: int, wanted: frozenset[str]) -> dict[str, Floats]:
    """Room for the sums that are large, which all batches share."""
    found: dict[str, Floats] = {}
    if "balls" in wanted:
        found |= {name: np.zeros((k, k)) for name in SUMS["balls"]}
    if "cluster_products" in wanted:
        found["scatters"] = np.zeros((k, p, p))
    return found


def _about_own(
    x: Floats, codes: Codes, w: Floats | None, to: Target, found: dict[str, Any], large: Large
) -> None:
    k = len(to.centroids)
    residuals = to.centroids.take(codes, axis=0)
    np.subtract(x, residuals, out=residuals)
    if "sums" in found:
        adder = by_cluster(codes, w, k)
        found["sums"] += (adder @ residuals)[:k]
        if "squares" in found:
            found["squares"] += (adder @ (residuals * residuals))[:k]
    if "cluster_products" in to.wanted:
        _cluster_products(residuals, codes, w, large)
    elif "scatter" in found:
        found["scatter"] += (residuals if w is None else residuals * w[:, None]).T @ residuals
    others = to.wanted & {"nearest", "mean_squares", "balls"}
    if others or "distances" in to.wanted:
        own2 = np.einsum("ij,ij->i", residuals, residuals)
    if "distances" in to.wanted:
        found["distances"] += _added(np.sqrt(own2), codes, w, k)
    if "mean_distances" in to.wanted:
        np.subtract(x, to.mean, out=residuals)
        away = np.sqrt(np.einsum("ij,ij->i", residuals, residuals))
        found["total_distances"] += float(away.sum() if w is None else away @ w)
    if others:
        rows = int(np.clip(BLOCK // k, 64, 8192))
        for start in range(0, len(x), rows):
            block = slice(start, start + rows)
            some = None if w is None else w[block]
            _near_others(x[block], own2[block], codes[block], some, to, found, large)


def _added(values: Floats, codes: Codes, weights: Floats | None, k: int) -> Floats:
    given = values if weights is None else values * weights
    added: Floats = np.bincount(codes, given, minlength=k).astype(np.float64, copy=False)
    return added


def _cluster_products(residuals: Floats, codes: Codes, w: Floats | None, to: Large) -> None:
    """Add the products of features of each cluster: rows of one cluster side by side."""
    scatters = to.sums["scatters"]
    k = len(scatters)
    order = np.argsort(codes.astype(np.uint16) if k < 2**16 else codes, kind="stable")
    ends = np.cumsum(np.bincount(codes, minlength=k))
    rows = residuals.take(order, axis=0)
    weighted = rows if w is None else rows * w[order, None]
    start = 0
    for cluster, end in enumerate(ends):
        if end > start:
            products = weighted[start:end].T @ rows[start:end]
            with to.lock:
                scatters[cluster] += products
        start = end


def _near_others(
    x: Floats, own2: Floats, codes: Codes, w: Floats | None, to: Target, found: dict[str, Any],
    large: Large,
) -> None:  # fmt: skip
    """Sums over points that look at every other centroid."""
    k = len(to.centroids)
    alone = to.n[codes] == 1
    far2, nearest2 = _squared_distances(x, codes, to.centroids)
    if "nearest" in to.wanted:
        a, b = np.sqrt(own2), np.sqrt(nearest2)
        larger = np.maximum(a, b)
        sure = np.where(larger > 0, larger, 1.0)
        values = {
            "ratios": a / np.where(b > 0, b, 1.0),
            "simplified": np.where(alone, 0.0, (b - a) / sure),
            "alternative": np.where(alone, 0.0, b / (a + EPSILON)),
            "on_other_centroid": (b == 0).astype(np.float64),
            "on_both_centroids": ((larger == 0) & ~alone).astype(np.float64),
        }
        for name, value in values.items():
            found[name] += _added(value, codes, w, k)
    if "balls" in to.wanted:
        _balls(x, own2, far2, codes, w, to, large)
    if "mean_squares" in to.wanted:
        far2 += to.dispersions[:, None]
        nearest = far2.min(axis=0)
        size = to.n[codes]
        own = (own2 + to.dispersions[codes]) * (size / np.where(alone, 1.0, size - 1.0))
        larger = np.maximum(own, nearest)
        silhouettes = (nearest - own) / np.where(larger > 0, larger, 1.0)
        found["squared_silhouettes"] += _added(np.where(alone, 0.0, silhouettes), codes, w, k)
        found["same_places"] += _added(((larger == 0) & ~alone).astype(np.float64), codes, w, k)


def _squared_distances(x: Floats, codes: Codes, centroids: Floats) -> tuple[Floats, Floats]:
    """Squared distances to the other centroids, a row per centroid, and the least of each point.

    They are infinite at the own centroid. Small ones are taken by differences.
    """
    sizes, lengths = np.einsum("ij,ij->i", centroids, centroids), np.einsum("ij,ij->i", x, x)
    found = (-2.0 * centroids) @ x.T
    found += sizes[:, None]
    found += lengths
    found[codes, np.arange(len(x))] = np.inf
    nearest = found.min(axis=0)
    limit = _CANCELLED * (lengths + sizes.max(initial=0.0))
    unsure = np.nonzero(nearest < limit)[0]
    if len(unsure):
        small = np.nonzero(found[:, unsure] < limit[unsure])
        for to, place in _pieces(small):
            of = unsure[place]
            apart = x[of] - centroids[to]
            found[to, of] = np.einsum("ij,ij->i", apart, apart)
        nearest[unsure] = found[:, unsure].min(axis=0)
    return found, nearest


def _pieces(entries: tuple[NDArray[np.intp], ...]) -> Iterator[tuple[NDArray[np.intp], ...]]:
    """Entries of a block, a bounded number at a time."""
    for start in range(0, len(entries[0]), BLOCK):
        yield tuple(places[start : start + BLOCK] for places in entries)


def _balls(
    x: Floats, own2: Floats, far2: Floats, codes: Codes, w: Floats | None, to: Target,
    large: Large,
) -> None:  # fmt: skip
    """Count, by cluster of the point, the balls about centroids and midpoints that hold it."""
    assert to.half_gaps is not None
    assert to.quarter_gaps2 is not None
    k = len(to.centroids)
    own_inside = _added((own2 < to.radius2).astype(np.float64), codes, w, k)
    with large.lock:
        large.sums["inside"][np.arange(k), np.arange(k)] += own_inside
    # A ball that holds a point reaches more than half way to the other centroid.
    some = np.nonzero(np.sqrt(own2) + np.sqrt(to.radius2) >= to.half_gaps[codes] * (1 - 1e-9))[0]
    if not len(some):
        return
    x, own2, codes = x[some], own2[some], codes[some]
    w = None if w is None else w[some]
    far2 = far2[:, some]
    centres = to.centroids
    midway = (far2 + own2) / 2 - to.quarter_gaps2.take(codes, axis=1)
    sizes = np.einsum("ij,ij->i", centres, centres)
    margin = 1e-9 * (np.einsum("ij,ij->i", x, x).max() + sizes.max() + to.radius2)
    for name, squared in (("inside", far2), ("halfway", midway)):
        held_by = np.nonzero(squared.min(axis=0) < to.radius2 + margin)[0]
        near = np.nonzero(squared[:, held_by] < to.radius2 + margin)
        for cluster, place in _pieces(near):
            point = held_by[place]
            own = codes[point]
            at = centres[cluster]
            if name == "halfway":
                at = (at + centres[own]) / 2
            exact = squared[cluster, point]
            unsure = np.nonzero(exact > to.radius2 - margin)[0]
            gap = x[point[unsure]] - at[unsure]
            exact[unsure] = np.einsum("ij,ij->i", gap, gap)
            held = exact < to.radius2
            counted = 1.0 if w is None else w[point[held]]
            with large.lock:
                np.add.at(large.sums[name], (own[held], cluster[held]), counted)
