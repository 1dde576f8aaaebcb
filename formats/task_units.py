"""How many 64-byte units a task has, by the first of them (`reference/sqe_formats.md` 2.2).

| first unit | units |
|---|---|
| of a family, or of a layout, without `sqe_length` | 1 |
| with `sqe_length` from 0 to 4 | 1 + `sqe_length` |
| with a larger one | 0: no such task |
"""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

from formats.stream import MAX_FURTHER_UNITS

if TYPE_CHECKING:
    from collections.abc import Callable

    from formats.registry import Registry

MOST_UNITS = 1 + MAX_FURTHER_UNITS
"""64-byte units of the longest task."""


def unit_counter(registry: Registry, family: str) -> Callable[[bytes], int] | None:
    """A function that counts the units of a task from its first 64 bytes; None where every task has one.

    Raises:
        FormatError: a family without SQEs (id `format.unknown-family`).
    """
    registry.generic(family)
    layouts = (registry.get(family, name) for name in registry.names(family))
    lengths = [field for layout in layouts if (field := layout.by_name.get("sqe_length")) is not None]
    if not lengths:
        return None
    mask = reduce(or_, (((1 << field.width) - 1) << field.offset for field in lengths))
    at = min(field.offset for field in lengths) // 8
    end = -(-mask.bit_length() // 8)
    bits = mask >> 8 * at

    def count(first: bytes) -> int:
        if not int.from_bytes(first[at:end], "little") & bits:
            return 1
        further = int(registry.decode(family, first).values.get("sqe_length", 0))
        return 1 + further if further <= MAX_FURTHER_UNITS else 0

    return count
