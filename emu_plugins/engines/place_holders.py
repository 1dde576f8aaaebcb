"""Place holders: NOP, and every task type without an engine of its own (`reference/sqe_formats.md` 4.8).

| task type | with pre-P, which makes the firmware look at it |
|---|---|
| 6 sub type 0x67 | forced recycle: the target's queue is emptied, whatever it does |
| 12 operation 6 | model abort: its streams stop, and who waits for its end gets TS 0x10E |
| 90 | the task scheduler CPU copies memory, on chips without SDMA |
| 104 command 0 | stream clear: as the forced recycle |
| 104 command 1 | notify reset |
| any other, and all without pre-P | nothing happens: it completes after the time of a NOP and is traced by name |

Why the others have no effect: `emu_plugins.engines.task_types`. A NOP (task type 103) has pre-P 0, so the scheduler
passes over it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core import codes
from emu_core.engines import Effect, Handler, Outcome, Run
from emu_core.errors import DeviceFault
from emu_core.plans import Fixed
from emu_plugins.engines.notifies import notify
from emu_plugins.engines.sdma_ops import copy, copy_ns
from emu_plugins.engines.task_types import REASONS
from formats.enums import TASK_TYPES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emu_core.device import Device
    from emu_core.engines import Task

TYPE = 3
MAINTENANCE, MODEL_MAINTENANCE, NOP, COPY, COMMON_COMMAND = 6, 12, 103, 90, 104
STREAM_CLEAR, NOTIFY_RESET = 0, 1
FORCED_RECYCLE, ABORT = 0x67, 6
SELECT = ("PhSqe", "task_type")


def _nop(task: Task) -> Outcome:
    return Run(task.device.chip.latencies.nop_ns)


def _other(task: Task) -> Outcome:
    number = task.field("PhSqe", "task_type")
    name = f" ({TASK_TYPES[number]})" if number in TASK_TYPES else ""
    why = f": {REASONS[number]}" if number in REASONS and task.field("PhSqe", "pre_p") else ""
    return Run(task.device.chip.latencies.nop_ns, detail=f"task type {number}{name}{why}")


def _copy(task: Task) -> Outcome:
    if not task.field("PhSqe", "pre_p"):
        return _other(task)
    source, target = (task.field("PhMemcpyAsyncWithoutSdmaSqe", name) for name in ("src", "dest"))
    size = task.field("PhMemcpyAsyncWithoutSdmaSqe", "size")
    return Run(copy_ns(task, size), lambda: copy(task, source, target, size), f"{size} bytes to {target:#x}")


def _maintenance(task: Task) -> Outcome:
    if not task.field("PhSqe", "pre_p") or task.field("PhMaintenanceSqe", "sub_type") != FORCED_RECYCLE:
        return _other(task)
    target = task.field("PhMaintenanceSqe", "target_id")
    return Run(task.device.chip.latencies.nop_ns, lambda: _clear(task, target), f"recycle stream {target}")


def _model_maintenance(task: Task) -> Outcome:
    if not task.field("PhSqe", "pre_p") or task.field("PhModelMaintenanceSqe", "operation") != ABORT:
        return _other(task)
    model_id = task.field("PhModelMaintenanceSqe", "model_id")
    return Run(task.device.chip.latencies.nop_ns, lambda: _abort(task, model_id), f"abort model {model_id}")


def _abort(task: Task, model_id: int) -> None:
    """Stop the streams of a model, and end the wait of who called it."""
    scheduler, model = task.device.scheduler, task.device.models.get(model_id)
    if model is None:
        raise DeviceFault(f"there is no model {model_id}", ts_code=codes.ILLEGAL_PARAM, id="model.unknown")
    for stream in model.streams:
        if stream is task.stream:
            stream.queue.enabled = False
        else:
            scheduler.halt(stream)
    aborted = DeviceFault(
        f"model {model.name} was aborted by stream {task.stream.id} task {task.task_id}",
        ts_code=codes.MODEL_ABORTED,
        error_type=32,
        id="model.aborted",
        remedy="find out why that task was sent",
    )
    status = task.task_id & 0xFFFF | (task.stream.id & 0xFFF) << 16
    scheduler.end_wait(model.caller, aborted, status | codes.model_end(codes.MODEL_ABORTED).result << 28)


def _common(task: Task) -> Outcome:
    command = task.field("PhCommonCmdSqe", "cmd_type")
    duration = task.device.chip.latencies.nop_ns
    if task.field("PhSqe", "pre_p") and command == NOTIFY_RESET:
        signal = notify(task.field("PhCommonCmdSqe", "notify_id"))
        return Run(duration, lambda: task.device.scheduler.clear_signal(signal, task), f"reset notify {signal.id}")
    if task.field("PhSqe", "pre_p") and command == STREAM_CLEAR:
        target = task.field("PhCommonCmdSqe", "target_stream_id")
        return Run(duration, lambda: _clear(task, target), f"clear stream {target}")
    return _other(task)


def _clear(task: Task, target: int) -> None:
    stream = task.device.streams.get(target)
    if stream is None or stream is task.stream:
        raise DeviceFault(
            f"stream {target} cannot be cleared: it does not exist, or is the one that executes this",
            ts_code=codes.ILLEGAL_PARAM,
            error_type=32,
            id="stream.clear",
        )
    task.device.scheduler.halt(stream)


def handlers(device: Device) -> Iterable[Handler]:
    """Handlers of SQE type 3, task update excepted; v200 has no commands (104)."""
    commands = Handler("place_holder", "common_command", TYPE, _common, select=COMMON_COMMAND, select_field=SELECT)
    return (
        Handler(
            "place_holder",
            "nop",
            TYPE,
            _nop,
            select=NOP,
            select_field=SELECT,
            effect=Effect.LOCAL,
            plan=Fixed(device.chip.latencies.nop_ns),
        ),
        Handler("place_holder", "ts_copy", TYPE, _copy, select=COPY, select_field=SELECT, effect=Effect.MEMORY),
        *((commands,) if device.chip.family == "v100" else ()),
        Handler("place_holder", "maintenance", TYPE, _maintenance, select=MAINTENANCE, select_field=SELECT),
        Handler(
            "place_holder",
            "model_maintenance",
            TYPE,
            _model_maintenance,
            select=MODEL_MAINTENANCE,
            select_field=SELECT,
        ),
        Handler("place_holder", "place_holder", TYPE, _other, effect=Effect.LOCAL),
    )
