"""Write-value engine: event reset (sub type 1) and plain writes of 1 to 32 bytes (`sqe_formats.md` 4.9).

In pointer mode address, size and data come from a 64-byte descriptor in device memory, read when the entry starts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core import codes
from emu_core.engines import Handler, Outcome, Run
from emu_core.errors import DeviceFault
from emu_core.signals import MEMORY, Signal
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
    if task.field("WriteValueSqe", "ptr_mode") and task.field("WriteValuePtrSqe", "va"):
        return _through_pointer(task, duration)
    if sub_type == PLAIN and task.field("WriteValueSqe", "va") and not task.field("WriteValueSqe", "ptr_mode"):
        awsize, address = task.field("WriteValueSqe", "awsize"), task.field("WriteValueSqe", "write_addr")
        return _plain(task, duration, awsize, address, task.sqe[32:])
    raise _unsupported(f"sub type {sub_type}, va {task.field('WriteValueSqe', 'va')}")


def _through_pointer(task: Task, duration: int) -> Outcome:
    layout = task.device.layout("WriteValuePtrDst")
    raw = task.memory.read(task.field("WriteValuePtrSqe", "write_addr"), layout.sizeof())
    values = {name: int(layout.field(name).read(raw)) for name in ("awsize", "write_addr", "va", "sub_type")}
    if values["sub_type"] != PLAIN or not values["va"]:
        raise _unsupported(f"a descriptor of sub type {values['sub_type']}, va {values['va']}")
    return _plain(task, duration, values["awsize"], values["write_addr"], raw[16:48])


def _plain(task: Task, duration: int, awsize: int, address: int, data: bytes) -> Outcome:
    size = 1 << awsize
    if awsize > LARGEST_AWSIZE or address % size:
        raise DeviceFault(
            f"write of {size} bytes to {address:#x}: the size must be at most 32 and the address aligned to it",
            ts_code=codes.SQE_ERROR,
            error_type=8,
            id="sqe.write-value",
        )
    return Run(duration, lambda: task.memory.write(address, data[:size]), f"{size} bytes to {address:#x}")


def _unsupported(what: str) -> DeviceFault:
    return DeviceFault(
        f"a write-value entry with {what} is unsupported here",
        ts_code=codes.SQE_ERROR,
        error_type=8,
        id="sqe.unsupported",
        remedy="plain writes to virtual addresses and event resets are supported",
    )


def handlers(device: Device) -> Iterable[Handler]:
    """Handlers of SQE type 8."""
    address = device.layout("WriteValueSqe").field("write_addr").read
    select = ("WriteValueSqe", "sub_type")
    return (
        Handler("write_value", "event_reset", TYPE, _start, select=EVENT_RESET, select_field=select),
        Handler("write_value", "write_value", TYPE, _start, setter_of=lambda sqe: Signal(MEMORY, address(sqe))),
    )
