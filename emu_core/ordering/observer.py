"""Reads the log of a trace as it grows, keeps clocks and accesses, and reports what nothing orders."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from emu_core.ordering import records, words
from emu_core.ordering.accesses import AccessMap, Epoch
from emu_core.ordering.clocks import HOST, Clocks, FlagClock, place_of
from emu_core.ordering.words import Pair
from emu_core.spans import CLEARED, ENDS, MANY_PATCHES, ORDERED, PARKS, PASSED, PATCHES, SETS, TAKEN

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from emu_core.device import Device
    from emu_core.ordering.clocks import Counts

    Entry = tuple[Any, ...]

WRITER, TARGET_STREAM, TARGET_SLOT, FIELD = 2, 4, 5, 8
"""Places in the row of a patch (`emu_core.journal`)."""


@dataclass(frozen=True)
class _Patch:
    """A patch whose target has not executed since; `knew`: the stretch of the target's stream that the writer knew."""

    slot: int
    field: str
    by: Epoch
    knew: int


class Ordering:
    """Ordering of one device; made when policy `ordering` is `report`.

    Attributes:
        note: appends a record (`emu_core.ordering.records`) to the log.
        keeps_records: what each entry that sets a flag handed on is kept, for a host that waits for single records.
    """

    def __init__(self, device: Device) -> None:
        self._device = device
        self._clocks = Clocks()
        self._accesses = AccessMap()
        self._flags: dict[int, FlagClock] = {}
        self._patches: dict[int, list[_Patch]] = {}
        self._begun: dict[tuple[int, int], int] = {}
        self.keeps_records = False
        self._handed_on: dict[tuple[int, int], Counts] = {}
        self._reported: set[tuple[str, int, int, int, int]] = set()
        self._now = 0
        self._steps: dict[int, Callable[..., None]] = {
            records.SET: self._set,
            records.CLEAR: self._clear,
            records.PASS: self._pass,
            records.READ: self._read,
            records.WRITE: self._write,
            records.POLL: self._poll,
            records.START: self._started,
            records.ACTIVATE: self._activate,
            records.JOIN: self._join,
            records.EPOCH: self._epoch,
        }

    def note(self, what: int, stream: int, slot: int, task: int, *more: int) -> None:
        """Add a record to the log, now."""
        clock = self._device.clock
        self._device.trace.log((clock.now, clock.front, ORDERED, what, stream, slot, task, *more))

    def take(self, log: Sequence[Entry]) -> None:
        """Go on with these entries of the log."""
        for entry in log:
            what = entry[2]
            if what.__class__ is not int:
                continue
            self._now = entry[0]
            if what == ORDERED:
                self._steps[entry[records.WHAT]](*entry[records.STREAM :])
            elif what == PATCHES:
                self._patched(entry[3])
            elif what == MANY_PATCHES:
                for row in entry[3].rows():
                    self._patched(row)
            elif what in ENDS or what == PARKS:
                self._step(what, entry)

    def host_waited(self, stream: int, slot: int = -1) -> None:
        """The host has waited for the record in `slot` of `stream`; -1: for all that the stream has done so far."""
        self.note(records.JOIN, stream, slot, -1)
        self._device.trace.hand_on()

    def host_cleared(self, key: int) -> None:
        """The host cleared a flag."""
        self.note(records.CLEAR, -1, -1, -1, key)
        self._device.trace.hand_on()

    def host_touched(self, what: int, address: int, size: int) -> None:
        """The host read or wrote device memory (`records.READ`, `records.WRITE`), whatever the device was doing."""
        self.note(what, -1, -1, -1, address, size)
        self._device.trace.hand_on()

    def forget_flags(self) -> None:
        """The host cleared every flag."""
        self._device.trace.hand_on()
        self._flags.clear()

    # ---- steps of queues that run ahead ----------------------------------------------------------------------

    def _step(self, what: int, entry: Entry) -> None:
        """A stop of a lane: (time, front, what, lane, window, index, since, waited)."""
        lane, window, at = entry[3], entry[4], entry[5]
        stream, slot = lane.sid, window.lo + at
        if stream in self._patches:
            self._executed(stream, slot, inclusive=what != PARKS)
        if what not in _FLAG_STEPS:
            return
        key = window.key(at)
        task = window.number + at & window.submissions.last_id
        if what == SETS:
            self._set(stream, slot, task, key)
        elif what == CLEARED:
            self._clear(stream, slot, task, key)
        else:
            self._pass(stream, slot, task, key)
            if what == TAKEN:
                self._flags.pop(key, None)

    # ---- flags -----------------------------------------------------------------------------------------------

    def _set(self, stream: int, slot: int, task: int, key: int, value: int = 1) -> None:
        """Of a flag that is set again, a wait may pass because of either; a count tells of all that counted."""
        del task
        known = self._clocks.released(stream + 1)
        if self.keeps_records:
            self._handed_on[stream, slot] = known
        flag = self._flags.get(key)
        if flag is None:
            self._flags[key] = FlagClock(known, (stream, slot))
            return
        if value > 1:
            flag.known = np.maximum(self._clocks.fitted(flag.known), known)
            return
        flag.known = np.minimum(self._clocks.fitted(flag.known), known)
        flag.setter, flag.other = (stream, slot), flag.setter

    def _clear(self, stream: int, slot: int, task: int, key: int) -> None:
        del stream, slot, task
        self._flags.pop(key, None)

    def _pass(self, stream: int, slot: int, task: int, key: int) -> None:
        flag = self._flags.get(key)
        if flag is None:
            return
        self._clocks.join(stream + 1, flag.known)
        if flag.other is not None:
            here = Epoch(stream + 1, self._clocks.count(stream + 1), stream, slot, task)
            others = [self._entry(*flag.other), self._entry(*flag.setter)]
            name = str(self._device.signals.signal(key))
            self._report(words.flag_reuse(self._device, here, others, name))

    def _activate(self, stream: int, slot: int, task: int, target: int) -> None:
        del slot, task
        self._clocks.join(place_of(target), self._clocks.released(place_of(stream)))

    def _join(self, stream: int, slot: int, task: int) -> None:
        del task
        known = self._handed_on.get((stream, slot))
        self._clocks.join(HOST, self._clocks.of(place_of(stream)) if known is None else known)

    def _epoch(self, stream: int, slot: int, task: int) -> None:
        """The host has waited for everything: whatever comes is behind all that was."""
        del stream, slot, task
        for target in list(self._patches):
            self._at_the_end(target)
        streams = [place_of(s) for s in self._device.streams]
        for place in streams:
            self._clocks.join(HOST, self._clocks.of(place))
        known = self._clocks.released(HOST)
        for place in streams:
            self._clocks.join(place, known)
        self._accesses.clear()
        self._begun.clear()

    # ---- bytes -----------------------------------------------------------------------------------------------

    def _read(self, stream: int, slot: int, task: int, address: int, size: int) -> None:
        self._touch(stream, slot, task, address, size, write=False)

    def _write(self, stream: int, slot: int, task: int, address: int, size: int) -> None:
        self._touch(stream, slot, task, address, size, write=True)

    def _poll(self, stream: int, slot: int, task: int, address: int, size: int) -> None:
        """Who looks at bytes that stand for a flag comes behind who wrote them last."""
        place = place_of(stream)
        for writer in self._accesses.writers(address, address + size):
            if writer.place != place:
                self._clocks.join(place, self._clocks.released(writer.place))
        self._touch(stream, slot, task, address, size, write=False)

    def _touch(self, stream: int, slot: int, task: int, address: int, size: int, *, write: bool) -> None:
        if size <= 0:
            return
        place = place_of(stream)
        here = Epoch(place, self._clocks.count(place), stream, slot, task)
        found = self._accesses.touch(address, address + size, here, write=write, ordered=self._behind(place))
        for other, wrote, at in found:
            self._report(words.unordered_access(self._device, Pair(other, wrote), Pair(here, write), at))

    def _behind(self, place: int) -> _Behind:
        return _Behind(self._clocks, place)

    # ---- patches ---------------------------------------------------------------------------------------------

    def _patched(self, row: Entry) -> None:
        writer, target, slot, field = row[WRITER], row[TARGET_STREAM], row[TARGET_SLOT], row[FIELD]
        if writer.stream < 0:
            return
        place = place_of(writer.stream)
        by = Epoch(place, self._clocks.count(place), writer.stream, -1, writer.task)
        begun = self._begun.get((target, slot))
        if begun is not None and not self._clocks.knows(place, place_of(target), begun):
            self._report(words.unordered_update(self._device, by, target, slot, field))
            return
        waiting = self._patches.setdefault(target, [])
        for earlier in waiting:
            if (earlier.slot, earlier.field) == (slot, field) and earlier.by.task != by.task:
                ordered = self._clocks.knows(place, earlier.by.place, earlier.by.count)
                self._report(words.lost_update(self._device, earlier.by, by, target, slot, field, ordered=ordered))
        waiting[:] = [p for p in waiting if (p.slot, p.field) != (slot, field)]
        self._clocks.of(place_of(target))
        waiting.append(_Patch(slot, field, by, int(self._clocks.of(place)[place_of(target)])))

    def _started(self, stream: int, slot: int, task: int) -> None:
        del task
        self._begun[stream, slot] = self._clocks.count(place_of(stream))
        if stream in self._patches:
            self._executed(stream, slot, inclusive=True)

    def _executed(self, stream: int, slot: int, *, inclusive: bool) -> None:
        """The entries of `stream` before `slot` (or up to it) have executed: were their patches ordered before them?"""
        last = slot if inclusive else slot - 1
        patches = self._patches.pop(stream)
        left = [patch for patch in patches if patch.slot > last]
        self._check(stream, [patch for patch in patches if patch.slot <= last])
        if left:
            self._patches[stream] = left

    def _at_the_end(self, stream: int) -> None:
        """Nothing runs any more: those that executed behind the last stop of their queue are checked, too."""
        queue = self._device.streams[stream].queue
        done = [p for p in self._patches[stream] if (p.slot - queue.head) % queue.depth >= queue.pending]
        self._check(stream, done)
        del self._patches[stream]

    def _check(self, stream: int, patches: list[_Patch]) -> None:
        place = place_of(stream)
        for patch in patches:
            before = self._clocks.knows(place, patch.by.place, patch.by.count)
            behind = patch.knew >= self._clocks.count(place)
            if not before and not behind:
                self._report(words.unordered_update(self._device, patch.by, stream, patch.slot, patch.field))

    # ---- reports ---------------------------------------------------------------------------------------------

    def _entry(self, stream: int, slot: int) -> Epoch:
        queue = self._device.streams[stream].queue if stream in self._device.streams else None
        task = -1 if queue is None else queue.task_at.get(slot, -1)
        return Epoch(place_of(stream), 0, stream, slot, task)

    def _report(self, found: words.Report) -> None:
        """Once for each pair of entries."""
        if found.key in self._reported:
            return
        self._reported.add(found.key)
        self._device.report(replace(found.hazard, time=self._now), found.model_task)


_FLAG_STEPS = frozenset({SETS, CLEARED, PASSED, TAKEN})


@dataclass(frozen=True)
class _Behind:
    """Whether a place comes behind an epoch."""

    clocks: Clocks
    place: int

    def __call__(self, other: Epoch) -> bool:
        return self.clocks.knows(self.place, other.place, other.count)
