"""Active slots: the scheduler runs at most 128 queues at a time (`reference/device_semantics.md` 2.3).

A queue keeps its slot from its activation until it is empty or stops with an error, also while it waits for a flag.
Who comes when all are taken waits; the smallest stream priority goes first, then who came first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from emu_core.streams import Stream

SLOTS = 128


class ActiveSlots:
    """Which streams hold a slot, and which wait for one."""

    def __init__(self, count: int = SLOTS) -> None:
        self.count = count
        self.held: set[int] = set()
        self._waiting: list[Stream] = []

    def take(self, stream: Stream) -> bool:
        """Whether `stream` has a slot now; else it is in the waiting line."""
        if len(self.held) < self.count:
            self.held.add(stream.id)
            return True
        self._waiting.append(stream)
        self._waiting.sort(key=lambda s: s.priority)
        return False

    def leave(self, stream: Stream) -> Stream | None:
        """`stream` needs no slot any more; returns the stream that gets the slot that became free, if any."""
        if stream in self._waiting:
            self._waiting.remove(stream)
        if stream.id not in self.held:
            return None
        self.held.discard(stream.id)
        if not self._waiting:
            return None
        following = self._waiting.pop(0)
        self.held.add(following.id)
        return following
