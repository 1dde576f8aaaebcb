"""The error measure that operators state their limits in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt


def normalised_rms(actual: npt.NDArray[Any], expected: npt.NDArray[Any]) -> float:
    """`sqrt(mean((actual - expected)^2) / mean(expected^2))`; the numerator's root alone where `expected` is zero."""
    want = expected.astype(np.float64)
    if want.size == 0:
        return 0.0
    error = float(np.mean((actual.astype(np.float64) - want) ** 2))
    power = float(np.mean(want**2))
    return float(np.sqrt(error / power if power else error))
