"""Write-value engine: plain writes, event resets, notify records to other processes (`sqe_formats.md` 4.9).

| sub type | what it does |
|---|---|
| 0 plain | stores 1 to 32 aligned bytes at a virtual address |
| 1 event reset | clears the event of its id; the physical address it carries is not looked at |
| 3, 4 IPC notify record | of this device (`remote_phy_dev_id` 0): sets the notify of its id; of another one: absent |
| 2 RDMA doorbell, and any write to a physical address | absent: policy `absent_hardware` |

In pointer mode address, size and data come from a 64-byte descriptor in device memory, read when the entry starts.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from emu_core import codes
from emu_core.engines import Handler, Outcome, Run
from emu_core.errors import DeviceFault
from emu_core.plans import Clears
from emu_core.signals import MEMORY, Signal
from emu_plugins.engines.absent import without_effect
from emu_plugins.engines.events import event
from emu_plugins.engines.notifies import notify

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from emu_core.device import Device
    from emu_core.engines import Task

TYPE = 8
PLAIN, EVENT_RESET, DOORBELL = 0, 1, 2
IPC_NOTIFY = frozenset({3, 4})
LARGEST_AWSIZE = 5
POINTERS: Mapping[str, str] = MappingProxyType({"v100": "write_addr", "v200": "write_value_new_sqe_addr"})
"""Where an entry in pointer mode has the address of its descriptor, by family; the descriptor is that of v100."""


def _reset(task: Task) -> Outcome:
    signal = event(task.field("WriteValueSqe", "event_id"))
    duration = task.device.chip.latencies.write_value_ns
    return Run(duration, lambda: task.device.scheduler.clear_signal(signal, task), f"reset event {signal.id}")


def _start(task: Task) -> Outcome:
    duration = task.device.chip.latencies.write_value_ns
    if task.field("WriteValueSqe", "ptr_mode"):
        return _through_pointer(task, duration)
    sub_type = task.field("WriteValueSqe", "sub_type")
    if sub_type in IPC_NOTIFY:
        return _remote_notify(task, duration)
    awsize, address = task.field("WriteValueSqe", "awsize"), task.field("WriteValueSqe", "write_addr")
    return _write(task, duration, sub_type, task.field("WriteValueSqe", "va"), awsize, address, task.sqe[32:])


def _remote_notify(task: Task, duration: int) -> Outcome:
    """Notify record for another process: a v100 entry says on which device, and 0 is this one."""
    if task.device.chip.family != "v100" or task.field("WriteValueSqe", "remote_phy_dev_id"):
        return without_effect(task, "notify record for another device", "that device")
    signal = notify(task.field("WriteValueSqe", "event_id"))
    return Run(duration, lambda: task.device.scheduler.set_signal(signal, task), f"notify {signal.id}")


def _through_pointer(task: Task, duration: int) -> Outcome:
    if not task.field("WriteValuePtrSqe", "va"):
        return without_effect(task, "descriptor at a physical address", "memory at physical addresses")
    layout = task.device.host.registry.get("v100", "WriteValuePtrDst")
    at = task.field("WriteValuePtrSqe", POINTERS[task.device.chip.family])
    raw = task.memory.read(at, layout.sizeof())
    sub_type, va, awsize, address = (
        int(layout.field(name).read(raw)) for name in ("sub_type", "va", "awsize", "write_addr")
    )
    return _write(task, duration, sub_type, va, awsize, address, raw[16:48])


def _write(task: Task, duration: int, sub_type: int, va: int, awsize: int, address: int, data: bytes) -> Outcome:
    if sub_type == DOORBELL:
        return without_effect(task, f"doorbell at {address:#x}", "a network card (RDMA)")
    if sub_type != PLAIN:
        raise _undefined(sub_type)
    if not va:
        return without_effect(task, f"write to the physical address {address:#x}", "the register there")
    return _plain(task, duration, awsize, address, data)


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


def _undefined(sub_type: int) -> DeviceFault:
    return DeviceFault(
        f"no source says what a write-value entry of sub type {sub_type} does (undefined)",
        ts_code=codes.SQE_ERROR,
        error_type=8,
        id="sqe.unsupported",
        remedy="defined are 0 (plain), 1 (event reset), 2 (doorbell), 3 and 4 (IPC notify)",
    )


def handlers(device: Device) -> Iterable[Handler]:
    """Handlers of SQE type 8; on v200 events are reset by notify entries."""
    address = device.layout("WriteValueSqe").field("write_addr").read
    select = ("WriteValueSqe", "sub_type")
    clears = Clears("event", ("WriteValueSqe", "event_id"), device.chip.latencies.write_value_ns, "reset ")
    resets = Handler("write_value", "event_reset", TYPE, _reset, select=EVENT_RESET, select_field=select, plan=clears)
    return (
        *((resets,) if device.chip.family == "v100" else ()),
        Handler("write_value", "write_value", TYPE, _start, setter_of=lambda sqe: Signal(MEMORY, address(sqe))),
    )
