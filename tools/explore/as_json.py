"""An exploration as JSON lines, beside those of `sqemu check`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from tools.show import json_line

if TYPE_CHECKING:
    from tools.explore.run import Exploration


def show(found: Exploration) -> None:
    """Print one object: `type` is `exploration`."""
    json_line(
        {
            "type": "exploration",
            "schedules": found.schedules,
            "seed": found.seed,
            "executions": found.executions,
            "plain": list(found.plain),
            "differing": found.differing,
            "failing": [msgspec.to_builtins(f) for f in found.failing],
            "stale": [msgspec.to_builtins(h) for h in found.stale],
            "unordered": [msgspec.to_builtins(h) for h in found.unordered],
            "ok": found.ok,
        }
    )
