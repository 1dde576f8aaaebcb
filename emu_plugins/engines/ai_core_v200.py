"""AI Core engine for v200 entries (`sqe_formats.md` 6.1): type 0 is led by a cube core, type 1 by a vector core.

| read from | what |
|---|---|
| `block_dim` | number of blocks, as on v100; how `group_dim` and `group_block_dim` cut it up changes no result |
| the half of the leading core | program counter and argument block |
| `mix` | 1: the other half may have a program counter too, an entry of the same kernel and tiling key |
| `ratio` | cores of the other half per leading core; 0, or no second program counter: one kind of cores only |
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from emu_core import codes
from emu_core.engines import Effect, Handler, Limit, Outcome
from emu_core.errors import DeviceFault
from emu_core.kernels import Mix, MixType
from emu_plugins.engines import credits as budget
from emu_plugins.engines.ai_core import AiCore, KernelEntry, check_block_dim

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emu_core.device import Device
    from emu_core.engines import Task

CUBE, VECTOR = 0, 1
ENTRIES = (
    KernelEntry("AicKernelSqe", "aic_start_pc", "aic_task_param_ptr"),
    KernelEntry("AivKernelSqe", "aiv_start_pc", "aiv_task_param_ptr"),
)
"""By SQE type."""
ALONE = (MixType.AIC_ONLY, MixType.AIV_ONLY)
TOGETHER = (MixType.AIC_MAIN, MixType.AIV_MAIN)
"""Mix types by who leads."""
GROUPS = 2
EXCEPTIONS = (codes.AICORE_EXCEPTION, codes.VECTOR_EXCEPTION)
TIMEOUTS = (codes.AICORE_TIMEOUT, codes.VECTOR_TIMEOUT)


def groups(block_dim: int) -> dict[str, int]:
    """`block_dim` and how it is cut into groups (`sqe_formats.md` 6.1): one up to one block, else two."""
    count = GROUPS if block_dim > 1 else 1
    return {"block_dim": block_dim, "group_dim": count, "group_block_dim": -(-block_dim // count)}


def _start(engine: AiCore, lead: int, task: Task) -> Outcome:
    return engine.launch(task, ENTRIES[lead], _mix(engine, lead, task))


def _mix(engine: AiCore, lead: int, task: Task) -> Mix | None:
    """How a mix entry uses both kinds of cores; `DeviceFault` when it starts two kernels together."""
    entry, other = ENTRIES[lead], ENTRIES[1 - lead]
    if not task.field(entry.struct, "mix"):
        return None
    second, ratio = task.field(entry.struct, other.pc), task.field(entry.struct, "ratio")
    if not (second and ratio):
        return Mix(ALONE[lead], 0)
    check_block_dim(task.field(entry.struct, "block_dim"))
    found, wanted = engine.resolve(task, second), engine.resolve(task, task.field(entry.struct, entry.pc))
    if found != wanted:
        raise DeviceFault(
            f"the entry starts {wanted[0].name} key {wanted[1]} and {found[0].name} key {found[1]} together",
            ts_code=0,
            id="kernel.bad-pc",
            remedy="both program counters of a mix entry must belong to one kernel and tiling key",
        )
    return Mix(TOGETHER[lead], ratio)


def _limit(lead: int, task: Task) -> Limit | None:
    return budget.limit(task, TIMEOUTS[lead])


def handlers(device: Device) -> Iterable[Handler]:
    """Handlers of SQE types 0 and 1."""
    engine = AiCore(device)
    return tuple(
        Handler(
            "ai_core",
            "kernel",
            lead,
            partial(_start, engine, lead),
            effect=Effect.RESOURCE,
            exception_code=EXCEPTIONS[lead],
            limit=partial(_limit, lead),
        )
        for lead in (CUBE, VECTOR)
    )
