"""Host function callback: the device asks the host to call a function (`reference/sqe_formats.md` 4.5).

Functions are Python callables in `device.host_functions`, by the address that the entry names; each gets the user
pointer (`fndata`) as its only argument.

| `is_block` | the stream | the function is called |
|---|---|---|
| 1 | waits until it has returned | after the host round trip |
| 0 | goes on after the time of a NOP | after the host round trip, beside the stream |

A blocking function may raise `DeviceFault` to fail its entry; any other exception is its author's error.
The event that a real host records to release a blocked stream is not touched: the entry itself blocks.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from emu_core import codes
from emu_core.engine_guard import at_line
from emu_core.engines import Handler, Outcome, Run
from emu_core.errors import DeviceFault, InputError, PluginError, SqemuError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emu_core.device import Device
    from emu_core.engines import Task

TYPE = 1
TOPIC = 26
STRUCT = "HostfuncCallbackSqe"
PLACE_HOLDER, TASK = 3, 72
STRUCT_V200 = "PhHostfuncCallbackSqe"
"""On v200 a place holder of task type 72 (`sqe_formats.md` 6.10), with fields of the same names."""


def _start(task: Task, struct: str = STRUCT) -> Outcome:
    address, data = (task.field(struct, name) for name in ("hostfunc_addr", "fndata"))
    device = task.device
    function = device.host_functions.get(address)
    if function is None:
        raise DeviceFault(
            f"no host function is registered at {address:#x}",
            ts_code=codes.AICPU_EXCEPTION,
            id="callback.unknown",
            remedy="put a callable into device.host_functions under this address",
        )
    latencies = device.chip.latencies
    detail = f"host function {address:#x}"
    if task.field(struct, "is_block"):
        return Run(latencies.host_round_trip_ns, partial(_call, device, address, data, DeviceFault), detail)
    later = latencies.host_round_trip_ns
    device.clock.after(later, task.stream.id, partial(_call, device, address, data))
    return Run(latencies.nop_ns, detail=detail)


def _call(device: Device, address: int, data: int, *passes: type[Exception]) -> None:
    """Call the function that is at `address` now: the host's functions are no part of the device's state."""
    function = device.host_functions.get(address)
    if function is None:
        raise InputError(
            f"the host function at {address:#x} was taken away while its entry was in flight",
            id="callback.unknown",
            remedy="put a callable into device.host_functions under this address, also after loading a snapshot",
        )
    try:
        function(data)
    except SqemuError:
        raise
    except Exception as error:
        if isinstance(error, passes):
            raise
        raise PluginError(
            f"the host function at {address:#x} raised {type(error).__name__}: {error}{at_line(error)}",
            id="plugin.host-function-raised",
            remedy="repair the callable in device.host_functions",
        ) from error


def handlers(device: Device) -> Iterable[Handler]:
    """The handler of SQE type 1 with topic 26, or on v200 of place holder 72."""
    v100 = device.chip.family == "v100"
    return (
        Handler(
            "host_callback",
            "host_callback",
            TYPE if v100 else PLACE_HOLDER,
            _start if v100 else partial(_start, struct=STRUCT_V200),
            select=TOPIC if v100 else TASK,
            select_field=(STRUCT, "topic_id") if v100 else ("PhSqe", "task_type"),
            exception_code=codes.AICPU_EXCEPTION,
        ),
    )
