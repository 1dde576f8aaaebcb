"""How much there is of what: words for the head line of a check."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from formats.blob import Blob


def counts(blob: Blob) -> dict[str, int]:
    """Tasks, streams, events, operators and sinking operators of a program."""
    return {
        "tasks": len(blob.tasks),
        "streams": len(blob.streams),
        "events": len(blob.events),
        "operators": len(blob.ops),
        "sinking": sum(op.sink for op in blob.ops),
    }


def several(count: int, noun: str) -> str:
    """A count with its noun: `1 task`, `2 tasks`."""
    return f"{count} {noun}{'' if count == 1 else 's'}"
