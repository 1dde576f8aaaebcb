"""Which task launches a kernel: by handle, as a plain kernel, on vector cores, or as an FFTS+ task.

Mirrors the choice of kernel task in the vendor's `TaskBuilder::GenerateTask`, and
`FFTSPlusOpsKernelBuilder::GenerateTask` with the parsing of a MIX kernel's JSON (`reference/tiling_sink_compiler.md`
5, 7.1).

| operator | task |
|---|---|
| sinks, its kernel is MIX, the platform has FFTS+ | FFTS_PLUS_TASK 29, engine `ffts_plus` |
| has a kernel list, `_cube_vector_core_type` is `VectorCore` | VECTOR_ALL_KERNEL 40 |
| has a kernel list (`_kernel_list_first_name`), as every dynamic-shape binary | ALL_KERNEL 26 |
| else | KERNEL 0 |

A mix context and its `{ffts_addr}` are the loader's: it writes them for every mix kernel of such a platform.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from emu_core.kernels import CoreType
from formats.blob.model import TaskType

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emu_core.chips import Chip
    from emu_plugins.compiler.operators import BoundNode

ALIAS_ENGINE = "_alias_engine_name"
ENGINE = "ffts_plus"
KERNEL_PREFIX = "_mix_enhanced"
SINK_KERNEL_TASKS: Mapping[str, frozenset[TaskType]] = MappingProxyType({
    "seed": frozenset({TaskType.KERNEL, TaskType.ALL_KERNEL, TaskType.VECTOR_ALL_KERNEL, TaskType.FFTS_PLUS_TASK}),
    "public": frozenset({TaskType.ALL_KERNEL, TaskType.VECTOR_ALL_KERNEL, TaskType.FFTS_PLUS_TASK}),
})  # fmt: skip
"""Kernel tasks that the sink step takes, by value of policy `sink_kernel_task`."""


@dataclass(frozen=True)
class FftsPlusInfo:
    """What an FFTS+ operator asks for besides: core type of its context, and secondary cores per block."""

    core_type: str
    ratio: int

    def attributes(self) -> dict[str, str]:
        """GE attributes of such an operator."""
        return {ALIAS_ENGINE: ENGINE}


def has_ffts_plus(chip: Chip) -> bool:
    """Whether MIX kernels of this platform are FFTS+ tasks: v100 entries and separate cores, and not an A3."""
    return chip.family == "v100" and not chip.fused_cores and chip.product != "A3"


def ffts_plus_info(bound: BoundNode, chip: Chip, *, sinks: bool, key: int) -> FftsPlusInfo | None:
    """FFTS+ resources of `bound`, or None when it is no FFTS+ operator; `key`: its compile-time tiling key."""
    mix = bound.kernel.mix_at(key)
    if not sinks or mix is None or bound.kernel.core_type is not CoreType.MIX or not has_ffts_plus(chip):
        return None
    return FftsPlusInfo(f"MIX_{mix.type.main.name}", mix.secondary)


def kernel_task_type(bound: BoundNode, info: FftsPlusInfo | None) -> TaskType:
    """Type of the task that launches the kernel of `bound`."""
    if info is not None:
        return TaskType.FFTS_PLUS_TASK
    if not bound.has_kernel_list:
        return TaskType.KERNEL
    return TaskType.VECTOR_ALL_KERNEL if bound.on_vector_core else TaskType.ALL_KERNEL
