"""Lanes: queues that run ahead of the clock, from stop to stop of a decoded window.

A queue in a lane is not kept up entry by entry: its lane knows when it is at which stop, and everything between is
arithmetic. Nobody can tell, because a lane ends (*settles*) the moment somebody looks: the queue is put where it stands
now, entry in flight included, and single steps go on from there. What happens at stops has its place in the total order
(time, stream, sequence) like any other step.

| phase | planned on the clock | meaning |
|---|---|---|
| `OPEN` | now | between two entries |
| `STOP` | end of a `SET` or `CLEAR`, start of any other stop | entries that take time, then the stop |
| `PARKED` | nothing | at a wait, its flag is not set |
| `WOKEN` | now | its flag was set |
| `QUEUED` | nothing | wants a unit of a pool |
| `HOLDING` | end of the time it holds its unit | has one |
| `ACTING` | nothing | its entry does something of its own at this moment |

| who looks or acts | what happens |
|---|---|
| reads `head` of the queue or `state` of the stream | computed, the lane goes on |
| reads what else the stream is doing; pauses, halts, disables it | settles |
| writes to a slot that was decoded and is still to come | settles, the window is dropped |
| plans something of its own for the stream (`Clock.at`) | settles; no lane until that has happened |
| asks a pool in which it holds or wants a unit, or submits a launch there | settles |
| reads the trace | all lanes settle |
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from emu_core.streams import State
from emu_core.windows import ACT, CLEAR, SET

if TYPE_CHECKING:
    from collections import deque
    from collections.abc import Callable

    from emu_core.lanes import Lanes
    from emu_core.spans import Span
    from emu_core.streams import Stream
    from emu_core.windows import Stop, Window

OPEN, STOP, PARKED, WOKEN, QUEUED, HOLDING, ACTING = range(7)

OP, KEY, AT = 1, 2, 4
"""Places in a stop."""

OWNED = frozenset({SET, CLEAR, ACT})
"""Stops that are in flight for a time of their own."""

_STATES = {OPEN: State.SLOT_ENABLE, PARKED: State.POLLING_FLAG}


class Lane:
    """One queue that runs ahead.

    Attributes:
        then: what its place on the clock stands for after it has settled.
        executed, waited: the stream's `executed` and `last_wait`.
        k: index of the stop it goes to or is at. start: when the entries before that stop began.
        since: when it came to the stop. began: when it got its unit. length: how long it holds it.
        asked: its place among those that asked a pool. line: of that pool, if all it asks is that one.
    """

    __slots__ = (
        "asked", "began", "entry", "executed", "first", "k", "lanes", "length", "line", "phase", "recorded", "run",
        "sid", "since", "span", "start", "stops", "stream", "then", "ticket", "waited", "window",
    )  # fmt: skip

    def __init__(self, lanes: Lanes, stream: Stream, ticket: int) -> None:
        self.lanes = lanes
        self.stream = stream
        self.sid = stream.id
        self.ticket = ticket
        self.then: Callable[[], None] | None = None
        self.phase = OPEN
        self.start = self.since = self.began = self.run = self.asked = self.length = 0
        self.line: deque[Lane] | None = None
        self.span: Span | None = None
        self.executed: dict[int, bytes] = {}
        self.waited: int | None = None

    def enter(self, window: Window, at: int, now: int, run: int) -> None:
        """Stand at index `at` of `window`."""
        self.window = window
        self.stops: list[Stop] = window.stops
        self.k = self.first = bisect_left(window.at, at)
        self.entry = self.recorded = at
        self.phase = STOP
        self.start = now
        self.run = run
        self.span = None

    def __call__(self) -> None:
        """Its place on the clock is reached outside of `Lanes.run`: go on in single steps."""
        if self.then is None:
            self.lanes.settle(self, reached=True)
        if self.then is not None:
            self.then()

    def settle(self) -> None:
        """Put the queue where it stands now; single steps go on from there."""
        self.lanes.settle(self)

    @property
    def position(self) -> int:
        """Index of the first entry behind the stop before."""
        return self.entry if self.k == self.first else self.stops[self.k - 1][AT] + 1

    def in_flight(self, *, reached: bool = False) -> int:
        """Index of the entry at head; `reached`: all that ends now has ended."""
        at = self.stops[self.k][AT]
        if self.phase == OPEN:
            return self.position
        if self.phase != STOP or reached:
            return at
        clock, first = self.lanes.clock, self.position
        ends = self.window.ends
        passed = clock.front > self.sid or clock.now == self.start
        since = clock.now - self.start + int(ends[first])
        return first + int(ends[first + 1 : at + 1].searchsorted(since, "right" if passed else "left"))

    def starts(self, at: int) -> int:
        """When entry `at`, at or before the next stop, starts."""
        return self.start + int(self.window.ends[at] - self.window.ends[self.position])

    def head(self) -> int:
        """Slot at head now."""
        return (self.window.lo + self.in_flight()) % self.stream.queue.depth

    def state(self) -> State:
        """State of the stream now."""
        return _STATES.get(self.phase, State.WORKING)
