"""UB budget of the 310P host tilings: uint32 arithmetic, the buffers of one candidate V step, and the search for it.

Every version of the host tiling sums the same kinds of buffers and differs in their widths, so a candidate is a record
of widths (`UbPlan`), and a version is a function from a V step to such a record. Sums wrap as `uint32_t` does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from emu_core.tiling import TilingError
from emu_plugins.cgdr.constants import CHUNK_SIZE, FP16_BYTES, FP16_PER_BLOCK, FP32_BYTES, PAIRED_TILES

if TYPE_CHECKING:
    from collections.abc import Callable

U32 = 0xFFFFFFFF
U64 = 0xFFFFFFFFFFFFFFFF


def ceil_align_u32(value: int, align: int) -> int:
    """`value` rounded up to a multiple of `align`, wrapping like `uint32_t`."""
    return ((value + align - 1) & U32) // align * align & U32


def div_ceil_u32(value: int, divisor: int) -> int:
    """`value / divisor` rounded up, wrapping like `uint32_t`."""
    return ((value + divisor - 1) & U32) // divisor


def fp32_bytes_u32(elements: int) -> int:
    """Bytes of `elements` float32 values, wrapping like `uint32_t`."""
    return elements * FP32_BYTES & U32


@dataclass(frozen=True)
class Term:
    """One buffer of a budget: name, and bytes after wrapping to 32 bits."""

    name: str
    bytes: int


@dataclass(frozen=True)
class UbPlan:
    """The buffers of one candidate V step; every number but `v_step` counts float32 elements.

    Attributes:
        v_step: the candidate, in columns.
        chunk: rows of a chunk.
        align_k: row width of the two K tiles.
        tile_av: row width of the two V tiles, and of a chunk in the out queue.
        state_rows, state_av: the state tile.
        delta, dot, beta: scratch rows; 0 where the version has none.
        overlap: scores and state share their memory, else they are added.
    """

    v_step: int
    chunk: int
    align_k: int
    tile_av: int
    state_rows: int
    state_av: int
    delta: int
    dot: int
    beta: int
    overlap: bool

    @property
    def scores_bytes(self) -> int:
        """The square of attention scores."""
        return fp32_bytes_u32(self.chunk * self.chunk)

    @property
    def state_bytes(self) -> int:
        """The float32 state tile."""
        return fp32_bytes_u32(self.state_rows * self.state_av)

    def terms(self) -> tuple[Term, ...]:
        """The buffers of the big UB allocation, in the order of the operator's sum (3.4)."""
        row, scores, state = fp32_bytes_u32(self.chunk), self.scores_bytes, self.state_bytes
        shared = max(scores, state) if self.overlap else scores + state & U32
        terms = (
            Term("two K tiles", PAIRED_TILES * fp32_bytes_u32(self.chunk * self.align_k) & U32),
            Term("decay mask", scores),
            Term("two V tiles", PAIRED_TILES * fp32_bytes_u32(self.chunk * self.tile_av) & U32),
            Term("g prefix sum", row),
            Term("delta", fp32_bytes_u32(self.delta)),
            Term("dot product", fp32_bytes_u32(self.dot)),
            Term("exp of prefix sum", row),
            Term("beta", fp32_bytes_u32(self.beta)),
            Term(f"scores {'or' if self.overlap else 'and'} state", shared),
        )
        return tuple(term for term in terms if term.bytes)

    @property
    def tbuf(self) -> int:
        """Bytes of the big UB allocation that are used, as `uint32_t`."""
        return sum(term.bytes for term in self.terms()) & U32

    @property
    def out_queue(self) -> int:
        """Bytes of the FP16 out queue: the larger of a state tile and a chunk of outputs, as `uint32_t`."""
        state, chunk = self.state_rows * self.state_av, self.chunk * self.tile_av
        return max(state * FP16_BYTES & U32, chunk * FP16_BYTES & U32)

    @property
    def needed(self) -> int:
        """Both allocations; the two sums are uint32, the total is compared as uint64."""
        return self.tbuf + self.out_queue

    @property
    def wraps(self) -> bool:
        """A buffer has more bytes than 32 bits hold, so the sums say less than is needed."""
        largest = max(self.chunk * self.align_k, self.chunk * self.tile_av, self.state_rows * self.state_av)
        return largest * PAIRED_TILES * FP32_BYTES > U32


