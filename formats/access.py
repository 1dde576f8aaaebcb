"""One field in place: read and patch without touching the rest of the record.

| use | call | cost |
|---|---|---|
| any buffer, any index | `a.read(buf, i)`, `a.patch(buf, i, x)` | one `struct` call per word |
| one buffer again and again | `b = a.bind(buf)`, `b.read(i)`, `b.patch(i, x)` | one item of a cast memoryview |
"""

from __future__ import annotations

import struct
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from formats.buffers import flat
from formats.errors import FormatError
from formats.fields import Field, Joined

if TYPE_CHECKING:
    from collections.abc import Callable

    from formats.cstruct import CStruct

    _Single: TypeAlias = tuple[Callable[..., Any], Callable[..., Any], int, int, int]

_CODES: dict[int, Literal["B", "H", "I", "Q"]] = {1: "B", 2: "H", 4: "I", 8: "Q"}


@dataclass(frozen=True, slots=True)
class Piece:
    """Part of a value: bits of one little-endian machine word inside the record.

    Attributes:
        byte, size: place of the word in the record; size is 1, 2, 4 or 8.
        shift, mask: where the bits are in the word.
        up: first bit of the value that these bits hold.
    """

    byte: int
    size: int
    shift: int
    mask: int
    up: int


def pieces(field: Field | Joined, record_size: int) -> tuple[Piece, ...]:
    """The words that hold a scalar field or a joined value of at most 64 bits, lowest value bits first."""
    if isinstance(field, Field):
        return tuple(_split(field.offset, field.width, record_size, 0))
    low, high = field.low, field.high
    if high.offset == low.end:
        return tuple(_split(low.offset, field.width, record_size, 0))
    return (
        *_split(low.offset, low.width, record_size, 0),
        *_split(high.offset, high.width, record_size, low.width),
    )


