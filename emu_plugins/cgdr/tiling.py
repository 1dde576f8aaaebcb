"""Host tiling of ChunkGatedDeltaRule, final version and the stage before it, bit for bit (`reference/cgdr.md` 3, 5.2).

Pure functions in the order of the operator's own source, so that both can be read side by side. Names ending in
`_u32` wrap as `uint32_t` does; dimensions are narrowed to 32 bits on entry, whatever their size. The two versions
differ in one table, `Buckets`; `tiling_1108.py` and `tiling_first.py` have the older ones.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING

from emu_plugins.cgdr.constants import (
    CHUNK_SIZE,
    FALLBACK_KEY,
    FP16_PER_BLOCK,
    FP32_BYTES,
    FP32_PER_BLOCK,
    KEY_OF_BUCKET,
    MIN_BLOCK_DIM,
    NO_BUCKET,
    STAGE_BYTES_PER_CORE,
    WORKSPACE_FLOOR,
)
from emu_plugins.cgdr.tiling_budget import (
    U32,
    U64,
    Term,
    UbPlan,
    VStep,
    ceil_align_u32,
    check_ub,
    div_ceil_u32,
    search_v_step,
    step_of,
)
from emu_plugins.cgdr.tiling_data import C_NAMES, CgdrTilingData, to_float32

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "FINAL_BUCKETS", "THREE_BUCKETS", "Buckets", "CgdrTiling", "ChunkPath", "ShapeDims", "Term",
    "UbPlan", "VStep", "align_k_of", "block_dim_of", "ceil_align_u32", "div_ceil_u32", "full_chunk_path",
    "out_queue_bytes", "plan_of", "select_cube_dk", "solve_v_step", "state_workspace_bytes", "tile", "tiling_key_of",
    "tmp_buff_bytes", "tmp_buff_terms", "workspace_need_of",
]  # fmt: skip


class ChunkPath(StrEnum):
    """What computes a full chunk of 64 rows (`reference/cgdr.md` 8); shorter chunks are always `VECTOR`."""

    CUBE = "cube"
    VECTOR = "vector"
    VECTOR_CUBE_INVERSE = "vector, inverse on cube"


@dataclass(frozen=True)
class ShapeDims:
    """Dimensions the tiling reads: tokens, key and value heads, head widths, sequences."""

    t: int
    hqk: int
    dk: int
    hv: int
    dv: int
    batch: int

    def narrowed(self) -> ShapeDims:
        """The low 32 bits of each 64-bit dimension, which is what the operator keeps."""
        return ShapeDims(*(dim & U32 for dim in astuple(self)))


@dataclass(frozen=True)
class Buckets:
    """The compiled Cube widths of a version, ascending, and the tiling key of each.

    Attributes:
        keys: width -> tiling key. `fallback_key`: the key of a head that is wider than all.
    """

    keys: Mapping[int, int]
    fallback_key: int

    def select(self, dk: int) -> int:
        """The smallest width that holds `dk`; 0 when none does."""
        return next((width for width in self.keys if dk <= width), NO_BUCKET)

    def key_of(self, dk: int) -> int:
        """The tiling key for heads of width `dk`."""
        return self.keys.get(self.select(dk), self.fallback_key)

    def width_of(self, key: int) -> int:
        """The width that the instance of `key` was compiled for."""
        return next(width for width, each in self.keys.items() if each == key)


FINAL_BUCKETS = Buckets(KEY_OF_BUCKET, FALLBACK_KEY)
THREE_BUCKETS = Buckets(MappingProxyType({64: 0, 96: 1, 128: 2}), 1)
"""The stage before the 80 bucket (5.2): Dk 80 still runs 96 wide."""


def select_cube_dk(dk: int) -> int:
    """The smallest compiled width that holds `dk`; 0 when none does."""
    return FINAL_BUCKETS.select(dk)


def align_k_of(dk: int, buckets: Buckets = FINAL_BUCKETS) -> int:
    """Row width of K tiles in elements: the bucket, or `dk` rounded up to a block without one."""
    return buckets.select(dk) or ceil_align_u32(dk, FP16_PER_BLOCK)


def plan_of(v_step: int, align_k: int) -> UbPlan:
    """The buffers of one candidate (3.4); the state is as wide in K as the K tiles, and always shares the scores."""
    av, dot = ceil_align_u32(v_step, FP32_PER_BLOCK), max(align_k, CHUNK_SIZE)
    return UbPlan(
        v_step=v_step, chunk=CHUNK_SIZE, align_k=align_k, tile_av=av, state_rows=align_k, state_av=av,
        delta=max(dot, av), dot=dot, beta=CHUNK_SIZE, overlap=True,
    )  # fmt: skip


def tmp_buff_terms(v_step: int, align_k: int) -> tuple[Term, ...]:
    """The float32 buffers of the big UB allocation for one candidate, in the order of the sum (3.4)."""
    return plan_of(v_step, align_k).terms()


def tmp_buff_bytes(v_step: int, align_k: int) -> int:
    """Bytes of the big UB allocation for one candidate, as `uint32_t`."""
    return plan_of(v_step, align_k).tbuf


def out_queue_bytes(v_step: int, align_k: int) -> int:
    """Bytes of the FP16 out queue: the larger of a state tile and a chunk of outputs, as `uint32_t`."""
    return plan_of(v_step, align_k).out_queue


def solve_v_step(dv: int, ub_bytes: int, align_k: int, preferred: int) -> VStep:
    """The V step: the bucket if it fits, else the largest multiple of 16 that fits (3.5).

    Raises:
        TilingError: no UB at all, or not even the smallest step fits; `detail` has the missing bytes.
    """
    check_ub(ub_bytes)
    if preferred != NO_BUCKET:
        wanted = plan_of(preferred, align_k)
        if wanted.needed <= ub_bytes:
            return step_of(wanted, ub_bytes)
    return search_v_step(dv, ub_bytes, lambda v_step: plan_of(v_step, align_k))


def tiling_key_of(dk: int) -> int:
    """0 to 3 for the buckets 64, 80, 96, 128; 2 for every wider head."""
    return FINAL_BUCKETS.key_of(dk)


def block_dim_of(batch: int, hv: int, v_tiles: int, cores: int) -> int:
    """Blocks of a launch: one per (sequence, head, V tile), at most `cores`, at least 1."""
    items = min(batch * hv * v_tiles & U64, U32)
    return max(min(items, cores), MIN_BLOCK_DIM)


def state_workspace_bytes(dims: ShapeDims) -> int:
    """Bytes of the float32 states between chunks: the real `dk`, V in blocks of 8."""
    return dims.batch * dims.hv * dims.dk * ceil_align_u32(dims.dv, FP32_PER_BLOCK) * FP32_BYTES & U64


def workspace_need_of(dims: ShapeDims, block_dim: int) -> int:
    """Bytes of workspace that are used: float32 states with the real `dk`, and two staging slots per block."""
    return (state_workspace_bytes(dims) + block_dim * STAGE_BYTES_PER_CORE) & U64


def full_chunk_path(dk: int, v_step: int, width: int) -> ChunkPath:
    """What computes a full chunk in the instance compiled for `width` (`reference/cgdr.md` 8)."""
    av = ceil_align_u32(v_step, FP32_PER_BLOCK)
    if dk <= width and av == width:
        return ChunkPath.CUBE
    return ChunkPath.VECTOR_CUBE_INVERSE if av >= width else ChunkPath.VECTOR


@dataclass(frozen=True)
class CgdrTiling:
    """Every number a 310P host tiling derives. Bytes are bytes, widths are elements.

    Attributes:
        dims: the narrowed dimensions.
        has_gamma: the log decay is given.
        scale_value: rounded to float32.
        cores, ub_bytes: what the platform said.
        bucket: compiled width chosen for `dk`, 0 without one. `align_k`: row width of K tiles.
        v_step, v_tiles: V columns per work item, and items per head.
        tiling_key, block_dim: what a launch needs.
        out_queue, tbuf, rest_bytes: UB of the out queue, used part of the big buffer, and all that is left for it.
        workspace_need, workspace: bytes used, and bytes asked for (at least 32 MiB).
        pad_size, num_chunks: rows that would fill the last chunk, and chunks of the packed tokens.
        path: what computes a full chunk.
        plan: the buffers behind `tbuf` and `out_queue`.
        data_names: public field names of the tiling data.
    """

    dims: ShapeDims
    has_gamma: bool
    scale_value: float
    cores: int
    ub_bytes: int
    bucket: int
    align_k: int
    v_step: int
    v_tiles: int
    tiling_key: int
    block_dim: int
    out_queue: int
    tbuf: int
    rest_bytes: int
    workspace_need: int
    workspace: int
    pad_size: int
    num_chunks: int
    path: ChunkPath
    plan: UbPlan
    data_names: tuple[str, ...] = C_NAMES

    def data_fields(self) -> CgdrTilingData:
        """The fields for the kernel (3.7)."""
        d = self.dims
        return CgdrTilingData(
            cores=self.cores & U32, ub_bytes=self.ub_bytes & U32, rest_bytes=self.rest_bytes, t=d.t, hqk=d.hqk,
            dk=d.dk, hv=d.hv, dv=d.dv, chunk_size=self.plan.chunk, num_chunks=self.num_chunks, batch=d.batch,
            pad_size=self.pad_size, has_gamma=int(self.has_gamma), scale_value=self.scale_value, v_step=self.v_step,
        )  # fmt: skip

    def tiling_data(self) -> bytes:
        """The 64 bytes for the kernel (3.7)."""
        return self.data_fields().pack()

    def named_data(self) -> tuple[tuple[str, int | float], ...]:
        """The fields in memory order, each with its public name."""
        return tuple(zip(self.data_names, astuple(self.data_fields()), strict=True))

    def tbuf_terms(self) -> tuple[Term, ...]:
        """The terms whose sum is `tbuf`."""
        return self.plan.terms()

    def debug_line(self) -> str:
        """The line of `CGDR_DEBUG_LOG`, without the newline (3.8)."""
        d = self.dims
        shown = {
            "T": d.t, "chunkSize": self.plan.chunk, "numChunks": self.num_chunks, "hqk": d.hqk, "dk": d.dk, "hv": d.hv,
            "dv": d.dv, "scaleValue": f"{self.scale_value:.6f}", "ubSize": self.ub_bytes, "vStep": self.v_step,
            "blockDim": self.block_dim, "outQueue": self.out_queue, "tbuf": self.tbuf, "restBytes": self.rest_bytes,
        }  # fmt: skip
        return "ChunkGatedDeltaRule tiling: " + ", ".join(f"{name}={value}" for name, value in shown.items())


def tile(
    dims: ShapeDims,
    *,
    cores: int,
    ub_bytes: int,
    has_gamma: bool,
    scale_value: float,
    buckets: Buckets = FINAL_BUCKETS,
) -> CgdrTiling:
    """The whole host tiling.

    Args:
        dims: the dimensions; they are narrowed here.
        cores: cores of the platform; 0 gives a block dim of 1.
        ub_bytes: UB size in bytes.
        has_gamma: optional input g is given.
        scale_value: attribute 0.
        buckets: compiled widths and keys; `THREE_BUCKETS` gives the stage before the final version.

    Raises:
        TilingError: no V tile fits into UB.
    """
    dims = dims.narrowed()
    bucket, align_k, key = buckets.select(dims.dk), align_k_of(dims.dk, buckets), buckets.key_of(dims.dk)
    step = solve_v_step(dims.dv, ub_bytes, align_k, bucket)
    v_tiles = div_ceil_u32(dims.dv, step.v_step)
    block_dim = block_dim_of(dims.batch, dims.hv, v_tiles, cores)
    need = workspace_need_of(dims, block_dim)
    pad = -dims.t % CHUNK_SIZE
    return CgdrTiling(
        dims=dims, has_gamma=has_gamma, scale_value=to_float32(scale_value), cores=cores, ub_bytes=ub_bytes,
        bucket=bucket, align_k=align_k, v_step=step.v_step, v_tiles=v_tiles, tiling_key=key, block_dim=block_dim,
        out_queue=step.out_queue, tbuf=step.tbuf, rest_bytes=step.rest_bytes, workspace_need=need,
        workspace=max(need, WORKSPACE_FLOOR), pad_size=pad, num_chunks=(dims.t + pad & U32) // CHUNK_SIZE,
        path=full_chunk_path(dims.dk, step.v_step, buckets.width_of(key)), plan=step.plan,
    )  # fmt: skip
