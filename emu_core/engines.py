"""The contract between the scheduler and an engine.

An engine registers a `Handler` per SQE kind. The scheduler calls `start` with a `Task` when the entry reaches head
and gets one of two answers:

| answer | then |
|---|---|
| `Run(duration_ns, finish)` | when the time is up `finish` runs, with all memory effects; then the entry retires |
| `Launch(launch_ns, pool, …)` | after the launch its blocks ask for units of the pool; `finish` runs at its last end |
| `Wait(signal)` | the stream parks; when the signal is set, `start` is asked again |

A handler with `limit` has a time limit, from the moment its entry is taken to the end of its last block: a task that
needs longer ends with a timeout (`reference/device_semantics.md` 8.5).

Raising `DeviceFault`, in `start` or in `finish`, ends the task with an error completion entry and stops the queue.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

from emu_core import codes, hazards
from emu_core.memory import TaskMemory
from emu_core.ordering import records
from emu_core.origin import NOWHERE, Origin

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from emu_core.cores import Demand, Pool
    from emu_core.device import Device
    from emu_core.plans import Plan
    from emu_core.signals import Signal
    from emu_core.streams import Stream


class Effect(Enum):
    """What a handler touches; runs of LOCAL entries may be batched when nobody watches them."""

    LOCAL = "local"
    RESOURCE = "resource"
    MEMORY = "memory"
    SYNC = "sync"


def nothing() -> None:
    """The `finish` of a task without an effect."""


@dataclass(frozen=True)
class Run:
    """The task runs for `duration_ns`; `detail` is a short text for traces, `facts` the same as values."""

    duration_ns: int
    finish: Callable[[], None] = nothing
    detail: str = ""
    facts: Mapping[str, int | str] = field(default_factory=dict)


@dataclass(frozen=True)
class Wait:
    """The task waits until `signal` is set, or until memory that it watches changes.

    Attributes:
        signal: what to park on.
        limit_ns: virtual time after which the wait fails; 0 is for ever.
        ranges: (address, size) of device memory; a write to any of it wakes the stream.
    """

    signal: Signal
    limit_ns: int = 0
    ranges: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Launch:
    """The task needs units of `pool`; `detail` and `facts` as in `Run`."""

    launch_ns: int
    pool: Pool
    demand: Demand
    finish: Callable[[], None] = nothing
    detail: str = ""
    facts: Mapping[str, int | str] = field(default_factory=dict)


Outcome: TypeAlias = Run | Launch | Wait


@dataclass(frozen=True)
class Limit:
    """A time limit: nanoseconds, and the TS code when it is exceeded."""

    ns: int
    ts_code: int


@dataclass(frozen=True)
class Handler:
    """One SQE kind and who executes it.

    Attributes:
        engine: engine name, for example `ai_core`.
        kind: short name of the SQE kind, for example `kernel`.
        sqe_type: SQE type number (low six bits of the entry).
        select: value of `select_field` this handler takes; None takes all that no other handler selects.
        select_field: struct and field that tell kinds of one type apart, for example ``("PhSqe", "task_type")``.
        start: see the module text.
        effect: what it touches.
        exception_code: TS code when a task of this kind hits an exception without a code of its own.
        setter_of: for a kind that sets a flag: which one, from the 64 bytes of an entry.
        limit: for a kind with a time limit: how long a task may take; None for ever.
        preload: for a kind that points at contexts: address and size of those fetched with it under policy
            `context_preload=with_sqe`, from the 64 bytes of an entry.
        plan: what `start` does, as data, for a simple kind: lets its queues run ahead (`emu_core.plans`).
        skips: entries that recovery of a plain stream passes over when this one fails, itself included.
    """

    engine: str
    kind: str
    sqe_type: int
    start: Callable[[Task], Outcome]
    select: int | None = None
    select_field: tuple[str, str] | None = None
    effect: Effect = Effect.SYNC
    exception_code: int = codes.TASK_EXCEPTION
    setter_of: Callable[[bytes], Signal | None] | None = None
    limit: Callable[[Task], Limit | None] | None = None
    preload: Callable[[bytes], tuple[int, int]] | None = None
    plan: Plan | None = None
    skips: int = 1


@dataclass(eq=False, slots=True)
class Task:
    """One entry being executed; one is made for each, so it is not frozen, which would cost as much again.

    Attributes:
        device, stream, slot, task_id: where it is.
        sqe: the 64 bytes that execute: what was fetched, which may differ from the ring.
        run: execution of the model, from 1; 0 before any.
        further: the further 64-byte units of the task, likewise, in one piece.
        waits_from: when it waited first; None if it never did.
    """

    device: Device
    stream: Stream
    slot: int
    task_id: int
    sqe: bytes
    run: int
    further: bytes = b""
    waits_from: int | None = None
    _memory: TaskMemory | None = None

    @property
    def memory(self) -> TaskMemory:
        """Device memory with checks, on behalf of this task; made when first asked for, as many tasks need none."""
        if self._memory is None:
            self._memory = TaskMemory(self.device.memory, self._unwritten)
            if self.device.ordering is not None:
                self._memory.accesses = []
        return self._memory

    def passed(self, signal: Signal) -> None:
        """Tell that this entry, a wait for `signal`, passes: its queue notices now, or later (`emu_core.notice`)."""
        device = self.device
        self.stream.window.released(device.signals.fired_at(signal))
        if device.ordering is not None:
            device.ordering.note(records.PASS, self.stream.id, self.slot, self.task_id, device.signals.key(signal))

    def tell_accesses(self) -> None:
        """Note the memory accesses so far where somebody follows what orders them (policy `ordering`)."""
        memory, ordering = self._memory, self.device.ordering
        if ordering is not None and memory is not None and memory.accesses:
            for what, address, size in memory.accesses:
                ordering.note(what, self.stream.id, self.slot, self.task_id, address, size)
            memory.accesses.clear()

    def _unwritten(self, address: int, size: int, label: str) -> None:
        hazards.unwritten(self, address, size, label)

    @property
    def origin(self) -> Origin:
        """Where the entry comes from."""
        return self.stream.queue.submissions.origin_at(self.slot) or NOWHERE

    def field(self, struct: str, name: str) -> int:
        """Field `name` of the entry, read with layout `struct` of the chip's family."""
        return int(self.device.layout(struct).field(name).read(self.sqe))
