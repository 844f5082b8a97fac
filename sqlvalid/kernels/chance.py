"""The mutual information that two random partitions with given sizes would have (Vinh et al. 2010).

A cell of the contingency table of two random partitions with row size a and column
size b of N points is hypergeometric. Only distinct pairs (a, b) matter, and of each
distribution only the part that carries weight.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Terms beyond this many nats below the mode are dropped: exp(-50) = 2e-22.
_NATS = 50.0
# Entries of one block of pairs x terms; small, so that its few arrays stay in cache.
_BLOCK = 1 << 14


def expected_mutual_information(
    sizes_a: Ints, times_a: Ints, sizes_b: Ints, times_b: Ints, n: int
) -> float:
    """Expected mutual information in nats, sizes given as distinct values with multiplicities.

    >>> one = np.array([1])
    >>> round(expected_mutual_information(np.array([2]), 2 * one, np.array([2]), 2 * one, 4), 12)
    0.231049060187
    """
    a = np.repeat(sizes_a, len(sizes_b)).astype(np.float64)
    b = np.tile(sizes_b, len(sizes_a)).astype(np.float64)
    times = np.outer(times_a.astype(np.float64), times_b.astype(np.float64)).ravel()
    total = float(n)
    mode = np.floor((a + 1) * (b + 1) / (total + 2))
    reach = _reach(a, b, total)
    order = np.argsort(reach)
    expected = np.zeros(len(a))
    start = 0
    while start < len(order):
        stop = start + max(1, int(_BLOCK // reach[order[start]]))
        stop = min(stop, len(order))
        while stop - start > 1 and (stop - start) * reach[order[stop - 1]] > _BLOCK:
            stop = start + (stop - start + 1) // 2
        block = order[start:stop]
        width = int(reach[order[stop - 1]])
        expected[block] = _expected_term(a[block], b[block], mode[block], total, width)
        start = stop
    return float(np.dot(times, expected))


def _reach(a: Floats, b: Floats, total: float) -> Floats:
    """How far from the mode terms matter: Bernstein's bound, and never past the support."""
    variance = a * (b / total) * (1 - np.maximum(a, b) / total)
    beyond = _NATS / 3 + np.sqrt(_NATS * _NATS / 9 + 2 * _NATS * np.maximum(variance, 0))
    reach: Floats = np.minimum(np.ceil(beyond) + 1, np.minimum(a, b))
    return reach


def _expected_term(a: Floats, b: Floats, mode: Floats, total: float, width: int) -> Floats:
    """E[(x/N) ln(N x / (a b))] for hypergeometric x, by ratios of neighbours from the mode.

    The probabilities are taken relative to that of the mode and divided by their sum,
    so no factorial is ever formed; log-gamma differences would lose eight digits at
    ten million points.
    """
    a, b, mode = a[:, None], b[:, None], mode[:, None]
    step = np.arange(1, width + 1, dtype=np.float64)
    up = mode + step
    rising = np.cumprod((a - up + 1) * (b - up + 1) / (up * (total - a - b + up)), axis=1)
    down = mode - step
    falling = np.cumprod(
        (down + 1) * (total - a - b + down + 1) / ((a - down) * (b - down)), axis=1
    )
    weight = 1 + rising.sum(axis=1) + falling.sum(axis=1)
    value = _term(mode, a, b, total)[:, 0]
    value += (rising * _term(up, a, b, total)).sum(axis=1)
    value += (falling * _term(down, a, b, total)).sum(axis=1)
    result: Floats = value / weight
    return result


def _term(x: Floats, a: Floats, b: Floats, total: float) -> Floats:
    positive = np.maximum(x, 1.0)  # where x < 1 the factor x / N, or the weight, is 0
    result: Floats = np.maximum(x, 0.0) / total * np.log(positive * total / (a * b))
    return result
