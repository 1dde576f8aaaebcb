"""Where the time of an execution goes: every nanosecond belongs to exactly one part.

When several things happen at once, the first part of the table has the time.

| part | while |
|---|---|
| kernels | an AI Core executes |
| tiling on the device | an AI CPU function runs |
| task updates | an update patches |
| other entries | only NOPs, records, waits that pass, model execute and the like run |
| host | nothing runs on the device: the host reads back, tiles, copies, or a stream has not noticed a flag yet |
"""

from __future__ import annotations

from collections import Counter
from enum import IntEnum
from typing import TYPE_CHECKING

from emu_core.trace import TaskDone

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from emu_core.trace import Event


class Part(IntEnum):
    """What the time went for; smaller ones win."""

    KERNELS, TILING, UPDATES, OTHER, HOST = range(5)

    @property
    def text(self) -> str:
        """As tables say it."""
        return _TEXTS[self]


_TEXTS = {
    Part.KERNELS: "kernels",
    Part.TILING: "tiling on the device",
    Part.UPDATES: "task updates",
    Part.OTHER: "other entries",
    Part.HOST: "host, or nothing",
}
_ENGINES = {
    "ai_core": Part.KERNELS,
    "ffts_plus": Part.KERNELS,
    "ai_cpu": Part.TILING,
    "host_callback": Part.HOST,
    "task_update": Part.UPDATES,
}


def spent(events: Iterable[Event], started: int, ended: int) -> Mapping[Part, int]:
    """Nanoseconds of each part between `started` and `ended`; the values add up to the difference."""
    found: Counter[Part] = Counter(dict.fromkeys(Part, 0))
    running: Counter[Part] = Counter()
    at = started
    for time, part, change in sorted(_changes(events, started, ended)):
        found[min((p for p in Part if running[p]), default=Part.HOST)] += time - at
        at = time
        running[part] += change
    found[Part.HOST] += ended - at
    return found


def _changes(events: Iterable[Event], started: int, ended: int) -> Iterator[tuple[int, Part, int]]:
    """(time, part, +1 or -1) for the beginning and end of every entry that took time."""
    for event in events:
        if isinstance(event, TaskDone) and event.started < event.time:
            part = _ENGINES.get(event.engine, Part.OTHER)
            yield max(event.started, started), part, 1
            yield min(event.time, ended), part, -1
