"""Activation element types: between the numpy carrier and float32, without warnings for values out of range."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from emu_plugins.cgdr.rounding import magic_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy.typing as npt

Array: TypeAlias = "npt.NDArray[Any]"
F32: TypeAlias = "npt.NDArray[np.float32]"

_QUIET_BIT = 0x0040

# The exponents of float16 and float32 are biased by 15 and 127.
_RESCALE = np.float32(2.0**112)
_RESCALE_BACK = np.float32(2.0**-112)
_HALF_EXPONENT = np.uint32(0x7C000000)
_SIGN_AND_REST = np.uint32(0x8FFFFFFF)
_SIGN = np.uint32(0x80000000)
_MAGNITUDE = np.uint32(0x7FFFFFFF)


@dataclass(frozen=True)
class Codec:
    """An element type: `load` fills float32 from carrier elements, `store` the other way; shapes are equal.

    `store` rounds to nearest, ties to even; what is too large becomes infinite.
    """

    name: str
    carrier: str
    load: Callable[[Array, F32], None]
    store: Callable[[F32, Array], None]


def bfloat16_to_float32(bits: Array) -> F32:
    """The float32 values of bfloat16 `bits` (uint16); exact."""
    return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)


def float32_to_bfloat16(values: F32) -> npt.NDArray[np.uint16]:
    """The bfloat16 bits (uint16) nearest to `values`, ties to even; a NaN stays a (quiet) NaN."""
    bits = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)
    high = bits >> np.uint32(16)
    rounded = (bits + np.uint32(0x7FFF) + (high & np.uint32(1))) >> np.uint32(16)
    return np.where(np.isnan(values), high | np.uint32(_QUIET_BIT), rounded).astype(np.uint16)


def _copy(source: Array, target: Array) -> None:
    np.copyto(target, source, casting="unsafe")


def _load_float16(source: Array, target: F32) -> None:
    """Widen by integer shifts: exponent and mantissa move to their places, a product rescales the exponent.

    Exact for subnormals too; three times as fast as a cast. Infinity and NaN take the cast.
    """
    bits = source.view(np.uint16).astype(np.uint32)
    np.left_shift(bits, np.uint32(16), out=bits)
    if np.bitwise_and(bits, _HALF_EXPONENT).max(initial=0) == _HALF_EXPONENT:
        np.copyto(target, source)
        return
    # The arithmetic shift spreads the sign over the four top bits; three of them are cleared.
    np.right_shift(bits.view(np.int32), np.int32(3), out=bits.view(np.int32))
    np.bitwise_and(bits, _SIGN_AND_REST, out=bits)
    np.multiply(bits.view(np.float32), _RESCALE, out=target)


def _store_float16(source: F32, target: Array) -> None:
    """Round by adding and taking off a power of two, and shift the bits to their places; twice as fast as a cast.

    Values from 32768 on take the cast.
    """
    work = np.empty(source.shape, np.float32)
    if not magic_of(source, work):
        with np.errstate(all="ignore"):
            np.copyto(target, source, casting="unsafe")
        return
    rounded = np.add(source, work)
    np.subtract(rounded, work, out=rounded)
    np.multiply(rounded, _RESCALE_BACK, out=rounded)
    bits, sign = rounded.view(np.uint32), work.view(np.uint32)
    np.bitwise_and(bits, _MAGNITUDE, out=bits)
    np.right_shift(bits, np.uint32(13), out=bits)
    np.bitwise_and(source.view(np.uint32), _SIGN, out=sign)
    np.right_shift(sign, np.uint32(16), out=sign)
    np.bitwise_or(bits, sign, out=bits)
    np.copyto(target.view(np.uint16), bits, casting="unsafe")


def _load_bfloat16(source: Array, target: F32) -> None:
    np.copyto(target, bfloat16_to_float32(source))


def _store_bfloat16(source: F32, target: Array) -> None:
    np.copyto(target, float32_to_bfloat16(source))


CODECS: Mapping[str, Codec] = MappingProxyType({
    codec.name: codec
    for codec in (
        Codec("float16", "<f2", _load_float16, _store_float16),
        Codec("float32", "<f4", _copy, _copy),
        Codec("bfloat16", "<u2", _load_bfloat16, _store_bfloat16),
    )
})  # fmt: skip
