"""The outcome of a check as JSON lines: program, limits, checks with their findings, summary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core.checks import Level
from tools.check.counts import counts
from tools.show import json_line

if TYPE_CHECKING:
    from emu_core.limits import Use
    from emu_core.plugins import PluginHost
    from tools.check.run import Outcome


def show(outcome: Outcome, _host: PluginHost) -> None:
    """Print one object per line; every object has a `type`."""
    blob = outcome.blob
    head = {"type": "program", "program": outcome.program, "chip": outcome.chip.name}
    json_line({**head, "name": blob.name, **counts(blob)} if blob else {**head, "name": None})
    for use in outcome.uses:
        json_line(_limit(use, assumed=use.figure in outcome.chip.absent))
    for name, found in outcome.checks:
        json_line({"type": "check", "check": name, "findings": len(found)})
        for each in found:
            values = {"id": each.id, "where": each.where, "what": each.what, "remedy": each.remedy}
            json_line({"type": "finding", "check": name, "level": str(each.level), **values})
    levels = {level: outcome.count(level) for level in Level}
    json_line({"type": "summary", **{f"{level}s": n for level, n in levels.items()}, "ok": not levels[Level.ERROR]})


def _limit(use: Use, *, assumed: bool) -> dict[str, object]:
    return {
        "type": "limit",
        "figure": use.figure,
        "what": use.what,
        "used": use.used,
        "available": use.available,
        "exceeded": use.exceeded,
        "assumed": assumed,
        "id": use.id,
        "users": [{"name": name, "count": count} for name, count in use.users],
    }
