"""Which task lies in which slot of a ring, and where it comes from, without a record per slot.

Tasks are numbered in the order of submission from 0; the task id is the number modulo 2^bits. Each task has one or more
64-byte *units*, which follow each other in the ring. So a few *runs* say everything: a run is a stretch of tasks with
equally many units each.

| question | answer |
|---|---|
| task in a slot | the last unit that was written there: its run, and its place in it |
| slot of a task id | the last number with that id: its run, and its place in it; none when it was overwritten |
| origin of a task | the last change of origin at or before its number |
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from emu_core.origin import NOWHERE, Origin

if TYPE_CHECKING:
    import numpy.typing as npt

T = TypeVar("T")


class Submissions:
    """The tasks that were ever written to a ring of `depth` slots; task ids have `task_bits` bits.

    Attributes:
        count: tasks so far. units: slots they took, so the next task goes to slot ``units % depth``.
    """

    def __init__(self, depth: int, task_bits: int = 16) -> None:
        self.depth = depth
        self.last_id = (1 << task_bits) - 1
        self.count = 0
        self.units = 0
        self._first: list[int] = []
        self._first_unit: list[int] = []
        self._each: list[int] = []
        self._origin_from: list[int] = []
        self._origins: list[Origin] = []

    def add(self, count: int, origin: Origin, units: int = 1) -> None:
        """Note `count` more tasks of `units` units each."""
        if not self._each or self._each[-1] != units:
            self._first.append(self.count)
            self._first_unit.append(self.units)
            self._each.append(units)
        if not self._origins or self._origins[-1] != origin:
            self._origin_from.append(self.count)
            self._origins.append(origin)
        self.count += count
        self.units += count * units

    def number_at(self, slot: int) -> int | None:
        """Number of the task whose first unit is the last thing written to `slot`."""
        if not 0 <= slot < min(self.depth, self.units):
            return None
        unit = self.units - 1 - (self.units - 1 - slot) % self.depth
        if self.count == self.units:
            return unit
        run = bisect_right(self._first_unit, unit) - 1
        index, rest = divmod(unit - self._first_unit[run], self._each[run])
        return None if rest else self._first[run] + index

    def numbers_at(self, slots: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """`number_at` of each slot; -1 where there is none."""
        if self.count != self.units:
            found = (self.number_at(slot) for slot in slots.tolist())
            return np.array([-1 if number is None else number for number in found], np.int64)
        unit = self.units - 1 - (self.units - 1 - slots) % self.depth
        return np.where((slots >= 0) & (slots < min(self.depth, self.units)), unit, -1)

    def origins_of(self, numbers: npt.NDArray[np.int64]) -> list[Origin]:
        """`origin_of` of each number; `NOWHERE` for -1."""
        at = np.searchsorted(np.array(self._origin_from, np.int64), numbers, "right")
        found = [NOWHERE, *self._origins]
        return [found[i] for i in at.tolist()]

    def task_at(self, slot: int) -> int | None:
        """Id of that task."""
        number = self.number_at(slot)
        return None if number is None else number & self.last_id

    def slot_of(self, task_id: int) -> int | None:
        """Slot of the last task with this id, or None when its first unit was overwritten."""
        if not 0 <= task_id <= self.last_id:
            return None
        number = self.count - 1 - (self.count - 1 - task_id & self.last_id)
        if number < 0:
            return None
        run = bisect_right(self._first, number) - 1
        unit = self._first_unit[run] + (number - self._first[run]) * self._each[run]
        return unit % self.depth if unit >= self.units - self.depth else None

    def origin_of(self, number: int) -> Origin:
        """Where the task of this number comes from."""
        at = bisect_right(self._origin_from, number) - 1
        return self._origins[at] if at >= 0 else NOWHERE

    def same_origin(self, number: int, count: int) -> bool:
        """Whether `count` tasks from `number` on come from one place."""
        return bisect_right(self._origin_from, number) == bisect_right(self._origin_from, number + count - 1)

    def origin_at(self, slot: int) -> Origin | None:
        """Where the task in `slot` comes from."""
        number = self.number_at(slot)
        return None if number is None else self.origin_of(number)

    def slots(self) -> Iterator[int]:
        """Slots that hold the first unit of a task."""
        return (slot for slot in range(min(self.depth, self.units)) if self.number_at(slot) is not None)


class SlotMap(Mapping[int, T]):
    """A look-up of `Submissions` as a read-only mapping; `keys` gives its keys."""

    def __init__(self, find: Callable[[int], T | None], keys: Callable[[], Iterator[int]]) -> None:
        self._find = find
        self._keys = keys

    def __getitem__(self, key: int) -> T:
        found = self._find(key)
        if found is None:
            raise KeyError(key)
        return found

    def __iter__(self) -> Iterator[int]:
        return self._keys()

    def __len__(self) -> int:
        return sum(1 for _ in self._keys())
