"""The UB budget of a tiling as one would write it on paper: factors, terms, sum (`reference/cgdr.md` 3.4, 5).

Names are those of the operator's own source, so that a line can be found there.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from emu_plugins.cgdr.constants import FP16_BYTES, FP32_BYTES, FP32_PER_BLOCK, PAIRED_TILES
from emu_plugins.cgdr.tiling_budget import U32

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emu_plugins.cgdr.tiling import CgdrTiling
    from emu_plugins.cgdr.tiling_budget import UbPlan


def paper_lines(tiling: CgdrTiling) -> tuple[str, ...]:
    """The lines, from the aligned V step to the comparison with UB."""
    return (*_terms(tiling), *_totals(tiling))


def _terms(tiling: CgdrTiling) -> Iterator[str]:
    plan, chunk = tiling.plan, tiling.plan.chunk
    yield f"avStepAligned = CeilAlign({plan.v_step}, {FP32_PER_BLOCK}) = {plan.state_av}"
    if plan.tile_av != plan.state_av:
        yield f"avFp32 = CeilAlign({tiling.dims.dv}, {FP32_PER_BLOCK}) = {plan.tile_av}"
    yield f"kTileBytes = {_doubled(chunk, plan.align_k)}"
    yield f"vTileBytes = {_doubled(chunk, plan.tile_av)}"
    yield f"tDecay = {_product(chunk, chunk, FP32_BYTES)}"
    yield f"tGcum = {_product(chunk, FP32_BYTES)}"
    if plan.dot:
        yield f"stateStrideK = {plan.state_rows}"
        yield f"dotProductElem = {_scratch(plan.state_rows, chunk, plan.dot, 'tDotProduct')}"
        yield f"deltaElem = {_scratch(plan.dot, plan.state_av, plan.delta, 'tDelta')}"
    else:
        yield f"stateStrideK = {plan.align_k}"
        yield f"deltaElem = {_scratch(plan.align_k, chunk, plan.delta, 'tDelta')}"
    yield f"tExpGcum = {_product(chunk, FP32_BYTES)}"
    if plan.beta:
        yield f"tBeta = tExpGcum = {plan.beta * FP32_BYTES}"
    yield f"tScores = {_product(chunk, chunk, FP32_BYTES)}"
    yield f"tState = {_product(plan.state_rows, plan.state_av, FP32_BYTES)} → {_scores_and_state(tiling)}"


def _totals(tiling: CgdrTiling) -> Iterator[str]:
    plan = tiling.plan
    terms = [term.bytes for term in plan.terms()]
    yield f"tbuf = {' + '.join(map(str, terms))} = {plan.tbuf}{_wrapped(sum(terms))}"
    state, chunk = (plan.state_rows, plan.state_av, FP16_BYTES), (plan.chunk, plan.tile_av, FP16_BYTES)
    yield f"outQueue = max({_factors(*state)}, {_factors(*chunk)}) = {plan.out_queue}"
    sign = "≤" if plan.needed <= tiling.ub_bytes else ">"
    yield f"tbuf + outQueue = {plan.needed} {sign} {tiling.ub_bytes} of UB"
    yield f"restBytes = {tiling.ub_bytes} − {plan.out_queue} = {tiling.rest_bytes}"


def overlap_reason(tiling: CgdrTiling) -> str:
    """Why scores and state share memory, or do not."""
    if tiling.plan.v_step >= tiling.dims.dv:
        return "vStep ≥ dv"
    if not tiling.plan.overlap:
        return "dv is cut and the heads fill the cores"
    if tiling.plan.beta:
        return "a work item has one V tile"
    return "fewer heads than cores" if tiling.plan.dot else "always"


def _scores_and_state(tiling: CgdrTiling) -> str:
    plan: UbPlan = tiling.plan
    scores, state = plan.scores_bytes, plan.state_bytes
    if plan.overlap:
        return f"overlap ({overlap_reason(tiling)}) → tScoresState = max({scores}, {state}) = {max(scores, state)}"
    return f"no overlap ({overlap_reason(tiling)}) → tScoresState = {scores} + {state} = {scores + state & U32}"


def _doubled(rows: int, columns: int) -> str:
    one = rows * columns * FP32_BYTES & U32
    return f"{_product(rows, columns, FP32_BYTES)} → ×{PAIRED_TILES} = {PAIRED_TILES * one & U32}"


def _scratch(one: int, other: int, elements: int, total: str) -> str:
    return f"max({one}, {other}) = {elements} → {total} = {elements * FP32_BYTES & U32}"


def _product(*factors: int) -> str:
    exact = prod(factors)
    return f"{_factors(*factors)} = {exact & U32}{_wrapped(exact)}"


def _factors(*factors: int) -> str:
    return "×".join(map(str, factors))


def _wrapped(exact: int) -> str:
    return " (mod 2^32)" if exact > U32 else ""
