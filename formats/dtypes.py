"""Element types: one table of name, C API code, size and numpy carrier (`reference/om_format.md` 8.4)."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from formats.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class DType:
    """An element type; `carrier` is the numpy dtype string its bytes travel in (bfloat16: uint16)."""

    name: str
    code: int
    size: int
    carrier: str


_TABLE = (
    DType("float32", 0, 4, "<f4"),
    DType("float16", 1, 2, "<f2"),
    DType("int8", 2, 1, "|i1"),
    DType("int32", 3, 4, "<i4"),
    DType("uint8", 4, 1, "|u1"),
    DType("int16", 6, 2, "<i2"),
    DType("uint16", 7, 2, "<u2"),
    DType("uint32", 8, 4, "<u4"),
    DType("int64", 9, 8, "<i8"),
    DType("uint64", 10, 8, "<u8"),
    DType("float64", 11, 8, "<f8"),
    DType("bool", 12, 1, "|b1"),
    DType("bfloat16", 27, 2, "<u2"),
)

BY_NAME: Mapping[str, DType] = MappingProxyType({d.name: d for d in _TABLE})
BY_CODE: Mapping[int, DType] = MappingProxyType({d.code: d for d in _TABLE})


def dtype_named(name: str) -> DType:
    """The element type called `name`; `FormatError` lists the known names."""
    try:
        return BY_NAME[name]
    except KeyError:
        raise FormatError(
            f"unknown dtype {name!r}", id="format.dtype", remedy=f"use one of {', '.join(BY_NAME)}"
        ) from None


def dtype_coded(code: int) -> DType:
    """The element type with C API code `code`; `FormatError` lists the known codes."""
    try:
        return BY_CODE[code]
    except KeyError:
        known = ", ".join(f"{d.code}={d.name}" for d in _TABLE)
        raise FormatError(f"unknown dtype code {code}", id="format.dtype", remedy=f"known: {known}") from None