@dataclass(frozen=True)
class VStep:
    """Outcome of the V-step search: columns per work item, and the bytes of the two UB allocations."""

    v_step: int
    tbuf: int
    out_queue: int
    rest_bytes: int
    plan: UbPlan


def step_of(plan: UbPlan, ub_bytes: int) -> VStep:
    """The outcome when `plan` is taken: what the out queue leaves of `ub_bytes` is the big allocation."""
    rest = ub_bytes - plan.out_queue & U32 if ub_bytes > plan.out_queue else 0
    return VStep(plan.v_step, plan.tbuf, plan.out_queue, rest, plan)


def check_ub(ub_bytes: int) -> None:
    """Refuse a platform without UB, as the operator does; raises `TilingError`."""
    if ub_bytes <= 0:
        raise TilingError(
            f"the platform reports {ub_bytes} bytes of UB; a chip description needs `ub_bytes` above 0",
            detail={"ub_bytes": ub_bytes},
        )


def search_v_step(dv: int, ub_bytes: int, plan: Callable[[int], UbPlan]) -> VStep:
    """The largest multiple of 16 up to `dv` rounded up whose plan fits `ub_bytes` (3.5, step 2).

    Raises:
        TilingError: not even the smallest step fits; `detail` has the missing bytes.
    """
    found = largest_fitting(ceil_align_u32(dv, FP16_PER_BLOCK), ub_bytes, plan)
    if found is None:
        raise no_v_step(dv, ub_bytes, plan(FP16_PER_BLOCK))
    return step_of(found, ub_bytes)


def largest_fitting(largest: int, ub_bytes: int, plan: Callable[[int], UbPlan]) -> UbPlan | None:
    """The first of `largest`, `largest` - 16, … 16 whose plan fits, or None.

    The chunk half of the out queue, `128 * step` modulo 2**32, must fit by itself. That rules out all but short runs of
    steps, which is how a `dv` near 2**32 is answered without 2**28 tries and with the same wrapped sums.
    """
    bytes_per_column, period = CHUNK_SIZE * FP16_BYTES, (U32 + 1) // (CHUNK_SIZE * FP16_BYTES)
    run = min(ub_bytes, U32) // bytes_per_column // FP16_PER_BLOCK * FP16_PER_BLOCK
    step = largest
    while step >= FP16_PER_BLOCK:
        step -= max(step % period - run, 0)
        if step >= FP16_PER_BLOCK:
            candidate = plan(step)
            if candidate.out_queue <= ub_bytes and candidate.needed <= ub_bytes:
                return candidate
        step -= FP16_PER_BLOCK
    return None


def no_v_step(dv: int, ub_bytes: int, smallest: UbPlan) -> TilingError:
    """The error when no step fits, with the budget of the `smallest` one."""
    tbuf, out_queue, over = smallest.tbuf, smallest.out_queue, smallest.needed - ub_bytes
    detail = {
        "ub_bytes": ub_bytes, "needed_bytes": smallest.needed, "over_bytes": over, "v_step": smallest.v_step,
        "tbuf": tbuf, "out_queue": out_queue, "align_k": smallest.align_k, "dv": dv,
    }  # fmt: skip
    if over <= 0:
        return TilingError(f"there is no V step to try for dv={dv}; dv must be from 1 to 4294967280", detail=detail)
    return TilingError(
        f"no V tile fits into UB: even {smallest.v_step} columns at K width {smallest.align_k} need {tbuf} bytes of "
        f"buffers and {out_queue} of out queue, {over} more than the {ub_bytes} there are; use a smaller dk or a chip "
        "with more UB",
        detail=detail,
    )
