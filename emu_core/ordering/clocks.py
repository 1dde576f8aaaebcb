"""Vector clocks: what each stream, flag and the host know of the entries of every stream.

A clock is an int64 array with a count per *place*: place 0 is the host, place n + 1 is stream n. Count c of a place is
a stretch of its work, which ends when it sets a flag or activates a stream. Who knows count c of a place comes behind
all that the place did up to the end of stretch c.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Counts = npt.NDArray[np.int64]

HOST = 0


def place_of(stream_id: int) -> int:
    """The place of a stream; -1, the host, is place 0."""
    return stream_id + 1


@dataclass(slots=True)
class FlagClock:
    """What is sure when a wait passes a flag.

    Attributes:
        known: clock. setter: stream and slot of who set it last. other: of who set it before that, since its clear.
    """

    known: Counts
    setter: tuple[int, int]
    other: tuple[int, int] | None = None


class Clocks:
    """The clocks of a device; they grow when a place is new.

    Attributes:
        counts: the stretch that each place is in, from 1.
    """

    def __init__(self, places: int = 8) -> None:
        self.counts = [1] * places
        self._of = [self._new(place) for place in range(places)]

    def _new(self, place: int) -> Counts:
        """A clock that knows its own first stretch."""
        clock = np.zeros(len(self.counts), np.int64)
        clock[place] = 1
        return clock

    def of(self, place: int) -> Counts:
        """The clock of a place."""
        if place >= len(self._of):
            self._grow(max(place + 1, 2 * len(self._of)))
        return self._of[place]

    def _grow(self, size: int) -> None:
        old = len(self._of)
        self.counts += [1] * (size - old)
        self._of = [self.fitted(clock) for clock in self._of]
        self._of += [self._new(place) for place in range(old, size)]

    def fitted(self, clock: Counts) -> Counts:
        """`clock`, as long as the others are now."""
        missing = len(self.counts) - len(clock)
        return clock if not missing else np.concatenate([clock, np.zeros(missing, np.int64)])

    def count(self, place: int) -> int:
        """The stretch that a place is in."""
        self.of(place)
        return self.counts[place]

    def released(self, place: int) -> Counts:
        """What a place hands on now, as a copy; it goes on in a new stretch."""
        clock = self.of(place)
        found = clock.copy()
        self.counts[place] = clock[place] = self.counts[place] + 1
        return found

    def join(self, place: int, known: Counts) -> None:
        """`place` now also knows `known`."""
        clock = self.of(place)
        np.maximum(clock, self.fitted(known), out=clock)

    def knows(self, place: int, other: int, count: int) -> bool:
        """Whether what `place` does now comes behind stretch `count` of `other`."""
        if place == other:
            return True
        clock = self.of(place)
        return other < len(clock) and int(clock[other]) >= count
