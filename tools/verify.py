"""Comparing outputs with a reference: normalised RMS error against the operator's limit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from emu_core.errors import InputError
from emu_plugins.accuracy import normalised_rms

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    Array = npt.NDArray[np.generic]
    Arrays = Mapping[str, Array]


@dataclass(frozen=True)
class Check:
    """One output: normalised RMS error, its limit (0: must be equal), largest absolute error, remark on a failure.

    `rounding`: the error is above the limit, but every element is the nearest its type allows.
    """

    output: str
    error: float
    limit: float
    largest: float
    remark: str = ""
    rounding: bool = False

    @property
    def ok(self) -> bool:
        """Whether the error is within the limit, or nothing but rounding to the output's type; NaN never is."""
        return self.error <= self.limit or self.rounding

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
        remark = f": shape {list(actual.shape)}, the reference has {list(expected.shape)}"
        return Check(name, float("inf"), limit, float("inf"), remark)
    if expected.dtype.kind not in "biuf":
        raise InputError(
            f"the reference of {name} has the type {expected.dtype}", id="case.value", remedy="give it as numbers"
        )
    difference = np.abs(actual.astype(np.float64) - expected.astype(np.float64))
    error = normalised_rms(actual, expected)
    if limit and error > limit and _only_rounding(actual, expected, difference):
        return Check(name, error, limit, float(difference.max()), rounding=True)
    return Check(name, error, limit, float(difference.max(initial=0.0)))


def _only_rounding(actual: Array, expected: Array, difference: npt.NDArray[np.float64]) -> bool:
    """Whether every element is as near as its type allows: the RMS of a few elements may exceed a limit for many."""
    if actual.dtype.kind != "f" or not np.isfinite(expected.astype(np.float64)).all():
        return False
    half = np.spacing(np.abs(expected).astype(actual.dtype)).astype(np.float64) / 2
    return bool((difference <= half * (1 + 1e-3) + 2e-6 * np.abs(expected)).all())
