"""What the sources leave open in the arithmetic, as one record: products, accumulation, multiply-add, exponential.

| field | values |
|---|---|
| product | `two_term`: the left operand is hi + lo, the right one h; `four_term`: both hi + lo; `plain_fp16`: both h |
| accumulate | `fp32`, or `fp64` and rounded once |
| fma | a multiply-add rounds once instead of twice |
| exp | `numpy` in float32, or `float64` and rounded once |

A product of split operands is one float32 GEMM: hi + lo is exact in float32, so nothing but the order of additions,
which no source gives, tells it from two (`reference/cgdr.md` 10.1). Products that share an accumulator are
concatenated along K, in the order in which the device adds them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from emu_plugins.cgdr.rounding import Scratch, round_half, split_half

if TYPE_CHECKING:
    from emu_core.kernels import PolicyLookup
    from emu_plugins.cgdr.codecs import F32

TWO_TERM = "two_term"
FOUR_TERM = "four_term"
PLAIN_FP16 = "plain_fp16"


@dataclass(frozen=True)
class Numerics:
    """The choices of the module text."""

    product: str = TWO_TERM
    accumulate: str = "fp32"
    fma: bool = False
    exp_source: str = "numpy"

    @classmethod
    def of(cls, policies: PolicyLookup) -> Numerics:
        """The choices in force."""
        return cls(
            policies["cgdr.product"], policies["cgdr.accumulate"], policies["cgdr.fma"] == "on", policies["cgdr.exp"]
        )

    def left(self, x: F32, out: F32, scratch: Scratch) -> None:
        """`out` = the left operand made of `x`; `out` must not be `x`."""
        self._operand(x, out, scratch, split=self.product != PLAIN_FP16)

    def right(self, x: F32, out: F32, scratch: Scratch) -> None:
        """`out` = the right operand made of `x`; `out` must not be `x`."""
        self._operand(x, out, scratch, split=self.product == FOUR_TERM)

    def inverse_operand(self, x: F32, out: F32, scratch: Scratch) -> None:
        """`out` = either operand inside the triangular inverse, which has all four terms; `out` must not be `x`."""
        self._operand(x, out, scratch, split=self.product != PLAIN_FP16)

    @staticmethod
    def _operand(x: F32, out: F32, scratch: Scratch, *, split: bool) -> None:
        if split:
            split_half(x, out, scratch)
        else:
            round_half(x, out, scratch.pair(x.shape)[0])

    def multiply(self, left: F32, right: F32, out: F32) -> None:
        """`out` = `left` @ `right`, stack by stack."""
        if self.accumulate == "fp32":
            np.matmul(left, right, out=out)
        else:
            np.copyto(out, np.matmul(left.astype(np.float64), right.astype(np.float64)), casting="same_kind")

    def exp(self, x: F32, out: F32) -> None:
        """Fill `out` with the exponential of `x`; both may be one array."""
        if self.exp_source == "numpy":
            np.exp(x, out=out)
        else:
            np.copyto(out, np.exp(x.astype(np.float64)), casting="same_kind")

    def axpy(self, total: F32, factor: F32, row: F32) -> None:
        """Add `factor` * `row` to `total`, broadcast."""
        if self.fma:
            np.copyto(total, fused_multiply_add(factor, row, total))
        else:
            np.add(total, factor * row, out=total)


def fused_multiply_add(a: F32, b: F32, c: F32) -> F32:
    """`a` * `b` + `c` rounded once to float32.

    The product is exact in float64. The sum is rounded there to odd: an inexact result gets a last bit of 1, so that
    the second rounding, to float32, cannot be misled.
    """
    product = a.astype(np.float64) * b.astype(np.float64)
    addend = np.broadcast_to(c, product.shape).astype(np.float64)
    total = product + addend
    shift = total - product
    error = (product - (total - shift)) + (addend - shift)
    bits = total.view(np.int64)
    # Away from zero when the error has the sign of the total, else towards it: one step in the bits.
    step = np.where((error > 0) == (total > 0), 1, -1)
    inexact = (error != 0) & np.isfinite(error) & np.isfinite(total) & (bits & 1 == 0)
    return np.where(inexact, bits + step, bits).view(np.float64).astype(np.float32)
