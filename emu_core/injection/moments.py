"""Things that happen at a virtual time while a program runs, and never let time pass by themselves.

Something planned on the clock happens even when everything else is over. So nothing is planned there for good: a ticker
goes from one planned action to the next, behind all actions of the same time, and stops when it is the last.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from emu_core.clock import Clock

LAST = 1 << 40
"""Behind every stream id: at equal times everything else goes first."""


@dataclass(frozen=True)
class Moment:
    """What happens at `time`, or as soon after it as anything runs."""

    time: int
    act: Callable[[], object]


@dataclass(eq=False)
class Ticker:
    """Does what is `due`, in the order of time."""

    clock: Clock
    due: list[Moment]
    planned: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self.due.sort(key=_time)

    def arm(self) -> None:
        """Something is about to run, or runs."""
        if self.clock.pending == 0:
            self.planned = False
        if self.due and not self.planned:
            self._plan(self.clock.now)

    def _plan(self, time: int) -> None:
        self.planned = True
        self.clock.plan(time, LAST, self)

    def __call__(self) -> None:
        """The next action is about to run, or a moment has come."""
        self.planned = False
        while self.due and self.due[0].time <= self.clock.now:
            self.due.pop(0).act()
        following = self._next()
        if self.due and following is not None and not self.planned:
            self._plan(min(self.due[0].time, following))

    def _next(self) -> int | None:
        """When something else happens; None when nothing does."""
        queue, cancelled = self.clock.queue, self.clock.cancelled
        if queue and queue[0][2] not in cancelled:
            return queue[0][0]
        return min((planned[0] for planned in queue if planned[2] not in cancelled), default=None)


def _time(moment: Moment) -> int:
    return moment.time
