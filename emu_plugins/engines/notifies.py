"""Notify engine: a record wakes exactly one wait, which consumes it (`device_semantics.md` 3.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core.engines import Handler, Outcome, Run, Wait
from emu_core.signals import Signal
from emu_plugins.engines.events import NS_PER_S

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
    task.device.scheduler.clear_signal(signal, task)
    return Run(0, detail=f"notify {signal.id}")


def handlers(device: Device) -> Iterable[Handler]:
    """Handlers of SQE types 6 and 7."""
    notify_id = device.layout("NotifyRecordSqe").field("notify_id").read
    return (
        Handler("notify", "notify_record", RECORD, _record, setter_of=lambda sqe: notify(notify_id(sqe))),
        Handler("notify", "notify_wait", WAIT, _wait),
    )
