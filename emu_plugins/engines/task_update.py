"""Model task update (place holder 101): patches an AI Core or mix entry that was already submitted.

What the firmware does is not public; this is the reading of `device_semantics.md` 5.6 to 5.8:

| step | read or written | refused when | policy |
|---|---|---|---|
| key | u64 at `tiling_key_offset` | unreadable, unaligned | `update_unknown_key` |
| block dim | low 16 bits of the u32 at `block_dim_offset` | likewise; 0 or 0xFFFF | `update_bad_block_dim` |
| row | table of `tiling_tab_len` rows of 32 bytes, by key | likewise; no such key; no row | `update_unknown_key` |
| target | ring slot of (`des_stream_id`, `des_task_id`) | unknown, or no AI Core or mix entry | `update_bad_target` |
| context | `desc_buf_offset`; all ones: plain | does not fit row or target; unreadable | `update_bad_target` |
| order | head of the target's queue | the target has started | `update_after_consume` |
| patch, plain | `pc_addr_low`, `pc_addr_high`, `block_dim` of the target | | |
| patch, mix | `block_dim`, `sub_type` of the target, and its context (`task_update_mix`) | | |

Offsets are device offsets of the TS space, as the host translated them (5.5).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_plugins.engines import task_update_mix as mixed
from emu_plugins.engines.task_update_steps import (
    STRUCT,
    TARGET_POLICY,
    Refused,
    check_order,
    find_target,
    handler,
    no_kernel,
    patch_target,
    writer_of,
)
from emu_plugins.engines.task_update_table import Wanted, read_wanted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emu_core.device import Device
    from emu_core.engines import Handler, Task

NOT_MIX = (1 << 64) - 1
AI_CORE = 0
FFTS_PLUS = 4


def _update(task: Task) -> None:
    translate = task.device.memory.address_of_offset
    wanted = read_wanted(task, "TilingTabl", translate)
    stream, slot, place = find_target(task)
    sqe = stream.queue.entry(slot)
    is_mix = _is_mix(task, place, sqe)
    descriptor = task.field(STRUCT, "desc_buf_offset")
    _check_kind(place, wanted, is_mix=is_mix, named=descriptor != NOT_MIX)
    if wanted.mix is None:
        check_order(task, stream, slot)
        patch_target(task, stream, slot, _plain_values(wanted), "AicoreKernelSqe", wanted)
        return
    address = translate(descriptor)
    context = mixed.check_context(task, place, sqe, address)
    check_order(task, stream, slot)
    sqe_values, values = mixed.patches(task, sqe, context, wanted, wanted.mix)
    layout = task.device.layout(mixed.CONTEXT)
    task.device.contexts.patch(address, values, layout, writer_of(task), tiling_key=wanted.key, table_row=wanted.row)
    patch_target(task, stream, slot, sqe_values, mixed.SQE, wanted)


def _is_mix(task: Task, place: str, sqe: bytes) -> bool:
    """Whether the target is an FFTS+ entry; refused when it is no kernel at all."""
    kernel = task.device.layout("AicoreKernelSqe")
    if kernel.field("type").read(sqe) != AI_CORE:
        raise no_kernel(place)
    return bool(kernel.field("ffts_type").read(sqe) == FFTS_PLUS)


def _check_kind(place: str, wanted: Wanted, *, is_mix: bool, named: bool) -> None:
    """Target, descriptor and row must agree whether this is a mix kernel (5.6: fail loudly)."""
    if named != is_mix:
        says = "names a mix context" if named else "names no context (all ones)"
        has = "is an FFTS+ entry" if is_mix else "is a plain kernel"
        raise Refused(
            TARGET_POLICY,
            "update.descriptor",
            f"the update of {place} {says}, the target {has}",
            "an update of a plain kernel carries all ones as descriptor offset, that of a mix kernel its context",
        )
    if is_mix != (wanted.mix is not None):
        says = f"mix type {wanted.mix.type:d}" if wanted.mix else "no mix"
        has = "an FFTS+ entry" if is_mix else "a plain kernel"
        raise Refused(
            TARGET_POLICY,
            "update.mix-mismatch",
            f"row {wanted.row} (key {wanted.key}) of the tiling table says {says}, the target {place} is {has}",
            "all kernels of a program must be of one kind, mix or plain; look at the tiling table",
        )


def _plain_values(wanted: Wanted) -> dict[str, int]:
    return {
        "pc_addr_low": wanted.pc & 0xFFFFFFFF,
        "pc_addr_high": wanted.pc >> 32 & 0xFFFF,
        "block_dim": wanted.block_dim,
    }


def handlers(_device: Device) -> Iterable[Handler]:
    """The handler of task type 101."""
    return (handler(_update),)
