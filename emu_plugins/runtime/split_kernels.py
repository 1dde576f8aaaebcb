"""Kernels split over AI Cores and vector cores (`reference/tiling_sink_compiler.md` 7.5): the parts of a launch.

The two kernel tasks of such an operator each do a part of its blocks: the main kernel the first ones, the kernel on the
vector cores those behind. The public material does not say where an entry holds the first block of its part, so it
stands in the descriptor that the entry's program counter points at: each part has a descriptor of its own (our choice).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from emu_core.errors import InputError
from formats.blob import KernelType, TaskType
from formats.runtime import KernelDescriptor

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emu_core.device import Device
    from emu_plugins.runtime.host.handles import Function
    from formats.blob import Blob

VECTOR_KERNELS = (TaskType.VECTOR_KERNEL, TaskType.VECTOR_ALL_KERNEL)
SPLIT_TYPES = frozenset({KernelType.MIX_AICORE, KernelType.MIX_VECTOR_CORE})
MOST_BLOCKS = 0xFFFE
"""An entry has 16 bits for its blocks, of which the largest value is the placeholder."""
_NOTIFIES = frozenset({TaskType.NOTIFY_RECORD, TaskType.NOTIFY_WAIT})


@dataclass(frozen=True)
class Parts:
    """Blocks of the main kernel, and of the one on the vector cores."""

    main: int
    vector: int


def split_blocks(blob: Blob) -> Mapping[int, Parts]:
    """The parts of each operator that has two kernels of a mix type, by its index."""
    found: dict[int, dict[bool, int]] = {}
    for task in blob.tasks:
        if task.op is not None and task.kernel is not None and task.kernel_type in SPLIT_TYPES:
            found.setdefault(task.op, {})[task.type in VECTOR_KERNELS] = task.block_dim
    return {op: Parts(each[False], each[True]) for op, each in found.items() if len(each) > 1}


def notify_ids(blob: Blob) -> frozenset[int]:
    """Numbers of the blob's events that are notifies: those that notify tasks name."""
    return frozenset(task.event_id for task in blob.tasks if task.type in _NOTIFIES and task.event_id is not None)


def part_of_kernel(device: Device, function: Function, parts: Parts, *, second: bool) -> Function:
    """`function` with a descriptor of its own, which says which blocks a launch of it has.

    Raises:
        InputError: a part without blocks, or more blocks than an entry can name (`blob.task`).
    """
    total = parts.main + parts.vector
    if not (parts.main and parts.vector and total <= MOST_BLOCKS):
        raise InputError(
            f"the parts of the split kernel {function.program.name} have {parts.main} and {parts.vector} blocks; each "
            f"needs one, and both together may have {MOST_BLOCKS}",
            id="blob.task",
            remedy="compile the graph again",
        )
    raw = KernelDescriptor.parse(device.memory.read(function.pc, KernelDescriptor.size))
    described = {**raw, "first_block": parts.main if second else 0, "blocks": total}
    label = f"part {int(second)} of kernel {function.program.name}"
    placed = device.memory.allocate(KernelDescriptor.size, label=label, align=256)
    device.memory.write(placed.address, KernelDescriptor.build(described))
    image = function.program.image
    assert image is not None, "the function was found in it"
    program = replace(function.program, image=replace(image, entries={function.tiling_key: placed.address}))
    return replace(function, program=program, pc=placed.address)
