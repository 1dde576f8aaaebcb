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

from emu_core.errors import LimitError
from emu_core.memory import Space
from emu_core.origin import NOWHERE

if TYPE_CHECKING:
    from emu_core.memory import DeviceMemory
    from emu_core.origin import Origin

SQE_BYTES = 64


def free_entries(head: int, tail: int, depth: int) -> int:
    """Entries that can still be submitted (`reference/device_semantics.md` 2.2)."""
    return depth - (tail - head + 1) if tail >= head else head - tail - 1


def is_full(head: int, tail: int, depth: int, add: int) -> bool:
    """Whether `add` more entries do not fit."""
    return free_entries(head, tail, depth) < add


class SubmissionQueue:
    """The ring of one stream.

    A ring that is bound to a model never wraps: it is written once and walked again from entry 0 on every execution.
    `usable` is the most tasks such a ring may hold.
    """

    def __init__(self, memory: DeviceMemory, stream_id: int, depth: int, usable: int, label: str) -> None:
        self.stream_id = stream_id
        self.depth = depth
        self.usable = usable
        self.head = 0
        self.tail = 0
        self.enabled = False
        self.bound = False
        self.memory = memory
        self.ring = memory.allocate(depth * SQE_BYTES, label=f"SQ {stream_id} ({label})", space=Space.TS, align=4096)
        memory.protect(self.ring.address, self.ring.size, f"the ring of SQ {stream_id}")
        self.slot_of: dict[int, int] = {}
        self.task_at: dict[int, int] = {}
        self.origin_at: dict[int, Origin] = {}
        self._next_task = 0

    @property
    def pending(self) -> int:
        """Entries between head and tail."""
        return (self.tail - self.head) % self.depth

    def next_task_id(self) -> int:
        """The task id the next submitted entry will have; ids are 16 bit and flip to 0."""
        return self._next_task

    def append(self, sqe: bytes, origin: Origin = NOWHERE) -> int:
        """Write `sqe` at tail, advance tail, and return the slot; `origin` is kept for messages and traces.

        Raises:
            LimitError: the ring is full (EE1019 for a ring bound to a model, which never wraps).
        """
        if self.bound and self.tail >= self.usable:
            raise LimitError(
                f"stream {self.stream_id} is full: a model-bound ring holds {self.usable} tasks",
                id="EE1019",
                remedy="put fewer tasks on one stream",
            )
        if is_full(self.head, self.tail, self.depth, 1):
            raise LimitError(f"SQ {self.stream_id} is full: {self.depth - 1} entries wait", id="limit.sq-full")
        slot = self.tail
        task = self._next_task
        self.memory.poke(self.address(slot), sqe)
        self.slot_of.pop(self.task_at.get(slot, -1), None)
        self.slot_of[task] = slot
        self.task_at[slot] = task
        self.origin_at[slot] = origin
        self._next_task = (task + 1) & 0xFFFF
        self.tail = (slot + 1) % self.depth
        return slot

    def address(self, slot: int) -> int:
        """Device address of entry `slot`."""
        return self.ring.address + slot * SQE_BYTES

    def entry(self, slot: int) -> bytes:
        """The 64 bytes of entry `slot` as they are in the ring now."""
        return self.memory.read(self.address(slot), SQE_BYTES)

    def contents(self) -> bytes:
        """All entries that were ever written, from slot 0."""
        used = max(self.task_at, default=-1) + 1
        return self.memory.read(self.ring.address, used * SQE_BYTES)


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
