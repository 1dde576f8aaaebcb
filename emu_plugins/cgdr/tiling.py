"""Host tiling of ChunkGatedDeltaRule, final version, bit for bit (`reference/cgdr.md` 3).

Pure functions in the order of the operator's own source, so that both can be read side by side. Names ending in
`_u32` wrap as `uint32_t` does; dimensions are narrowed to 32 bits on entry, whatever their size.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from enum import StrEnum

from emu_core.tiling import TilingError
from emu_plugins.cgdr.constants import (
    BUCKETS,
    CHUNK_SIZE,
    FALLBACK_KEY,
    FP16_BYTES,
    FP16_PER_BLOCK,
    FP32_BYTES,
    FP32_PER_BLOCK,
    KEY_OF_BUCKET,
    MIN_BLOCK_DIM,
    NO_BUCKET,
    PAIRED_TILES,
    STAGE_BYTES_PER_CORE,
    WIDTH_OF_KEY,
    WORKSPACE_FLOOR,
)
from emu_plugins.cgdr.tiling_data import CgdrTilingData, to_float32

_U32 = 0xFFFFFFFF
_U64 = 0xFFFFFFFFFFFFFFFF


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
        return ShapeDims(*(dim & _U32 for dim in astuple(self)))


@dataclass(frozen=True)
class Term:
    """One buffer of the UB budget: name, and bytes after wrapping to 32 bits."""

    name: str
    bytes: int


@dataclass(frozen=True)
class VStep:
    """Outcome of the V-step search: columns per work item, and the bytes of the two UB allocations."""

    v_step: int
    tbuf: int
    out_queue: int
    rest_bytes: int


def ceil_align_u32(value: int, align: int) -> int:
    """`value` rounded up to a multiple of `align`, wrapping like `uint32_t`."""
    return ((value + align - 1) & _U32) // align * align & _U32


def div_ceil_u32(value: int, divisor: int) -> int:
    """`value / divisor` rounded up, wrapping like `uint32_t`."""
    return ((value + divisor - 1) & _U32) // divisor


def select_cube_dk(dk: int) -> int:
    """The smallest compiled width that holds `dk`; 0 when none does."""
    return next((bucket for bucket in BUCKETS if dk <= bucket), NO_BUCKET)


def align_k_of(dk: int) -> int:
    """Row width of K tiles in elements: the bucket, or `dk` rounded up to a block without one."""
    return select_cube_dk(dk) or ceil_align_u32(dk, FP16_PER_BLOCK)


def tmp_buff_terms(v_step: int, align_k: int) -> tuple[Term, ...]:
    """The float32 buffers of the big UB allocation for one candidate, in the order of the sum (3.4)."""
    av = ceil_align_u32(v_step, FP32_PER_BLOCK)
    dot = max(align_k, CHUNK_SIZE)
    square = CHUNK_SIZE * CHUNK_SIZE
    scores, state = _fp32_bytes_u32(square), _fp32_bytes_u32(align_k * av)
    return (
        Term("two K tiles", PAIRED_TILES * _fp32_bytes_u32(CHUNK_SIZE * align_k) & _U32),
        Term("decay mask", scores),
        Term("two V tiles", PAIRED_TILES * _fp32_bytes_u32(CHUNK_SIZE * av) & _U32),
        Term("g prefix sum", _fp32_bytes_u32(CHUNK_SIZE)),
        Term("delta", _fp32_bytes_u32(max(dot, av))),
        Term("dot product", _fp32_bytes_u32(dot)),
        Term("exp of prefix sum", _fp32_bytes_u32(CHUNK_SIZE)),
        Term("beta", _fp32_bytes_u32(CHUNK_SIZE)),
        Term("scores or state", max(scores, state)),
    )


def tmp_buff_bytes(v_step: int, align_k: int) -> int:
    """Bytes of the big UB allocation for one candidate, as `uint32_t`."""
    return sum(term.bytes for term in tmp_buff_terms(v_step, align_k)) & _U32


def out_queue_bytes(v_step: int, align_k: int) -> int:
    """Bytes of the FP16 out queue: the larger of a state tile and a chunk of outputs, as `uint32_t`."""
    av = ceil_align_u32(v_step, FP32_PER_BLOCK)
    return max(align_k * av * FP16_BYTES & _U32, CHUNK_SIZE * av * FP16_BYTES & _U32)


def solve_v_step(dv: int, ub_bytes: int, align_k: int, preferred: int) -> VStep:
    """The V step: the bucket if it fits, else the largest multiple of 16 that fits (3.5).

    Raises:
        TilingError: no UB at all, or not even the smallest step fits; `detail` has the missing bytes.
    """
    if ub_bytes <= 0:
        raise TilingError(
            f"the platform reports {ub_bytes} bytes of UB; a chip description needs `ub_bytes` above 0",
            detail={"ub_bytes": ub_bytes},
        )
    if preferred != NO_BUCKET and _budget(preferred, align_k) <= ub_bytes:
        return _v_step(preferred, ub_bytes, align_k)
    found = _largest_fitting(ceil_align_u32(dv, FP16_PER_BLOCK), ub_bytes, align_k)
    if found is None:
        raise _no_v_step(dv, ub_bytes, align_k)
    return _v_step(found, ub_bytes, align_k)


def tiling_key_of(dk: int) -> int:
    """0 to 3 for the buckets 64, 80, 96, 128; 2 for every wider head."""
    return KEY_OF_BUCKET.get(select_cube_dk(dk), FALLBACK_KEY)


def block_dim_of(batch: int, hv: int, v_tiles: int, cores: int) -> int:
    """Blocks of a launch: one per (sequence, head, V tile), at most `cores`, at least 1."""
    items = min(batch * hv * v_tiles & _U64, _U32)
    return max(min(items, cores), MIN_BLOCK_DIM)


def workspace_need_of(dims: ShapeDims, block_dim: int) -> int:
    """Bytes of workspace that are used: float32 states with the real `dk`, and two staging slots per block."""
    state = dims.batch * dims.hv * dims.dk * ceil_align_u32(dims.dv, FP32_PER_BLOCK) * FP32_BYTES
    return (state + block_dim * STAGE_BYTES_PER_CORE) & _U64


def full_chunk_path(dk: int, v_step: int, tiling_key: int) -> ChunkPath:
    """What computes a full chunk in the instance of `tiling_key` (`reference/cgdr.md` 8)."""
    width = WIDTH_OF_KEY[tiling_key]
    av = ceil_align_u32(v_step, FP32_PER_BLOCK)
    if dk <= width and av == width:
        return ChunkPath.CUBE
    return ChunkPath.VECTOR_CUBE_INVERSE if av >= width else ChunkPath.VECTOR


@dataclass(frozen=True)
class CgdrTiling:
    """Every number the host tiling derives. Bytes are bytes, widths are elements.

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

    def tiling_data(self) -> bytes:
        """The 64 bytes for the kernel (3.7)."""
        d = self.dims
        return CgdrTilingData(
            cores=self.cores & _U32, ub_bytes=self.ub_bytes & _U32, rest_bytes=self.rest_bytes, t=d.t, hqk=d.hqk,
            dk=d.dk, hv=d.hv, dv=d.dv, chunk_size=CHUNK_SIZE, num_chunks=self.num_chunks, batch=d.batch,
            pad_size=self.pad_size, has_gamma=int(self.has_gamma), scale_value=self.scale_value, v_step=self.v_step,
        ).pack()  # fmt: skip

    def tbuf_terms(self) -> tuple[Term, ...]:
        """The terms whose sum is `tbuf`."""
        return tmp_buff_terms(self.v_step, self.align_k)

    def debug_line(self) -> str:
        """The line of `CGDR_DEBUG_LOG`, without the newline (3.8)."""
        d = self.dims
        shown = {
            "T": d.t, "chunkSize": CHUNK_SIZE, "numChunks": self.num_chunks, "hqk": d.hqk, "dk": d.dk, "hv": d.hv,
            "dv": d.dv, "scaleValue": f"{self.scale_value:.6f}", "ubSize": self.ub_bytes, "vStep": self.v_step,
            "blockDim": self.block_dim, "outQueue": self.out_queue, "tbuf": self.tbuf, "restBytes": self.rest_bytes,
        }  # fmt: skip
        return "ChunkGatedDeltaRule tiling: " + ", ".join(f"{name}={value}" for name, value in shown.items())


