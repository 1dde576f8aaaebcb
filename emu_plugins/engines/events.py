"""Event engine: record sets an event, wait passes when it is set and leaves it set (`device_semantics.md` 3.1).

A wait has a field of its own for the seconds it waits at most; 0 is for ever.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core.engines import Handler, Outcome, Run, Wait
from emu_core.notice import LATE
from emu_core.plans import Sets, Waits
from emu_core.signals import Signal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emu_core.device import Device
    from emu_core.engines import Task
    from emu_core.plans import Plan

RECORD, WAIT = 4, 5
NS_PER_S = 1_000_000_000


def event(event_id: int) -> Signal:
    """The flag of event `event_id`."""
    return Signal("event", event_id)


def passed(task: Task, signal: Signal) -> None:
    """The wait `task` passes because `signal` is set."""
    task.passed(signal)


def at_once(device: Device, plan: Plan) -> Plan | None:
    """The plan of a record or wait; None where events are noticed late, which needs to know when they fired."""
    return None if device.policies["nop_model"] in LATE else plan


def _record(task: Task) -> Outcome:
    signal = event(task.field("EventRecordSqe", "event_id"))
    device = task.device
    return Run(device.chip.latencies.event_ns, lambda: device.scheduler.set_signal(signal, task), f"event {signal.id}")


def _wait(task: Task) -> Outcome:
    signal = event(task.field("EventWaitSqe", "event_id"))
    if not task.device.signals.is_set(signal):
        return Wait(signal, limit_ns=task.field("EventWaitSqe", "timeout") * NS_PER_S)
    passed(task, signal)
    return Run(0, detail=f"event {signal.id}")


def handlers(device: Device) -> Iterable[Handler]:
    """Handlers of SQE types 4 and 5."""
    event_id = device.layout("EventRecordSqe").field("event_id").read
    sets = Sets("event", ("EventRecordSqe", "event_id"), device.chip.latencies.event_ns)
    waits = Waits("event", ("EventWaitSqe", "event_id"), limit=("EventWaitSqe", "timeout"))
    return (
        Handler(
            "event",
            "event_record",
            RECORD,
            _record,
            setter_of=lambda sqe: event(event_id(sqe)),
            plan=at_once(device, sets),
        ),
        Handler("event", "event_wait", WAIT, _wait, plan=at_once(device, waits)),
    )
