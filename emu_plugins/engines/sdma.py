"""SDMA engine: where an entry finds opcode, length and addresses (`reference/sqe_formats.md` 4.10).

| entry | where source and target are |
|---|---|
| plain | in the entry |
| plain with pre-P (the "address" variant) | at the two addresses in the entry: one 64-bit word each |
| with `d2d_offset_flag` | as above, plus the offsets in the entry |
| pointer mode | in a 32-byte descriptor: 16 bytes of head with opcode and length, then the two addresses |

What the opcode does then: `emu_plugins.engines.sdma_ops`. v100 has no entry for a two-dimensional copy. Source and
target may overlap.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core.engines import Effect, Handler, Outcome
from emu_plugins.engines.credits import task_limit
from emu_plugins.engines.sdma_ops import operate

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emu_core.device import Device
    from emu_core.engines import Task

TYPE = 11
STRUCT, POINTER = "MemcpyAsyncSqe", "MemcpyAsyncPtrSqe"


def _start(task: Task) -> Outcome:
    if task.field(STRUCT, "ptr_mode"):
        opcode, source, target, size = _described(task)
    else:
        opcode, size = task.field(STRUCT, "opcode"), task.field(STRUCT, "length")
        source, target = _end(task, "src"), _end(task, "dst")
    return operate(task, opcode, source, target, size)


def _end(task: Task, which: str) -> int:
    """Source or target address of a plain entry."""
    address = task.field(STRUCT, f"{which}_addr")
    if task.field(STRUCT, "pre_p"):
        address = task.memory.u64(address)
    return address + (task.field(STRUCT, f"{which}_offset") if task.field(STRUCT, "d2d_offset_flag") else 0)


def _described(task: Task) -> tuple[int, int, int, int]:
    """Opcode, source, target and length from the descriptor of a pointer-mode entry."""
    head, whole = task.device.layout("SdmaDescHead"), task.device.layout("MemcpyAddrInfo")
    raw = task.memory.read(task.field(POINTER, "sdma_sqe_base_addr"), whole.sizeof())
    opcode, length = (int(head.field(name).read(raw[: head.sizeof()])) for name in ("opcode", "length"))
    return opcode, int(whole.field("src").read(raw)), int(whole.field("dst").read(raw)), length


def handlers(_device: Device) -> Iterable[Handler]:
    """The handler of SQE type 11."""
    return (Handler("sdma", "sdma_copy", TYPE, _start, effect=Effect.MEMORY, limit=task_limit),)
