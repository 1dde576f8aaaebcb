"""Why a tiling is what it is, in words with the numbers of the shape at hand.

Each question is one function from the request and its tiling to a text; None means that it does not arise.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from emu_core.tiling import TilingError
from emu_plugins.cgdr.constants import (
    DEVICE_STAGE_SLOT_BYTES,
    FP16_PER_BLOCK,
    MATMUL_K,
    MATMUL_M,
    MATMUL_N,
    STAGE_BYTES_PER_CORE,
    WORKSPACE_FLOOR,
)
from emu_plugins.cgdr.tiling import FINAL_BUCKETS, CgdrTiling, ChunkPath, ceil_align_u32, plan_of
from emu_plugins.cgdr.tiling_910b import MASKS_PER_CORE, MOST_HEADS, SYSTEM_WORKSPACE, WIDEST_HEAD, Cgdr910bTiling
from emu_plugins.cgdr.tiling_layout import slots_used
from emu_plugins.cgdr.tiling_paper import overlap_reason

if TYPE_CHECKING:
    from collections.abc import Callable

    from emu_plugins.cgdr.tiling import Buckets
    from emu_plugins.cgdr.tiling_variants import Tiling, TilingRequest, Variant

_MIB = 1024 * 1024


@dataclass(frozen=True)
class Reason:
    """A question and its answer."""

    title: str
    text: str


@dataclass(frozen=True)
class _Case:
    """What the questions are about: the version, what was asked, what came out, and the version's buckets."""

    variant: Variant
    request: TilingRequest
    tiling: CgdrTiling

    @property
    def buckets(self) -> Buckets | None:
        return self.variant.buckets


def why(variant: Variant, request: TilingRequest, tiling: Tiling) -> tuple[Reason, ...]:
    """The answers that apply, in the order in which the tiling decides."""
    if isinstance(tiling, Cgdr910bTiling):
        return _why_910b(tiling)
    case = _Case(variant, request, tiling)
    answers = ((title, ask(case)) for title, ask in _QUESTIONS)
    return tuple(Reason(title, text) for title, text in answers if text)


def percent_more(padded: int, real: int) -> str:
    """How much wider `padded` is than `real`, in whole per cent."""
    return f"{round(100 * (padded - real) / real)} %" if real else "no measure of"


def _bucket(case: _Case) -> str:
    t, buckets = case.tiling, case.buckets
    if buckets is None:
        return f"This version has no buckets: K is padded to blocks of 16 and is {t.align_k} wide."
    widths, dk = tuple(buckets.keys), t.dims.dk
    listed = ", ".join(map(str, widths))
    if not t.bucket:
        return (
            f"dk {dk} is above {widths[-1]}, the widest of {listed}: no bucket. K is padded to blocks of 16 and is "
            f"{t.align_k} wide. Tiling key {t.tiling_key} is where such heads run: that instance leaves the Cube path "
            f"when dk is above its {buckets.width_of(t.tiling_key)}, so it serves as the general one."
        )
    below = [width for width in widths if width < t.bucket]
    least = f"above {below[-1]} and " if below else ""
    return (
        f"dk {dk} is {least}at most {t.bucket}: bucket {t.bucket} of {listed}, tiling key {t.tiling_key}. "
        "A bucket is the width that a kernel instance was compiled for; the smallest that holds dk is taken."
    )


def _v_tiles(tiling: CgdrTiling) -> str:
    return f"{tiling.v_tiles} V tile{'s' * (tiling.v_tiles != 1)}"


def _padding(case: _Case) -> str:
    t = case.tiling
    dk, dv, columns = t.dims.dk, t.dims.dv, t.v_tiles * t.v_step
    parts = [_padded("K", dk, t.align_k, "every K tile and every product over K")]
    parts.append(_padded("V", dv, columns, f"{_v_tiles(t)} of {t.v_step} columns"))
    return " ".join(parts) + " Padding is zeros: it costs time and room, and changes no result."


def _padded(axis: str, real: int, padded: int, what: str) -> str:
    if padded == real:
        return f"{axis} is not padded: {real} columns."
    return f"{axis} is padded from {real} to {padded} columns, {percent_more(padded, real)} more in {what}."


def _v_step(case: _Case) -> str:
    t, ub = case.tiling, case.tiling.ub_bytes
    needed = f"tbuf {t.tbuf} + outQueue {t.out_queue} = {t.plan.needed}"
    if t.bucket and t.v_step == t.bucket:
        wider = f" It is wider than dv {t.dims.dv}, which is meant: V is padded too." if t.v_step > t.dims.dv else ""
        return (
            f"With a bucket its width is tried first, so that K and V run on the same instance: {needed} of {ub} bytes "
            f"of UB, {ub - t.plan.needed} to spare, so vStep is {t.v_step}.{wider}"
        )
    first = ""
    if t.bucket:
        wanted = plan_of(t.bucket, t.align_k).needed
        first = f"The bucket's own width needs {wanted} bytes, {wanted - ub} more than the {ub} of UB. "
    if t.plan.needed > ub:
        return f"Nothing fits {ub} bytes of UB, and this version then goes on with vStep {t.v_step}: {needed} bytes."
    largest = ceil_align_u32(t.dims.dv, FP16_PER_BLOCK)
    return (
        f"{first}Multiples of 16 from dv rounded up, {largest}, downwards are tried; {t.v_step} is the first that "
        f"fits: {needed} of {ub} bytes, {ub - t.plan.needed} to spare."
    )