def _split(offset: int, width: int, record_size: int, up: int) -> list[Piece]:
    mask = (1 << width) - 1
    for size in (1, 2, 4, 8):
        aligned = offset // (8 * size) * size
        if offset + width <= 8 * (aligned + size) and aligned + size <= record_size:
            return [Piece(aligned, size, offset - 8 * aligned, mask, up)]
    for size in (2, 4, 8):  # no aligned word holds it: take one that starts at its first byte, or ends with the record
        byte = min(offset // 8, record_size - size)
        if byte >= 0 and offset + width <= 8 * (byte + size):
            return [Piece(byte, size, offset - 8 * byte, mask, up)]
    head = 8 - offset % 8
    first = Piece(offset // 8, 1, offset % 8, (1 << head) - 1, up)
    return [first, *_split(offset + head, width - head, record_size, up + head)]


@dataclass(frozen=True, slots=True)
class BoundField:
    """A field of the records of one buffer: `read(i)` and `patch(i, x) -> old`."""

    read: Callable[[int], Any]
    patch: Callable[[int, Any], Any]


class FieldAccess:
    """Access to one field of records that lie one after another in a buffer.

    A buffer is anything with the buffer protocol: `bytearray`, `memoryview`, numpy `uint8`. Array
    fields give tuples and take sequences.

    Attributes:
        struct, name: the struct and the field's (or joined value's) name.
        where: both, as error messages show them.
        parts: the machine words that hold it; empty for arrays and fields over 64 bits.
    """

    __slots__ = ("_limits", "_one", "_signed", "_words", "name", "parts", "struct", "where")

    def __init__(self, owner: CStruct, field: Field | Joined) -> None:
        self.struct = owner
        self.name = field.name
        self.where = f"{owner.struct_name}.{field.name}"
        scalar = isinstance(field, Joined) or field.count is None
        self._signed = isinstance(field, Field) and field.kind == "int"
        self._limits = field.limits
        self.parts = pieces(field, owner.size) if scalar and field.width <= 64 else ()
        self._words = tuple((struct.Struct("<" + _CODES[p.size]), p) for p in self.parts)
        self._one = self._single_word()

    def _single_word(self) -> _Single | None:
        """What the fast path needs, when one word holds the (unsigned) field."""
        if len(self._words) != 1 or self._signed:
            return None
        word, p = self._words[0]
        return word.unpack_from, word.pack_into, p.byte, p.shift, p.mask

    def read(self, buf: Any, i: int = 0) -> Any:  # noqa: ANN401 - any buffer; an int or a tuple
        """The value in record `i`: an int, or a tuple for an array.

        Raises:
            FormatError: the buffer has no whole record `i` (id `format.index`).
        """
        if self._one is None or i < 0:
            return self._read(buf, i)
        unpack, _, at, shift, mask = self._one
        try:
            return unpack(buf, i * self.struct.size + at)[0] >> shift & mask
        except struct.error:
            raise self._outside(buf, i) from None

    def patch(self, buf: Any, i: int, x: Any) -> Any:  # noqa: ANN401 - any buffer; an int or a sequence
        """Write `x` into record `i`; returns the value before.

        Raises:
            FormatError: no whole record `i` (id `format.index`), `x` does not fit (`format.range`), or the
                buffer cannot be written (`format.read-only`).
        """
        if self._one is None or i < 0 or type(x) is not int:
            return self._patch(buf, i, x)
        unpack, pack, at, shift, mask = self._one
        if x != x & mask:
            self.checked(x)
        at += i * self.struct.size
        try:
            word = unpack(buf, at)[0]
            pack(buf, at, word & ~(mask << shift) | x << shift)
        except struct.error:
            raise self._outside(buf, i) from None
        except (TypeError, BufferError):
            raise self._read_only() from None
        return word >> shift & mask

    def _read(self, buf: Any, i: int) -> Any:  # noqa: ANN401 - any buffer; an int or a tuple
        start = i * self.struct.size
        if i < 0:
            raise self._outside(buf, i)
        if not self._words:
            return _plain(self.struct.parse(self._record(buf, i))[self.name])
        value = 0
        try:
            for word, p in self._words:
                value |= (word.unpack_from(buf, start + p.byte)[0] >> p.shift & p.mask) << p.up
        except struct.error:
            raise self._outside(buf, i) from None
        if self._signed and value > self._limits[1]:
            return value - 2 * (self._limits[1] + 1)
        return value

    def _patch(self, buf: Any, i: int, x: Any) -> Any:  # noqa: ANN401 - any buffer; an int or a sequence
        old = self._read(buf, i)
        try:
            self._write(buf, i, x)
        except (TypeError, BufferError):
            raise self._read_only() from None
        return old

    def _write(self, buf: Any, i: int, x: Any) -> None:  # noqa: ANN401 - any buffer
        if not self._words:
            record = self._record(buf, i)
            values = self.struct.parse(record)
            values[self.name] = x
            record[:] = self.struct.build(values)
            return
        value = self.checked(x)
        start = i * self.struct.size
        for word, p in self._words:
            keep = word.unpack_from(buf, start + p.byte)[0] & ~(p.mask << p.shift)
            word.pack_into(buf, start + p.byte, keep | (value >> p.up & p.mask) << p.shift)

    def _read_only(self) -> FormatError:
        return FormatError("the buffer is read-only", id="format.read-only", where=self.where)

    def checked(self, x: Any) -> int:  # noqa: ANN401 - the check is the point
        """`x` as a plain int if it is an integer that fits; `FormatError` (id `format.range`) names the field."""
        low, high = self._limits
        try:
            number = int(x.__index__())
        except (AttributeError, TypeError):
            raise FormatError(f"{x!r} is not an integer", id="format.range", where=self.where) from None
        if not low <= number <= high:
            raise FormatError(f"{number} does not fit, {low} to {high} do", id="format.range", where=self.where)
        return number

    def _record(self, buf: Any, i: int) -> memoryview[int]:  # noqa: ANN401 - any buffer
        size = self.struct.size
        record = flat(buf)[i * size : (i + 1) * size]
        if len(record) != size:
            raise self._outside(buf, i)
        return record

    def _outside(self, buf: Any, i: int) -> FormatError:  # noqa: ANN401 - any buffer
        have = len(flat(buf)) // self.struct.size
        return FormatError(f"record {i} is outside the buffer of {have}", id="format.index", where=self.where)

    def bind(self, buf: Any) -> BoundField:  # noqa: ANN401 - any buffer
        """`read(i)` and `patch(i, x)` over one buffer, as fast as plain Python gets.

        Indices are trusted: one past the end is an `IndexError`, a negative one counts from the end.
        """
        view = flat(buf)
        size = self.struct.size
        if len(self.parts) == 1 and not self._signed and sys.byteorder == "little":
            p = self.parts[0]
            if not (size % p.size or len(view) % p.size or p.byte % p.size):
                # One item per record: the word that holds the field.
                cells = view.cast(_CODES[p.size])[p.byte // p.size :: size // p.size]
                whole = p.mask == (1 << 8 * p.size) - 1
                return (_bound_word if whole else _bound_bits)(cells, p, self)
        return BoundField(lambda i: self.read(view, i), lambda i, x: self.patch(view, i, x))


def _plain(value: Any) -> Any:  # noqa: ANN401 - what parse gives
    return tuple(value) if isinstance(value, list) else value


def _bound_word(cells: memoryview[int], _piece: Piece, access: FieldAccess) -> BoundField:
    def patch(i: int, x: int) -> int:
        old = cells[i]
        try:
            cells[i] = x
        except (ValueError, TypeError):
            cells[i] = access.checked(x)
        return old

    return BoundField(cells.__getitem__, patch)


def _bound_bits(cells: memoryview[int], p: Piece, access: FieldAccess) -> BoundField:
    shift, mask, hole = p.shift, p.mask, ~(p.mask << p.shift)

    def read(i: int) -> int:
        return cells[i] >> shift & mask

    def patch(i: int, x: int) -> int:
        try:
            if x != x & mask:
                x = access.checked(x)
        except TypeError:
            x = access.checked(x)
        word = cells[i]
        cells[i] = word & hole | x << shift
        return word >> shift & mask

    return BoundField(read, patch)
