"""Entries of two rings, aligned by stream and task.

The rules, which hold wherever an entry lies:

1. An entry belongs to its stream, task and unit; entries of the same bytes are paired first, those in the same slot
   before others, then what is left of a task in its order. Across families entries belong to their slot where one
   family has no stream, and bytes do not count.
2. Entries that are all zero are nobody's: they are never counted, unless they are a unit of a task that has other
   bytes on the other side.

What is the same on both sides is counted by its bytes, window by window, holes of sparse files are passed over, and
only slots are kept of the rest, so that large files with few changes are compared at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, TypeAlias

from formats import SQE_SIZE
from tools.diff.fields import differences
from tools.dump.items import MOST_UNITS, WINDOW, Entry, entry_at, places, task_start, used_slots

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tools.diff.fields import Difference
    from tools.diff.side import Ring
    from tools.dump.selection import Selection

    Key: TypeAlias = "tuple[int | None, int, int]"
    Slots: TypeAlias = "dict[Key, list[int]]"


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


class Comparison:
    """Two rings side by side; a pair is decoded when it is looked at, and not kept.

    Attributes:
        equal, changed, only_a, only_b: entries counted so far; complete when `pairs` has been walked over, once.
        by_order: tasks are aligned by their position, because a family has no stream in its entries.
    """

    def __init__(self, a: Ring, b: Ring, chosen: Selection, ignored: frozenset[str]) -> None:
        self._a, self._b = a, b
        self._chosen = chosen
        self._ignored = ignored
        self._same_family = a.reader.family == b.reader.family
        self.by_order = (a.reader.zero_stream is None) != (b.reader.zero_stream is None)
        self._starts = [0, 0]
        self.equal = self.changed = self.only_a = self.only_b = 0

    @property
    def different(self) -> bool:
        """Whether an entry differs."""
        return bool(self.changed or self.only_a or self.only_b)

    def pairs(self) -> Iterator[Pair]:
        """The pairs that differ: those with an entry of A in the order of A, then those that only B has."""
        left: Slots = {}
        right: Slots = {}
        for first, end in _windows(self._a, self._b):
            self._window(first, end, left, right)
        for slot_a, slot_b, unit in self._aligned(left, right):
            pair = self._pair(slot_a, slot_b, unit)
            if pair is not None:
                yield pair

    # ---- what is the same, by bytes ----

    def _window(self, first: int, end: int, left: Slots, right: Slots) -> None:
        """Count what is the same in slots `first` to `end` (exclusive), and add the slots of the rest by their task."""
        a, b = self._a, self._b
        starts = self._starts = [
            task_start(r.reader, r.data, first, known) if first < r.slots else first
            for r, known in zip((a, b), self._starts, strict=True)
        ]
        if self._same_family and self._chosen.everything and _alike(a, b, starts, end):
            self.equal += len(used_slots(_bytes(a, first, end)))
        else:
            mine, theirs = (
                dict(places(r.reader, r.data, first, min(end, r.slots), start))
                for r, start in zip((a, b), starts, strict=True)
            )
            if self._same_family:
                for slot in [s for s, start in mine.items() if theirs.get(s) == start and self._same(s, start)]:
                    self._count(slot, mine.pop(slot))
                    del theirs[slot]
            self._keep(a, mine, left)
            self._keep(b, theirs, right)
        for ring in (a, b):
            ring.data.release(first * SQE_SIZE, end * SQE_SIZE)

    def _same(self, slot: int, start: int) -> bool:
        """Whether both sides have the same bytes in `slot`, and in `start`, where the task of both begins."""
        return all(_raw(self._a, at) == _raw(self._b, at) for at in {slot, start})

    def _count(self, slot: int, start: int) -> None:
        """One equal entry, if it is chosen and not all zero."""
        if any(_raw(self._a, slot)) and (
            self._chosen.everything or self._chosen.admits(entry_at(self._a.reader, self._a.data, slot, start))
        ):
            self.equal += 1

    def _keep(self, ring: Ring, found: dict[int, int], kept: Slots) -> None:
        for slot, start in found.items():
            raw = _raw(ring, start)
            task = None if self.by_order else ring.reader.task_of(raw)
            key = (None, slot, slot - start) if task is None else (ring.reader.stream_of(raw), task, slot - start)
            kept.setdefault(key, []).append(slot)

    # ---- the rest, by stream and task ----

    def _aligned(self, left: Slots, right: Slots) -> Iterable[tuple[int | None, int | None, int]]:
        """(slot in A, slot in B, unit) of entries that belong together; None where a side has none."""
        found: list[tuple[int | None, int | None, int]] = []
        for key, mine in left.items():
            theirs = right.pop(key, [])
            if self._same_family and len(mine) + len(theirs) > 2 and theirs:
                found += self._same_bytes(mine, theirs, key[2])
            found += ((a, b, key[2]) for a, b in zip_longest(mine, theirs))
        found += ((None, slot, key[2]) for key, slots in right.items() for slot in slots)
        return sorted(found, key=lambda each: (each[0] is None, each[1] if each[0] is None else each[0]))

    def _same_bytes(self, mine: list[int], theirs: list[int], unit: int) -> list[tuple[int, int, int]]:
        """Pairs of the same bytes, in order; they are taken out of both lists."""
        waiting: dict[bytes, list[int]] = {}
        for slot in reversed(theirs):
            waiting.setdefault(_raw(self._b, slot), []).append(slot)
        found = [(a, same.pop(), unit) for a in mine if (same := waiting.get(_raw(self._a, a)))]
        taken_a, taken_b = {a for a, _, _ in found}, {b for _, b, _ in found}
        mine[:] = [slot for slot in mine if slot not in taken_a]
        theirs[:] = [slot for slot in theirs if slot not in taken_b]
        return found

    def _pair(self, slot_a: int | None, slot_b: int | None, unit: int) -> Pair | None:
        """The pair when it differs, counted; None when it is equal, not chosen or empty."""
        a = None if slot_a is None else entry_at(self._a.reader, self._a.data, slot_a, slot_a - unit)
        b = None if slot_b is None else entry_at(self._b.reader, self._b.data, slot_b, slot_b - unit)
        sides = [entry for entry in (a, b) if entry is not None]
        if all(e.empty for e in sides) or not (self._chosen.everything or any(map(self._chosen.admits, sides))):
            return None
        if a is None or b is None:
            self.only_a += b is None
            self.only_b += a is None
            return Pair(a, b)
        found = tuple(differences(a, b, self._ignored))
        if found:
            self.changed += 1
            return Pair(a, b, found)
        self.equal += 1
        return None


def _windows(a: Ring, b: Ring) -> Iterator[tuple[int, int]]:
    """Slots to compare (first, end), without what is a hole in both files."""
    count = max(a.slots, b.slots)
    at = 0
    while at < count:
        hole = min(_stored(ring, at, count) for ring in (a, b))
        if hole > at + WINDOW:
            yield at, at + MOST_UNITS  # units of a task before the hole
            at = hole
            continue
        end = min(at + WINDOW, count)
        yield at, end
        at = end


def _stored(ring: Ring, slot: int, otherwise: int) -> int:
    """The first slot from `slot` on that is in no hole; `otherwise` where there is none."""
    if slot >= ring.slots:
        return otherwise
    found = ring.data.next_data(slot * SQE_SIZE) // SQE_SIZE
    return found if found < ring.slots else otherwise


def _alike(a: Ring, b: Ring, starts: list[int], end: int) -> bool:
    """Whether both sides have the same bytes up to `end`, from where the task begins that takes up the first slot."""
    if end > min(a.slots, b.slots) or starts[0] != starts[1]:
        return False
    return bytes(_bytes(a, starts[0], end)) == bytes(_bytes(b, starts[0], end))


def _bytes(ring: Ring, first: int, end: int) -> memoryview[int]:
    return ring.data.view[first * SQE_SIZE : end * SQE_SIZE]


def _raw(ring: Ring, slot: int) -> bytes:
    return bytes(_bytes(ring, slot, slot + 1))
