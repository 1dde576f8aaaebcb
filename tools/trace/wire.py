"""The protobuf wire format, as far as a trace of Perfetto needs it: written by hand, no package is needed for it.

A field is a tag (number << 3 | wire type) and a value: type 0 a varint, 1 eight bytes, 2 a length and bytes. Varints
may be padded with zero groups, so that packets of one kind have one length and are made as columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    Bytes = npt.NDArray[np.uint8]

_VARINT, _FIXED64, _BYTES = 0, 1, 2


def varint(value: int) -> bytes:
    """An unsigned integer of any size, shortest form; of a negative one the 64-bit complement, as int64 has it."""
    left = value if value >= 0 else value + (1 << 64)
    found = bytearray()
    while left >= 0x80:
        found.append(left & 0x7F | 0x80)
        left >>= 7
    found.append(left)
    return bytes(found)


def number(field: int, value: int) -> bytes:
    """An integer field."""
    return varint(field << 3 | _VARINT) + varint(value)


def fixed(field: int, value: int) -> bytes:
    """A field of eight bytes."""
    return varint(field << 3 | _FIXED64) + value.to_bytes(8, "little")


def message(field: int, *parts: bytes) -> bytes:
    """A message, or bytes."""
    body = b"".join(parts)
    return varint(field << 3 | _BYTES) + varint(len(body)) + body


def text(field: int, value: str) -> bytes:
    """A text; what UTF-8 cannot carry is replaced."""
    return message(field, value.encode(errors="replace"))


def put_varints(rows: Bytes, column: int, width: int, values: npt.NDArray[np.integer]) -> None:
    """Write `values` into columns `column` to `column + width` of `rows`, as varints padded to `width` bytes."""
    left = values.astype(np.uint64)
    seven, low, more = np.uint64(7), np.uint64(0x7F), np.uint8(0x80)
    for k in range(width):
        group = (left & low).astype(np.uint8)
        rows[:, column + k] = group | more if k < width - 1 else group
        left >>= seven


def fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """The fields of a message: number, and value or bytes; `ValueError` where it ends within one."""
    at = 0
    while at < len(data):
        tag, at = _read_varint(data, at)
        kind = tag & 7
        if kind == _VARINT:
            value, at = _read_varint(data, at)
            yield tag >> 3, value
            continue
        size = 8
        if kind == _BYTES:
            size, at = _read_varint(data, at)
        elif kind != _FIXED64:
            raise ValueError(f"wire type {kind} at byte {at}")
        body = data[at : at + size]
        if len(body) < size:
            raise ValueError(f"ends within a field at byte {at}")
        yield tag >> 3, body if kind == _BYTES else int.from_bytes(body, "little")
        at += size


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if at >= len(data):
            raise ValueError(f"ends within a number at byte {at}")
        value |= (data[at] & 0x7F) << shift
        shift, at = shift + 7, at + 1
        if not data[at - 1] & 0x80:
            return value, at
