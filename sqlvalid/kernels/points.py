"""Sums over a batch of points: by cluster, about the centroids, and to the other centroids.

A batch is a matrix of points (rows) and features (columns) about a common shift, the
code of each point's cluster, and weights or None. Codes from k on are points that are
left out. Sums of batches add up to the sums of all points.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]
Sums = Mapping[str, Any]

# Where x·c expansions have cancelled to this share of their terms, differences are taken instead.
_CANCELLED = 1e-4
# Elements of a block of distances that stay in a core's cache.
_BLOCK = 2**16
EPSILON = 1e-6  # of the alternative silhouette (V 20)


@dataclass(frozen=True, slots=True)
class Target:
    """The clusters that points are measured against, and what is wanted of it.

    `dispersions` are the mean squared distances to the centroids, `radius2` is the
    squared radius of the balls of s_dbw.
    """

    n: Floats
    centroids: Floats
    mean: Floats
    wanted: frozenset[str]
    dispersions: Floats
    radius2: float = 0.0


def by_cluster(codes: Codes, weights: Floats | None, k: int) -> scipy.sparse.csc_array:
    """The matrix that adds up rows by cluster: k + 1 rows, the last for what is left out."""
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
    k = len(to.centroids)
    if len(codes) and codes.max() >= k:
        used = codes < k
        x, codes = x[used], codes[used]
        weights = None if weights is None else weights[used]
    residuals = x - to.centroids[codes]
    found: dict[str, Any] = {}
    if to.wanted & {"refine", "products", "cluster_products"}:
        adder = by_cluster(codes, weights, k)
        found["sums"] = (adder @ residuals)[:k]
        if "refine" in to.wanted:
            found["squares"] = (adder @ (residuals * residuals))[:k]
        else:
            found |= _products(residuals, codes, weights, k, "cluster_products" in to.wanted)
    others = to.wanted & {"nearest", "mean_squares", "balls"}
    if others or "distances" in to.wanted:
        own2 = np.einsum("ij,ij->i", residuals, residuals)
        if "distances" in to.wanted:
            found["distances"] = _added(np.sqrt(own2), codes, weights, k)
            off = x - to.mean
            away = np.sqrt(np.einsum("ij,ij->i", off, off))
            found["total_distances"] = away.sum() if weights is None else away @ weights
        if others:
            found |= _others(x, own2, codes, weights, to)
    return found


def _added(values: Floats, codes: Codes, weights: Floats | None, k: int) -> Floats:
    return np.bincount(codes, values if weights is None else values * weights, minlength=k)


def _products(
    residuals: Floats, codes: Codes, weights: Floats | None, k: int, each: bool
) -> dict[str, Floats]:
    """Products of features about the centroids: pooled, or of each cluster."""
    weighted = residuals if weights is None else residuals * weights[:, None]
    if not each:
        return {"scatter": weighted.T @ residuals}
    order = np.argsort(codes.astype(np.uint16) if k < 2**16 else codes, kind="stable")
    ends = np.cumsum(np.bincount(codes, minlength=k))
    left, right = weighted[order], residuals[order] if weights is not None else None
    p = residuals.shape[1]
    scatters = np.zeros((k, p, p))
    start = 0
    for cluster, end in enumerate(ends):
        if end > start:
            rows = left[start:end]
            scatters[cluster] = rows.T @ (rows if right is None else right[start:end])
        start = end
    return {"scatters": scatters}


def _others(
    x: Floats, own2: Floats, codes: Codes, weights: Floats | None, to: Target
) -> dict[str, Any]:
    """Sums over points that look at every other centroid, block by block."""
    k, p = to.centroids.shape
    found: dict[str, Any] = {}
    if "nearest" in to.wanted:
        names = ("ratios", "simplified", "alternative", "on_other_centroid", "on_both_centroids")
        found |= {name: np.zeros(k) for name in names}
    if "mean_squares" in to.wanted:
        found |= {name: np.zeros(k) for name in ("squared_silhouettes", "same_places")}
    if "balls" in to.wanted:
        found |= {name: np.zeros((k, k)) for name in ("inside", "halfway")}
    rows = int(np.clip(_BLOCK // max(k, p), 64, 8192))
    for start in range(0, len(x), rows):
        block = slice(start, start + rows)
        w = None if weights is None else weights[block]
        _block(x[block], own2[block], codes[block], w, to, found)
    return found


def _block(
    x: Floats, own2: Floats, codes: Codes, w: Floats | None, to: Target, found: dict[str, Any]
) -> None:
    k = len(to.centroids)
    alone = to.n[codes] == 1
    far2 = _squared_distances(x, codes, to.centroids)  # (k, rows), infinite at the own cluster
    if "nearest" in to.wanted:
        a, b = np.sqrt(own2), np.sqrt(far2.min(axis=0))
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
    if "mean_squares" in to.wanted:
        nearest = (far2 + to.dispersions[:, None]).min(axis=0)
        size = to.n[codes]
        own = (own2 + to.dispersions[codes]) * (size / np.where(alone, 1.0, size - 1.0))
        larger = np.maximum(own, nearest)
        silhouettes = (nearest - own) / np.where(larger > 0, larger, 1.0)
        found["squared_silhouettes"] += _added(np.where(alone, 0.0, silhouettes), codes, w, k)
        found["same_places"] += _added(((larger == 0) & ~alone).astype(float), codes, w, k)
    if "balls" in to.wanted:
        _balls(x, own2, far2, codes, w, to, found)


def _squared_distances(x: Floats, codes: Codes, centroids: Floats) -> Floats:
    """Squared distances to the other centroids; small ones by differences."""
    sizes, lengths = np.einsum("ij,ij->i", centroids, centroids), np.einsum("ij,ij->i", x, x)
    found = (-2.0 * centroids) @ x.T
    found += sizes[:, None]
    found += lengths
    found[codes, np.arange(len(x))] = np.inf
    small = np.nonzero(found < (_CANCELLED * (lengths + sizes.max(initial=0.0))))
    for to, of in _pieces(small):
        apart = x[of] - centroids[to]
        found[to, of] = np.einsum("ij,ij->i", apart, apart)
    return found


def _pieces(entries: tuple[NDArray[np.intp], ...]) -> Iterator[tuple[NDArray[np.intp], ...]]:
    """Entries of a block, a bounded number at a time."""
    for start in range(0, len(entries[0]), _BLOCK):
        yield tuple(places[start : start + _BLOCK] for places in entries)


def _balls(
    x: Floats, own2: Floats, far2: Floats, codes: Codes, w: Floats | None, to: Target,
    found: dict[str, Any],
) -> None:  # fmt: skip
    """Count, by cluster of the point, the balls about centroids and midpoints that hold it."""
    far2[codes, np.arange(len(x))] = own2
    centres = to.centroids
    apart = np.einsum("ij,ij->i", centres, centres)
    between = apart[:, None] + apart[codes] - 2.0 * (centres @ centres[codes].T)
    midway = (far2 + own2) / 2 - between / 4
    margin = 1e-9 * (np.einsum("ij,ij->i", x, x).max(initial=0.0) + apart.max() + to.radius2)
    for name, squared in (("inside", far2), ("halfway", midway)):
        near = np.nonzero(squared < to.radius2 + margin)
        for cluster, point in _pieces(near):
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
            np.add.at(found[name], (own[held], cluster[held]), counted)
