"""The comparison as JSON lines: one object per execution and way, and a last one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tools.compare.spent import spent
from tools.show import json_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tools.compare.run import Way


def show(ways: Sequence[Way], same: Sequence[bool]) -> None:
    """Times in nanoseconds; `parts` add up to `duration`."""
    for way in ways:
        for result in way.results:
            parts = spent(result.trace, result.started, result.ended)
            json_line({
                "tiling": "sink" if way.name == "sink" else "host",
                "runtime": way.runtime,
                "run": result.run,
                "ok": result.ok,
                "duration": result.ended - result.started,
                "parts": {part.name.lower(): time for part, time in parts.items()},
                "sunk_operators": way.sunk,
            })  # fmt: skip
    json_line({"outputs_equal": list(same)})
