"""Activation element types: between the numpy carrier and float32, without warnings for values out of range."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy.typing as npt

Array: TypeAlias = "npt.NDArray[Any]"
F32: TypeAlias = "npt.NDArray[np.float32]"

_QUIET_BIT = 0x0040


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


def _load_bfloat16(source: Array, target: F32) -> None:
    np.copyto(target, bfloat16_to_float32(source))


def _store_bfloat16(source: F32, target: Array) -> None:
    np.copyto(target, float32_to_bfloat16(source))


CODECS: Mapping[str, Codec] = MappingProxyType({
    codec.name: codec
    for codec in (
        Codec("float16", "<f2", _copy, _copy),
        Codec("float32", "<f4", _copy, _copy),
        Codec("bfloat16", "<u2", _load_bfloat16, _store_bfloat16),
    )
})  # fmt: skip
