"""Where the buffers of a tiling lie: UB of one core, and the workspace in device memory (`reference/cgdr.md` 7, 13)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from emu_plugins.cgdr.constants import (
    DEVICE_STAGE_SLOT_BYTES,
    FP16_BYTES,
    MATMUL_M,
    STAGE_BYTES_PER_CORE,
)
from emu_plugins.cgdr.tiling import CgdrTiling, ChunkPath
from emu_plugins.cgdr.tiling_910b import SYSTEM_WORKSPACE, Cgdr910bTiling
from emu_plugins.cgdr.tiling_budget import fp32_bytes_u32

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emu_plugins.cgdr.tiling_budget import UbPlan


@dataclass(frozen=True)
class Region:
    """A run of bytes with a name. `kind` groups regions of one purpose; `used` is what of `size` is ever written.

    `count`: how many buffers of its kind it stands for, one behind the other.
    """

    name: str
    offset: int
    size: int
    kind: str
    used: int
    count: int = 1

    @property
    def end(self) -> int:
        """The byte after the last."""
        return self.offset + self.size


FREE = "free"
MOST_BLOCKS = 256
"""Of more blocks than that, the slots of the first and last few are told one by one, the others as one region."""
_EACH_END = 2
_INVERSE_BLOCK = 32


def ub_regions(tiling: CgdrTiling) -> tuple[Region, ...]:
    """UB of one core from byte 0: the out queue, the buffers of the big allocation in the device's order, what is left.

    The device cuts its buffers in this order since the Cube came; of the versions before it, `ub_order_known` is False
    and the order is that of the budget.
    """
    plan = tiling.plan
    sizes = _device_order(plan) if ub_order_known(tiling) else _budget_order(plan)
    buffers = [("outQueue", tiling.out_queue, "queue"), *sizes]
    return _laid_out(buffers, tiling.ub_bytes)


def ub_order_known(tiling: CgdrTiling) -> bool:
    """Whether the order of the buffers in UB is a fact, or that of the budget."""
    return tiling.plan.beta > 0


def _device_order(plan: UbPlan) -> Iterable[tuple[str, int, str]]:
    """Names, bytes and kinds in the order of the device (7)."""
    row = fp32_bytes_u32(plan.chunk)
    k_tile, v_tile = fp32_bytes_u32(plan.chunk * plan.align_k), fp32_bytes_u32(plan.chunk * plan.tile_av)
    return (
        ("chunkK", k_tile, "K"),
        ("kCumdecay", k_tile, "K"),
        ("decayMask", plan.scores_bytes, "square"),
        ("chunkV", v_tile, "V"),
        ("scores/state", max(plan.scores_bytes, plan.state_bytes), "state"),
        ("attnOut", v_tile, "V"),
        ("gCumsum", row, "row"),
        ("delta", fp32_bytes_u32(plan.delta), "row"),
        ("dotProduct", fp32_bytes_u32(plan.dot), "row"),
        ("expG", row, "row"),
        ("beta", fp32_bytes_u32(plan.beta), "row"),
    )


_KINDS = {"two K tiles": "K", "two V tiles": "V", "decay mask": "square"}


def _budget_order(plan: UbPlan) -> Iterable[tuple[str, int, str]]:
    for term in plan.terms():
        yield term.name, term.bytes, _KINDS.get(term.name, "state" if term.name.startswith("scores") else "row")


def slot_bytes_used(width: int) -> int:
    """Bytes of a staging slot that the widest product of bucket `width` writes: A_hi, B, A_lo in float16 (13)."""
    return (2 * MATMUL_M * width + width * width) * FP16_BYTES


def slots_used(tiling: CgdrTiling) -> tuple[int, ...]:
    """Bytes of each slot of a block that a full chunk writes.

    Slot 1 takes the two halves of scale · Q while slot 0 is multiplied. Off the Cube path only the blocked inverse
    stages anything: four float16 squares of 32.
    """
    if tiling.path is ChunkPath.CUBE:
        return slot_bytes_used(tiling.bucket), 2 * MATMUL_M * tiling.bucket * FP16_BYTES
    return (4 * _INVERSE_BLOCK**2 * FP16_BYTES if tiling.path is ChunkPath.VECTOR_CUBE_INVERSE else 0), 0


def workspace_regions(tiling: CgdrTiling | Cgdr910bTiling) -> tuple[Region, ...]:
    """The workspace from the user's address on: states, staging slots of each block, and the rest of what was asked."""
    if isinstance(tiling, Cgdr910bTiling):
        return _workspace_910b(tiling)
    slots = tiling.block_dim if tiling.plan.beta else 0
    state = max(tiling.workspace_need - slots * STAGE_BYTES_PER_CORE, 0)
    used = slots_used(tiling)
    ahead = _laid_out([("states", state, "state")], 0)
    if slots <= MOST_BLOCKS:
        staging = _slots(range(slots), state, used)
    else:
        head, tail = range(_EACH_END), range(slots - _EACH_END, slots)
        staging = [*_slots(head, state, used), _between(head.stop, tail.start, state, used), *_slots(tail, state, used)]
    return (*ahead, *staging, *_rest(state + slots * STAGE_BYTES_PER_CORE, tiling.workspace))


def _slots(blocks: range, start: int, used: tuple[int, ...]) -> list[Region]:
    """The staging slots of `blocks`; those of block 0 begin at byte `start`."""
    size, each = DEVICE_STAGE_SLOT_BYTES, len(used)
    return [
        Region(f"block {block} slot {slot}", start + (block * each + slot) * size, size, "slot", written)
        for block in blocks
        for slot, written in enumerate(used)
    ]


def _between(first: int, end: int, start: int, used: tuple[int, ...]) -> Region:
    """The staging slots of blocks `first` to `end` - 1 as one region."""
    blocks, each = end - first, len(used)
    name, size = f"blocks {first} to {end - 1}", blocks * each * DEVICE_STAGE_SLOT_BYTES
    offset = start + first * each * DEVICE_STAGE_SLOT_BYTES
    return Region(name, offset, size, "slot", blocks * sum(used), blocks * each)


def _workspace_910b(tiling: Cgdr910bTiling) -> tuple[Region, ...]:
    terms = [(term.name, term.bytes, "inter") for term in tiling.inter]
    buffers = [("system", SYSTEM_WORKSPACE, "system"), *terms, ("stage 1", tiling.stage.bytes, "slot")]
    return _laid_out(buffers, tiling.workspace)


def _laid_out(buffers: Iterable[tuple[str, int, str]], room: int) -> tuple[Region, ...]:
    """Regions one behind the other, and a free one up to `room`; empty buffers are left out."""
    found, offset = [], 0
    for name, size, kind in buffers:
        if size:
            found.append(Region(name, offset, size, kind, size))
            offset += size
    return (*found, *_rest(offset, room))


def _rest(offset: int, room: int) -> tuple[Region, ...]:
    """The free region up to `room`, if there is one."""
    return (Region(FREE, offset, room - offset, FREE, 0),) if offset < room else ()