def _changes(case: _Case) -> str:
    return " ".join(text for text in (_next_bucket(case), _less_ub(case), _more_ub(case)) if text)


def _next_bucket(case: _Case) -> str:
    t = case.tiling
    if not (case.buckets and t.bucket):
        return ""
    wider = [width for width in case.buckets.keys if width > t.bucket]
    following = f"bucket {wider[0]}" if wider else "no bucket and the general path"
    return f"dk above {t.bucket} gives {following}."


def _less_ub(case: _Case) -> str:
    """What one byte below the need would give."""
    t = case.tiling
    if t.plan.needed > t.ub_bytes:
        return ""
    try:
        other = case.variant.run(replace(case.request, ub_bytes=t.plan.needed - 1))
    except TilingError:
        return f"UB below {t.plan.needed} bytes (it has {t.ub_bytes}) fits nothing."
    assert isinstance(other, CgdrTiling)
    return f"UB below {t.plan.needed} bytes (it has {t.ub_bytes}) gives vStep {other.v_step} and {_v_tiles(other)}."


def _more_ub(case: _Case) -> str:
    """The bytes at which the next larger step, or the bucket, would fit."""
    t, largest = case.tiling, ceil_align_u32(case.tiling.dims.dv, FP16_PER_BLOCK)
    if not case.buckets or t.v_step == (t.bucket or largest):
        return ""
    larger = min(t.v_step + FP16_PER_BLOCK, largest)
    wanted = sorted({step for step in (larger, t.bucket or largest) if step > t.v_step})
    rooms = (f"{plan_of(step, t.align_k).needed} bytes of UB give vStep {step}" for step in wanted)
    return "; ".join(rooms) + "." if wanted else ""


def _next_width(case: _Case) -> str:
    t = case.tiling
    if not t.bucket:
        return ""
    widths = tuple(FINAL_BUCKETS.keys)
    finer = FINAL_BUCKETS.select(t.dims.dk)
    if finer < t.bucket:
        return f"The final version has bucket {finer} for it: {_difference(finer, t.bucket)}"
    wider = next((width for width in widths if width > t.bucket), None)
    return f"Without bucket {t.bucket} it would run {wider} wide: {_difference(wider, t.bucket)}" if wider else ""


def _difference(width: int, other: int) -> str:
    """What a bucket of `width` needs against one of `other`, term by term, with V as wide as K."""
    ours, theirs = plan_of(width, width), plan_of(other, other)
    groups: dict[str, int] = {}
    for mine, its in zip(ours.terms(), theirs.terms(), strict=True):
        name = "delta and dot product" if mine.name in ("delta", "dot product") else mine.name
        groups[name] = groups.get(name, 0) + abs(its.bytes - mine.bytes)
    parts = ", ".join(f"{name} {bytes_}" for name, bytes_ in groups.items() if bytes_)
    difference = f"{abs(theirs.tbuf - ours.tbuf)} bytes {'less' if ours.tbuf < theirs.tbuf else 'more'}"
    return f"tbuf {ours.tbuf} instead of {theirs.tbuf}, {difference} ({parts})."


def _overlap(case: _Case) -> str:
    plan = case.tiling.plan
    scores, state, why_so = plan.scores_bytes, plan.state_bytes, overlap_reason(case.tiling)
    if plan.overlap:
        return (
            f"Scores ({scores} bytes) are done with before the state tile ({state}) is loaded, so they share memory "
            f"({why_so}): {min(scores, state)} bytes saved."
        )
    return f"Scores ({scores} bytes) and state tile ({state}) are added ({why_so}): {min(scores, state)} bytes more."


def _matmul(case: _Case) -> str:
    if not case.buckets:
        return ""
    return (
        f"M = {MATMUL_M} is the rows of a chunk, K = {MATMUL_K} the widest bucket, N = {MATMUL_N} the widest V tile: "
        "the largest product there is, not one multiply instruction (those work on 16×16 blocks). They size a staging "
        f"slot: two halves of A (hi, lo) and B in float16, (2·{MATMUL_M}·{MATMUL_K} + {MATMUL_K}·{MATMUL_N})·2 = "
        f"{DEVICE_STAGE_SLOT_BYTES} bytes; two slots are {STAGE_BYTES_PER_CORE} bytes per core, so that one is filled "
        "while the other is multiplied."
    )


