"""SDMA engine for v200 entries (`sqe_formats.md` 6.5): where an entry finds opcode, length and addresses.

| entry | where source and target are |
|---|---|
| `stride` 0 (linear) | in the entry; with `d2d_offset_flag` plus the offsets in it |
| pointer mode | in a descriptor of 64 bytes: words 0 to 7 as in an entry, then source, target and length |
| `stride` 1 (strided) | in the entry: `stride_num` runs of `length_move` bytes, strides apart (inferred) |
| `stride` 2 (two dimensions) | no target, so only cache operations are known; others are refused |

A memset (opcode 5) has its target in the source field and the value in the low word of the other; it is refused by
`emu_plugins.engines.sdma_ops` unless that knows it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core import codes
from emu_core.engines import Effect, Handler, Outcome
from emu_core.errors import DeviceFault
from emu_plugins.engines.credits import task_limit
from emu_plugins.engines.sdma_ops import CACHE, Runs, operate, operate_strided

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emu_core.device import Device
    from emu_core.engines import Task

TYPE = 11
STRIDED = 1
STRIDE_STRUCT = "MemcpyStrideSqe"
STRUCT, POINTER, DESCRIPTOR = "MemcpyLinearSqe", "MemcpyPtrSqe", "MemcpyAddrInfo"


def _start(task: Task) -> Outcome:
    if task.field(POINTER, "ptr_mode"):
        return operate(task, *_described(task))
    mode, opcode = task.field(STRUCT, "stride"), task.field(STRUCT, "opcode")
    if mode == STRIDED:
        return _strided(task, opcode)
    if mode and opcode & 0xF not in CACHE:
        raise DeviceFault(
            f"an SDMA entry with addressing mode {mode} and opcode {opcode:#04x} is unsupported here",
            ts_code=codes.SQE_ERROR,
            error_type=8,
            id="sqe.unsupported",
            remedy="linear (stride 0) and strided entries (1) and pointer mode are supported",
        )
    source, target = _end(task, "src"), _end(task, "dst")
    return operate(task, task.field(STRUCT, "opcode"), source, target, task.field(STRUCT, "length_move"))


def _strided(task: Task, opcode: int) -> Outcome:
    names = ("src_addr", "dst_addr", "length_move", "stride_num", "src_stride_length", "dst_stride_length")
    source, target, size, *runs = (task.field(STRIDE_STRUCT, name) for name in names)
    return operate_strided(task, opcode, source, target, size, Runs(*runs))


def _end(task: Task, which: str) -> int:
    """Source or target address of a linear entry."""
    offset = task.field(STRUCT, f"{which}_offset") if task.field(STRUCT, "d2d_offset_flag") else 0
    return task.field(STRUCT, f"{which}_addr") + offset


def _described(task: Task) -> tuple[int, int, int, int]:
    """Opcode, source, target and length from the descriptor of a pointer-mode entry."""
    head, rest = task.device.layout(STRUCT), task.device.layout(DESCRIPTOR)
    raw = task.memory.read(task.field(POINTER, "sdma_sqe_base_addr"), rest.sizeof())
    source, target, size = (int(rest.field(name).read(raw)) for name in ("src", "dst", "len"))
    return int(head.field("opcode").read(raw)), source, target, size


def handlers(_device: Device) -> Iterable[Handler]:
    """The handler of SQE type 11."""
    return (Handler("sdma", "sdma_copy", TYPE, _start, effect=Effect.MEMORY, limit=task_limit),)
