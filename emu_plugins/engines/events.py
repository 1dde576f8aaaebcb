"""Event engine: record sets an event, wait passes when it is set and leaves it set (`device_semantics.md` 3.1).

A wait has a field of its own for the seconds it waits at most; 0 is for ever.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core.engines import Handler, Outcome, Run, Wait
from emu_core.signals import Signal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emu_core.device import Device
    from emu_core.engines import Task

RECORD, WAIT = 4, 5
NS_PER_S = 1_000_000_000


def event(event_id: int) -> Signal:
    """The flag of event `event_id`."""
    return Signal("event", event_id)


def _record(task: Task) -> Outcome:
    signal = event(task.field("EventRecordSqe", "event_id"))
    device = task.device
    return Run(device.chip.latencies.event_ns, lambda: device.scheduler.set_signal(signal, task), f"event {signal.id}")


def _wait(task: Task) -> Outcome:
    signal = event(task.field("EventWaitSqe", "event_id"))
    if not task.device.signals.is_set(signal):
        return Wait(signal, limit_ns=task.field("EventWaitSqe", "timeout") * NS_PER_S)
    return Run(0, detail=f"event {signal.id}")


def handlers(device: Device) -> Iterable[Handler]:
    """Handlers of SQE types 4 and 5."""
    event_id = device.layout("EventRecordSqe").field("event_id").read
    return (
        Handler("event", "event_record", RECORD, _record, setter_of=lambda sqe: event(event_id(sqe))),
        Handler("event", "event_wait", WAIT, _wait),
    )
