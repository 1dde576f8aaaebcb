"""Patch engine, this chip's task update: a plan in memory decides variant and blocks of a kernel entry in some ring."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core import DeviceFault, Effect, Handler, Run, Writer

from .layouts import PATCH

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emu_core import Device, Outcome, Task

STRUCT, TARGET = "EduPatchSqe", "EduKernelSqe"
ILLEGAL_PARAM = 0x2D


def _start(task: Task) -> Outcome:
    target = f"{task.field(STRUCT, 'target_stream')}:{task.field(STRUCT, 'target_task')}"
    return Run(task.device.chip.latencies.update_ns, lambda: _patch(task), f"target {target}")


def _patch(task: Task) -> None:
    device, plan = task.device, task.field(STRUCT, "plan")
    key, blocks = task.memory.u64(plan), task.memory.u32(plan + 8)
    at = task.field(STRUCT, "keys")
    keys = [task.memory.u64(at + 8 * i) for i in range(task.field(STRUCT, "keys_num"))]
    if key not in keys:
        _unknown(task, key, keys)
        return
    stream = device.streams.get(task.field(STRUCT, "target_stream"))
    slot = stream.queue.slot_of.get(task.field(STRUCT, "target_task")) if stream else None
    if stream is None or slot is None:
        raise _fault("the target is in no ring", "edu.patch-target", "a patch must name a kernel that was loaded")
    device.patch_sqe(
        stream.id,
        slot,
        {"variant": keys.index(key), "blocks": blocks},
        device.layout(TARGET),
        Writer(task.stream.id, task.task_id, "edu_patch"),
        tiling_key=key,
        table_row=keys.index(key),
    )


def _unknown(task: Task, key: int, keys: list[int]) -> None:
    """Policy `edu_unknown_key`: a fault, or a hazard and the entry stays as it is."""
    what = f"the plan has the tiling key {key}, the kernel has {keys}"
    remedy = "the tiling function must choose a key of the kernel"
    if task.device.policies["edu_unknown_key"] == "fault":
        raise _fault(what, "edu.patch-key", remedy)
    task.device.hazard(task, "edu.patch-key", f"{what}; the entry stays as it is", remedy, key=key)


def _fault(what: str, fault_id: str, remedy: str) -> DeviceFault:
    return DeviceFault(what, ts_code=ILLEGAL_PARAM, error_type=32, id=fault_id, remedy=remedy)


def handlers(_device: Device) -> Iterable[Handler]:
    """The handler of patch entries."""
    return (Handler("edu_patch", "patch", PATCH, _start, effect=Effect.MEMORY, exception_code=ILLEGAL_PARAM),)
