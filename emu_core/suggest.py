"""Names near to a mistyped one."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def nearest(name: str, known: Iterable[str], most: int = 3) -> list[str]:
    """Up to `most` names of `known` that resemble `name`: those that contain it first, then similar ones."""
    lower = {each.lower(): each for each in known}
    wanted = name.lower()
    inside = sorted(each for each in lower if wanted and wanted in each)
    close = get_close_matches(wanted, lower, most, 0.5)
    return [lower[each] for each in dict.fromkeys([*inside, *close])][:most]
