"""SDMA engine: copies within device memory (`reference/sqe_formats.md` 4.10).

| entry | where source and target are |
|---|---|
| plain | in the entry |
| plain with pre-P (the "address" variant) | at the two addresses in the entry: one 64-bit word each |
| with `d2d_offset_flag` | as above, plus the offsets in the entry |
| pointer mode | in a 32-byte descriptor: 16 bytes of head with opcode and length, then the two addresses |

The low four bits of the opcode are the operation; only the copy (0) is done here, of any data type: bytes are moved.
Reductions, memset and cache operations are refused, and v100 has no entry for a two-dimensional copy. Source and
target may overlap. Time: a setup, then every byte once in and once out at the rate of the whole device memory
(modelled).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from emu_core import codes
from emu_core.engines import Effect, Handler, Outcome, Run
from emu_core.errors import DeviceFault
from emu_plugins.engines.credits import task_limit

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emu_core.device import Device
    from emu_core.engines import Task

TYPE = 11
SETUP_NS = 1_000
COPY = 0
OPERATIONS = (
    "copy", "add", "max", "min", "equal", "memset", "cache prefetch", "cache write back", "cache invalidate",
    "cache flush",
)  # fmt: skip
STRUCT, POINTER = "MemcpyAsyncSqe", "MemcpyAsyncPtrSqe"


def copy_ns(task: Task, size: int) -> int:
    """Modelled time of a copy of `size` bytes in nanoseconds."""
    chip = task.device.chip
    return SETUP_NS + math.ceil(2 * size / chip.bandwidth_per_ns(chip.core_num_aic))


def copy(task: Task, source: int, target: int, size: int) -> None:
    """Copy `size` bytes; each end is checked like any access of a task."""
    if size:
        task.memory.write(target, task.memory.read(source, size))


def _start(task: Task) -> Outcome:
    if task.field(STRUCT, "ptr_mode"):
        opcode, source, target, size = _described(task)
    else:
        opcode, size = task.field(STRUCT, "opcode"), task.field(STRUCT, "length")
        source, target = _end(task, "src"), _end(task, "dst")
    if opcode & 0xF != COPY:
        raise _refused(opcode)
    detail = f"{size} bytes from {source:#x} to {target:#x}"
    return Run(copy_ns(task, size), lambda: copy(task, source, target, size), detail)


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


def _refused(opcode: int) -> DeviceFault:
    operation = opcode & 0xF
    name = OPERATIONS[operation] if operation < len(OPERATIONS) else f"operation {operation}"
    return DeviceFault(
        f"SDMA opcode {opcode:#04x} ({name}) is unsupported here",
        ts_code=codes.SQE_ERROR,
        error_type=8,
        id="sqe.unsupported",
        remedy="plain copies (low four bits 0) are supported",
    )


def handlers(_device: Device) -> Iterable[Handler]:
    """The handler of SQE type 11."""
    return (Handler("sdma", "sdma_copy", TYPE, _start, effect=Effect.MEMORY, limit=task_limit),)
