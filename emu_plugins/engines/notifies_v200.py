"""Notifies, counted notifies and events of v200: types 6 and 7, told apart by `sub_type` (`sqe_formats.md` 6.3).

| sub type | kind | flag | does |
|---|---|---|---|
| 0 | `notify_record` | notify | sets it; with `clr_flag` clears it |
| 1, 10 | `notify_wait` | notify | passes when it is set; clears it if `clr_flag` |
| 2 | `count_notify_record` | counted notify | stores or adds `cnt_value`, sets or clears its bits (`record_mode_bit`) |
| 3 | `count_notify_wait` | counted notify | passes when its value fits; makes it 0 if `clr_flag` |
| 4, 5, 8 | `event_record`, `event_wait`, `event_reset` | event | as 0 and 1; the wait leaves it set |
| 6, 7, 9 | the same | counted event | as 2 and 3; the reset makes it 0 |

A value has 32 bits, starts at 0, and an addition wraps. It fits when it is less than, equal to, greater than, or at
least `cnt_value` by `wait_mode_bit`; with `bitmap` when all bits of `cnt_value` are set in it. Every record asks the
waits again. A reset takes the time of a value write, which it is on v100. Events and notifies of one number are apart
(our choice: each kind has ids of its own).
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

from emu_core import codes
from emu_core.engines import Handler, Outcome, Run, Wait
from emu_core.errors import DeviceFault
from emu_core.plans import Clears, Sets, Waits
from emu_core.signals import Signal
from emu_plugins.engines.events import NS_PER_S, at_once, passed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from emu_core.device import Device
    from emu_core.engines import Task
    from emu_core.plans import Plan

RECORD, WAIT = 6, 7
RECORD_STRUCT, WAIT_STRUCT = "NotifyRecordSqe", "NotifyWaitSqe"
LARGEST = 0xFFFFFFFF
FOREVER = (0, LARGEST)
"""Seconds of a wait without a time limit; the second is that of sub type 10."""
TAKES, LIMITLESS = 1, 10
"""Sub types of the wait that usually clears its notify, and of the one that says so in its seconds."""


@dataclass(frozen=True)
class Use:
    """What a sub type stands for: kind of entry, engine, kind of flag, and whether its value counts."""

    kind: str
    engine: str
    flag: str
    counted: bool = False
    resets: bool = False


RECORDS: Mapping[int, Use] = MappingProxyType({
    0: Use("notify_record", "notify", "notify"),
    2: Use("count_notify_record", "notify", "counted notify", counted=True),
    4: Use("event_record", "event", "event"),
    6: Use("event_record", "event", "counted event", counted=True),
    8: Use("event_reset", "event", "event", resets=True),
    9: Use("event_reset", "event", "counted event", counted=True, resets=True),
})  # fmt: skip
WAITS: Mapping[int, Use] = MappingProxyType({
    1: Use("notify_wait", "notify", "notify"),
    3: Use("count_notify_wait", "notify", "counted notify", counted=True),
    5: Use("event_wait", "event", "event"),
    7: Use("event_wait", "event", "counted event", counted=True),
    10: Use("notify_wait", "notify", "notify"),
})  # fmt: skip
CHANGES: Mapping[int, Callable[[int, int], int]] = MappingProxyType({
    0: lambda _, given: given,
    1: lambda value, given: value + given & LARGEST,
    2: lambda value, given: value | given,
    4: lambda value, given: value & ~given,
})  # fmt: skip
"""What a counted record does, by `record_mode_bit`."""
FITS = (operator.lt, operator.eq, operator.gt, operator.ge)
"""What a counted wait asks, by `wait_mode_bit`."""


def _record(use: Use, task: Task) -> Outcome:
    signal = _signal(use, task, RECORD_STRUCT)
    device = task.device
    times = device.chip.latencies
    if use.resets or task.field(RECORD_STRUCT, "clr_flag"):
        return Run(times.write_value_ns, lambda: device.scheduler.clear_signal(signal, task), f"reset {signal}")
    duration = times.event_ns if use.engine == "event" else times.notify_ns
    if not use.counted:
        return Run(duration, lambda: device.scheduler.set_signal(signal, task), str(signal))
    change = CHANGES.get(task.field(RECORD_STRUCT, "record_mode_bit"))
    if change is None:
        raise _unsupported(f"the record mode {task.field(RECORD_STRUCT, 'record_mode_bit')}")
    given = task.field(RECORD_STRUCT, "cnt_value")
    return Run(duration, lambda: _count(task, signal, change, given), str(signal))


def _count(task: Task, signal: Signal, change: Callable[[int, int], int], given: int) -> None:
    device = task.device
    device.scheduler.set_signal(signal, task, change(device.signals.value(signal), given))


def _wait(use: Use, task: Task) -> Outcome:
    signal = _signal(use, task, WAIT_STRUCT)
    signals = task.device.signals
    fits = _fits(task, signals.value(signal)) if use.counted else signals.is_set(signal)
    if not fits:
        seconds = task.field(WAIT_STRUCT, "timeout")
        return Wait(signal, limit_ns=0 if seconds in FOREVER else seconds * NS_PER_S)
    passed(task, signal)
    if task.field(WAIT_STRUCT, "clr_flag"):
        task.device.scheduler.clear_signal(signal, task)
    return Run(0, detail=str(signal))


def _fits(task: Task, value: int) -> bool:
    wanted = task.field(WAIT_STRUCT, "cnt_value")
    if task.field(WAIT_STRUCT, "bitmap"):
        return value & wanted == wanted
    return bool(FITS[task.field(WAIT_STRUCT, "wait_mode_bit")](value, wanted))


def _signal(use: Use, task: Task, struct: str) -> Signal:
    if task.field(struct, "cnt_flag") != use.counted:
        raise _unsupported(f"sub type {task.field(struct, 'sub_type')} and cnt_flag {task.field(struct, 'cnt_flag')}")
    return Signal(use.flag, task.field(struct, "notify_id"))


def _other(struct: str, task: Task) -> Outcome:
    raise _unsupported(f"the sub type {task.field(struct, 'sub_type')}")


def _unsupported(what: str) -> DeviceFault:
    return DeviceFault(
        f"a notify entry with {what} is unsupported here",
        ts_code=codes.SQE_ERROR,
        error_type=8,
        id="sqe.unsupported",
        remedy="records have the sub types 0, 2, 4, 6, 8, 9 and modes 0, 1, 2, 4; waits the sub types 1, 3, 5, 7, 10",
    )


def _setter(device: Device, use: Use) -> Callable[[bytes], Signal | None] | None:
    if use.resets:
        return None
    layout = device.layout(RECORD_STRUCT)
    number, clears = layout.field("notify_id").read, layout.field("clr_flag").read
    return lambda sqe: None if clears(sqe) else Signal(use.flag, number(sqe))


def _record_plan(device: Device, use: Use) -> Plan | None:
    """What plain records do, as data: those that set their flag, and resets of events."""
    if use.counted:
        return None
    number, plain = (RECORD_STRUCT, "notify_id"), ((RECORD_STRUCT, "cnt_flag"), 0)
    times = device.chip.latencies
    if use.resets:
        return at_once(device, Clears(use.flag, number, times.write_value_ns, "reset ", given=(plain,)))
    duration = times.event_ns if use.engine == "event" else times.notify_ns
    return at_once(device, Sets(use.flag, number, duration, given=(plain, ((RECORD_STRUCT, "clr_flag"), 0))))


def _wait_plan(device: Device, sub_type: int, use: Use) -> Plan | None:
    """What plain waits for ever do, as data: a notify's clears it, an event's leaves it."""
    if use.counted:
        return None
    takes = sub_type == TAKES
    given = {"cnt_flag": 0, "clr_flag": int(takes), "timeout": LARGEST if sub_type == LIMITLESS else 0}
    fields = tuple(((WAIT_STRUCT, name), value) for name, value in given.items())
    return at_once(device, Waits(use.flag, (WAIT_STRUCT, "notify_id"), clears=takes, given=fields))


def handlers(device: Device) -> Iterable[Handler]:
    """Handlers of SQE types 6 and 7."""
    records = [
        Handler(
            use.engine,
            use.kind,
            RECORD,
            partial(_record, use),
            select=sub_type,
            select_field=(RECORD_STRUCT, "sub_type"),
            setter_of=_setter(device, use),
            plan=_record_plan(device, use),
        )
        for sub_type, use in RECORDS.items()
    ]
    waits = [
        Handler(
            use.engine,
            use.kind,
            WAIT,
            partial(_wait, use),
            select=sub_type,
            select_field=(WAIT_STRUCT, "sub_type"),
            plan=_wait_plan(device, sub_type, use),
        )
        for sub_type, use in WAITS.items()
    ]
    return (
        *records,
        *waits,
        Handler("notify", "notify_record", RECORD, partial(_other, RECORD_STRUCT)),
        Handler("notify", "notify_wait", WAIT, partial(_other, WAIT_STRUCT)),
    )
