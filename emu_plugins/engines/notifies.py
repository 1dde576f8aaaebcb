"""Notify engine: a record wakes exactly one wait, which consumes it (`device_semantics.md` 3.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core.engines import Handler, Outcome, Run, Wait
from emu_core.plans import Sets, Waits
from emu_core.signals import Signal
from emu_plugins.engines.events import NS_PER_S, at_once, passed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emu_core.device import Device
    from emu_core.engines import Task

RECORD, WAIT = 6, 7


def notify(notify_id: int) -> Signal:
    """The flag of notify `notify_id`."""
    return Signal("notify", notify_id)


def _record(task: Task) -> Outcome:
    signal = notify(task.field("NotifyRecordSqe", "notify_id"))
    device = task.device
    return Run(
        device.chip.latencies.notify_ns, lambda: device.scheduler.set_signal(signal, task), f"notify {signal.id}"
    )


def _wait(task: Task) -> Outcome:
    signal = notify(task.field("NotifyWaitSqe", "notify_id"))
    if not task.device.signals.is_set(signal):
        return Wait(signal, limit_ns=task.field("NotifyWaitSqe", "timeout") * NS_PER_S)
    passed(task, signal)
    task.device.scheduler.clear_signal(signal, task)
    return Run(0, detail=f"notify {signal.id}")


def handlers(device: Device) -> Iterable[Handler]:
    """Handlers of SQE types 6 and 7."""
    notify_id = device.layout("NotifyRecordSqe").field("notify_id").read
    sets = Sets("notify", ("NotifyRecordSqe", "notify_id"), device.chip.latencies.notify_ns)
    waits = Waits("notify", ("NotifyWaitSqe", "notify_id"), clears=True, limit=("NotifyWaitSqe", "timeout"))
    return (
        Handler(
            "notify",
            "notify_record",
            RECORD,
            _record,
            setter_of=lambda sqe: notify(notify_id(sqe)),
            plan=at_once(device, sets),
        ),
        Handler("notify", "notify_wait", WAIT, _wait, plan=at_once(device, waits)),
    )
