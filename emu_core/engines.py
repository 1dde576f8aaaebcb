"""The contract between the scheduler and an engine.

An engine registers a `Handler` per SQE kind. The scheduler calls `start` with a `Task` when the entry reaches head
and gets one of two answers:

| answer | then |
|---|---|
| `Run(duration_ns, finish)` | when the time is up `finish` runs, with all memory effects; then the entry retires |
| `Wait(signal)` | the stream parks; when the signal is set, `start` is asked again |

Raising `DeviceFault`, in `start` or in `finish`, ends the task with an error completion entry and stops the queue.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

from emu_core import codes
from emu_core.origin import NOWHERE, Origin

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from emu_core.device import Device
    from emu_core.memory import TaskMemory
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
    """The task waits until `signal` is set."""

    signal: Signal


Outcome: TypeAlias = Run | Wait


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


@dataclass(frozen=True)
class Task:
    """One entry being executed.

    Attributes:
        device, stream, slot, task_id: where it is.
        sqe: the 64 bytes that execute: what was fetched, which may differ from the ring.
        memory: device memory with checks, on behalf of this task.
        run: execution of the model, from 1; 0 before any.
    """

    device: Device
    stream: Stream
    slot: int
    task_id: int
    sqe: bytes
    memory: TaskMemory
    run: int

    @property
    def origin(self) -> Origin:
        """Where the entry comes from."""
        return self.stream.queue.origin_at.get(self.slot, NOWHERE)

    def field(self, struct: str, name: str) -> int:
        """Field `name` of the entry, read with layout `struct` of the chip's family."""
        return int(self.device.layout(struct).field(name).read(self.sqe))
