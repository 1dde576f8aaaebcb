"""Work items in UB as bytes within a launch (policy `cgdr.ub`), and their overlaps as a fault."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from emu_core.errors import DeviceFault
from emu_plugins.cgdr.item_group import AI_CORE_EXCEPTION
from emu_plugins.cgdr.ub_item import UbItem
from emu_plugins.cgdr.ub_memory import UbMemory, UbOverrunError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from emu_plugins.cgdr.chunk_buffers import Columns
    from emu_plugins.cgdr.fp32 import SequenceArrays
    from emu_plugins.cgdr.item_group import Settings
    from emu_plugins.cgdr.ub_memory import Overlap

ARRAYS, ACCURATE, CHECKED = "arrays", "accurate", "checked"


def run_in_ub(
    mode: str,
    ub_bytes: int,
    settings: Settings,
    arrays: SequenceArrays,
    items: Sequence[Columns],
    *rest: Any,  # noqa: ANN401 - the arguments of `UbItem`
) -> None:
    """Run each of `items` in a UB of `ub_bytes`; `rest` is what `UbItem` takes behind its UB.

    Raises:
        DeviceFault: a buffer passes the end of UB (`cgdr.ub`); with `mode` `checked`, two buffers overlap
            (`cgdr.ub-overlap`).
    """
    for item in items:
        ub = UbMemory(ub_bytes)
        try:
            UbItem(settings, arrays, item, ub, *rest).run()
        except UbOverrunError as overrun:
            over = overrun.place.end - overrun.size
            what = f"{overrun.place.text()} passes the end of UB at {overrun.size} by {over} bytes"
            raise _fault(what, "cgdr.ub") from None
        if mode == CHECKED and ub.overlaps:
            raise _fault(overlaps_in_words(ub.overlaps), "cgdr.ub-overlap")


def overlaps_in_words(overlaps: Sequence[Overlap]) -> str:
    """The first overlap, and how many more there are."""
    more = len(overlaps) - 1
    return overlaps[0].text() + (f" (and {more} more overlaps, which may follow from it)" if more else "")


def _fault(what: str, id_: str) -> DeviceFault:
    remedy = "host and device must lay out UB by one K width and one V step; sqemu tiling cgdr --map draws it"
    return DeviceFault(what, ts_code=AI_CORE_EXCEPTION, id=id_, remedy=remedy)
