"""Write-value engine: event reset (sub type 1) and plain writes of 1 to 32 bytes (`sqe_formats.md` 4.9)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core import codes
from emu_core.engines import Handler, Outcome, Run
from emu_core.errors import DeviceFault
from emu_plugins.engines.events import event

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emu_core.device import Device
    from emu_core.engines import Task

TYPE = 8
PLAIN, EVENT_RESET = 0, 1
LARGEST_AWSIZE = 5


def _start(task: Task) -> Outcome:
    sub_type = task.field("WriteValueSqe", "sub_type")
    duration = task.device.chip.latencies.write_value_ns
    if sub_type == EVENT_RESET:
        signal = event(task.field("WriteValueSqe", "event_id"))
        return Run(duration, lambda: task.device.scheduler.clear_signal(signal, task), f"reset event {signal.id}")
    if sub_type == PLAIN and task.field("WriteValueSqe", "va") and not task.field("WriteValueSqe", "ptr_mode"):
        return _plain(task, duration)
    raise _unsupported(f"sub type {sub_type}, va {task.field('WriteValueSqe', 'va')}")


def _plain(task: Task, duration: int) -> Outcome:
    awsize = task.field("WriteValueSqe", "awsize")
    address = task.field("WriteValueSqe", "write_addr")
    size = 1 << awsize
    if awsize > LARGEST_AWSIZE or address % size:
        raise DeviceFault(
            f"write of {size} bytes to {address:#x}: the size must be at most 32 and the address aligned to it",
            ts_code=codes.SQE_ERROR,
            error_type=8,
            id="sqe.write-value",
        )
    data = task.sqe[32 : 32 + size]
    return Run(duration, lambda: task.memory.write(address, data), f"{size} bytes to {address:#x}")


def _unsupported(what: str) -> DeviceFault:
    return DeviceFault(
        f"a write-value entry with {what} is unsupported here",
        ts_code=codes.SQE_ERROR,
        error_type=8,
        id="sqe.unsupported",
        remedy="plain writes to virtual addresses and event resets are supported",
    )


def handlers(_device: Device) -> Iterable[Handler]:
    """Handlers of SQE type 8."""
    select = ("WriteValueSqe", "sub_type")
    return (
        Handler("write_value", "event_reset", TYPE, _start, select=EVENT_RESET, select_field=select),
        Handler("write_value", "write_value", TYPE, _start),
    )
