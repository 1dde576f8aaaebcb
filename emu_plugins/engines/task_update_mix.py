"""Fields of a mix kernel that a task update writes: in its FFTS+ entry and its context (`device_semantics.md` 5.6).

| mix type of the row | context type, sub type | entries written | ratio written |
|---|---|---|---|
| 1 AIC only | 6 | AIC, from `pcInfo[0]` | 0 |
| 2 AIV only | 7 | AIV, from `pcInfo[0]` | 0 |
| 3 both, AIC main | 6 | AIC from `pcInfo[0]`, AIV from `pcInfo[1]` | that of the row |
| 4 both, AIV main | 7 | AIC from `pcInfo[0]`, AIV from `pcInfo[1]` | that of the row |

Tail and non-tail values are always the same. Block dims go to both and to the entry. Type and sub type are written only
where they differ; all other fields stay: icache prefetch, schem, arguments, thread dim, successors.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from emu_core.kernels import CoreType, MixType
from emu_plugins.engines.task_update_steps import TARGET_POLICY, Refused, readable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emu_core.engines import Task
    from emu_core.kernels import Mix
    from emu_plugins.engines.task_update_table import Wanted

CONTEXT, SQE = "FftsPlusMixAicAivCtx", "FftsPlusSqe"
CONTEXT_TYPE = MappingProxyType({CoreType.AIC: 6, CoreType.AIV: 7})
"""Context type and sub type of the entry, by main core."""

CONTEXT_ALIGN = 128
_RATIO = 0xFF
_REMEDY = "the descriptor offset of the update must be that of the context its target points at"


def entry_fields(mix: Mix, pc: int, second_pc: int) -> Iterator[tuple[str, int]]:
    """(AIC or AIV, entry address) of the entries that `mix` has; `pc` and `second_pc` are `pcInfo[0]` and `[1]`."""
    if mix.type is MixType.AIV_ONLY:
        yield "aiv", pc
    else:
        yield "aic", pc
        if mix.type.both:
            yield "aiv", second_pc


def context_values(mix: Mix, pc: int, second_pc: int, block_dim: int) -> dict[str, int]:
    """Fields of the context that a launch or an update with these values sets, all but the context type."""
    values = {"non_tail_block_dim": block_dim, "tail_block_dim": block_dim}
    values |= dict.fromkeys(("non_tail_block_ratio_n", "tail_block_ratio_n"), mix.secondary & _RATIO)
    for core, entry in entry_fields(mix, pc, second_pc):
        for part in ("non_tail", "tail"):
            values[f"{part}_{core}_task_start_pc_l"] = entry & 0xFFFFFFFF
            values[f"{part}_{core}_task_start_pc_h"] = entry >> 32 & 0xFFFF
    return values


def check_context(task: Task, place: str, sqe: bytes, address: int) -> bytes:
    """The mix context at `address`, which the FFTS+ entry `sqe` of the target (`place` in words) must point at.

    Raises:
        Refused: it is out of memory, unaligned, another one than the target's, or no mix context
            (`update.descriptor`).
    """
    device = task.device
    used = int(device.layout(SQE).field("context_address_base").read(sqe))
    if used != address:
        raise _bad(f"the update names the context at {address:#x}, its target {place} uses {used:#x}")
    layout = device.layout(CONTEXT)
    raw = readable(TARGET_POLICY, "context", CONTEXT_ALIGN, address, lambda at: task.memory.read(at, layout.size))
    found = layout.field("context_type").read(raw)
    if found not in CONTEXT_TYPE.values():
        raise _bad(f"the context at {address:#x} has the type {found:#x}, a mix context has 6 or 7")
    return raw


def patches(task: Task, sqe: bytes, context: bytes, wanted: Wanted, mix: Mix) -> tuple[dict[str, int], dict[str, int]]:
    """Values to write: into the entry `sqe`, and into its context."""
    kind = CONTEXT_TYPE[mix.type.main]
    sqe_values = {"block_dim": wanted.block_dim}
    if task.device.layout(SQE).field("sub_type").read(sqe) != kind:
        sqe_values["sub_type"] = kind
    values = context_values(mix, wanted.pc, wanted.second_pc, wanted.block_dim)
    if task.device.layout(CONTEXT).field("context_type").read(context) != kind:
        values["context_type"] = kind
    return sqe_values, values


def _bad(what: str) -> Refused:
    return Refused(TARGET_POLICY, "update.descriptor", what, _REMEDY)
