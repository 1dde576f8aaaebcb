"""A ring of records as numpy columns (the only module of the package that needs numpy).

| use | call |
|---|---|
| one column | `v["block_dim"]`: fresh, read-only array, one row per record |
| the words themselves | `v.raw` |
| write one field | `v.set("block_dim", i, x) -> old` |
| the same field of many records | `v.set_many("block_dim", rows, values) -> old` |
| one record | `v[i]`, a proxy: `v[i].block_dim`, `v[i].as_dict()` |
| all columns | `v.columns()`: fresh arrays, by name |
| all columns of a long ring | `Window(v, 4096)`, which reuses its arrays |
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from formats.access import Piece, pieces
from formats.buffers import flat
from formats.columns import checked_column
from formats.errors import FormatError
from formats.fields import Field, Joined

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy.typing as npt

    from formats.buffers import Buffer
    from formats.cstruct import CStruct

    Column: TypeAlias = npt.NDArray[np.integer[Any]]
    _Scratch: TypeAlias = dict[int, npt.NDArray[np.unsignedinteger[Any]]]

_BLOCK = 4096
"""Records decoded at a time, so that scratch arrays stay in the cache."""


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
        field = self._field(name)
        found = self._array(field) if isinstance(field, Field) and field.count else self._scalar(field)
        found.flags.writeable = False
        return found

    def _field(self, name: str) -> Field | Joined:
        field = self.struct.joined.get(name) or self.struct.by_name.get(name)
        if field is None or field.width > 64:
            self.struct.field(name)  # names the field that does not exist
            raise FormatError("is too wide for a column", id="format.unknown-field", where=self._where(name))
        return field

    def _scalar_field(self, name: str) -> Field | Joined:
        field = self._field(name)
        if isinstance(field, Field) and field.count:
            raise FormatError("is an array", id="format.unknown-field", where=self._where(name), remedy="use `set`")
        return field

    def columns(self) -> dict[str, Column]:
        """Every named scalar and joined value at once, as fresh read-only arrays by name.

        Each machine word of the layout is gathered once, block by block, which is faster than one
        `column` after the other.
        """
        plan = _Plan(self.struct)
        found = {name: np.empty(len(self), kind) for name, kind in plan.types.items()}
        scratch = plan.scratch(_BLOCK)
        for lo in range(0, len(self), _BLOCK):
            hi = min(lo + _BLOCK, len(self))
            part = {name: column[lo:hi] for name, column in found.items()}
            plan.load(self, lo, hi, part, scratch)
            for pair in self.struct.joined.values():
                _join(pair, part)
        for column in found.values():
            column.flags.writeable = False
        return found

    def _word(self, byte: int, size: int) -> npt.NDArray[np.unsignedinteger[Any]]:
        return _words(self.bytes, byte, size, self.struct.size, len(self))

    def _scalar(self, field: Field | Joined) -> Column:
        parts = pieces(field, self.struct.size)
        return _put_together(field, parts, [self._word(p.byte, p.size) for p in parts])

    def set_many(self, name: str, rows: npt.ArrayLike, values: npt.ArrayLike) -> Column:
        """Write a scalar field or joined value of many records; returns the values before, as `column` gives them.

        Args:
            rows: which records, shape (n,), none twice. values: shape (n,), or one for all.

        Raises:
            FormatError: a record outside (`format.index`), twice, or a shape that does not match (`format.count`), a
                value that does not fit (`format.range`); nothing is written then.
        """
        field = self._scalar_field(name)
        at = self.rows(rows)
        new = checked_column(self.struct, field, values, len(at)).astype(np.uint64)
        parts = pieces(field, self.struct.size)
        words = [self._word(p.byte, p.size) for p in parts]
        if not words[0].flags.writeable:
            raise FormatError("is in a buffer that cannot be written", id="format.read-only", where=self._where(name))
        before = _put_together(field, parts, [word[at] for word in words])
        for word, p in zip(words, parts, strict=True):
            kind = word.dtype.type
            bits = (new >> np.uint64(p.up) & np.uint64(p.mask)).astype(kind) << kind(p.shift)
            word[at] = word[at] & kind(~(p.mask << p.shift) & (1 << 8 * p.size) - 1) | bits
        return before

    def rows(self, rows: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Record numbers as an array, shape (n,): each is in the ring, none is given twice; else `FormatError`."""
        at = np.asarray(rows)
        where = self.struct.struct_name
        if at.ndim != 1 or (at.size and at.dtype.kind not in "iu"):
            raise FormatError("no list of record numbers", id="format.index", where=where)
        at = at.astype(np.int64)
        for index in (int(at.min()), int(at.max())) if at.size else ():
            if not 0 <= index < len(self):
                raise FormatError(f"record {index} is outside the ring of {len(self)}", id="format.index", where=where)
        if len(np.unique(at)) != len(at):
            raise FormatError("a record is given twice", id="format.count", where=where)
        return at

    def _where(self, name: str) -> str:
        return f"{self.struct.struct_name}.{name}"

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