def tile(dims: ShapeDims, *, cores: int, ub_bytes: int, has_gamma: bool, scale_value: float) -> CgdrTiling:
    """The whole host tiling.

    Args:
        dims: the dimensions; they are narrowed here.
        cores: cores of the platform; 0 gives a block dim of 1.
        ub_bytes: UB size in bytes.
        has_gamma: optional input g is given.
        scale_value: attribute 0.

    Raises:
        TilingError: no V tile fits into UB.
    """
    dims = dims.narrowed()
    bucket, align_k = select_cube_dk(dims.dk), align_k_of(dims.dk)
    step = solve_v_step(dims.dv, ub_bytes, align_k, bucket)
    v_tiles = div_ceil_u32(dims.dv, step.v_step)
    key = tiling_key_of(dims.dk)
    block_dim = block_dim_of(dims.batch, dims.hv, v_tiles, cores)
    need = workspace_need_of(dims, block_dim)
    pad = -dims.t % CHUNK_SIZE
    return CgdrTiling(
        dims=dims, has_gamma=has_gamma, scale_value=to_float32(scale_value), cores=cores, ub_bytes=ub_bytes,
        bucket=bucket, align_k=align_k, v_step=step.v_step, v_tiles=v_tiles, tiling_key=key, block_dim=block_dim,
        out_queue=step.out_queue, tbuf=step.tbuf, rest_bytes=step.rest_bytes, workspace_need=need,
        workspace=max(need, WORKSPACE_FLOOR), pad_size=pad, num_chunks=(dims.t + pad & _U32) // CHUNK_SIZE,
        path=full_chunk_path(dims.dk, step.v_step, key),
    )  # fmt: skip


