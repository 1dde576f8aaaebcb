"""Model task update (place holder 101): patches an AI Core entry that was already submitted.

What the firmware does is not public; this is the reading of `device_semantics.md` 5.6 to 5.8:

| step | read or written | refused when | policy |
|---|---|---|---|
| key | u64 at `tiling_key_offset` | | |
| block dim | low 16 bits of the u32 at `block_dim_offset` | 0 or 0xFFFF | `update_bad_block_dim` |
| row | table of `tiling_tab_len` rows of 32 bytes, by key | no such key | `update_unknown_key` |
| target | ring slot of (`des_stream_id`, `des_task_id`) | unknown, or no AI Core entry | `update_bad_target` |
| order | head of the target's queue | the target has started | `update_after_consume` |
| patch | `pc_addr_low`, `pc_addr_high`, `block_dim` of the target | | |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from emu_core import codes
from emu_core.engines import Effect, Handler, Outcome, Run
from emu_core.errors import DeviceFault
from emu_core.journal import Writer
from emu_core.streams import State
from emu_plugins.engines.place_holders import SELECT, TYPE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emu_core.device import Device
    from emu_core.engines import Task
    from emu_core.streams import Stream

UPDATE = 101
NOT_MIX = (1 << 64) - 1
AI_CORE = 0
FFTS_PLUS = 4
ROW_BYTES = 32


class _Refused(Exception):  # noqa: N818 - an answer inside this module, not an error
    """A step that cannot go on: the policy that decides, and why."""

    def __init__(self, policy: str, id: str, what: str, remedy: str) -> None:  # noqa: A002 - see SqemuError
        self.policy = policy
        self.id = id
        self.what = what
        self.remedy = remedy
        super().__init__(what)


@dataclass(frozen=True)
class _Row:
    index: int
    pc: int


def _start(task: Task) -> Outcome:
    target = (
        f"{task.field('PhModelTaskUpdateSqe', 'des_stream_id')}:{task.field('PhModelTaskUpdateSqe', 'des_task_id')}"
    )
    return Run(task.device.chip.latencies.update_ns, lambda: _finish(task), f"target {target}")


def _finish(task: Task) -> None:
    try:
        _update(task)
    except _Refused as refused:
        if task.device.policies[refused.policy] == "fault":
            raise DeviceFault(
                refused.what, ts_code=codes.ILLEGAL_PARAM, error_type=32, id=refused.id, remedy=refused.remedy
            ) from None
        task.device.hazard(task, refused.id, f"{refused.what}; the old values stay", refused.remedy)


def _update(task: Task) -> None:
    key = task.memory.u64(_address(task, "tiling_key_offset"))
    block_dim = task.memory.u32(_address(task, "block_dim_offset")) & 0xFFFF
    if block_dim in (0, 0xFFFF):
        raise _Refused(
            "update_bad_block_dim",
            "update.block-dim",
            f"the block dim to write is {block_dim:#x}",
            "the tiling function must set a block dim from 1 to 65534",
        )
    row = _row(task, key)
    stream, slot = _target(task)
    _check_order(task, stream, slot)
    values = {"pc_addr_low": row.pc & 0xFFFFFFFF, "pc_addr_high": row.pc >> 32 & 0xFFFF, "block_dim": block_dim}
    task.device.patch_sqe(
        stream.id,
        slot,
        values,
        task.device.layout("AicoreKernelSqe"),
        Writer(task.stream.id, task.task_id, "task_update"),
        tiling_key=key,
        table_row=row.index,
    )


def _address(task: Task, field: str) -> int:
    return task.device.memory.address_of_offset(task.field("PhModelTaskUpdateSqe", field))


def _row(task: Task, key: int) -> _Row:
    length = task.field("PhModelTaskUpdateSqe", "tiling_tab_len")
    table = task.memory.read(_address(task, "tiling_tab_offset"), length * ROW_BYTES)
    layout = task.device.layout("TilingTabl")
    keys = [layout.field("tiling_key").read(table, i) for i in range(length)]
    if key not in keys:
        raise _Refused(
            "update_unknown_key",
            "update.unknown-key",
            f"the tiling key {key} is in none of the {length} rows of the tiling table (keys {keys[:8]})",
            "the tiling function must set a key that the kernel binary was compiled for",
        )
    index = keys.index(key)
    return _Row(index, layout.field("pc_addr0").read(table, index))


def _target(task: Task) -> tuple[Stream, int]:
    stream_id = task.field("PhModelTaskUpdateSqe", "des_stream_id")
    task_id = task.field("PhModelTaskUpdateSqe", "des_task_id")
    stream = task.device.streams.get(stream_id)
    slot = stream.queue.slot_of.get(task_id) if stream else None
    place = f"stream {stream_id} task {task_id}"
    remedy = "the update must name a kernel that was launched before"
    if stream is None or slot is None:
        raise _Refused("update_bad_target", "update.target-missing", f"the target {place} is in no ring", remedy)
    sqe = stream.queue.entry(slot)
    kernel = task.device.layout("AicoreKernelSqe")
    if kernel.field("type").read(sqe) != AI_CORE or kernel.field("ffts_type").read(sqe) == FFTS_PLUS:
        raise _Refused(
            "update_bad_target", "update.target-kind", f"the target {place} is no plain AI Core kernel", remedy
        )
    if task.field("PhModelTaskUpdateSqe", "desc_buf_offset") != NOT_MIX:
        raise _Refused(
            "update_bad_target",
            "update.descriptor",
            f"the update of {place} names a mix context, the target has none",
            "an update of a plain kernel carries all ones as descriptor offset",
        )
    return stream, slot


def _check_order(task: Task, stream: Stream, slot: int) -> None:
    queue = stream.queue
    running = slot == queue.head and stream.state in (State.WORKING, State.SLOT_DISABLE)
    if stream.model_id is None or not (running or (slot < queue.head)):
        return
    policy = task.device.policies["update_after_consume"]
    what = f"the target stream {stream.id} slot {slot} had started before it was patched"
    remedy = "record the event that releases the kernel after the update, not before"
    if policy == "fault":
        raise DeviceFault(what, ts_code=codes.TRANS_SQE_FAILED, error_type=32, id="update.after-consume", remedy=remedy)
    if policy == "hazard":
        task.device.hazard(task, "update.after-consume", what, remedy, target_stream=stream.id, target_slot=slot)


def handlers(_device: Device) -> Iterable[Handler]:
    """The handler of task type 101."""
    return (
        Handler(
            "task_update",
            "task_update",
            TYPE,
            _start,
            select=UPDATE,
            select_field=SELECT,
            effect=Effect.MEMORY,
            exception_code=codes.ILLEGAL_PARAM,
        ),
    )
