"""The virtual clock: integer nanoseconds, actions in the total order (time, stream, sequence)."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class Clock:
    """A queue of actions in virtual time. Equal times run by stream id, then in the order they were added."""

    def __init__(self) -> None:
        self.now = 0
        self._sequence = 0
        self._queue: list[tuple[int, int, int, Callable[[], None]]] = []

    def at(self, time: int, stream_id: int, action: Callable[[], None]) -> None:
        """Run `action` at `time` (not before now)."""
        self._sequence += 1
        heappush(self._queue, (max(time, self.now), stream_id, self._sequence, action))

    def after(self, delay: int, stream_id: int, action: Callable[[], None]) -> None:
        """Run `action` `delay` nanoseconds from now."""
        self.at(self.now + delay, stream_id, action)

    def step(self) -> bool:
        """Run the next action; False when there is none."""
        if not self._queue:
            return False
        self.now, _, _, action = heappop(self._queue)
        action()
        return True

    def advance(self, delay: int) -> None:
        """Let `delay` nanoseconds pass while nothing is queued (the host is busy)."""
        self.now += delay
