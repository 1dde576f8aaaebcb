"""What is left when nothing is queued: which streams cannot go on, why, and who would have to do something."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core.origin import NOWHERE
from emu_core.reports import Blocked
from emu_core.streams import State

if TYPE_CHECKING:
    from emu_core.device import Device
    from emu_core.signals import Signal
    from emu_core.streams import Stream


def blocked(device: Device, stream: Stream) -> Blocked | None:
    """Why `stream` cannot go on, or None when it has nothing to do or has stopped with an error."""
    found = _reason(device, stream)
    if found is None:
        return None
    what, since, who = found
    queue = stream.queue
    slot = queue.head
    handler = device.dispatch.find(queue.entry(slot))
    if stream.waiting is not None:
        slot, handler = stream.waiting[0].slot, stream.waiting[1]
    return Blocked(
        stream.id,
        stream.name,
        slot,
        queue.task_at.get(slot, -1),
        handler.kind if handler else "unknown",
        what,
        since,
        who,
        queue.origin_at.get(slot, NOWHERE).node,
    )


def _reason(device: Device, stream: Stream) -> tuple[str, int, str] | None:
    """What it waits for, since when, and who would end that."""
    now = device.clock.now
    running = stream.running
    if stream.waiting is not None and stream.waits_for is not None:
        return str(stream.waits_for), stream.waits_since, _setter(device, stream.waits_for)
    if running is not None and running.job is not None and running.pool is not None:
        return "cores" if running.job.missing else "its blocks", running.since, running.pool.why(running.job)
    if stream.held is not None:
        return "room in the completion ring", now, "the host has to read completion entries"
    if stream.state is State.WAIT_SLOT:
        return "an active slot", now, "every slot holds another queue, which has to become empty"
    if stream.paused and stream.queue.pending and stream.state is State.SLOT_ENABLE:
        return "the host to resume it", now, "the host paused it"
    return None


def _setter(device: Device, signal: Signal) -> str:
    """Where the entry is that would set `signal`, in words."""
    for stream in device.streams.values():
        queue = stream.queue
        for slot, task_id in sorted(queue.task_at.items()):
            sqe = queue.entry(slot)
            handler = device.dispatch.find(sqe)
            if handler is None or handler.setter_of is None or handler.setter_of(sqe) != signal:
                continue
            place = f"stream {stream.id} task {task_id} ({handler.kind})"
            if slot < queue.head:
                return f"{place} set it before"
            if stream.state is State.SLOT_DISABLE:
                return f"{place} would set it, but that stream stopped at task {queue.task_at.get(queue.head)}"
            return f"{place} would set it, but stream {stream.id} is at task {queue.task_at.get(queue.head)}"
    return "no entry of any stream sets it"
