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
        self._cancelled: set[int] = set()

    def at(self, time: int, stream_id: int, action: Callable[[], None]) -> int:
        """Run `action` at `time` (not before now); returns a ticket for `cancel`."""
        self._sequence += 1
        heappush(self._queue, (max(time, self.now), stream_id, self._sequence, action))
        return self._sequence

    def after(self, delay: int, stream_id: int, action: Callable[[], None]) -> int:
        """Run `action` `delay` nanoseconds from now; returns a ticket for `cancel`."""
        return self.at(self.now + delay, stream_id, action)

    def cancel(self, ticket: int) -> None:
        """Drop an action that has not run yet; it neither runs nor lets time pass."""
        self._cancelled.add(ticket)

    def step(self) -> bool:
        """Run the next action; False when there is none."""
        while self._queue:
            time, _, ticket, action = heappop(self._queue)
            if self._cancelled and ticket in self._cancelled:
                self._cancelled.remove(ticket)
                continue
            self.now = time
            action()
            return True
        return False

    def clear(self) -> None:
        """Drop every action; time stays where it is."""
        self._queue.clear()
        self._cancelled.clear()

    def advance(self, delay: int) -> None:
        """Let `delay` nanoseconds pass while nothing is queued (the host is busy)."""
        self.now += delay
