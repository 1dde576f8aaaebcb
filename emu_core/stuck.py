"""What is left when nothing is queued: which streams cannot go on, why, and who would have to do something."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core.origin import NOWHERE
from emu_core.reports import Blocked
from emu_core.setters import Setter, SetterState, setters_of
from emu_core.streams import State

if TYPE_CHECKING:
    from collections.abc import Sequence

    from emu_core.device import Device
    from emu_core.signals import Signal
    from emu_core.streams import Stream


NOBODY = "no entry of any stream sets it"


def blocked(device: Device, streams: Sequence[Stream]) -> tuple[Blocked, ...]:
    """Those of `streams` that cannot go on, and why; not those that have nothing to do or stopped with an error."""
    flags = [stream.waits_for for stream in streams if stream.waiting is not None and stream.waits_for is not None]
    setters = setters_of(device, flags)
    found = ((stream, _reason(device, stream, setters)) for stream in streams)
    return tuple(_blocked(device, stream, reason) for stream, reason in found if reason is not None)


def _blocked(device: Device, stream: Stream, reason: tuple[str, int, str]) -> Blocked:
    what, since, who = reason
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


def _reason(device: Device, stream: Stream, setters: dict[Signal, tuple[Setter, ...]]) -> tuple[str, int, str] | None:
    """What it waits for, since when, and who would end that."""
    now = device.clock.now
    running = stream.running
    if stream.waiting is not None and stream.waits_for is not None:
        return str(stream.waits_for), stream.waits_since, _setter(setters[stream.waits_for])
    if running is not None and running.job is not None and running.pool is not None:
        return "cores" if running.job.missing else "its blocks", running.since, running.pool.why(running.job)
    if stream.held is not None:
        return "room in the completion ring", now, "the host has to read completion entries"
    if stream.state is State.WAIT_SLOT:
        return "an active slot", now, "every slot holds another queue, which has to become empty"
    if stream.paused and stream.queue.pending and stream.state is State.SLOT_ENABLE:
        return "the host to resume it", now, "the host paused it"
    return None


def _setter(setters: Sequence[Setter]) -> str:
    """Where the entry is that would set the flag, in words."""
    left = [setter for setter in setters if setter.state is not SetterState.RAN] or list(setters)
    return left[0].text() if left else NOBODY
