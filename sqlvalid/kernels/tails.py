"""Tails of distributions, for p-values."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def mcnemar_tail(yn: Floats, ny: Floats) -> Floats:
    """P(chi-squared with one degree of freedom >= (yn - ny)^2 / (yn + ny)); NaN for 0/0.

    >>> mcnemar_tail(np.array([20.0]), np.array([20.0])).tolist()
    [1.0]
    """
    from scipy.special import erfc

    with np.errstate(invalid="ignore"):
        z = np.abs(yn - ny) / np.sqrt(yn + ny)
    tail: Floats = erfc(z / np.sqrt(2.0))
    return tail
