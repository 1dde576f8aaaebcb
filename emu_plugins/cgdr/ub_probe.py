"""A trial of the UB layout of a tiling: one head on made-up numbers, with every buffer at its place in UB."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from emu_plugins.cgdr.chunk_buffers import Columns
from emu_plugins.cgdr.codecs import CODECS
from emu_plugins.cgdr.constants import CHUNK_SIZE
from emu_plugins.cgdr.faithful import settings_of
from emu_plugins.cgdr.fp32 import SequenceArrays
from emu_plugins.cgdr.tiling import out_queue_bytes, tmp_buff_bytes
from emu_plugins.cgdr.ub_item import UbItem
from emu_plugins.cgdr.ub_layout import UbLayout
from emu_plugins.cgdr.ub_memory import UbMemory, UbOverrunError
from emu_plugins.cgdr.ub_run import overlaps_in_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emu_core.kernels import PolicyLookup
    from emu_plugins.cgdr.codecs import Array
    from emu_plugins.cgdr.item_group import Settings
    from emu_plugins.cgdr.tiling_data import CgdrTilingData

_TAIL = 2
_WIDEST = 512
_SMALL = 1 / 64


def device_layout(data: CgdrTilingData, key: int, policies: PolicyLookup) -> UbLayout:
    """The layout that the instance for `key` (which exists) makes of `data`."""
    g = settings_of(data, key, policies).geometry
    return UbLayout.of(g.align_k, g.av)


def layout_breaks(data: CgdrTilingData, key: int, ub_bytes: int, policies: PolicyLookup) -> Iterator[str]:
    """In words: where the device's layout and UB, the host's budget, or each other do not fit; nothing when all do.

    Only a layout that fits is tried out: one head of a sequence with a full chunk, where the Cube runs, and a tail.
    """
    settings = settings_of(data, key, policies)
    g = settings.geometry
    clashes = list(UbLayout.of(g.align_k, g.av).clashes(ub_bytes))
    need, room = tmp_buff_bytes(g.v_step, g.align_k), data.rest_bytes
    if need > room:
        clashes.append(f"the buffers behind the out queue take {need} bytes, the tiling data leave {room}")
    queue, left = out_queue_bytes(g.v_step, g.align_k), data.ub_bytes - data.rest_bytes
    if queue > left:
        clashes.append(f"the out queue takes {queue} bytes, the tiling data leave {left}")
    yield from clashes
    if not clashes and g.dk <= _WIDEST:
        yield from _tried(settings, data, ub_bytes)


def _tried(settings: Settings, data: CgdrTilingData, ub_bytes: int) -> Iterator[str]:
    g, ub = settings.geometry, UbMemory(ub_bytes)
    tokens = _TAIL + (CHUNK_SIZE if any(settings.full) and data.t >= CHUNK_SIZE else 0)
    arrays = _made_up(data, tokens)
    width = min(g.v_step, g.dv)
    states = np.zeros((1, g.dk, g.state_stride), np.float32)
    try:
        UbItem(settings, arrays, Columns(0, 0, 0, width), ub, states).run()
    except UbOverrunError as overrun:
        yield f"{overrun.place.text()} passes the end of UB at {overrun.size}"
    if ub.overlaps:
        yield overlaps_in_words(ub.overlaps)


def _made_up(data: CgdrTilingData, tokens: int) -> SequenceArrays:
    """A sequence whose numbers do not matter, since only places are looked at; head 0 alone is written."""
    half = CODECS["float16"]

    def filled(*shape: int, dtype: type[np.generic] = np.float16) -> Array:
        """One number under every index, whatever the shape."""
        return np.broadcast_to(np.array(_SMALL, dtype), shape)

    state = (data.dv, data.dk)
    return SequenceArrays(
        query=filled(tokens, data.hqk, data.dk),
        key=filled(tokens, data.hqk, data.dk),
        value=filled(tokens, data.hv, data.dv),
        beta=filled(tokens, data.hv),
        g=filled(tokens, data.hv, dtype=np.float32) if data.has_gamma else None,
        initial_state=filled(1, *state),
        out=np.zeros((tokens, 1, data.dv), np.float16),
        final_state=np.zeros((1, *state), np.float16),
        scale=1.0,
        codec=half,
        out_codec=half,
    )
