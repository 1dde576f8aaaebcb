"""Tasks of several 64-byte units (`reference/sqe_formats.md` 2.2): all their slots are fetched, run and retire as one.

The first unit says how many there are (`formats.task_units`); an engine sees it as `Task.sqe`, the others as
`Task.further`. Each unit lies in a slot of its own, so each has a fetched copy of its own.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from emu_core import codes
from emu_core.errors import DeviceFault
from emu_core.rings import SQE_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable

    from emu_core.engines import Task


def whole(
    task: Task, ring: bytes, fetched: bytes | None, count: Callable[[bytes], int] | None
) -> tuple[Task, bytes, bytes | None]:
    """`task` with its further units, and the whole of it in the ring and as fetched (None: nothing was rewritten).

    `ring` and `fetched` are those of the first unit; `count` says how many units there are (None: always one).

    Raises:
        DeviceFault: more units than a task can have, or than are published (`sqe.length`).
    """
    if count is None:
        return task, ring, fetched
    stream = task.stream
    stream.units = count(task.sqe)
    if not 0 < stream.units <= stream.queue.pending:
        raise _bad_length(stream.units, stream.queue.pending)
    return (task, ring, fetched) if stream.units == 1 else _gather(task, ring, fetched)


def _bad_length(units: int, pending: int) -> DeviceFault:
    claim = f"has {units} units of 64 bytes, of which {pending} are published" if units else "has more than 5 units"
    return DeviceFault(
        f"the task at head {claim}",
        ts_code=codes.SQE_ERROR,
        error_type=8,
        id="sqe.length",
        remedy="its sqe_length is the number of 64-byte units behind the first one, 0 to 4",
    )


def _gather(task: Task, ring: bytes, fetched: bytes | None) -> tuple[Task, bytes, bytes | None]:
    stream = task.stream
    slots = stream.queue.further(task.slot, stream.units)
    there = [stream.queue.entry(slot) for slot in slots]
    copies = [stream.window.take(slot) for slot in slots]
    further = b"".join(entry if copy is None else copy for entry, copy in zip(there, copies, strict=True))
    rewritten = fetched is not None or any(copy is not None for copy in copies)
    return replace(task, further=further), ring + b"".join(there), task.sqe + further if rewritten else None


def changed(task: Task, ring: bytes) -> list[str]:
    """The further units of `task` that the ring has otherwise, in words."""
    whole = task.sqe + task.further
    starts = range(SQE_BYTES, len(ring), SQE_BYTES)
    return [f"unit {at // SQE_BYTES}" for at in starts if whole[at : at + SQE_BYTES] != ring[at : at + SQE_BYTES]]


def remember(task: Task) -> None:
    """Note the bytes that execute, slot by slot."""
    executed, queue = task.stream.executed, task.stream.queue
    executed[task.slot] = task.sqe
    for unit, slot in enumerate(queue.further(task.slot, task.stream.units)):
        executed[slot] = task.further[SQE_BYTES * unit : SQE_BYTES * unit + SQE_BYTES]


def is_copy(task: Task) -> bool:
    """Whether the bytes that execute differ from those in the ring."""
    queue = task.stream.queue
    if not task.further:
        return task.sqe != queue.entry(task.slot)
    slots = (task.slot, *queue.further(task.slot, task.stream.units))
    return task.sqe + task.further != b"".join(queue.entry(slot) for slot in slots)
