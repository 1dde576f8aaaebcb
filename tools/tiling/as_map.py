"""`--map`: UB and workspace drawn with a row per buffer, each at its place."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from emu_plugins.cgdr.tiling_910b import Cgdr910bTiling
from emu_plugins.cgdr.tiling_layout import FREE, Region, ub_order_known, ub_regions, workspace_regions
from tools.show import columns, heading, lines
from tools.stacked import paragraph

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from emu_plugins.cgdr.tiling_variants import Tiling

_NARROWEST_BAR = 16
_SLOTS_SHOWN = 4
_GLYPHS = ("█", "░", "·")
_ASCII = ("#", "-", ".")


def show_map(tiling: Tiling) -> None:
    """Both drawings."""
    if not isinstance(tiling, Cgdr910bTiling):
        heading(f"UB of one core, {tiling.ub_bytes} bytes")
        if not ub_order_known(tiling):
            paragraph("in the order of the budget; the device's own order is not known for this version", indent="  ")
        lines(map_lines(ub_regions(tiling), columns(), glyphs()))
        over = tiling.plan.needed - tiling.ub_bytes
        if over > 0:
            paragraph(f"the buffers pass the end of UB by {over} bytes", indent="  ")
    heading(f"Workspace in device memory, {tiling.workspace} bytes asked for, {tiling.workspace_need} used")
    lines(map_lines(workspace_regions(tiling), columns(), glyphs(), whole=_shown_room(tiling)))


def _shown_room(tiling: Tiling) -> int:
    """The bytes that the bars span: what is used, for the floor would leave nothing to see."""
    return tiling.workspace if isinstance(tiling, Cgdr910bTiling) else tiling.workspace_need or tiling.workspace


def glyphs() -> tuple[str, str, str]:
    """Signs for used, reserved and free bytes that standard output can show."""
    try:
        "".join(_GLYPHS).encode(getattr(sys.stdout, "encoding", None) or "ascii")
    except (UnicodeEncodeError, LookupError):
        return _ASCII
    return _GLYPHS


def map_lines(
    regions: Sequence[Region], limit: int, signs: tuple[str, str, str], *, whole: int | None = None
) -> Iterator[str]:
    """A row per region: name, offset, size, and a bar at its place among `whole` bytes (default: all).

    `signs` are those of used bytes, bytes that are reserved only, and free ones.
    """
    room = whole or regions[-1].end
    rows = [_texts(each) for each in _folded(regions)]
    widths = [max(len(row[k]) for row in rows) for k in range(3)]
    bar = max(limit - sum(widths) - 8, _NARROWEST_BAR)
    for each, (name, offset, size) in zip(_folded(regions), rows, strict=True):
        drawn = _bar(each, room, bar, signs) if isinstance(each, Region) else ""
        yield f"  {name:{widths[0]}}  {offset:>{widths[1]}}  {size:>{widths[2]}}  {drawn}".rstrip()


def _texts(row: Region | str) -> tuple[str, str, str]:
    return (row, "", "") if isinstance(row, str) else (row.name, str(row.offset), str(row.size))


def _folded(regions: Sequence[Region]) -> Iterator[Region | str]:
    """The regions, with most staging slots as one row of text."""
    slots = [region for region in regions if region.kind == "slot"]
    hidden = set(slots[_SLOTS_SHOWN - 2 : -2]) if len(slots) > _SLOTS_SHOWN else set()
    for region in regions:
        if region not in hidden:
            yield region
        elif region == slots[_SLOTS_SHOWN - 2]:
            yield f"… {sum(slot.count for slot in hidden)} more slots"


def _bar(region: Region, room: int, limit: int, signs: tuple[str, str, str]) -> str:
    """A bar of at least one sign; what lies past `room` is not drawn but said."""
    if region.offset >= room:
        return "asked for, not to scale" if region.kind == FREE else ""
    first = min(region.offset * limit // room, limit - 1)
    last = max(min(region.end, room) * limit // room, first + 1)
    if region.kind == FREE:
        return " " * first + signs[2] * (last - first)
    used = (last - first) * region.used // region.size
    used = max(used, 1) if region.used else 0
    return " " * first + signs[0] * used + signs[1] * (last - first - used)