def _slot(case: _Case) -> str:
    t = case.tiling
    if not case.buckets:
        return ""
    first, second = slots_used(t)
    if not first:
        return f"Nothing is staged on this path; the {DEVICE_STAGE_SLOT_BYTES} bytes of each slot stay empty."
    return f"A full chunk writes {first} of the {DEVICE_STAGE_SLOT_BYTES} bytes of slot 0 and {second} of slot 1" + (
        ": slots are sized for bucket 128." if first < DEVICE_STAGE_SLOT_BYTES else ": bucket 128 fills slot 0."
    )


def _block_dim(case: _Case) -> str:
    t, d = case.tiling, case.tiling.dims
    if case.buckets:
        items = f"B {d.batch} · Hv {d.hv} · {_v_tiles(t)} = {d.batch * d.hv * t.v_tiles} work items"
    elif t.plan.dot and d.hv < t.cores and t.v_tiles > 1:
        items = f"Hv {d.hv} is below {t.cores} cores and V is cut: Hv · {_v_tiles(t)} = {d.hv * t.v_tiles} items"
    else:
        items = f"Hv {d.hv} work items (sequences do not count)"
    return f"{items}, on at most {t.cores} cores: {t.block_dim} block{'s' * (t.block_dim != 1)}. T does not enter."


def _workspace(case: _Case) -> str:
    t, d = case.tiling, case.tiling.dims
    if not t.plan.dot:
        return f"This version always asks for {WORKSPACE_FLOOR} bytes (32 MiB)."
    stages = t.block_dim * STAGE_BYTES_PER_CORE if case.buckets else 0
    staging = (
        f" + {t.block_dim} blocks · {STAGE_BYTES_PER_CORE} of staging = {t.workspace_need} bytes" if stages else ""
    )
    floor = (
        f"less than {WORKSPACE_FLOOR} (32 MiB), which is the least that is asked for"
        if t.workspace_need < WORKSPACE_FLOOR
        else f"above the floor of {WORKSPACE_FLOOR} (32 MiB), so it is asked for as it is"
    )
    return (
        f"float32 states between chunks, B {d.batch} · Hv {d.hv} · dk {d.dk} · {ceil_align_u32(d.dv, 8)} columns · 4 = "
        f"{t.workspace_need - stages} bytes (the real dk, not the padded one){staging}: {floor}."
    )


_PATH_TEXTS = {
    ChunkPath.CUBE: "The bucket holds dk and vStep equals its width: full chunks of 64 rows run on the Cube, a shorter "
    "last chunk on the Vector unit.",
    ChunkPath.VECTOR: "All chunks run on the Vector unit.",
    ChunkPath.VECTOR_CUBE_INVERSE: "All chunks run on the Vector unit, but the test before the triangular inverse of a "
    "full chunk looks at vStep only, and that is wide enough: the shipped kernel uses the Cube for it.",
}  # fmt: skip


def _path(case: _Case) -> str:
    t = case.tiling
    if t.path is ChunkPath.CUBE or not case.buckets:
        return _PATH_TEXTS[t.path]
    cause = f"vStep {t.v_step} is below bucket {t.bucket}, for lack of UB" if t.bucket else "dk has no bucket"
    return f"{_PATH_TEXTS[t.path]} The reason: {cause}."


_QUESTIONS: tuple[tuple[str, Callable[[_Case], str]], ...] = (
    ("bucket", _bucket),
    ("padding", _padding),
    ("vStep", _v_step),
    ("what would change it", _changes),
    ("bucket against the next", _next_width),
    ("scores and state", _overlap),
    ("M, K, N", _matmul),
    ("staging slot", _slot),
    ("block dim", _block_dim),
    ("workspace", _workspace),
    ("path", _path),
)


def _why_910b(tiling: Cgdr910bTiling) -> tuple[Reason, ...]:
    d = tiling.dims
    return (
        Reason(
            "limits",
            f"The 910B operator takes up to {MOST_HEADS} heads of up to {WIDEST_HEAD} columns, Nv a multiple of Nk; "
            f"here Nk {d.hqk}, Nv {d.hv}, Dk {d.dk}, Dv {d.dv}. It has no buckets and plans no UB.",
        ),
        Reason(
            "block dim",
            f"All {tiling.cores} Cube cores, whatever the shape; schedule mode {tiling.schedule_mode} starts them "
            "together, because the stages have barriers.",
        ),
        Reason(
            "chunk group",
            f"2 chunks per core · {tiling.cores} cores · 64 rows = {tiling.max_group_length} tokens go through the "
            "three stages at a time.",
        ),
        Reason(
            "workspace",
            f"{tiling.inter_bytes} bytes between the stages (with {MASKS_PER_CORE} masks per core), "
            f"{tiling.stage.bytes} for stage 1 with {tiling.parallel} tasks in flight per core, and "
            f"{SYSTEM_WORKSPACE // _MIB} MiB for the system. T does not enter.",
        ),
    )
