"""What the sums over the points of a partition say: dispersion, separation, determinants.

Each function gives the columns of one statistic for one partition. The equations are
cited as in the catalog.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Columns = dict[str, float | None]

_EPS = float(np.finfo(np.float64).eps)
_PAIRS_AT_ONCE = 2**21


@dataclass(slots=True)
class Clusters:
    """The clusters of one partition, k of p features, as sums over their points.

    Centroids are about the shift that all points were taken about; `squares` are the
    sums of squares of each cluster and feature about the centroid. The other sums are
    there where something that was asked for reads them.
    """

    n: Floats
    centroids: Floats
    squares: Floats
    distances: Floats | None = None
    total_distances: float = 0.0
    scatter: Floats | None = None
    scatters: Floats | None = None
    neighbours: dict[str, Floats] | None = None
    squared: dict[str, Floats] | None = None
    balls: dict[str, Floats] | None = None

    @property
    def total(self) -> float:
        """The number of points."""
        return float(self.n.sum())

    @property
    def mean(self) -> Floats:
        """The mean of all points, about the shift."""
        mean: Floats = self.n @ self.centroids / self.total
        return mean

    @property
    def offsets(self) -> Floats:
        """The centroids about the mean; what rounding has left of equal ones is 0."""
        offsets = self.centroids - self.mean
        offsets[np.abs(offsets) <= self.noise] = 0.0
        return offsets

    @property
    def noise(self) -> Floats:
        """What rounding may put between equal centroids, feature by feature."""
        about_shift = self.squares.sum(axis=0) + self.n @ self.centroids**2
        noise: Floats = 1e-13 * np.sqrt(about_shift / self.total)
        return noise

    @property
    def wgss(self) -> Floats:
        """The within-cluster sum of squares of each cluster (D 15)."""
        wgss: Floats = self.squares.sum(axis=1)
        return wgss

    @property
    def between(self) -> Floats:
        """The between-cluster sum of squares of each feature (D 71)."""
        between: Floats = self.n @ self.offsets**2
        return between

    @property
    def variances(self) -> Floats:
        """The variances of each cluster and feature (D 79)."""
        return self.squares / self.n[:, None]

    @property
    def radius2(self) -> float:
        """The squared radius of the balls of s_dbw (D 85)."""
        norms = np.sqrt((self.variances**2).sum(axis=1))
        return float(norms.sum()) / len(self.n) ** 2


def dispersion(of: Clusters) -> Columns:
    """Sums of squares within and between clusters (D 16, 23, 30, 31)."""
    wgss = of.wgss
    flat = int((wgss == 0).sum())
    logs = None if flat else float(of.n @ np.log(wgss / of.n))
    return {
        "p": float(of.centroids.shape[1]),
        "wgss": float(wgss.sum()),
        "bgss": float(of.between.sum()),
        "mean_dispersions": float((wgss / of.n).sum()),
        "dispersion_logs": logs,
        "flat_clusters": float(flat),
    }


def shares(of: Clusters) -> Columns:
    """The share of each feature's sum of squares that lies between clusters (D 73, V 31)."""
    between = of.between
    total = between + of.squares.sum(axis=0)
    constant = int((total == 0).sum())
    share = between / np.where(total > 0, total, 1.0)
    return {
        "shares": float(share.sum()),
        "root_shares": float(np.sqrt(share).sum()),
        "constant_features": float(constant),
    }


def variances(of: Clusters) -> Columns:
    """Norms of the variances of the clusters and of all points (D 78-80)."""
    total = (of.between + of.squares.sum(axis=0)) / of.total
    return {
        "variance_norms": float(np.sqrt((of.variances**2).sum(axis=1)).sum()),
        "variance_norm": float(np.sqrt((total**2).sum())),
    }


