"""`--pipes`: what the five pipes of a core do during one chunk, by the model of `emu_plugins.cgdr.pipes`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_plugins.cgdr.constants import CHUNK_SIZE
from emu_plugins.cgdr.paths import Geometry, full_chunk_steps
from emu_plugins.cgdr.pipes import Pipe, chunk_timeline
from emu_plugins.cgdr.tiling_data import CgdrTilingData
from tools.show import columns, heading, json_line, lines
from tools.stacked import paragraph
from tools.tiling.as_map import glyphs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emu_core.chips import Chip
    from emu_plugins.cgdr.pipes import ChunkTimeline, PipeSpan
    from emu_plugins.cgdr.tiling import CgdrTiling

_NARROWEST_BAR = 32
_BESIDE_BAR = 17


def timeline_of(tiling: CgdrTiling, slots: int) -> tuple[ChunkTimeline, int]:
    """A full chunk of the tiling, or the only chunk of fewer tokens; and its rows."""
    data = CgdrTilingData.unpack(tiling.tiling_data())
    geometry, rows = Geometry.of(data, tiling.tiling_key), min(data.t, CHUNK_SIZE)
    return chunk_timeline(geometry, full_chunk_steps(geometry), rows, slots=slots), rows


def pipes_as_json(tiling: CgdrTiling, _chip: Chip, slots: int) -> None:
    """A JSON line per operation: pipe, cycles, what, slot."""
    for span in timeline_of(tiling, slots)[0].spans:
        given = {"slot": span.slot} if span.slot >= 0 else {}
        json_line({"pipe": span.pipe, "start": span.start, "end": span.end, "what": span.what, **given})


def show_pipes(tiling: CgdrTiling, chip: Chip, slots: int) -> None:
    """A bar per pipe over the whole chunk, then the operations of the first products one by one."""
    timeline, rows = timeline_of(tiling, slots)
    time = timeline.cycles * 1000 // chip.cube_mhz
    heading(f"Pipes of a core, chunk of {rows} rows: {timeline.cycles} cycles, {time} ns at {chip.cube_mhz} MHz")
    paragraph("modelled costs; nobody has published measured ones", indent="  ")
    lines(_bars(timeline))
    staged = [span for span in timeline.spans if span.slot >= 0]
    if not staged:
        paragraph("no step of this chunk is on the Cube, so no staging slot is used", indent="  ")
        return
    heading(f"Products of keys and queries with K, {slots} staging {'slots' if slots > 1 else 'slot'} per core")
    lines(_rows(staged))
    paragraph(overlap_in_words(timeline), indent="  ")


def _bars(timeline: ChunkTimeline) -> Iterator[str]:
    used, _, free = glyphs()
    width, whole = max(columns() - _BESIDE_BAR, _NARROWEST_BAR), max(timeline.cycles, 1)
    for pipe in Pipe:
        signs = [free] * width
        for span in timeline.spans:
            if span.pipe is pipe:
                first = min(span.start * width // whole, width - 1)
                last = max(span.end * width // whole, first + 1)
                signs[first:last] = [used] * (last - first)
        yield f"  {pipe:6} {''.join(signs)} {timeline.busy(pipe) * 100 // whole:3}%"


def _rows(staged: list[PipeSpan]) -> Iterator[str]:
    last = next((i for i, span in enumerate(staged) if span.what.startswith(("inverse", "U:"))), len(staged))
    yield f"  {'from':>6} {'to':>6}  pipe   slot  operation"
    for span in sorted(staged[:last], key=lambda each: (each.start, each.end)):
        yield f"  {span.start:6} {span.end:6}  {span.pipe:6} {span.slot:4}  {span.what}"


def overlap_in_words(timeline: ChunkTimeline) -> str:
    """How long slot 1 is filled while the product of slot 0 is under way."""
    fills = [span for span in timeline.spans if span.pipe is Pipe.MTE3 and span.slot == 1]
    work = [span for span in timeline.spans if span.product and span.slot == 0]
    if not fills:
        return "with one slot, scale Q waits until the keys are multiplied: nothing runs beside it"
    first = work[0].product
    started = min(span.start for span in work if span.product == first)
    ended = max(span.end for span in work if span.product == first)
    together = sum(max(min(fill.end, ended) - max(fill.start, started), 0) for fill in fills)
    return f"slot 1 is filled for {together} cycles while slot 0 is loaded and multiplied (cycles {started} to {ended})"
