"""The virtual clock: integer nanoseconds, actions in the total order (time, stream, sequence).

The scheduler plans its own next step of a queue with `plan`, anybody else with `at` or `after`. A queue of which
somebody else has planned something does not run ahead (`emu_core.lanes`) until that has happened: then the order of
the two is a matter of sequence, which only single steps have.
"""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import count
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    Planned: TypeAlias = tuple[int, int, int, Callable[[], object]]


class Clock:
    """A queue of actions in virtual time. Equal times run by stream id, then in the order they were added.

    Attributes:
        now: virtual nanoseconds. front: the largest stream id of the actions that ran at this time; -1 before any.
        queue: what is planned, a heap of (time, stream id, ticket, action).
        cancelled: tickets of planned actions that were dropped.
        before_guest: called with the stream id before `at` plans something.
    """

    def __init__(self) -> None:
        self.now = 0
        self.front = -1
        self.queue: list[Planned] = []
        self.cancelled: set[int] = set()
        self.before_guest: Callable[[int], None] | None = None
        self._tickets = count(1)
        self._guests: dict[int, int] = {}

    def ticket(self) -> int:
        """The next sequence number."""
        return next(self._tickets)

    def at(self, time: int, stream_id: int, action: Callable[[], object]) -> int:
        """Run `action` at `time` (not before now); returns a ticket for `cancel`."""
        if self.before_guest is not None:
            self.before_guest(stream_id)
        ticket = self.plan(time, stream_id, action)
        self._guests[ticket] = stream_id
        return ticket

    def after(self, delay: int, stream_id: int, action: Callable[[], object]) -> int:
        """Run `action` `delay` nanoseconds from now; returns a ticket for `cancel`."""
        return self.at(self.now + delay, stream_id, action)

    def plan(self, time: int, stream_id: int, action: Callable[[], object]) -> int:
        """`at` for the scheduler's own next step of a queue."""
        ticket = next(self._tickets)
        heappush(self.queue, (max(time, self.now), stream_id, ticket, action))
        return ticket

    def put(self, time: int, stream_id: int, ticket: int, action: Callable[[], object]) -> None:
        """Plan `action` under a ticket that was taken before and is not planned now."""
        heappush(self.queue, (time, stream_id, ticket, action))

    def has_guests(self, stream_id: int) -> bool:
        """Whether somebody but the scheduler has planned something of this stream."""
        return bool(self._guests) and stream_id in self._guests.values()

    @property
    def pending(self) -> int:
        """Actions that are still to run."""
        return len(self.queue) - len(self.cancelled)

    def cancel(self, ticket: int) -> None:
        """Drop an action that has not run yet; it neither runs nor lets time pass."""
        self.cancelled.add(ticket)
        self._guests.pop(ticket, None)

    def reached(self, time: int, stream_id: int, ticket: int) -> bool:
        """Note that a planned action is next: `now` and `front` are its own then; False when it was dropped."""
        if self.cancelled and ticket in self.cancelled:
            self.cancelled.remove(ticket)
            return False
        if time != self.now:
            self.now = time
            self.front = stream_id
        elif stream_id > self.front:
            self.front = stream_id
        self.served(ticket)
        return True

    def served(self, ticket: int) -> None:
        """Note that a planned action is run now."""
        if self._guests:
            self._guests.pop(ticket, None)

    def step(self) -> bool:
        """Run the next action; False when there is none."""
        while self.queue:
            time, stream_id, ticket, action = heappop(self.queue)
            if self.reached(time, stream_id, ticket):
                action()
                return True
        return False

    def clear(self) -> None:
        """Drop every action; time stays where it is."""
        self.queue.clear()
        self.cancelled.clear()
        self._guests.clear()

    def advance(self, delay: int) -> None:
        """Let `delay` nanoseconds pass while nothing is queued (the host is busy)."""
        if delay:
            self.now += delay
            self.front = -1
