"""Pools of execution units that the queues of a device share: AI Cores, AI CPU threads.

A launch has *blocks*; each block needs some units for its share of the launch's time. Who gets a free unit
(`reference/device_semantics.md` 2.3):

| question | answer |
|---|---|
| who is asked first? | smaller stream priority, then who asked first (equal times: by stream id) |
| normal launch | its blocks start one by one as units become free: with more blocks than units, in waves |
| batch launch | nothing starts until units for all of its blocks are free at once; others may pass it meanwhile |
| blocks that wait for each other (`sync_all`) | each keeps its units until the last has started and done its share |
| several launches want the same units | `fifo`: the first takes all it can use; `turns`: one block each, in turn |

Times of blocks are exact fractions of a nanosecond, so that waves add up to what the whole launch costs; a launch
ends at the next whole nanosecond.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

from emu_core.kernels import CoreType

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from emu_core.chips import Chip
    from emu_core.clock import Clock
    from emu_core.kernels import Mix
    from emu_core.lane import Lane


FUSED, CUBE, VECTOR = "AI Core", "cube core", "vector core"
"""Kinds of AI Cores."""


def core_kinds(chip: Chip) -> dict[str, int]:
    """AI Cores of a chip by kind: one pool of fused cores, or cube and vector cores apart."""
    if chip.fused_cores:
        return {FUSED: chip.core_num_aic}
    return {CUBE: chip.core_num_aic, VECTOR: chip.core_num_aiv}


def units_of(core_type: CoreType, chip: Chip, mix: Mix | None = None) -> dict[str, int]:
    """What one block of a kernel needs: with `mix`, its main core and the secondary ones.

    A mix block of which nothing more is known takes a cube core with all vector cores that belong to it.
    """
    if chip.fused_cores:
        return {FUSED: 1}
    if mix is not None:
        main, other = (VECTOR, CUBE) if mix.type.main is CoreType.AIV else (CUBE, VECTOR)
        return {main: 1, other: mix.secondary} if mix.secondary else {main: 1}
    if core_type is CoreType.MIX:
        return {CUBE: 1, VECTOR: max(chip.core_num_aiv // max(chip.core_num_aic, 1), 1)}
    return {VECTOR if core_type is CoreType.AIV else CUBE: 1}


@dataclass(frozen=True)
class Demand:
    """What a launch needs: for each block `units` (count by kind) for `share_ns`; see the module text."""

    units: Mapping[str, int]
    blocks: int
    share_ns: Fraction
    batch: bool = False
    sync_all: bool = False


@dataclass(eq=False)
class Job:
    """A launch in a pool.

    Attributes:
        stream_id, priority: whose it is. demand: what it needs.
        done: called when its last block has ended.
        asked, started_at: when it came, when its first block started (None: not yet); virtual nanoseconds.
        started, ended: blocks so far. waves: times at which blocks of it started.
    """

    stream_id: int
    priority: int
    demand: Demand
    done: Callable[[], None]
    asked: int = 0
    started_at: int | None = None
    started: int = 0
    ended: int = 0
    waves: int = 0
    tickets: set[int] = field(default_factory=set)

    @property
    def holding(self) -> int:
        """Blocks that have units now."""
        return self.started - self.ended

    @property
    def missing(self) -> int:
        """Blocks that have not started."""
        return self.demand.blocks - self.started


class Pool(Protocol):
    """What the scheduler needs of whoever runs a launch: a pool of units, or a graph of launches on one."""

    def submit(self, job: Job) -> None:
        """Start `job`, now or when there is room; its `done` is called at its end."""

    def cancel(self, job: Job) -> None:
        """Drop `job`, with all it holds; its `done` is not called."""

    def why(self, job: Job) -> str:
        """Why `job` has not ended, in words."""


class CorePool:
    """Units of one device, by kind, and the launches that use them or wait for them.

    Args:
        clock: virtual time; the pool plans the ends of blocks on it.
        capacity: units by kind, for example ``{"cube core": 20, "vector core": 40}``.
        turns: launches take blocks in turn instead of first come, first served.

    Queues that run ahead (`emu_core.lanes`) hold and want single units without a launch each, while no launch is here:

    Attributes:
        capacity, free: units by kind. planned: such queues. line: those that wait.
    """

    def __init__(self, clock: Clock, capacity: Mapping[str, int], *, turns: bool = False) -> None:
        self.capacity = dict(capacity)
        self.free = dict(capacity)
        self.turns = turns
        self._clock = clock
        self._jobs: list[Job] = []
        self.planned: dict[Lane, None] = {}
        self.line: deque[Lane] = deque()

    @property
    def busy(self) -> bool:
        """Whether launches use its units or wait for them."""
        return bool(self._jobs)

    def adopt(self, job: Job) -> None:
        """Take over a launch that a queue in a lane has planned, behind those that asked before."""
        self._jobs.append(job)
        self._jobs.sort(key=lambda j: j.priority)

    def resume(self, job: Job, since: int, ticket: int) -> Callable[[], None]:
        """The only block of `job`, which was adopted, has run from `since`; its end is planned as `ticket`.

        Returns what that end does.
        """
        job.started, job.waves, job.started_at = 1, 1, since
        job.tickets.add(ticket)

        def ended() -> None:
            job.tickets.discard(ticket)
            self._end(job, 1, since + job.demand.share_ns)

        return ended

    def _settle(self) -> None:
        """Queues that run ahead here go on as launches."""
        for lane in list(self.planned):
            lane.settle()

    @property
    def jobs(self) -> tuple[Job, ...]:
        """Launches that have not ended, in the order in which they are served."""
        self._settle()
        return tuple(self._jobs)

    def ever_fits(self, demand: Demand) -> bool:
        """Whether all blocks of `demand` could have units at once on an idle device."""
        return all(demand.blocks * n <= self.capacity[kind] for kind, n in demand.units.items())

    def submit(self, job: Job) -> None:
        """Queue `job`; its first blocks start now if units are free."""
        self._settle()
        job.asked = self._clock.now
        self._jobs.append(job)
        self._jobs.sort(key=lambda j: j.priority)
        self._serve()

    def cancel(self, job: Job) -> None:
        """Drop `job`: what it holds is free again, and `done` is not called."""
        self._settle()
        if job not in self._jobs:
            return
        for ticket in job.tickets:
            self._clock.cancel(ticket)
        self._jobs.remove(job)
        self._give_back(job, job.holding)
        self._serve()

    def why(self, job: Job) -> str:
        """Why `job` has not ended, in words."""
        self._settle()
        if not job.missing:
            return f"its {job.demand.blocks} blocks run"
        kinds = [k for k in job.demand.units if self._room(job, k) < (job.missing if job.demand.batch else 1)]
        kind = kinds[0] if kinds else next(iter(job.demand.units))
        held = [f"stream {j.stream_id} {j.holding * j.demand.units[kind]}" for j in self._jobs if self._holds(j, kind)]
        missing = f"{job.missing} of its {job.demand.blocks} blocks have no {kind}"
        idle = f"{self.free[kind]} of {self.capacity[kind]} are idle"
        return f"{missing}; {idle}" + (f", held by {', '.join(held)}" if held else "")

    @staticmethod
    def _holds(job: Job, kind: str) -> bool:
        return bool(job.holding and kind in job.demand.units)

    def _room(self, job: Job, kind: str) -> int:
        return self.free[kind] // job.demand.units[kind]

    def _startable(self, job: Job) -> int:
        """Blocks of `job` that can start now."""
        fits = min(job.missing, *(self._room(job, kind) for kind in job.demand.units))
        return 0 if job.demand.batch and fits < job.missing else fits

    def _serve(self, returning: Job | None = None, since: Fraction | None = None) -> None:
        """Give free units to those who wait; `returning` goes on at the exact time at which its last blocks ended."""
        for job, blocks in self._shared_out() if self.turns else self._in_order():
            exact = since if job is returning and since is not None else Fraction(self._clock.now)
            self._begin(job, blocks, exact)

    def _in_order(self) -> list[tuple[Job, int]]:
        found = []
        for job in self._jobs:
            blocks = self._startable(job)
            if blocks:
                self._take(job, blocks)
                found.append((job, blocks))
        return found

    def _shared_out(self) -> list[tuple[Job, int]]:
        counts: dict[int, int] = {}
        progress = True
        while progress:
            progress = False
            for at, job in enumerate(self._jobs):
                if self._startable(job):
                    blocks = job.missing if job.demand.batch else 1
                    self._take(job, blocks)
                    counts[at] = counts.get(at, 0) + blocks
                    progress = True
        return [(self._jobs[at], blocks) for at, blocks in counts.items()]

    def _take(self, job: Job, blocks: int) -> None:
        job.started += blocks
        for kind, n in job.demand.units.items():
            self.free[kind] -= n * blocks

    def _give_back(self, job: Job, blocks: int) -> None:
        for kind, n in job.demand.units.items():
            self.free[kind] += n * blocks

    def _begin(self, job: Job, blocks: int, exact: Fraction) -> None:
        if job.started_at is None:
            job.started_at = self._clock.now
        job.waves += 1
        if job.demand.sync_all:
            if job.missing:
                return
            blocks = job.holding
        end = exact + job.demand.share_ns
        ticket = 0

        def ended() -> None:
            job.tickets.discard(ticket)
            self._end(job, blocks, end)

        ticket = self._clock.at(math.ceil(end), job.stream_id, ended)
        job.tickets.add(ticket)

    def _end(self, job: Job, blocks: int, exact: Fraction) -> None:
        job.ended += blocks
        self._give_back(job, blocks)
        finished = job.ended == job.demand.blocks
        if finished:
            self._jobs.remove(job)
        self._serve(job, exact)
        if finished:
            job.done()
