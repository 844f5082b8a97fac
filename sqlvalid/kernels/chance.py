"""The mutual information that two random partitions with given sizes would have (Vinh et al. 2010).

A cell x of the contingency table of two random partitions with row size a and column
size b of N points is hypergeometric, and contributes E[(x/N) ln(N x / (a b))]. Only
distinct pairs (a, b) matter, and of each distribution only the part that carries weight.
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
# From this variance on the series in the moments is exact to the last digits.
_WIDE = 1e5


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
    variance = _variance(a, b, total)
    expected = np.zeros(len(a))
    wide = variance > _WIDE
    if wide.any():
        expected[wide] = by_moments(a[wide], b[wide], total)
    narrow = np.flatnonzero(~wide)
    expected[narrow] = _by_blocks(a[narrow], b[narrow], total)
    return float(np.dot(times, expected))


def _variance(a: Floats, b: Floats, total: float) -> Floats:
    variance: Floats = a * (b / total) * ((total - a) / total) * ((total - b) / max(total - 1, 1))
    return variance


def by_moments(a: Floats, b: Floats, total: float) -> Floats:
    """The expected term by its series in d = x/mean - 1, for wide distributions.

    (1 + d) ln(1 + d) = d + d²/2 - d³/6 + d⁴/12 - d⁵/20 + d⁶/30 - …; the fifth and sixth
    moments to leading order. What is left out is below 4 / mean³ of the value.
    """
    mean = a * (b / total)
    variance = _variance(a, b, total)
    skew = variance * ((total - 2 * a) / total) * ((total - 2 * b) / (total - 2))
    of_a, of_b = a / total * ((total - a) / total), b / total * ((total - b) / total)
    excess = (1 + 1 / total - 6 * of_a - 6 * of_b) / (of_a * of_b) + 6 * (5 - 6 / total)
    excess *= (1 / total) * (total / (total - 2)) * (total / (total - 3))
    fourth = variance * variance * (3 + excess)
    series = (
        variance / mean**2 / 2
        - skew / mean**3 / 6
        + fourth / mean**4 / 12
        - 10 * variance * skew / mean**5 / 20
        + 15 * variance**3 / mean**6 / 30
    )
    value: Floats = mean / total * series
    return value


def by_terms(a: Floats, b: Floats, total: float, width: int) -> Floats:
    """The expected term by summing over x, `width` steps up and down from the mode.

    The probabilities are taken relative to that of the mode, by ratios of neighbours,
    and divided by their sum, so no factorial is ever formed; log-gamma differences
    would lose eight digits at ten million points.
    """
    mean = a * (b / total)
    mode = np.floor((a + 1) * (b + 1) / (total + 2))
    a, b, mode = a[:, None], b[:, None], mode[:, None]
    step = np.arange(1, width + 1, dtype=np.float64)
    up = mode + step
    rising = np.cumprod((a - up + 1) * (b - up + 1) / (up * (total - a - b + up)), axis=1)
    down = mode - step
    falling = np.cumprod(
        (down + 1) * (total - a - b + down + 1) / ((a - down) * (b - down)), axis=1
    )
    weight = 1 + rising.sum(axis=1) + falling.sum(axis=1)
    value = _excess(mode, mean)[:, 0]
    value += np.einsum("ij,ij->i", rising, _excess(up, mean))
    value += np.einsum("ij,ij->i", falling, _excess(down, mean))
    result: Floats = mean / total * (value / weight)
    return result


def _excess(x: Floats, mean: Floats) -> Floats:
    """(1 + d) ln(1 + d) - d with d = x/mean - 1: never negative, and d itself averages to 0.

    Without the last d the terms would cancel: one of them is mean / deviation times the sum.
    """
    d = np.maximum(x / mean[:, None] - 1, -1)  # beyond the support the weight is 0
    ratio = np.where(d > -1, d, 0.0)
    excess: Floats = (1 + d) * np.log1p(ratio) - d
    return excess


def _by_blocks(a: Floats, b: Floats, total: float) -> Floats:
    """`by_terms` in blocks of pairs that reach about as far from their mode."""
    reach = _reach(a, b, total)
    order = np.argsort(reach)
    expected = np.zeros(len(a))
    start = 0
    while start < len(order):
        stop = min(start + max(1, int(_BLOCK // reach[order[start]])), len(order))
        while stop - start > 1 and (stop - start) * reach[order[stop - 1]] > _BLOCK:
            stop = start + (stop - start + 1) // 2
        block = order[start:stop]
        width = int(reach[order[stop - 1]])
        expected[block] = by_terms(a[block], b[block], total, width)
        start = stop
    return expected


def _reach(a: Floats, b: Floats, total: float) -> Floats:
    """How far from the mode terms matter: Bernstein's bound, and never past the support.

    The hypergeometric is no wider than the binomial with either size as its trials.
    """
    variance = a * (b / total) * (1 - np.maximum(a, b) / total)
    beyond = _NATS / 3 + np.sqrt(_NATS * _NATS / 9 + 2 * _NATS * np.maximum(variance, 0))
    reach: Floats = np.minimum(np.ceil(beyond) + 1, np.minimum(a, b))
    return reach
