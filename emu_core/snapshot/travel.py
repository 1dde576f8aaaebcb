"""Time travel: a run in single steps, forward and back.

| step | what it is |
|---|---|
| of the device | its next planned action: an entry starts, ends, waits, is woken … |
| of the host | what the session does when nothing is planned: take a result, start the next execution |

Position *k* is the state after *k* steps. Snapshots are taken on the way, every `every` steps (or half as many as the
device has objects, if that is more); going back restores the last one before the goal and goes over the rest again,
which gives the same to the byte. Once they take more than the
budget, every second of the older ones is forgotten: then the way from one to the next is longer there.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from emu_core.errors import InputError
from emu_core.snapshot.image import take
from emu_core.snapshot.session import one_step

if TYPE_CHECKING:
    from collections.abc import Sequence

    from emu_core.device import Device
    from emu_core.journal import JournalEntry
    from emu_core.snapshot.image import Snapshot
    from emu_core.snapshot.session import Session
    from emu_core.snapshot.stops import OfField, Stop
    from emu_core.trace import Event

MIB = 1 << 20
NODES_PER_STEP = 2
"""Objects of a device that are kept and put back in about the time of one step."""
KEPT = 2
"""Snapshots that are never forgotten: the first and the last."""


@dataclass(frozen=True)
class Hit:
    """A stop that holds: the position after the step, which stop, and why, in words."""

    position: int
    stop: Stop
    why: str


class TimeTravel:
    """Steps of one device, forward and back.

    Args:
        device: between two steps; its queues go entry by entry from now on.
        session: what the host does when nothing is planned.
        every: least steps from one snapshot to the next.
        budget_mib: about how much memory snapshots may take, in MiB.

    Attributes:
        position: steps so far. end: the position at which nothing is left to do; None: not known yet.
    """

    def __init__(self, device: Device, session: Session, *, every: int = 2000, budget_mib: int = 256) -> None:
        if every < 1 or budget_mib < 1:
            raise InputError(
                f"snapshots every {every} steps within {budget_mib} MiB are not possible",
                id="travel.every",
                remedy="give numbers of 1 or more",
            )
        self.device = device
        self.session = session
        self.position = 0
        self.end: int | None = None
        self._every = every
        self._budget = budget_mib * MIB
        device.scheduler.lanes.settle_all()
        device.scheduler.lanes.on = False
        self._at: list[int] = []
        self._taken: list[Snapshot] = []
        self._sizes: list[int] = []
        self._keep()

    # ---- snapshots on the way --------------------------------------------------------------------------------

    @property
    def snapshots(self) -> Sequence[int]:
        """Positions of the snapshots."""
        return tuple(self._at)

    @property
    def bytes(self) -> int:
        """About how much memory the snapshots take."""
        return sum(self._sizes)

    def _keep(self) -> None:
        before = self._taken[-1] if self._taken else None
        found = take(self.device, (self.session,), before)
        self._at.append(self.position)
        self._taken.append(found)
        self._sizes.append(found.bytes_beside(before))
        while self.bytes > self._budget and len(self._at) > KEPT:
            self._thin()

    def _keep_now_and_then(self) -> None:
        """Take a snapshot when it is time; where one is large, its making must not cost more than the steps between."""
        if self.position >= self._at[-1] + max(self._every, len(self._taken[-1].nodes) // NODES_PER_STEP):
            self._keep()

    def _thin(self) -> None:
        """Forget every second snapshot of the older half."""
        half = max(len(self._at) // 2, KEPT)
        left = [i for i in range(len(self._at)) if i >= half or not i % 2 or i == len(self._at) - 1]
        self._at = [self._at[i] for i in left]
        self._taken = [self._taken[i] for i in left]
        pairs = zip([None, *self._taken], self._taken, strict=False)
        self._sizes = [found.bytes_beside(before) for before, found in pairs]

    def changed(self) -> None:
        """Somebody else has changed the device: what was ahead does not hold any more."""
        keep = bisect_right(self._at, self.position - 1)
        del self._at[keep:], self._taken[keep:], self._sizes[keep:]
        self.end = None
        self._keep()

    def enter(self, snapshot: Snapshot) -> None:
        """Go to the state of `snapshot`, which becomes position 0; what was before is forgotten.

        Raises:
            InputError: it holds no such session (`snapshot.device`), or as `Snapshot.restore`.
        """
        snapshot.restore(self.device, (self.session,))
        self.device.scheduler.lanes.on = False
        self.position, self.end = 0, None
        self._at, self._taken, self._sizes = [], [], []
        self._keep()

    # ---- forward ---------------------------------------------------------------------------------------------

    def step(self) -> bool:
        """One step; False at the end.

        Raises:
            SqemuError: raised by a plugin or the session; that is the end then, and `back` is possible.
        """
        if self.end is not None and self.position >= self.end:
            return False
        if not self._one():
            self.end = self.position
            return False
        self._keep_now_and_then()
        return True

    def _one(self) -> bool:
        try:
            done = one_step(self.device, self.session)
        except Exception:
            self.end = goal = self.position
            self._restore(bisect_right(self._at, goal) - 1)
            while self.position < goal:
                self._one()
            raise
        self.position += done
        return done

    def proceed(self, stops: Sequence[Stop] = (), until: int | None = None) -> Hit | None:
        """Go on to the first stop that holds, to position `until`, or to the end; None without a hit."""
        trace = self.device.trace
        while (until is None or self.position < until) and self.position != self.end:
            read, unread = trace.read, trace.unread
            if not self._one():
                self.end = self.position
                return None
            events = trace.peek(unread) if trace.read == read else trace.since(read + unread)
            self._keep_now_and_then()
            found = _first(stops, events, self.position) if events else None
            if found is not None:
                return found
        return None

    # ---- back ------------------------------------------------------------------------------------------------

    def run_to(self, position: int) -> None:
        """Go to a position, forward or back; to the end when it lies beyond.

        Raises:
            InputError: it is negative (`travel.position`).
        """
        if position < 0:
            raise InputError(f"there is no position {position}", id="travel.position", remedy="positions count from 0")
        at = bisect_right(self._at, position) - 1
        if position < self.position or self._at[at] > self.position:
            self._restore(at)
        while self.position < position and self.step():
            pass

    def _restore(self, at: int) -> None:
        self._taken[at].restore(self.device)
        self.position = self._at[at]

    def back(self, steps: int = 1) -> bool:
        """Go back, at most to the start; False when it stands there already."""
        moved = self.position > 0 and steps > 0
        if moved:
            self.run_to(max(self.position - steps, 0))
        return moved

    def proceed_back(self, stops: Sequence[Stop]) -> Hit | None:
        """Go back to the last position before this one at which a stop held, or to the start; None without a hit."""
        found = self._last_hit(stops, self.position - 1)
        self.run_to(found.position if found else 0)
        return found

    def _last_hit(self, stops: Sequence[Stop], until: int) -> Hit | None:
        """The last hit up to position `until`; leaves the device somewhere before it."""
        for at in range(bisect_right(self._at, until) - 1, -1, -1):
            self._restore(at)
            found, goal = None, until if at + 1 == len(self._at) else min(self._at[at + 1], until)
            while (hit := self.proceed(stops, goal)) is not None:
                found = hit
            if found is not None:
                return found
        return None

    def last_write(self, field: OfField) -> JournalEntry | None:
        """The last write of a field so far."""
        return next((entry for entry in reversed(self.device.journal.since(0)) if field.wrote(entry)), None)

    def back_to_write(self, field: OfField) -> JournalEntry | None:
        """Go back to right after the last write of a field; None, and no step, when there was none since position 0.

        One more step back undoes the write.
        """
        found, here = self.last_write(field), self.position
        hit = self._last_hit((field,), here) if found is not None else None
        self.run_to(hit.position if hit else here)
        return found if hit else None


def _first(stops: Sequence[Stop], events: Sequence[Event], position: int) -> Hit | None:
    for event in events:
        for stop in stops:
            why = stop.why(event)
            if why is not None:
                return Hit(position, stop, why)
    return None
