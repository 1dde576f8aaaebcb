"""Submission and completion rings. Both live in device memory; their bytes are the truth.

| quantity | meaning |
|---|---|
| head | next entry to retire; the scheduler advances it |
| tail | next free entry; the producer advances it and rings the doorbell |
| depth | entries in the ring; one always stays empty |
| enable | cleared by the hardware on an error |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core.errors import InputError, LimitError
from emu_core.memory import Space
from emu_core.origin import NOWHERE
from emu_core.submissions import SlotMap, Submissions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from emu_core.memory import Bytes, DeviceMemory
    from emu_core.origin import Origin

SQE_BYTES = 64
MOST_UNITS = 5
"""64-byte units of the longest task (`reference/sqe_formats.md` 2.2)."""


def free_entries(head: int, tail: int, depth: int) -> int:
    """Entries that can still be submitted (`reference/device_semantics.md` 2.2)."""
    return depth - (tail - head + 1) if tail >= head else head - tail - 1


def is_full(head: int, tail: int, depth: int, add: int) -> bool:
    """Whether `add` more entries do not fit."""
    return free_entries(head, tail, depth) < add


class SubmissionQueue:
    """The ring of one stream.

    A ring that is bound to a model never wraps: it is written once and walked again from entry 0 on every execution.
    `usable` is the most entries such a ring may hold. A task of several 64-byte units lies in as many slots and is
    known by the first of them; its units wrap like entries. Task ids have `task_bits` bits.

    Attributes:
        submissions: which task lies where, and where it comes from. slot_of, task_at, origin_at: the same as mappings
            (task id to slot; slot to task id; slot to origin).
        peek, settle: while the queue runs ahead (`emu_core.lanes`): tells the head of the present moment; ends it.
    """

    head: int

    def __init__(
        self, memory: DeviceMemory, stream_id: int, depth: int, usable: int, label: str, task_bits: int = 16
    ) -> None:
        self.stream_id = stream_id
        self.depth = depth
        self.usable = usable
        self.head = 0
        self.tail = 0
        self._enabled = False
        self.bound = False
        self.memory = memory
        self.ring = memory.allocate(depth * SQE_BYTES, label=f"SQ {stream_id} ({label})", space=Space.TS, align=4096)
        memory.protect(self.ring.address, self.ring.size, f"the ring of SQ {stream_id}")
        self.submissions = found = Submissions(depth, task_bits)
        self.slot_of: Mapping[int, int] = SlotMap(found.slot_of, lambda: (found_id(s) for s in found.slots()))
        self.task_at: Mapping[int, int] = SlotMap(found.task_at, found.slots)
        self.origin_at: Mapping[int, Origin] = SlotMap(found.origin_at, found.slots)
        found_id = self.task_at.__getitem__
        self._view: Bytes | None = None
        self.peek: Callable[[], int] | None = None
        self.settle: Callable[[], None] | None = None

    def __getattr__(self, name: str) -> int:
        """`head` while the queue runs ahead, when it is not kept up."""
        peek = self.__dict__.get("peek")
        if name != "head" or peek is None:
            raise AttributeError(name)
        return int(peek())

    @property
    def enabled(self) -> bool:
        """Whether the hardware takes entries from it; cleared on an error."""
        return self._enabled

    @enabled.setter
    def enabled(self, on: bool) -> None:
        if self.settle is not None and not on:
            self.settle()
        self._enabled = on

    @property
    def pending(self) -> int:
        """Entries between head and tail."""
        return (self.tail - self.head) % self.depth

    def next_task_id(self) -> int:
        """The task id the next submitted entry will have; after the last one they flip to 0."""
        return self.submissions.count & self.submissions.last_id

    def append(self, sqe: bytes, origin: Origin = NOWHERE) -> int:
        """Write the task `sqe` at tail, advance tail, and return its slot; `origin` is kept for messages and traces.

        Raises:
            LimitError: the ring is full (EE1019 for a ring bound to a model, which never wraps).
            InputError: the task has not 1 to 5 units of 64 bytes (`ring.task-size`).
        """
        units = 1 if len(sqe) == SQE_BYTES else self._units(sqe)
        self._require_room(units)
        slot = self.tail
        self._write(sqe)
        self.submissions.add(1, origin, units)
        return slot

    def extend(self, sqes: bytes | Bytes, origin: Origin = NOWHERE) -> int:
        """Write many tasks of one unit each, as `append` one after the other would; returns the slot of the first.

        `sqes` is the entries in one piece: bytes, or a numpy array of uint8 with one axis.

        Raises:
            LimitError: they do not all fit; nothing is written then.
            InputError: it is not a whole number of entries (`ring.task-size`).
        """
        count, rest = divmod(len(sqes), SQE_BYTES)
        if rest:
            raise InputError(
                f"{len(sqes)} bytes are not a whole number of {SQE_BYTES}-byte entries",
                id="ring.task-size",
                remedy="give whole entries",
            )
        self._require_room(count)
        slot = self.tail
        self._write(sqes)
        self.submissions.add(count, origin)
        return slot

    def _require_room(self, units: int) -> None:
        if self.bound and self.tail + units > self.usable:
            raise LimitError(
                f"stream {self.stream_id} is full: a model-bound ring holds {self.usable} tasks",
                id="EE1019",
                remedy="put fewer tasks on one stream",
            )
        if is_full(self.head, self.tail, self.depth, units):
            raise LimitError(f"SQ {self.stream_id} is full: {self.depth - 1} entries wait", id="limit.sq-full")

    def _write(self, sqes: bytes | Bytes) -> None:
        """Put whole units at tail, which wraps."""
        count = len(sqes) // SQE_BYTES
        before = min(count, self.depth - self.tail)
        self.memory.poke(self.address(self.tail), sqes[: before * SQE_BYTES])
        if count > before:
            self.memory.poke(self.address(0), sqes[before * SQE_BYTES :])
        self.tail = (self.tail + count) % self.depth

    @staticmethod
    def _units(sqe: bytes) -> int:
        units, rest = divmod(len(sqe), SQE_BYTES)
        if rest or not 1 <= units <= MOST_UNITS:
            raise InputError(
                f"a task has 1 to {MOST_UNITS} units of {SQE_BYTES} bytes, not {len(sqe)} bytes",
                id="ring.task-size",
                remedy="give whole entries",
            )
        return units

    def address(self, slot: int) -> int:
        """Device address of entry `slot`."""
        return self.ring.address + slot * SQE_BYTES

    def entry(self, slot: int) -> bytes:
        """The 64 bytes of entry `slot` as they are in the ring now."""
        found: bytes = self.row(slot).tobytes()
        return found

    def row(self, slot: int) -> Bytes:
        """The 64 bytes themselves, shape (64,), uint8; `MemoryFault` when the ring has no such slot."""
        if not 0 <= slot < self.depth:
            return self.memory.view(self.address(slot), SQE_BYTES)
        found: Bytes = self.view()[slot]
        return found

    def follow_writes(self, before_write: Callable[[int, bytes | bytearray | Bytes], None]) -> None:
        """Call `before_write(offset, data)` before bytes of the ring change."""
        self.memory.watch(self.ring.address, before_write)

    def view(self) -> Bytes:
        """The ring itself: shape (depth, 64), uint8."""
        if self._view is None:
            self._view = self.memory.view(self.ring.address, self.ring.size).reshape(self.depth, SQE_BYTES)
        return self._view

    def further(self, slot: int, units: int) -> list[int]:
        """Slots of the units behind the first one of the task of `units` units in `slot`."""
        return [(slot + unit) % self.depth for unit in range(1, units)]

    def contents(self) -> bytes:
        """All entries that were ever written, from slot 0."""
        return self.memory.read(self.ring.address, min(self.submissions.units, self.depth) * SQE_BYTES)


class CompletionQueue:
    """The completion ring of a device: entries of `entry_bytes`, a phase bit that toggles at each wrap.

    An entry is valid when its phase differs from bit 0 of the reader's loop count (`device_semantics.md` 2.4).
    """

    def __init__(self, memory: DeviceMemory, depth: int, entry_bytes: int) -> None:
        self.memory = memory
        self.depth = depth
        self.entry_bytes = entry_bytes
        self.ring = memory.allocate(depth * entry_bytes, label="CQ", space=Space.TS, align=4096)
        memory.protect(self.ring.address, self.ring.size, "the completion ring")
        self.written = 0
        self.read = 0

    @property
    def phase(self) -> int:
        """Phase bit of the next entry: 1 on the first lap, then alternating."""
        return 1 - (self.written // self.depth) & 1

    @property
    def full(self) -> bool:
        """Whether the producer has to wait for the reader."""
        return self.written - self.read >= self.depth

    def push(self, entry: bytes) -> None:
        """Append an entry; the caller has put `phase` into it."""
        at = self.written % self.depth
        self.memory.poke(self.ring.address + at * self.entry_bytes, entry)
        self.written += 1

    def drain(self, limit: int = 32) -> list[bytes]:
        """Up to `limit` entries, as the host takes them."""
        found: list[bytes] = []
        while len(found) < limit and self._valid():
            at = self.read % self.depth
            found.append(self.memory.read(self.ring.address + at * self.entry_bytes, self.entry_bytes))
            self.read += 1
        return found

    def _valid(self) -> bool:
        at, lap = self.read % self.depth, self.read // self.depth
        first = int(self.memory.view(self.ring.address + at * self.entry_bytes, 1)[0])
        return (first & 1) != (lap & 1)
