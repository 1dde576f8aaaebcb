"""Groups of figures by name; a group's module is imported when it is asked for."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from emu_core.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tools.bench.pairs import Pair

GROUPS = {
    "formats": "tools.bench.formats_group",
    "commands": "tools.bench.commands_group",
    "core": "tools.bench.core_group",
    "compile": "tools.bench.compile_group",
    "cgdr": "tools.bench.cgdr_group",
    "explain": "tools.bench.explain_group",
    "order": "tools.bench.order_group",
    "logs": "tools.bench.logs_group",
    "trace": "tools.bench.trace_group",
}


def pairs_of(groups: Iterable[str]) -> list[Pair]:
    """The pairs of `groups` (names of groups or of figures), or of all when none is named."""
    wanted = list(groups)
    found: list[Pair] = []
    for group, module in GROUPS.items():
        pairs: tuple[Pair, ...] = importlib.import_module(module).PAIRS
        found += [p for p in pairs if not wanted or group in wanted or p.id in wanted]
    known = {p.id for p in found} | set(GROUPS)
    unknown = [w for w in wanted if w not in known]
    if unknown:
        raise InputError(
            f"there is no group or figure {unknown[0]!r}", id="bench.unknown", remedy=f"groups: {', '.join(GROUPS)}"
        )
    return found
