"""Attributes as bytes: a table of entries in IR order, longer values behind it."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

from formats.runtime import AttrEntry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from emu_core.operators import AttrValue

BOOL, INT, FLOAT, TEXT, INTS, FLOATS = range(6)
INLINE = 8


def encode_attributes(values: Sequence[AttrValue]) -> bytes:
    """The attribute table: entries, then values of more than 8 bytes; floats become float32."""
    entries, tail = [], b""
    base = AttrEntry.size * len(values)
    for value in values:
        kind, count, raw = _encode(value)
        if len(raw) <= INLINE:
            word = int.from_bytes(raw.ljust(INLINE, b"\0"), "little")
        else:
            word = base + len(tail)
            tail += raw.ljust(-(-len(raw) // 8) * 8, b"\0")
        entries.append(AttrEntry.build({"kind": kind, "count": count, "size": len(raw), "value": word}))
    return b"".join(entries) + tail


def _encode(value: AttrValue) -> tuple[int, int, bytes]:
    if isinstance(value, bool):
        return BOOL, 1, bytes([value])
    if isinstance(value, int):
        return INT, 1, value.to_bytes(8, "little", signed=True)
    if isinstance(value, float):
        return FLOAT, 1, float32(value)
    if isinstance(value, str):
        return TEXT, 1, value.encode()
    if any(isinstance(v, float) for v in value):
        return FLOATS, len(value), b"".join(float32(float(v)) for v in value)
    return INTS, len(value), b"".join(int(v).to_bytes(8, "little", signed=True) for v in value)


def float32(value: float) -> bytes:
    """The float32 nearest to `value`, little endian; beyond the range it becomes infinite."""
    try:
        return struct.pack("<f", value)
    except OverflowError:
        return struct.pack("<f", float("inf") if value > 0 else float("-inf"))


@dataclass(frozen=True)
class AttributeTable:
    """Attributes read from `raw`, the bytes of a table with `num` entries."""

    raw: bytes
    num: int

    def _scalar(self, index: int, kind: int) -> bytes | None:
        if not 0 <= index < self.num:
            return None
        entry = AttrEntry.parse(self.raw[AttrEntry.size * index : AttrEntry.size * (index + 1)])
        if entry["kind"] != kind:
            return None
        return int(entry["value"]).to_bytes(8, "little")

    def get_float(self, index: int) -> float | None:
        """Attribute `index` as float32, or None."""
        raw = self._scalar(index, FLOAT)
        return None if raw is None else float(struct.unpack("<f", raw[:4])[0])

    def get_int(self, index: int) -> int | None:
        """Attribute `index` as a signed 64-bit integer, or None."""
        raw = self._scalar(index, INT)
        return None if raw is None else int.from_bytes(raw, "little", signed=True)
