"""Host tiling of `!1108`, the pure Vector version before the Cube came (`reference/cgdr.md` 5.1).

What differs from `tiling.py`: no buckets, so K has two widths (`alignK` in blocks of 16 for float16, `stateStrideK` in
blocks of 8 for float32); no beta row; scores and state share memory only under a condition; one work item per head
unless heads are fewer than cores; one binary, key 0; no staging slots in the workspace.
"""

from __future__ import annotations

from emu_plugins.cgdr.constants import (
    CHUNK_SIZE,
    FP16_PER_BLOCK,
    FP32_PER_BLOCK,
    MIN_BLOCK_DIM,
    NO_BUCKET,
    WORKSPACE_FLOOR,
)
from emu_plugins.cgdr.tiling import CgdrTiling, ChunkPath, ShapeDims, state_workspace_bytes
from emu_plugins.cgdr.tiling_budget import U32, UbPlan, ceil_align_u32, check_ub, div_ceil_u32, search_v_step
from emu_plugins.cgdr.tiling_data import to_float32


def plan_1108(v_step: int, *, dk: int, dv: int, allow_overlap: bool) -> UbPlan:
    """The buffers of one candidate; `allow_overlap` is that there are fewer heads than cores."""
    av, state_stride = ceil_align_u32(v_step, FP32_PER_BLOCK), ceil_align_u32(dk, FP32_PER_BLOCK)
    dot = max(state_stride, CHUNK_SIZE)
    return UbPlan(
        v_step=v_step, chunk=CHUNK_SIZE, align_k=ceil_align_u32(dk, FP16_PER_BLOCK), tile_av=av,
        state_rows=state_stride, state_av=av, delta=max(dot, av), dot=dot, beta=0,
        overlap=v_step >= dv or allow_overlap,
    )  # fmt: skip


def block_dim_1108(hv: int, v_tiles: int, cores: int) -> int:
    """Blocks of a launch: one per head, or per (head, V tile) when heads do not fill the cores; sequences do not count.

    The product is a `uint32_t` and wraps.
    """
    items = hv * v_tiles & U32 if hv < cores and v_tiles > 1 else hv
    return max(min(items, cores), MIN_BLOCK_DIM)


def tile_1108(dims: ShapeDims, *, cores: int, ub_bytes: int, has_gamma: bool, scale_value: float) -> CgdrTiling:
    """The whole host tiling; arguments and errors as `tiling.tile`."""
    dims = dims.narrowed()
    check_ub(ub_bytes)
    few_heads = dims.hv < cores
    step = search_v_step(
        dims.dv, ub_bytes, lambda v_step: plan_1108(v_step, dk=dims.dk, dv=dims.dv, allow_overlap=few_heads)
    )
    v_tiles = div_ceil_u32(dims.dv, step.v_step)
    need, pad = state_workspace_bytes(dims), -dims.t % CHUNK_SIZE
    return CgdrTiling(
        dims=dims, has_gamma=has_gamma, scale_value=to_float32(scale_value), cores=cores, ub_bytes=ub_bytes,
        bucket=NO_BUCKET, align_k=step.plan.align_k, v_step=step.v_step, v_tiles=v_tiles, tiling_key=0,
        block_dim=block_dim_1108(dims.hv, v_tiles, cores), out_queue=step.out_queue, tbuf=step.tbuf,
        rest_bytes=step.rest_bytes, workspace_need=need, workspace=max(need, WORKSPACE_FLOOR), pad_size=pad,
        num_chunks=(dims.t + pad & U32) // CHUNK_SIZE, path=ChunkPath.VECTOR, plan=step.plan,
    )  # fmt: skip
