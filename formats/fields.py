"""Fields of a C layout, and the short text form in which struct files write their table.

A table has one line per word, in memory order::

    @8   ffts_type:3  -:9  wrr_ratio:4  -:16
    @12  sqe_index:16  kernel_credit:8
    @16  payload:32*12                        | twelve words, meaning by task type

| form | meaning |
|---|---|
| `@8` | the next field starts at byte 8 (checked, never skips) |
| `name:3` | unsigned field of 3 bits |
| `name:i64`, `name:f32` | two's complement field; bit pattern of an IEEE float (`f32`, `f64`) |
| `name:32*12` | array of twelve 32-bit elements, element 0 at the lowest address |
| `-:9` | reserved bits; they are named `reserved_0`, `reserved_1`, … in order |
| text after a vertical bar | meaning of the only named field of the line |
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from formats.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Details: TypeAlias = Callable[[str, str], tuple[str, str, str]]

Kind: TypeAlias = Literal["uint", "int", "float"]

_ITEM = re.compile(r"(?P<name>-|[a-z]\w*):(?P<kind>[if]?)(?P<width>[1-9]\d*)(?:\*(?P<count>[1-9]\d*))?")
_MARK = re.compile(r"@(\d+)")
_KINDS: dict[str, Kind] = {"": "uint", "i": "int", "f": "float"}
_HALVES = (("_low", "_high"), ("_l", "_h"))


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a packed little-endian layout; bits count from the least significant bit of byte 0.

    Attributes:
        name: name in the C header; `reserved_N` for bits without a meaning.
        offset: first bit.
        width: bits of one element.
        count: number of elements, `None` for a scalar.
        kind: how the bits are read: `uint`, `int` (two's complement) or `float` (kept as its bit
            pattern in values, shown as a number when rendered).
        enum: name of a table in :mod:`formats.enums`, or empty.
        unit: unit of the value, or empty.
        meaning: one line for the reader.
        reserved: bits without a meaning, written 0.
    """

    name: str
    offset: int
    width: int
    count: int | None = None
    kind: Kind = "uint"
    enum: str = ""
    unit: str = ""
    meaning: str = ""
    reserved: bool = False

    @property
    def bits(self) -> int:
        """Bits of the whole field, all elements together."""
        return self.width * (self.count or 1)

    @property
    def end(self) -> int:
        """First bit after the field."""
        return self.offset + self.bits

    @property
    def limits(self) -> tuple[int, int]:
        """Smallest and largest value of one element."""
        if self.kind == "int":
            return -(1 << (self.width - 1)), (1 << (self.width - 1)) - 1
        return 0, (1 << self.width) - 1

    @property
    def is_cell(self) -> bool:
        """Whether each element is a plain C integer: 8, 16, 32 or 64 bits on a byte boundary."""
        return self.offset % 8 == 0 and self.width in {8, 16, 32, 64}

    @property
    def place(self) -> str:
        """Words and bits as the tables of the reference write them, for example `w2[15:12]` or `w14–w15`."""
        first, low = divmod(self.offset, 32)
        last, high = divmod(self.end - 1, 32)
        if first != last:
            whole = low == 0 and high == 31
            return f"w{first}–w{last}" if whole else f"w{first}[{low}]…w{last}[{high}]"
        if (low, high) == (0, 31):
            return f"w{first}"
        return f"w{first}[{low}]" if low == high else f"w{first}[{high}:{low}]"


@dataclass(frozen=True, slots=True)
class Joined:
    """A value that the layout splits in two fields, for example `pc_addr` = low | high << 32."""

    name: str
    low: Field
    high: Field

    @property
    def width(self) -> int:
        """Bits of the joined value."""
        return self.low.width + self.high.width

    @property
    def limits(self) -> tuple[int, int]:
        """Smallest and largest value."""
        return 0, (1 << self.width) - 1

    @property
    def meaning(self) -> str:
        """Which fields it is made of, and what they hold."""
        return f"{self.low.name} | {self.high.name} << {self.low.width}: {self.low.meaning}"


def joined_pairs(fields: Iterable[Field]) -> tuple[Joined, ...]:
    """The values split over `X_low` and `X_high` (or `X_l` and `X_h`), in table order.

    A pair counts when both are unsigned scalars, the result has at most 64 bits and no field is called `X`.
    """
    by_name = {f.name: f for f in fields if f.count is None and f.kind == "uint" and not f.reserved}
    return tuple(_pairs(by_name))


def _pairs(by_name: dict[str, Field]) -> Iterator[Joined]:
    for name, low in by_name.items():
        for low_end, high_end in _HALVES:
            base = name.removesuffix(low_end)
            high = by_name.get(base + high_end)
            if base != name and high is not None and base not in by_name and low.width + high.width <= 64:
                yield Joined(base, low, high)


def layout(*parts: str, details: Details | None = None) -> tuple[Field, ...]:
    """The fields of a table written in the text form above; several parts follow each other.

    `details` gives (meaning, unit, enum) of a named field from its name and the meaning in the table.

    Raises:
        FormatError: a line cannot be read, an `@` mark is not at the running offset, a name occurs
            twice, or a meaning stands on a line that does not have exactly one named field (id `format.table`).
    """
    reader = _Reader(details or _as_written)
    for part in parts:
        for line in part.splitlines():
            if line.strip():
                reader.add(line)
    names = [f.name for f in reader.fields]
    if len(set(names)) != len(names):
        twice = sorted({n for n in names if names.count(n) > 1})
        raise FormatError(f"field {', '.join(twice)} is in the table twice", id="format.table")
    return tuple(reader.fields)


def _as_written(_name: str, meaning: str) -> tuple[str, str, str]:
    return meaning, "", ""


class _Reader:
    """Reads lines of a table; keeps the running offset and the number of reserved fields so far."""

    def __init__(self, details: Details) -> None:
        self.fields: list[Field] = []
        self._details = details
        self._offset = 0
        self._reserved = 0

    def add(self, line: str) -> None:
        """Add the fields of one line."""
        table, bar, meaning = line.partition("|")
        words = table.split()
        if bar and sum(word[0] not in "-@" for word in words) != 1:
            what = "a meaning needs exactly one named field on its line"
            raise FormatError(what, id="format.table", where=line.strip())
        for word in words:
            item = _ITEM.fullmatch(word)
            if item is None:
                _check_mark(word, self._offset, line)
            else:
                self._add_field(item, meaning.strip())

    def _add_field(self, item: re.Match[str], written: str) -> None:
        name, kind, width, count = item.groups()
        reserved = name == "-"
        if reserved:
            name, meaning, unit, enum = f"reserved_{self._reserved}", "reserved, written 0", "", ""
            self._reserved += 1
        else:
            meaning, unit, enum = self._details(name, written)
        number = int(count) if count else None
        field = Field(name, self._offset, int(width), number, _KINDS[kind], enum, unit, meaning, reserved)
        self.fields.append(field)
        self._offset += field.width * (number or 1)


def _check_mark(word: str, offset: int, line: str) -> None:
    mark = _MARK.fullmatch(word)
    if mark is None:
        raise FormatError(f"{word!r} is not a field", id="format.table", where=line.strip())
    if int(mark[1]) * 8 != offset:
        raise FormatError(
            f"{word} stands at byte {offset // 8}, bit {offset % 8}", id="format.table", where=line.strip()
        )
