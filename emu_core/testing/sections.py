"""What the report of a failing test says of a device: hazards, faults and the last events."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from emu_core.device import Device
    from emu_core.trace import Event

LAST = 50
"""Events in the report."""
_DULL = (None, "", -1)
"""Values of fields that say nothing."""


def sections_of(devices: Sequence[Device]) -> Iterator[tuple[str, str]]:
    """Title and text of each section."""
    for number, device in enumerate(devices):
        name = f"npu {device.chip.name}" + (f" #{number}" if len(devices) > 1 else "")
        yield f"hazards of {name}", "\n".join(_hazards(device)) or "none"
        events = list(device.trace)
        shown = islice(events, max(len(events) - LAST, 0), None)
        yield f"last {min(LAST, len(events))} of {len(events)} events of {name}", "\n".join(_lines(shown))


def _hazards(device: Device) -> Iterator[str]:
    yield from (f"{h.id}: {h.text()}" for h in device.hazards)
    yield from (f"{f.id}: {f.text()}" for f in device.scheduler.faults)


def _lines(events: Iterable[Event]) -> Iterator[str]:
    for event in events:
        values = msgspec.structs.asdict(event)
        time = values.pop("time")
        facts = " ".join(f"{name}={value}" for name, value in values.items() if value not in _DULL and value != {})
        yield f"{time:>10} ns  {event.name:<14} {facts}"
