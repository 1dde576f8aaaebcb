"""Values of one record from its bytes, for `CStruct.parse`: all fields, in table order, as plain integers."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    from formats.fields import Field

    _Value: TypeAlias = int | list[int]
    _Special: TypeAlias = tuple[int, Callable[[bytes], _Value]]

_CODES = {8: "b", 16: "h", 32: "i", 64: "q"}
_WORD = 64


class Parser:
    """Reads the records of one table.

    Scalars that lie in one aligned 64-bit word are shifted out of it in one comprehension; the rest
    (arrays, signed fields, fields that cross a word) has a reader of its own.
    """

    __slots__ = ("_pad", "_rows", "_special", "_unpack", "names")

    def __init__(self, fields: tuple[Field, ...], size: int) -> None:
        self.names = tuple(f.name for f in fields)
        words = -(-size * 8 // _WORD)
        self._pad = bytes(words * 8 - size)
        self._unpack = struct.Struct(f"<{words}Q").unpack
        self._rows = [(f.offset // _WORD, f.offset % _WORD, (1 << f.width) - 1) for f in fields]
        self._special: list[_Special] = [(k, _reader(f)) for k, f in enumerate(fields) if not _is_simple(f)]

    def values(self, data: bytes) -> list[_Value]:
        """One value per field, in the order of `names`; `data` is exactly one record."""
        words = self._unpack(data + self._pad)
        found: list[_Value] = [words[k] >> shift & mask for k, shift, mask in self._rows]
        for k, read in self._special:
            found[k] = read(data)
        return found


def _is_simple(f: Field) -> bool:
    return f.count is None and f.kind != "int" and f.offset // _WORD == (f.end - 1) // _WORD


def _reader(f: Field) -> Callable[[bytes], _Value]:
    if f.count is not None and f.is_cell:
        code = _CODES[f.width] if f.kind == "int" else _CODES[f.width].upper()
        cells = struct.Struct(f"<{f.count}{code}")
        at = f.offset // 8
        return lambda data: list(cells.unpack_from(data, at))
    first, last, shift = f.offset // 8, -(-f.end // 8), f.offset % 8
    width, mask, signed, count = f.width, (1 << f.width) - 1, f.kind == "int", f.count

    def read(data: bytes) -> _Value:
        whole = int.from_bytes(data[first:last], "little") >> shift
        cells = [whole >> k * width & mask for k in range(count or 1)]
        if signed:
            cells = [x - (1 << width) if x >> (width - 1) else x for x in cells]
        return cells[0] if count is None else cells

    return read
