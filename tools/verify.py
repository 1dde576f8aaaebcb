"""Comparing outputs with a reference: normalised RMS error against the operator's limit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from emu_plugins.accuracy import normalised_rms

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    Arrays = Mapping[str, npt.NDArray[np.generic]]


@dataclass(frozen=True)
class Check:
    """One output: normalised RMS error, its limit (0: must be equal), and the largest absolute error."""

    output: str
    error: float
    limit: float
    largest: float

    @property
    def ok(self) -> bool:
        """Whether the error is within the limit; NaN never is."""
        return self.error <= self.limit

    def verdict(self) -> str:
        """The check in words, without digits that depend on the machine."""
        if self.limit == 0:
            return "equal" if self.ok else "not equal"
        return f"within {self.limit:g}" if self.ok else f"above {self.limit:g}"


def check_outputs(actual: Arrays, expected: Arrays, limit: float) -> list[Check]:
    """One check per output that has a reference, in the order of the outputs."""
    return [_check(name, array, expected[name], limit) for name, array in actual.items() if name in expected]


def _check(name: str, actual: npt.NDArray[np.generic], expected: npt.NDArray[np.generic], limit: float) -> Check:
    if actual.shape != expected.shape:
        return Check(name, float("inf"), limit, float("inf"))
    difference = np.abs(actual.astype(np.float64) - expected.astype(np.float64))
    return Check(name, normalised_rms(actual, expected), limit, float(difference.max(initial=0.0)))
