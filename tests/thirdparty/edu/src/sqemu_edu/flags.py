"""Flag engine: record sets a flag, wait passes when it is set and leaves it set, clear clears it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core import DeviceFault, Effect, Handler, Run, Signal, Wait

from .layouts import CLEAR, FLAG, RECORD, WAIT

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emu_core import Device, Outcome, Task

STRUCT = "EduFlagSqe"
ILLEGAL_PARAM = 0x4


def flag(number: int) -> Signal:
    """The flag of that number."""
    return Signal("edu flag", number)


def _flag_of(task: Task) -> Signal:
    number, limit = task.field(STRUCT, "flag"), task.device.chip.max_events
    if number >= limit:
        what, remedy = f"there is no flag {number}", f"use 0 to {limit - 1}"
        raise DeviceFault(what, ts_code=ILLEGAL_PARAM, id="edu.flag", remedy=remedy)
    return flag(number)


def _record(task: Task) -> Outcome:
    signal = _flag_of(task)
    duration = task.device.chip.latencies.event_ns
    return Run(duration, lambda: task.device.scheduler.set_signal(signal, task), str(signal))


def _wait(task: Task) -> Outcome:
    signal = _flag_of(task)
    if not task.device.signals.is_set(signal):
        return Wait(signal)
    task.passed(signal)
    return Run(0, detail=str(signal))


def _clear(task: Task) -> Outcome:
    signal = _flag_of(task)
    duration = task.device.chip.latencies.write_value_ns
    return Run(duration, lambda: task.device.scheduler.clear_signal(signal, task), str(signal))


def handlers(device: Device) -> Iterable[Handler]:
    """Three kinds of one SQE type, told apart by the field `action`; `setter_of` lets reports name who is missing."""
    number, select = device.layout(STRUCT).field("flag").read, (STRUCT, "action")

    def recorded(sqe: bytes) -> Signal:
        return flag(int(number(sqe)))

    return (
        Handler("edu_flags", "record", FLAG, _record, RECORD, select, setter_of=recorded),
        Handler("edu_flags", "wait", FLAG, _wait, WAIT, select),
        Handler("edu_flags", "clear", FLAG, _clear, CLEAR, select, effect=Effect.SYNC),
    )