def _centroid_pairs(of: Clusters) -> Iterator[tuple[slice, Floats]]:
    """Distances of centroids, some rows at a time; equal centroids are 0 apart."""
    from scipy.spatial.distance import cdist

    k = len(of.n)
    noise = of.noise
    limit = float(np.sqrt((noise**2).sum()))
    rows = max(1, _PAIRS_AT_ONCE // k)
    for start in range(0, k, rows):
        block = slice(start, min(start + rows, k))
        apart = cdist(of.centroids[block], of.centroids)
        one, other = np.nonzero(apart <= limit)
        gaps = np.abs(of.centroids[one + start] - of.centroids[other])
        equal = (gaps <= noise).all(axis=1)
        apart[one[equal], other[equal]] = 0.0
        yield block, apart


def separation(of: Clusters) -> Columns:
    """Distances between centroids (D 63, 75, 83; V 46; Davies-Bouldin of Z)."""
    k = len(of.n)
    largest, smallest, inverse, pair_ss, similar = 0.0, np.inf, 0.0, 0.0, 0.0
    dispersions = np.sqrt(of.wgss / of.n)
    for block, apart in _centroid_pairs(of):
        largest = max(largest, float(apart.max()))
        totals = apart.sum(axis=1)
        inverse += float((1.0 / np.where(totals > 0, totals, 1.0)).sum())
        inverse_sizes = 1.0 / of.n[block, None] + 1.0 / of.n
        pair_ss += float((apart**2 / inverse_sizes).sum()) / 2
        _leave_self_out(apart, block)
        smallest = min(smallest, float(apart.min()))
        similar += _similarities(dispersions, block, apart)
    return {
        "centroid_max": largest,
        "centroid_min": smallest if k > 1 else 0.0,
        "inverse_separations": inverse,
        "pair_ss": pair_ss,
        "similarities_rms": similar,
    }


def _leave_self_out(apart: Floats, block: slice) -> None:
    apart[np.arange(len(apart)), np.arange(block.start, block.stop)] = np.inf


def _similarities(dispersions: Floats, block: slice, apart: Floats) -> float:
    """The sum over a block of clusters of the largest similarity to another one (D 35)."""
    similarity = (dispersions[block, None] + dispersions) / np.where(apart > 0, apart, 1.0)
    return float(similarity.max(axis=1).sum())


def spread(of: Clusters) -> Columns:
    """Distances to the centroids (D 34, 64)."""
    assert of.distances is not None
    similar = 0.0
    for block, apart in _centroid_pairs(of):
        _leave_self_out(apart, block)
        similar += _similarities(of.distances / of.n, block, apart)
    return {
        "within_distances": float(of.distances.sum()),
        "similarities": similar,
    }


def reach(of: Clusters) -> Columns:
    """Distances to the mean (D 65)."""
    return {"total_distances": of.total_distances}


def determinants(of: Clusters) -> Columns:
    """Determinants of the scatter matrices, as logarithms (D 36, 103).

    With W = L·Lᵀ and B = A·Aᵀ, det(T)/det(W) is the product of 1 + σ² over the singular
    values σ of L⁻¹·A, and the trace of W⁻¹·B is the sum of σ²: T need not be formed,
    where W would be lost beside B.
    """
    import scipy.linalg

    assert of.scatter is not None
    within = of.scatter
    ln_w = log_determinant(within)
    if ln_w is None or of.total - len(of.n) < len(within):
        return {"w_singular": 1.0, "ln_det_w": None, "ln_det_ratio": None, "wib": None}
    scale = np.sqrt(np.diag(within))
    factor = np.linalg.cholesky(within / np.outer(scale, scale))
    roots = (of.offsets * np.sqrt(of.n)[:, None] / scale).T
    solved = scipy.linalg.solve_triangular(factor, roots, lower=True)
    squared = np.linalg.svd(solved, compute_uv=False) ** 2
    return {
        "w_singular": 0.0,
        "ln_det_w": ln_w,
        "ln_det_ratio": float(np.log1p(squared).sum()),
        "wib": float(squared.sum()),
    }


def cluster_determinants(of: Clusters) -> Columns:
    """The log determinants of the clusters' covariance matrices (D 77)."""
    p = of.centroids.shape[1]
    if of.scatters is None:  # a cluster of no more points than features is singular
        return {"cluster_ln_dets": None, "singular_clusters": float((of.n <= p).sum())}
    found = [log_determinant(scatter) for scatter in of.scatters]
    singular = sum(ln is None for ln in found)
    total = None
    if not singular:
        lns = np.array([ln for ln in found if ln is not None])
        total = float(of.n @ (lns - p * np.log(of.n)))
    return {"cluster_ln_dets": total, "singular_clusters": float(singular)}


def pooled(of: Clusters) -> tuple[Floats, Floats]:
    """The within and between scatter matrices (D 14, 20)."""
    assert of.scatter is not None
    return of.scatter, (of.offsets * of.n[:, None]).T @ of.offsets


def log_determinant(scatter: Floats) -> float | None:
    """The logarithm of a scatter matrix's determinant, or None where it is singular.

    Features are brought to one scale first, so that only their dependence counts: what
    is left of a dependent feature is then of the size of rounding.
    """
    diagonal = np.diag(scatter)
    if (diagonal <= 0).any():
        return None
    scale = np.sqrt(diagonal)
    correlation = scatter / np.outer(scale, scale)
    values = np.linalg.eigvalsh(correlation)
    if values[0] <= 8 * len(scatter) * _EPS:
        return None
    return float(np.linalg.slogdet(correlation)[1] + 2 * np.log(scale).sum())


def neighbours(of: Clusters) -> Columns:
    """Points between their own and the nearest other centroid (D 107, V 2.1.7, 2.1.8)."""
    assert of.neighbours is not None
    sums = {name: float(values.sum()) for name, values in of.neighbours.items()}
    sums["gancarski"] = float(np.maximum(0.0, of.n - of.neighbours["ratios"]).sum())
    del sums["ratios"]
    return dict(sums)


def squared(of: Clusters) -> Columns:
    """Silhouettes with squared distances."""
    assert of.squared is not None
    return {name: float(values.sum()) for name, values in of.squared.items()}


def densities(of: Clusters) -> Columns:
    """Densities about centroids and midway between them (D 86)."""
    if of.balls is None:
        return {"densities": None, "empty_balls": 0.0}
    inside, halfway = of.balls["inside"], of.balls["halfway"]
    own = np.diag(inside)
    total, empty = 0.0, 0
    for a in range(len(of.n) - 1):
        near_a = own[a] + inside[a + 1 :, a]  # points of a and b near the centroid of a, each b
        near_b = own[a + 1 :] + inside[a, a + 1 :]
        largest = np.maximum(near_a, near_b)
        midway = halfway[a, a + 1 :] + halfway[a + 1 :, a]
        empty += int((largest == 0).sum())
        total += float((midway / np.where(largest > 0, largest, 1.0)).sum())
    return {"densities": total, "empty_balls": float(empty)}


STATISTICS: dict[str, Callable[[Clusters], Columns]] = {
    "dispersion": dispersion,
    "shares": shares,
    "variances": variances,
    "separation": separation,
    "spread": spread,
    "reach": reach,
    "determinants": determinants,
    "cluster_determinants": cluster_determinants,
    "neighbours": neighbours,
    "squared": squared,
    "densities": densities,
}
