"""Entries of two rings, aligned by stream and task, compared field by field.

Windows that are the same bytes in both files are passed over, so large files with few changes are compared at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from formats import SQE_SIZE, render_value
from formats.enums import name_of
from tools.dump.items import WINDOW, Entry, scan

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tools.diff.side import Ring
    from tools.dump.selection import Selection

    Value: TypeAlias = "int | list[int] | None"
    Key: TypeAlias = "tuple[int | None, int, int, int]"


@dataclass(frozen=True)
class Difference:
    """One field: value and text on each side, None and empty where a side has no such field."""

    name: str
    a: Value
    b: Value
    text_a: str
    text_b: str

    @property
    def both(self) -> list[object]:
        """The values of both sides, for JSON; the names of two structs."""
        return [self.text_a, self.text_b] if self.name == "struct" else [self.a, self.b]


@dataclass(frozen=True)
class Pair:
    """Entries that belong together, or one that is only on one side; the fields that differ."""

    a: Entry | None
    b: Entry | None
    differences: tuple[Difference, ...] = ()

    @property
    def one(self) -> Entry:
        """The entry of a side that has one."""
        found = self.a or self.b
        assert found is not None
        return found


@dataclass
class Comparison:
    """All pairs that differ, and how many entries are equal.

    Attributes:
        by_order: tasks were aligned by their position, because a family has no stream in its entries.
    """

    pairs: list[Pair]
    equal: int
    by_order: bool = False

    @property
    def counts(self) -> tuple[int, int, int]:
        """Entries that are changed, only in A, only in B."""
        both = sum(p.a is not None and p.b is not None for p in self.pairs)
        return both, sum(p.b is None for p in self.pairs), sum(p.a is None for p in self.pairs)


def compare(a: Ring, b: Ring, chosen: Selection, ignored: frozenset[str]) -> Comparison:
    """The comparison of two rings."""
    by_order = (a.reader.zero_stream is None) != (b.reader.zero_stream is None)
    same = a.reader.family == b.reader.family and chosen.everything
    left, skipped = _keyed(a, b if same else None, chosen, by_order=by_order)
    right, _ = _keyed(b, a if same else None, chosen, by_order=by_order)
    found = Comparison([], skipped, by_order)
    for key, entry in left.items():
        other = right.pop(key, None)
        differences = () if other is None else tuple(_differences(entry, other, ignored))
        if other is not None and not differences:
            found.equal += 1
        else:
            found.pairs.append(Pair(entry, other, differences))
    found.pairs += [Pair(None, entry) for entry in right.values()]
    return found


def _keyed(ring: Ring, other: Ring | None, chosen: Selection, *, by_order: bool) -> tuple[dict[Key, Entry], int]:
    """Entries by key, in slot order, and the number of entries in windows that are the same on the other side."""
    found: dict[Key, Entry] = {}
    seen: dict[tuple[int | None, int, int], int] = {}
    skipped = 0
    for first in range(0, ring.slots, WINDOW):
        end = min(first + WINDOW, ring.slots)
        if other is not None and _same(ring, other, first, end):
            skipped += end - first
            continue
        for item in chosen.of(scan(ring.reader, ring.data, first, end)):
            if not isinstance(item, Entry):
                continue
            place = (None, item.slot, item.unit) if by_order or item.task_id is None else (
                item.stream_id, item.task_id, item.unit
            )  # fmt: skip
            seen[place] = seen.get(place, -1) + 1
            found[*place, seen[place]] = item
    return found, skipped


def _same(a: Ring, b: Ring, first: int, end: int) -> bool:
    """Whether both files have the same bytes in these slots, and nothing multi-unit crosses their ends."""
    if end > b.slots or end > a.slots:
        return False
    part = slice(first * SQE_SIZE, end * SQE_SIZE)
    same = bytes(a.data.view[part]) == bytes(b.data.view[part])
    for ring in (a, b):
        ring.data.release(part.start, part.stop)
    return same


def _differences(a: Entry, b: Entry, ignored: frozenset[str]) -> Iterator[Difference]:
    if a.raw == b.raw and a.decoded.struct is b.decoded.struct:
        return
    if "struct" not in ignored and a.decoded.struct.struct_name != b.decoded.struct.struct_name:
        names = a.decoded.struct.struct_name, b.decoded.struct.struct_name
        yield Difference("struct", None, None, *names)
    left, right = _shown(a), _shown(b)
    for name in dict.fromkeys((*left, *right)):
        if name in ignored:
            continue
        mine, theirs = left.get(name), right.get(name)
        if not _equal(a, b, name, mine, theirs):
            yield Difference(name, mine, theirs, _text(a, name, mine), _text(b, name, theirs))


def _shown(entry: Entry) -> dict[str, int | list[int]]:
    """Named and joined values, then reserved bits that are set."""
    struct, values = entry.decoded.struct, entry.decoded.values
    stray = {f.name: values[f.name] for f in struct.fields if f.reserved and _any(values[f.name])}
    return {**struct.join(values), **stray}


def _equal(a: Entry, b: Entry, name: str, mine: Value, theirs: Value) -> bool:
    """Same number, or same name of the value; a field that one side lacks equals 0."""
    if mine is None or theirs is None:
        return not _any(theirs if mine is None else mine)
    if mine == theirs:
        return True
    said = [_name(entry, name, value) for entry, value in ((a, mine), (b, theirs))]
    across = a.decoded.struct.family != b.decoded.struct.family
    return across and bool(said[0]) and said[0] == said[1]


def _name(entry: Entry, name: str, value: Value) -> str:
    field = entry.decoded.struct.by_name.get(name)
    return name_of(field.enum, value) if field is not None and field.enum and isinstance(value, int) else ""


def _text(entry: Entry, name: str, value: Value) -> str:
    if value is None:
        return "-"
    struct = entry.decoded.struct
    field = struct.joined.get(name) or struct.by_name[name]
    if getattr(field, "reserved", False) and isinstance(value, int):
        return f"{value:#x}"
    return render_value(field, value)


def _any(value: Value) -> bool:
    return any(value) if isinstance(value, list) else bool(value)
