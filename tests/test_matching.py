"""The assignment behind accuracy: each of its ways against scipy on the dense table."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from sqlvalid.kernels import matching


@pytest.fixture(params=["dense", "parts", "sparse"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Take the ways of large tables on small ones."""
    if request.param != "dense":
        monkeypatch.setattr(matching, "_SMALL", 0)
    if request.param == "sparse":
        monkeypatch.setattr(matching, "_DENSE", 0)
    return str(request.param)


@pytest.mark.parametrize("empty", [0.0, 0.5, 0.9])
@pytest.mark.parametrize("largest", [1, 3, 10**15])
def test_against_the_dense_solver(way: str, empty: float, largest: int) -> None:
    rng = np.random.default_rng(7)
    for _ in range(60):
        rows, cols = rng.integers(1, 12, 2)
        table = rng.integers(1, largest + 1, (rows, cols))
        table[rng.random((rows, cols)) < empty] = 0
        row, col = np.nonzero(table)
        if not len(row):
            continue
        counts = table[row, col]
        chosen = matching.assign(row, col, counts)
        assert len(set(row[chosen])) == len(set(col[chosen])) == len(chosen)
        best = linear_sum_assignment(table, maximize=True)
        assert counts[chosen].sum() == table[best].sum()


def test_a_long_chain_of_clusters_is_no_puzzle() -> None:
    """A dense table of this would take 8e10 bytes: nearly all its cells are certain at sight."""
    i = np.arange(300_000)
    cells, counts = np.unique(np.stack([i // 3, (i + 1) // 3]), axis=1, return_counts=True)
    chosen = matching.assign(cells[0], cells[1], counts)
    assert counts[chosen].sum() == 200_000
