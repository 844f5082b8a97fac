"""The expected mutual information: its two ways agree, and with rational arithmetic."""

from __future__ import annotations

import brute
import numpy as np
import pytest

from sqlvalid.kernels import chance


def expected(sizes_a: list[int], sizes_b: list[int]) -> float:
    a, times_a = np.unique(sizes_a, return_counts=True)
    b, times_b = np.unique(sizes_b, return_counts=True)
    return chance.expected_mutual_information(a, times_a, b, times_b, sum(sizes_a))


@pytest.mark.parametrize(
    ("sizes_a", "sizes_b"),
    [
        ([1], [1]),
        ([4, 1], [5]),
        ([2, 2], [2, 2]),
        ([3, 3, 1], [5, 2]),
        ([40, 10], [25, 25]),
        ([99, 1], [99, 1]),
        ([150, 100, 50], [299, 1]),
        ([1] * 30, [10] * 3),
    ],
)
def test_by_rational_probabilities(sizes_a: list[int], sizes_b: list[int]) -> None:
    wanted = brute.expected_mutual_information(sizes_a, sizes_b)
    assert expected(sizes_a, sizes_b) == pytest.approx(wanted, rel=1e-13, abs=1e-15)


@pytest.mark.parametrize("total", [10**7, 10**8, 10**9])
@pytest.mark.parametrize("shares", [(0.5, 0.5), (0.3, 0.1), (0.01, 0.7), (0.9, 0.95)])
def test_the_series_and_the_sum_agree(total: int, shares: tuple[float, float]) -> None:
    """Two derivations that share nothing; the sum's terms cost it digits as the mean grows."""
    a, b = (np.array([float(int(share * total))]) for share in shares)
    reach = int(chance._reach(a, b, float(total))[0])
    by_terms = chance.by_terms(a, b, float(total), reach)
    by_moments = chance.by_moments(a, b, float(total))
    mean = float(a[0] * b[0] / total)
    assert by_moments == pytest.approx(by_terms, rel=4 / mean**3 + 1e-11)


def test_memory_stays_bounded_at_any_size() -> None:
    half = 2**62
    assert expected([half, half - 1], [half, half - 1]) == pytest.approx(0.5 / 2**63, rel=1e-12)


def test_singletons_tell_everything() -> None:
    """Against all singletons every partition has its own entropy as mutual information."""
    wanted = float(np.log(20))
    assert expected([1] * 20, [1] * 20) == pytest.approx(wanted, rel=1e-15)
