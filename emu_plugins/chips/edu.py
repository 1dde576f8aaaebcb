"""`edu-large`: no product, but a chip of ours with room for benchmarks; what it runs is too much for a real chip."""

from __future__ import annotations

from dataclasses import replace

from emu_plugins.chips.ascend910b import ASCEND910B3
from emu_plugins.chips.sources import CHOICE, GIB, MODELLED, sources

_ROOM = f"{CHOICE}: room for benchmarks, no real chip has it"
_WIDENED = ("sq_depth", "usable_tasks", "max_streams", "max_events", "max_notifies", "persistent_tasks")
_AS_910B3 = dict.fromkeys(ASCEND910B3.sources, f"{CHOICE}: as the 910B3")

EDU_LARGE = replace(
    ASCEND910B3,
    name="edu-large",
    memory_bytes=512 * GIB,
    sq_depth=1 << 18,
    usable_tasks=(1 << 18) - 1,
    max_streams=1 << 16,
    max_events=1 << 16,
    max_notifies=1 << 16,
    persistent_tasks=1 << 24,
    sources=sources(
        **{
            **_AS_910B3,
            **dict.fromkeys(_WIDENED, _ROOM),
            "memory_bytes": f"{CHOICE}: all that lies between the two address spaces of a device",
            "latencies": MODELLED,
        }
    ),
)
"""2^24 tasks, 2^16 streams and events, rings of 2^18 entries; everything else as the 910B3."""
