"""`--svg`: the drawing of one tiling, and the chart of a sweep, as SVG that needs nothing from elsewhere."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, TypeVar

from emu_plugins.cgdr.tiling_910b import Cgdr910bTiling
from emu_plugins.cgdr.tiling_layout import FREE, Region, ub_order_known, ub_regions, workspace_regions
from tools.tiling.svg_page import LEFT, RIGHT, Page, short_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from emu_plugins.cgdr.tiling_variants import Tiling, TilingRequest, Variant
    from tools.tiling.outcomes import Outcome

T = TypeVar("T")

_STRIP = 54
_ROW = 20
_SWATCH = 12
_MOST_ROWS = 16
_TICKS = 4
_PLOT = 300
_LABEL = 7.2
"""Width of a character of a label."""


def drawing(variant: Variant, request: TilingRequest, tiling: Tiling, chip: str) -> str:
    """UB of one core and the workspace, each as a strip to scale with a list of its buffers."""
    d = request.dims
    page = Page(f"ChunkGatedDeltaRule tiling on {chip}")
    page.heading(f"ChunkGatedDeltaRule on {chip}")
    page.note(variant.title)
    page.note(
        f"T {d.t} · B {d.batch} · Hqk {d.hqk} · Hv {d.hv} · dk {d.dk} · dv {d.dv} · {request.cores} cores · "
        f"tiling key {tiling.tiling_key} · block dim {tiling.block_dim}"
    )
    if not isinstance(tiling, Cgdr910bTiling):
        page.section(f"UB of one core: {tiling.ub_bytes:,} bytes, {tiling.plan.needed:,} used")
        page.note(
            f"bucket {tiling.bucket or 'none'} · K width {tiling.align_k} · vStep {tiling.v_step} · "
            f"V tiles {tiling.v_tiles}"
            + ("" if ub_order_known(tiling) else " · in the order of the budget, not of the device")
        )
        regions = ub_regions(tiling)
        _strip(page, regions, max(regions[-1].end, 1))
        _listing(page, regions)
    page.section(f"Workspace: {tiling.workspace:,} bytes asked for, {tiling.workspace_need:,} used")
    regions = workspace_regions(tiling)
    used = [region for region in regions if region.kind != FREE]
    pale = any(region.used < region.size for region in used)
    page.note("the used part, to scale" + ("; what is pale in a staging slot is never written" if pale else ""))
    if used:
        _strip(page, used, used[-1].end)
        _listing(page, _grouped(used))
    return page.text()


def chart(name: str, outcomes: Sequence[Outcome], variant: Variant, chip: str) -> str:
    """UB that the tilings of a sweep use, over the swept number; of a version without a plan for UB, the workspace."""
    page = Page(f"ChunkGatedDeltaRule tiling on {chip} over {name}")
    page.heading(f"ChunkGatedDeltaRule on {chip}: {name} from {outcomes[0].value} to {outcomes[-1].value}")
    page.note(variant.title)
    if variant.cube_cores:
        page.section("Workspace that is used, bytes")
        page.note("hatched: refused")
        _plot(page, name, outcomes, [])
        return page.text()
    page.section("UB that is used, bytes")
    page.note("blue: buffers (tbuf), on top of them the out queue; the line is the UB there is; hatched: refused")
    _plot(page, name, outcomes, [outcome.request.ub_bytes for outcome in outcomes])
    return page.text()


def _strip(page: Page, regions: Sequence[Region], room: int) -> None:
    """The regions side by side, and a ruler below."""
    top, span = page.take(_STRIP), RIGHT - LEFT
    page.box(LEFT, top, span, _STRIP, "free", "")
    for region in regions:
        x, wide = LEFT + span * region.offset / room, span * region.size / room
        if region.kind == FREE:
            label = f"free, {region.size:,} bytes"
            if wide > len(label) * _LABEL:
                page.label(x + wide / 2, top + _STRIP / 2 + 4, label, "soft")
            continue
        tip = f"{region.name}: {region.size:,} bytes at {region.offset:,}, {region.used:,} of them written"
        page.box(x, top, wide, _STRIP, region.kind, tip, pale=region.used < region.size)
        if region.used < region.size:
            page.box(x, top, wide * region.used / region.size, _STRIP, region.kind, tip)
        if wide > len(region.name) * _LABEL + 6:
            page.label(x + wide / 2, top + _STRIP / 2 + 4, region.name, "on")
    below = page.take(26)
    for tick in range(_TICKS + 1):
        at = LEFT + span * tick / _TICKS
        page.line(at, below, at, below + 5)
        page.label(at, below + 18, short_bytes(room * tick // _TICKS), "soft", anchor=_anchor(tick))


def _anchor(tick: int) -> str:
    return {0: "start", _TICKS: "end"}.get(tick, "middle")


def _listing(page: Page, regions: Sequence[Region]) -> None:
    """Name, first byte and size of each, in two columns."""
    page.take(6)
    half = -(-len(regions) // 2)
    top = page.take(half * _ROW + 6)
    for k, region in enumerate(regions):
        x = LEFT + (k // half) * (RIGHT - LEFT + 20) / 2
        y = top + (k % half) * _ROW
        page.box(x, y, _SWATCH, _SWATCH, region.kind, "")
        page.label(x + 20, y + 11, region.name, "ink", anchor="start")
        page.label(x + 260, y + 11, f"{region.offset:,}", "soft", anchor="end")
        page.label(x + 360, y + 11, f"{region.size:,}", "ink", anchor="end")
        page.label(x + 368, y + 11, "bytes", "soft", anchor="start")


def _grouped(regions: Sequence[Region]) -> list[Region]:
    """The regions; staging slots as one entry when there are many."""
    slots = [region for region in regions if region.kind == "slot"]
    count = sum(slot.count for slot in slots)
    if len(regions) - len(slots) + count <= _MOST_ROWS or count < 3:
        return list(regions)
    size = sum(slot.size for slot in slots)
    merged = Region(f"{count} staging slots", slots[0].offset, size, "slot", sum(slot.used for slot in slots), count)
    return [*(region for region in regions if region.kind != "slot"), merged]


def _parts(outcome: Outcome) -> tuple[int, int] | None:
    """Bytes of buffers and of the out queue, or of the workspace; None when the shape is refused."""
    t = outcome.tiling
    if t is None:
        return None
    return (t.workspace_need, 0) if isinstance(t, Cgdr910bTiling) else (t.tbuf, t.out_queue)


def _plot(page: Page, name: str, outcomes: Sequence[Outcome], limits: Sequence[int]) -> None:
    """Steps over the swept number: a box per run of equal outcomes, and the limit of each value as a line."""
    page.take(16)
    top, count = page.take(_PLOT), len(outcomes)
    base, x0, span = top + _PLOT, LEFT + 60, RIGHT - LEFT - 60
    used = [sum(parts) for outcome in outcomes if (parts := _parts(outcome))]
    unit = 1 << max((max([*used, *limits, 1]) // _TICKS).bit_length() - 3, 0)
    ceiling = -(-max([*used, *limits, 1]) // (unit * _TICKS)) * unit * _TICKS
    for tick in range(_TICKS + 1):
        y = base - _PLOT * tick / _TICKS
        page.line(x0, y, RIGHT, y, faint=True)
        page.label(x0 - 8, y + 4, short_bytes(ceiling * tick // _TICKS), "soft", anchor="end")
    for first, run in _runs(outcomes, key=lambda each: (_parts(each), getattr(each.tiling, "v_step", None))):
        _step(page, run, x0 + span * first / count, span * len(run) / count, base, _PLOT / ceiling)
    for first, equal in _runs(limits, key=lambda limit: limit):
        y = base - _PLOT * equal[0] / ceiling
        page.line(x0 + span * first / count, y, x0 + span * (first + len(equal)) / count, y, strong=True)
    if len(set(limits)) == 1:
        page.label(RIGHT, base - _PLOT * limits[0] / ceiling - 6, f"UB {limits[0]:,}", "ink", anchor="end")
    _ruler(page, name, outcomes, x0, span)


def _runs(items: Sequence[T], key: Callable[[T], object]) -> Iterator[tuple[int, list[T]]]:
    """Neighbours with equal keys, with the index of their first."""
    first = 0
    for _, group in groupby(items, key):
        run = list(group)
        yield first, run
        first += len(run)


def _step(page: Page, run: list[Outcome], x: float, wide: float, base: float, scale: float) -> None:
    """The box of one run, with its V step where there is room."""
    first, parts = run[0], _parts(run[0])
    values = str(first.value) if len(run) == 1 else f"{first.value} to {run[-1].value}"
    if parts is None:
        assert first.refusal is not None
        page.box(x, base - _PLOT, wide, _PLOT, "refused", f"{values}: {first.refusal.what}")
        return
    tall, queue = parts[0] * scale, parts[1] * scale
    step = getattr(first.tiling, "v_step", None)
    tip = f"{values}: " + (f"vStep {step}, tbuf {parts[0]:,}, outQueue {parts[1]:,}" if step else f"{parts[0]:,} bytes")
    page.box(x, base - tall, wide, tall, "K", tip)
    if queue:
        page.box(x, base - tall - queue, wide, queue, "queue", tip)
    labels = (f"vStep {step}", str(step)) if step else ()
    label = next((text for text in labels if wide > len(text) * _LABEL + 6), None)
    if label and tall > _ROW:
        page.label(x + wide / 2, base - tall + 18, label, "on")


def _ruler(page: Page, name: str, outcomes: Sequence[Outcome], x0: float, span: float) -> None:
    below = page.take(44)
    count = len(outcomes)
    for tick in range(_TICKS + 1):
        k = min(count * tick // _TICKS, count - 1)
        at = x0 + span * tick / _TICKS
        page.line(at, below, at, below + 5)
        page.label(at, below + 18, str(outcomes[k].value), "soft", anchor=_anchor(tick))
    page.label(x0 + span / 2, below + 36, name, "ink")
