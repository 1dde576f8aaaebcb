"""A ring of records as numpy columns (the only module of the package that needs numpy).

| use | call |
|---|---|
| one column | `v["block_dim"]`: fresh, read-only array, one row per record |
| the words themselves | `v.raw` |
| write one field | `v.set("block_dim", i, x) -> old` |
| one record | `v[i]`, a proxy: `v[i].block_dim`, `v[i].as_dict()` |
| all columns of a long ring | `Window(v, 4096)`, which reuses its arrays |
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from formats.access import Piece, pieces
from formats.buffers import flat
from formats.errors import FormatError
from formats.fields import Field, Joined

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from formats.buffers import Buffer
    from formats.cstruct import CStruct

    Column: TypeAlias = npt.NDArray[np.integer[Any]]


class View:
    """Records of `struct` that lie one after another in `buffer`; nothing is copied.

    Raises:
        FormatError: the buffer is not a whole number of records (id `format.size`); unknown fields
            (`format.unknown-field`), indices outside (`format.index`) and values that do not fit
            (`format.range`) in the methods.
    """

    def __init__(self, struct: CStruct, buffer: Buffer) -> None:
        self.struct = struct
        self.bytes: npt.NDArray[np.uint8] = np.frombuffer(flat(buffer), np.uint8)
        if self.bytes.size % struct.size:
            raise FormatError(
                f"{self.bytes.size} bytes are not a whole number of {struct.size}-byte records",
                id="format.size",
                where=struct.struct_name,
                offset=self.bytes.size // struct.size * struct.size,
            )

    def __len__(self) -> int:
        return self.bytes.size // self.struct.size

    @property
    def raw(self) -> npt.NDArray[np.uint8]:
        """The bytes, shape (records, struct size), uint8."""
        return self.bytes.reshape(len(self), self.struct.size)

    def __iter__(self) -> Iterator[Row]:
        return (Row(self, i) for i in range(len(self)))

    def __getitem__(self, key: str | int) -> Any:  # noqa: ANN401 - a column or a row
        """Column of a field or joined value (`str`), or the proxy of record `i` (`int`, negative from the end)."""
        if isinstance(key, str):
            return self.column(key)
        index = key + len(self) if key < 0 else key
        if not 0 <= index < len(self):
            raise FormatError(
                f"record {key} is outside the ring of {len(self)}", id="format.index", where=self.struct.struct_name
            )
        return Row(self, index)

    def column(self, name: str) -> Column:
        """The values of one field in every record.

        Shape (records,), or (records, count) for an array; uint32 up to 32 bits, else uint64; int64 for
        signed fields. A fresh array: later writes to the ring do not show.
        """
        field = self.struct.joined.get(name) or self.struct.by_name.get(name)
        if field is None or field.width > 64:
            self.struct.field(name)  # names the field that does not exist
            raise FormatError(
                "is too wide for a column", id="format.unknown-field", where=f"{self.struct.struct_name}.{name}"
            )
        found = self._array(field) if isinstance(field, Field) and field.count else self._scalar(field)
        found.flags.writeable = False
        return found

    def _word(self, byte: int, size: int) -> npt.NDArray[np.unsignedinteger[Any]]:
        return _words(self.bytes, byte, size, self.struct.size, len(self))

    def _scalar(self, field: Field | Joined) -> Column:
        wide = np.dtype("<u8" if field.width > 32 else "<u4")
        found = np.zeros(len(self), wide)
        for p in pieces(field, self.struct.size):
            found |= _bits(self._word(p.byte, p.size), p).astype(wide) << wide.type(p.up)
        return _as_signed(found, field.width) if isinstance(field, Field) and field.kind == "int" else found

    def _array(self, field: Field) -> Column:
        cells = (
            Field(field.name, field.offset + k * field.width, field.width, kind=field.kind)
            for k in range(field.count or 0)
        )
        return np.stack([self._scalar(cell) for cell in cells], axis=1)

    def set(self, name: str, i: int, x: int | Sequence[int]) -> Any:  # noqa: ANN401 - an int or a tuple
        """Write field `name` of record `i`; returns the value before (an int, or a tuple for an array)."""
        return self.struct.field(name).patch(self.bytes, i, x)


def _words(
    ring: npt.NDArray[np.uint8], start: int, size: int, step: int, count: int
) -> npt.NDArray[np.unsignedinteger[Any]]:
    """`count` little-endian words of `size` bytes, `step` bytes apart, without a copy."""
    if not count:
        return np.empty(0, f"<u{size}")  # an empty ring has no byte at `start`
    return np.ndarray((count,), f"<u{size}", ring.data, start, (step,))


def _bits(word: npt.NDArray[np.unsignedinteger[Any]], p: Piece) -> npt.NDArray[np.unsignedinteger[Any]]:
    kind = word.dtype.type
    moved = word >> kind(p.shift) if p.shift else word
    return moved if p.shift + p.mask.bit_length() == 8 * p.size else moved & kind(p.mask)


def _as_signed(column: Column, width: int) -> Column:
    spare = np.int64(64 - width)
    return column.astype("<u8").view("<i8") << spare >> spare


class Row:
    """One record of a ring; attributes read the ring, so later writes show."""

    __slots__ = ("_index", "_view")

    def __init__(self, view: View, index: int) -> None:
        self._view = view
        self._index = index

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - an int or a tuple
        try:
            field = self._view.struct.field(name)
        except FormatError as error:
            raise AttributeError(str(error)) from None
        return field.read(self._view.bytes, self._index)

    def as_dict(self) -> dict[str, Any]:
        """All fields, as `struct.parse` gives them."""
        return dict(self._view.struct.parse(self._view.raw[self._index].tobytes()))

    def __repr__(self) -> str:
        return f"<{self._view.struct.struct_name} {self._index}: {self.as_dict()}>"


class Window:
    """All scalar columns of up to `capacity` records at a time, decoded into arrays that are reused.

    `load(lo, hi)` decodes records `lo` to `hi`; `window[name]` is then the column, valid until the next
    `load`. Each machine word of the layout is gathered once, however many fields it holds.
    """

    def __init__(self, view: View, capacity: int = 4096) -> None:
        self.view = view
        self.capacity = capacity
        self.count = 0
        scalars = [f for f in view.struct.named_fields if f.count is None and f.width <= 64]
        shown: list[Field | Joined] = [*scalars, *view.struct.joined.values()]
        self._columns: dict[str, Column] = {f.name: np.empty(capacity, _column_type(f)) for f in shown}
        self._words, self._others = _plan(scalars, view.struct.size)
        self._scratch = {size: np.empty(capacity, f"<u{size}") for size in (4, 8)}

    def load(self, lo: int, hi: int) -> None:
        """Decode records `lo` to `hi` (exclusive), at most `capacity` of them; `FormatError` (`format.index`)."""
        if not 0 <= lo <= hi <= len(self.view) or hi - lo > self.capacity:
            raise FormatError(
                f"records {lo} to {hi} do not fit a window of {self.capacity} over {len(self.view)}",
                id="format.index",
                where=self.view.struct.struct_name,
            )
        self.count = hi - lo
        step = self.view.struct.size
        for (byte, size), parts in self._words.items():
            word = self._scratch[size][: self.count]
            np.copyto(word, _words(self.view.bytes, lo * step + byte, size, step, self.count))
            for name, shift, mask in parts:
                _extract(word, shift, mask, self._columns[name][: self.count])
        self._load_others(lo, hi)
        self._join()

    def _load_others(self, lo: int, hi: int) -> None:
        step = self.view.struct.size
        part = View(self.view.struct, self.view.bytes[lo * step : hi * step]) if self._others else self.view
        for name in self._others:
            self._columns[name][: self.count] = part.column(name)

    def _join(self) -> None:
        for pair in self.view.struct.joined.values():
            low, high, out = (self._columns[n][: self.count] for n in (pair.low.name, pair.high.name, pair.name))
            np.left_shift(high, out.dtype.type(pair.low.width), out=out, dtype=out.dtype)
            np.bitwise_or(out, low, out=out)

    def __getitem__(self, name: str) -> Column:
        """The column of a scalar field or joined value; shape (count,)."""
        if name not in self._columns:
            where = self.view.struct.field(name).where
            raise FormatError("is not a named scalar", id="format.unknown-field", where=where, remedy="use view[name]")
        return self._columns[name][: self.count]


def _column_type(field: Field | Joined) -> str:
    if isinstance(field, Field) and field.kind == "int":
        return "<i8"
    return "<u8" if field.width > 32 else "<u4"


_Words: TypeAlias = dict[tuple[int, int], list[tuple[str, int, int]]]


def _plan(fields: Sequence[Field], record_size: int) -> tuple[_Words, list[str]]:
    """Which aligned words to gather, with (name, shift, mask) of their fields; and the fields no word holds."""
    words: _Words = {}
    others: list[str] = []
    for f in fields:
        size = next((n for n in (4, 8) if _fits(f, n, record_size)), 0)
        if size == 0 or f.kind == "int":
            others.append(f.name)
        else:
            byte = f.offset // (8 * size) * size
            words.setdefault((byte, size), []).append((f.name, f.offset - 8 * byte, (1 << f.width) - 1))
    return words, others


def _fits(f: Field, size: int, record_size: int) -> bool:
    byte = f.offset // (8 * size) * size
    return f.end <= 8 * (byte + size) and byte + size <= record_size


def _extract(word: Column, shift: int, mask: int, out: Column) -> None:
    kind = word.dtype.type
    np.right_shift(word, kind(shift), out=out, casting="unsafe")
    if shift + mask.bit_length() < 8 * word.itemsize:
        np.bitwise_and(out, out.dtype.type(mask), out=out)