def _fp32_bytes_u32(elements: int) -> int:
    return elements * FP32_BYTES & _U32


def _budget(v_step: int, align_k: int) -> int:
    # The two sums are uint32, the total is compared as uint64.
    return tmp_buff_bytes(v_step, align_k) + out_queue_bytes(v_step, align_k)


def _v_step(v_step: int, ub_bytes: int, align_k: int) -> VStep:
    out_queue = out_queue_bytes(v_step, align_k)
    rest = ub_bytes - out_queue & _U32 if ub_bytes > out_queue else 0
    return VStep(v_step, tmp_buff_bytes(v_step, align_k), out_queue, rest)


def _largest_fitting(largest: int, ub_bytes: int, align_k: int) -> int | None:
    """The first of `largest`, `largest` - 16, … 16 whose budget fits, or None.

    The chunk half of the out queue, `128 * step` modulo 2**32, must fit by itself. That rules out all but short runs of
    steps, which is how a `dv` near 2**32 is answered without 2**28 tries and with the same wrapped sums.
    """
    bytes_per_column, period = CHUNK_SIZE * FP16_BYTES, (_U32 + 1) // (CHUNK_SIZE * FP16_BYTES)
    run = min(ub_bytes, _U32) // bytes_per_column // FP16_PER_BLOCK * FP16_PER_BLOCK
    step = largest
    while step >= FP16_PER_BLOCK:
        step -= max(step % period - run, 0)
        if step >= FP16_PER_BLOCK and _budget(step, align_k) <= ub_bytes:
            return step
        step -= FP16_PER_BLOCK
    return None


def _no_v_step(dv: int, ub_bytes: int, align_k: int) -> TilingError:
    smallest = FP16_PER_BLOCK
    tbuf, out_queue = tmp_buff_bytes(smallest, align_k), out_queue_bytes(smallest, align_k)
    over = tbuf + out_queue - ub_bytes
    detail = {
        "ub_bytes": ub_bytes, "needed_bytes": tbuf + out_queue, "over_bytes": over, "v_step": smallest, "tbuf": tbuf,
        "out_queue": out_queue, "align_k": align_k, "dv": dv,
    }  # fmt: skip
    if over <= 0:
        return TilingError(f"there is no V step to try for dv={dv}; dv must be from 1 to 4294967280", detail=detail)
    return TilingError(
        f"no V tile fits into UB: even {smallest} columns at K width {align_k} need {tbuf} bytes of buffers and "
        f"{out_queue} of out queue, {over} more than the {ub_bytes} there are; use a smaller dk or a chip with more UB",
        detail=detail,
    )
