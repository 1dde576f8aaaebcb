"""Rounding float32 to the values of float16, without a cast (`reference/cgdr.md` 10.1).

h(x) rounds to nearest, ties to even; a magnitude above 65504 saturates, as the vector unit is documented to do. A cast
to float16 and back takes a slow path for inexact subnormals, which low parts nearly always are; adding and
subtracting 1.5 * 2**13 times the power of two below x rounds at the same place and is plain arithmetic. -0 becomes +0.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from emu_plugins.cgdr.codecs import F32

LARGEST_HALF = np.float32(65504)
SMALLEST_NORMAL_HALF = np.float32(2.0**-14)

_EXPONENT = np.uint32(0x7F800000)
_LARGE_EXPONENT = np.uint32(0x47000000)
_SMALLEST_EXPONENT = np.uint32(0x38800000)
_MAGIC = np.float32(1.5 * 2**13)
_SUBNORMALS_PER_ONE = np.float32(2.0**24)


class Scratch:
    """Flat float32 memory that is cut to the shape of the moment; its contents do not survive the next cut."""

    def __init__(self, elements: int) -> None:
        self._memory = np.zeros((2, elements), np.float32)

    def pair(self, shape: tuple[int, ...]) -> tuple[F32, F32]:
        """Two arrays of `shape` that do not overlap."""
        size = 1
        for dim in shape:
            size *= dim
        return self._memory[0, :size].reshape(shape), self._memory[1, :size].reshape(shape)


def round_half(x: F32, out: F32, work: F32) -> None:
    """`out` = h(`x`); `out` may be `x`, `work` is overwritten. All have one shape."""
    if not magic_of(x, work):
        np.clip(x, -LARGEST_HALF, LARGEST_HALF, out=out)
        _fill_magic(out, work)
        x = out
    np.add(x, work, out=out)
    np.subtract(out, work, out=out)


def magic_of(x: F32, work: F32) -> bool:
    """Fill `work` with what to add to each element and take off again; False, and nothing of use, if any is large.

    Large is from 32768 on, where saturation may set in; infinity and NaN are large.
    """
    bits = work.view(np.uint32)
    np.bitwise_and(x.view(np.uint32), _EXPONENT, out=bits)
    if bits.max(initial=0) >= _LARGE_EXPONENT:
        return False
    _scale_exponents(work)
    return True


def _fill_magic(x: F32, work: F32) -> None:
    np.bitwise_and(x.view(np.uint32), _EXPONENT, out=work.view(np.uint32))
    _scale_exponents(work)


def _scale_exponents(work: F32) -> None:
    bits = work.view(np.uint32)
    np.maximum(bits, _smallest_exponents(work.size).reshape(work.shape), out=bits)
    np.multiply(work, _MAGIC, out=work)


@functools.lru_cache(maxsize=64)
def _smallest_exponents(size: int) -> npt.NDArray[np.uint32]:
    """As an array: against a scalar numpy's maximum takes three times as long."""
    return np.full(size, _SMALLEST_EXPONENT)


def split_half(x: F32, out: F32, scratch: Scratch) -> None:
    """`out` = hi + lo with hi = h(`x`) and lo = h(x - hi).

    The sum has at most 24 significant bits, so float32 holds it exactly, and one product with it is hi and lo times
    the same operand. `out` must not be `x`.
    """
    low, work = scratch.pair(x.shape)
    if magic_of(x, work):
        np.add(x, work, out=low)
        np.subtract(low, work, out=out)
        np.subtract(x, out, out=low)
        # The rest is smaller than x, so it needs no saturation either.
        _fill_magic(low, work)
        np.add(low, work, out=low)
        np.subtract(low, work, out=low)
    else:
        round_half(x, out, work)
        np.subtract(x, out, out=low)
        round_half(low, low, work)
    np.add(out, low, out=out)


def halves(x: F32) -> tuple[F32, F32]:
    """Hi and lo of `x`, newly made."""
    high, low, work = np.empty_like(x), np.empty_like(x), np.empty_like(x)
    round_half(x, high, work)
    np.subtract(x, high, out=low)
    round_half(low, low, work)
    return high, low


def half_bits(values: F32) -> npt.NDArray[np.uint16]:
    """The float16 bits of `values`, which float16 can hold exactly."""
    size = np.abs(values)
    small = size < SMALLEST_NORMAL_HALF
    normal = np.where(small, np.float32(0), values).astype(np.float16).view(np.uint16)
    ticks = np.where(small, size * _SUBNORMALS_PER_ONE, np.float32(0)).astype(np.uint16)
    sign = (np.signbit(values) & small).astype(np.uint16) << np.uint16(15)
    return normal | ticks | sign
