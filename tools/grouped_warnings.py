"""Warnings of the compiler on standard error; what is said of several nodes is said once, with their names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tools.say import say

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST_NAMED = 8
"""Nodes that a warning names; the others are counted."""
_OF_A_NODE = re.compile(r"nodes\[\d+\] \(node (?P<name>.+?)\): (?P<text>.*)|node (?P<loser>.+?) (?P<loses>loses .*)")


def say_warnings(warnings: Iterable[str]) -> None:
    """Print `warnings`, those that differ in nothing but the node as one."""
    for text in grouped(warnings):
        say(f"warning: {text}")


def grouped(warnings: Iterable[str]) -> list[str]:
    """The warnings in the order in which each is first given; one of a single node stays as it is."""
    found: dict[str, list[tuple[str, str]]] = {}
    for warning in warnings:
        match = _OF_A_NODE.fullmatch(warning)
        name = (match["name"] or match["loser"]) if match else ""
        rest = (match["text"] or match["loses"]) if match else warning
        found.setdefault(rest, []).append((warning, name))
    return [_one(rest, given) for rest, given in found.items()]


def _one(rest: str, given: list[tuple[str, str]]) -> str:
    if len(given) == 1:
        return given[0][0]
    names = list(dict.fromkeys(name for _, name in given))
    left = len(names) - MOST_NAMED
    more = f" and {left} more" if left > 0 else ""
    return f"{rest} (the same for nodes {', '.join(names[:MOST_NAMED])}{more})" if names[0] else rest
