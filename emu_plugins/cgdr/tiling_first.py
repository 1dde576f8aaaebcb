"""Host tiling of the first public version (`reference/cgdr.md` 5.3).

What differs from `tiling_1108.py`: the chunk size is an attribute; one sequence; V tiles have the full width of V and
only the state tile is cut by the V step; the state tile is as high as the real `dk`; there are no rows for dot products
and beta; scores and state always share memory; a shape that does not fit is not refused; the workspace is fixed.
"""

from __future__ import annotations

from dataclasses import replace

from emu_core.tiling import TilingError
from emu_plugins.cgdr.constants import (
    CHUNK_SIZE,
    FP16_PER_BLOCK,
    FP32_PER_BLOCK,
    MIN_BLOCK_DIM,
    NO_BUCKET,
    WORKSPACE_FLOOR,
)
from emu_plugins.cgdr.tiling import CgdrTiling, ChunkPath, ShapeDims
from emu_plugins.cgdr.tiling_budget import U32, UbPlan, ceil_align_u32, div_ceil_u32, step_of
from emu_plugins.cgdr.tiling_data import FIRST_C_NAMES, to_float32

WIDEST_DV = 1 << 20
"""Widest V that is searched here; the operator itself would go through every multiple of 16 below any width."""


def plan_first(v_step: int, *, dk: int, dv: int, chunk: int) -> UbPlan:
    """The buffers of one candidate."""
    return UbPlan(
        v_step=v_step, chunk=chunk, align_k=ceil_align_u32(dk, FP16_PER_BLOCK),
        tile_av=ceil_align_u32(dv, FP32_PER_BLOCK), state_rows=dk, state_av=ceil_align_u32(v_step, FP32_PER_BLOCK),
        delta=max(ceil_align_u32(dk, FP16_PER_BLOCK), chunk), dot=0, beta=0, overlap=True,
    )  # fmt: skip


def solve_first(dk: int, dv: int, ub_bytes: int, chunk: int) -> UbPlan:
    """The largest step that fits, or 16 when none does; the total and the UB size are compared as `uint32_t`.

    Raises:
        TilingError: `dv` is wider than `WIDEST_DV`.
    """
    if dv > WIDEST_DV:
        raise TilingError(f"dv={dv} is wider than the {WIDEST_DV} columns that are searched for this version")
    candidates = (
        plan_first(v_step, dk=dk, dv=dv, chunk=chunk)
        for v_step in range(ceil_align_u32(dv, FP16_PER_BLOCK), FP16_PER_BLOCK - 1, -FP16_PER_BLOCK)
    )
    fitting = (plan for plan in candidates if plan.needed & U32 <= ub_bytes & U32)
    found = next(fitting, None) or plan_first(FP16_PER_BLOCK, dk=dk, dv=dv, chunk=chunk)
    # The clamp acts for a V of no columns only: its step becomes 0.
    clamped = ceil_align_u32(dv, FP16_PER_BLOCK)
    return plan_first(clamped, dk=dk, dv=dv, chunk=chunk) if found.v_step > dv else found


def tile_first(
    dims: ShapeDims, *, cores: int, ub_bytes: int, has_gamma: bool, scale_value: float, chunk_size: int = CHUNK_SIZE
) -> CgdrTiling:
    """The whole host tiling; arguments as `tiling.tile`, `chunk_size` is attribute 0, and `has_gamma` does not count.

    Raises:
        TilingError: a chunk size that is 0 in 32 bits (the operator would divide by it), or a V that is too wide here.
    """
    del has_gamma
    dims, chunk = replace(dims.narrowed(), batch=1), chunk_size & U32
    if chunk == 0:
        raise TilingError(f"chunk_size {chunk_size} is 0 in 32 bits, and the operator divides by it; 64 is the default")
    step = step_of(solve_first(dims.dk, dims.dv, ub_bytes, chunk), ub_bytes)
    pad = -dims.t % chunk
    return CgdrTiling(
        dims=dims, has_gamma=True, scale_value=to_float32(scale_value), cores=cores, ub_bytes=ub_bytes,
        bucket=NO_BUCKET, align_k=step.plan.align_k, v_step=step.v_step,
        v_tiles=div_ceil_u32(dims.dv, step.v_step) if step.v_step else 0, tiling_key=0,
        block_dim=max(min(dims.hv, cores), MIN_BLOCK_DIM), out_queue=step.out_queue, tbuf=step.tbuf,
        rest_bytes=step.rest_bytes, workspace_need=0, workspace=WORKSPACE_FLOOR, pad_size=pad,
        num_chunks=(dims.t + pad & U32) // chunk, path=ChunkPath.VECTOR, plan=step.plan, data_names=FIRST_C_NAMES,
    )  # fmt: skip