def _put_together(
    field: Field | Joined, parts: Sequence[Piece], words: Sequence[npt.NDArray[np.unsignedinteger[Any]]]
) -> Column:
    """The values of a field from the words that hold its pieces; a fresh array."""
    wide = np.dtype("<u8" if field.width > 32 else "<u4")
    found = _bits(words[0], parts[0]).astype(wide)
    for word, p in zip(words[1:], parts[1:], strict=True):
        found |= _bits(word, p).astype(wide) << wide.type(p.up)
    return _as_signed(found, field.width) if isinstance(field, Field) and field.kind == "int" else found


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
    `load`. Each machine word of the layout is gathered once, however many fields it holds; values split
    over two fields are joined when they are asked for.
    """

    def __init__(self, view: View, capacity: int = _BLOCK) -> None:
        self.view = view
        self.capacity = capacity
        self.count = 0
        self._plan = _Plan(view.struct)
        self._columns: dict[str, Column] = {n: np.empty(capacity, kind) for n, kind in self._plan.types.items()}
        self._scratch = self._plan.scratch(capacity)
        self._now = self._part()
        self._joined: set[str] = set()

    def _part(self) -> dict[str, Column]:
        return {name: column[: self.count] for name, column in self._columns.items()}

    def load(self, lo: int, hi: int) -> None:
        """Decode records `lo` to `hi` (exclusive), at most `capacity` of them; `FormatError` (`format.index`)."""
        if not 0 <= lo <= hi <= len(self.view) or hi - lo > self.capacity:
            raise FormatError(
                f"records {lo} to {hi} do not fit a window of {self.capacity} over {len(self.view)}",
                id="format.index",
                where=self.view.struct.struct_name,
            )
        if hi - lo != self.count:
            self.count = hi - lo
            self._now = self._part()
        self._joined.clear()
        self._plan.load(self.view, lo, hi, self._now, self._scratch)

    def __getitem__(self, name: str) -> Column:
        """The column of a scalar field or joined value; shape (count,)."""
        column = self._now.get(name)
        if column is None:
            where = self.view.struct.field(name).where
            raise FormatError("is not a named scalar", id="format.unknown-field", where=where, remedy="use view[name]")
        pair = self.view.struct.joined.get(name)
        if pair is not None and name not in self._joined:
            _join(pair, self._now)
            self._joined.add(name)
        return column


class _Plan:
    """How all scalar columns of a struct are decoded: words to gather, fields in each, and the rest.

    Attributes:
        types: numpy type by column, joined values included.
    """

    def __init__(self, struct: CStruct) -> None:
        scalars = [f for f in struct.named_fields if f.count is None and f.width <= 64]
        shown: list[Field | Joined] = [*scalars, *struct.joined.values()]
        self.types = {f.name: _column_type(f) for f in shown}
        self._words: dict[tuple[int, int], list[tuple[str, int, int]]] = {}
        self._others: list[str] = []
        for f in scalars:
            size = next((n for n in (4, 8) if _fits(f, n, struct.size)), 0)
            if size == 0 or f.kind == "int":
                self._others.append(f.name)
            else:
                byte = f.offset // (8 * size) * size
                self._words.setdefault((byte, size), []).append((f.name, f.offset - 8 * byte, (1 << f.width) - 1))

    def scratch(self, capacity: int) -> _Scratch:
        """Arrays that `load` needs, by word size."""
        return {size: np.empty(capacity, f"<u{size}") for size in (4, 8)}

    def load(self, view: View, lo: int, hi: int, columns: Mapping[str, Column], scratch: _Scratch) -> None:
        """Fill `columns` (of hi - lo records) from records `lo` to `hi`; joined values are left alone."""
        step = view.struct.size
        for (byte, size), parts in self._words.items():
            source = _words(view.bytes, lo * step + byte, size, step, hi - lo)
            if len(parts) == 1 and parts[0][1] == 0 and parts[0][2].bit_length() == 8 * size:
                np.copyto(columns[parts[0][0]], source)
                continue
            word = scratch[size][: hi - lo]
            np.copyto(word, source)
            for name, shift, mask in parts:
                _extract(word, shift, mask, columns[name])
        if self._others:
            part = View(view.struct, view.bytes[lo * step : hi * step])
            for name in self._others:
                columns[name][:] = part.column(name)


def _join(pair: Joined, columns: Mapping[str, Column]) -> None:
    low, high, out = (columns[n] for n in (pair.low.name, pair.high.name, pair.name))
    np.left_shift(high, out.dtype.type(pair.low.width), out=out, dtype=out.dtype)
    np.bitwise_or(out, low, out=out)


def _column_type(field: Field | Joined) -> str:
    if isinstance(field, Field) and field.kind == "int":
        return "<i8"
    return "<u8" if field.width > 32 else "<u4"


def _fits(f: Field, size: int, record_size: int) -> bool:
    byte = f.offset // (8 * size) * size
    return f.end <= 8 * (byte + size) and byte + size <= record_size


def _extract(word: Column, shift: int, mask: int, out: Column) -> None:
    kind = word.dtype.type
    top = shift + mask.bit_length() == 8 * word.itemsize
    if not shift and word.dtype == out.dtype:
        np.bitwise_and(word, kind(mask), out=out)
        return
    np.right_shift(word, kind(shift), out=out, casting="unsafe")
    if not top:
        np.bitwise_and(out, out.dtype.type(mask), out=out)
