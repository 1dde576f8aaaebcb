"""Kernels split over AI Cores and vector cores, on platforms without FFTS+ that have both (310P).

Mirrors what FE's task builder writes for core types `MIX_AICORE` and `MIX_VECTOR_CORE`
(`reference/tiling_sink_compiler.md` 7.1, 7.5): a main kernel, a sub-kernel on another attached stream, and notifies
in between. In list order, for an operator that is tiled at compile time:

| # | task | stream | |
|---|---|---|---|
| 1 | NOTIFY_RECORD | main | starts the other stream |
| 2 | NOTIFY_WAIT | vector | |
| 3 | ALL_KERNEL or KERNEL | main | the first blocks, on the AI Cores |
| 4 | VECTOR_ALL_KERNEL or VECTOR_KERNEL | vector | the blocks behind, on the vector cores |
| 5 | NOTIFY_RECORD | vector | |
| 6 | NOTIFY_WAIT | main | goes on when both are done |

Both kernels have the same arguments and kernel type 11 or 12. The blocks are shared out in proportion to the cores,
rounded up for the AI Cores (our choice: the public material does not say how). One block is not split. A sinking
operator is refused: the vendor's sink step rewrites and updates the first kernel alone (7.1), so that the other one
would run with the blocks of the compile-time tiling. What is host scheduled is launched as one kernel.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from emu_plugins.compiler.attributes import CORE_TYPE
from emu_plugins.compiler.ffts_plus import has_ffts_plus
from formats.blob.model import BlobTask, TaskType

if TYPE_CHECKING:
    from emu_core.chips import Chip
    from emu_plugins.compiler.operators import BoundNode
    from emu_plugins.compiler.streams import Resources

_SUB_KERNEL = {TaskType.KERNEL: TaskType.VECTOR_KERNEL, TaskType.ALL_KERNEL: TaskType.VECTOR_ALL_KERNEL}


def shares(block_dim: int, chip: Chip) -> tuple[int, int]:
    """Blocks of the main kernel and of the one on the vector cores."""
    cores = chip.core_num + chip.vector_cores
    main = -(-block_dim * chip.core_num // cores)
    return main, block_dim - main


def refusal(bound: BoundNode, chip: Chip, *, sinks: bool) -> tuple[str, str]:
    """Why the kernel of `bound` cannot be split on `chip` and what to do; empty when it can."""
    if has_ffts_plus(chip):
        return f"{chip.name} launches mix kernels by FFTS+ and does not split them", f"drop {CORE_TYPE}"
    if sinks:
        what = "a kernel that is split over AI Cores and vector cores cannot sink: only its first part would be updated"
        return what, f"drop {CORE_TYPE}, or turn the sink off"
    if not bound.kernel.splits:
        return f"kernel {bound.kernel.name} cannot be launched in parts", f"drop {CORE_TYPE}"
    return "", ""


def split(kernel: BlobTask, bound: BoundNode, found: Resources, chip: Chip) -> tuple[BlobTask, ...]:
    """The tasks that stand for `kernel`: itself alone when the operator was given no stream for a second part."""
    if found.vector is None or bound.split_type is None:
        return (kernel,)
    main, rest = shares(kernel.block_dim, chip)
    first = replace(kernel, block_dim=main, kernel_type=bound.split_type)
    second = replace(first, type=_SUB_KERNEL[TaskType(kernel.type)], stream_id=found.vector, block_dim=rest)
    bare = replace(kernel, kernel=None, block_dim=0, kernel_type=0, schem=0, args_format="")

    def notify(kind: TaskType, stream: int, number: int) -> BlobTask:
        return replace(bare, type=kind, stream_id=stream, event_id=number)

    start, end = found.notifies
    return (
        notify(TaskType.NOTIFY_RECORD, found.main, start),
        notify(TaskType.NOTIFY_WAIT, found.vector, start),
        first,
        second,
        notify(TaskType.NOTIFY_RECORD, found.vector, end),
        notify(TaskType.NOTIFY_WAIT, found.main, end),
    )
