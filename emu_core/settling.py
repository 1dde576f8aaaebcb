"""Settling: a queue that ran ahead is put where it stands now, entry in flight included (`emu_core.lane`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core.cores import CorePool
from emu_core.engines import Launch, Run
from emu_core.errors import DeviceFault, PluginError
from emu_core.lane import ACTING, AT, HOLDING, KEY, OP, OPEN, OWNED, PARKED, QUEUED, STOP
from emu_core.plans import Holds
from emu_core.rings import SQE_BYTES
from emu_core.streams import Running, State

if TYPE_CHECKING:
    from collections.abc import Callable

    from emu_core.cores import Job
    from emu_core.device import Device
    from emu_core.engines import Handler, Outcome, Task
    from emu_core.lane import Lane
    from emu_core.scheduler import Scheduler


class Settler:
    """Ends lanes of one device.

    Attributes:
        recording: the bytes that execute are kept.
    """

    def __init__(self, device: Device, scheduler: Scheduler) -> None:
        self.recording = device.record_rings
        self._clock = device.clock
        self._scheduler = scheduler

    def settle(self, lane: Lane, *, reached: bool = False) -> None:
        """Put the queue of `lane` where it stands now; `reached`: its place on the clock is reached."""
        stream, phase = lane.stream, lane.phase
        if stream.lane is not lane:
            return
        if phase in (QUEUED, HOLDING):
            self._settle_pool(lane)
            return
        at = lane.in_flight(reached=reached)
        if phase == STOP:
            stop = lane.stops[lane.k]
            self.record(lane, at if at == stop[AT] and stop[OP] not in OWNED else at + 1)
        stream.follow(lane.window.lo + at)
        if phase == STOP:
            self._settle_entry(lane, at)
        elif phase == OPEN:
            lane.then = lambda: self._scheduler.advance(stream)
        elif phase == ACTING:
            stream.state = State.WORKING
        else:
            self._settle_wait(lane, at)

    def _settle_entry(self, lane: Lane, at: int) -> None:
        """An entry is in flight, or the stop is about to start."""
        stream, stop = lane.stream, lane.stops[lane.k]
        waits = at == stop[AT]
        if waits and stop[OP] not in OWNED:
            lane.then = lambda: self._scheduler.advance(stream)
            return
        task, handler = self._task(lane, at)
        running, finish = self._running(lane, task, handler, lane.starts(at))
        stream.state = State.WORKING
        if waits:
            running.ticket = lane.ticket
            lane.then = finish
            return
        self._clock.cancel(lane.ticket)
        running.ticket = self._clock.plan(lane.starts(at + 1), stream.id, finish)
        if lane.span is not None:
            lane.span.cut(at)

    def _running(self, lane: Lane, task: Task, handler: Handler, since: int) -> tuple[Running, Callable[[], None]]:
        outcome = self._answer(task, handler)
        if not isinstance(outcome, Run):
            raise _disagrees(handler, "Run", outcome)
        running = Running(task, handler, since)
        lane.stream.running = running
        return running, lambda: self._scheduler.finish(running, outcome, outcome.detail)

    @staticmethod
    def _answer(task: Task, handler: Handler) -> Outcome:
        """What the engine of an entry that runs by its plan says of it."""
        try:
            return handler.start(task)
        except DeviceFault as fault:
            raise _disagrees(handler, "no fault", fault) from fault

    def _settle_wait(self, lane: Lane, at: int) -> None:
        stream = lane.stream
        task, handler = self._task(lane, at)
        stream.last_wait = task.slot
        stream.waits_since = lane.since
        if lane.phase == PARKED:
            stream.state = State.POLLING_FLAG
            stream.waits_for = lane.window.signals.signal(lane.stops[lane.k][KEY])
            stream.waiting = (task, handler)
            return
        stream.state = State.WORKING
        stream.wait_timer = lane.ticket
        lane.then = lambda: self._scheduler.waits.again(task, handler)

    def _settle_pool(self, lane: Lane) -> None:
        """The lane and all others that hold or want units of its pool go on as launches."""
        plan = lane.window.kind(lane.stops[lane.k][AT]).plan
        assert isinstance(plan, Holds)
        launched = sorted(plan.pool.planned, key=lambda one: one.asked)
        plan.pool.planned.clear()
        plan.pool.line.clear()
        for each in launched:
            plan.pool.adopt(self._launch(each))

    def _launch(self, lane: Lane) -> Job:
        stream, stop = lane.stream, lane.stops[lane.k]
        stream.follow(lane.window.lo + stop[AT])
        stream.state = State.WORKING
        task, handler = self._task(lane, stop[AT])
        outcome = self._answer(task, handler)
        if not isinstance(outcome, Launch) or not isinstance(outcome.pool, CorePool):
            raise _disagrees(handler, "Launch", outcome)
        running = Running(task, handler, lane.since)
        stream.running = running
        job = self._scheduler.job(running, outcome)
        job.asked = lane.since
        if lane.phase == HOLDING:
            lane.then = outcome.pool.resume(job, lane.began, lane.ticket)
        return job

    def _task(self, lane: Lane, at: int) -> tuple[Task, Handler]:
        slot = lane.window.lo + at
        return self._scheduler.task(lane.stream, slot, lane.stream.queue.entry(slot)), lane.window.kind(at).handler

    def record(self, lane: Lane, end: int) -> None:
        """Keep the bytes of the entries that started, up to index `end`, for a device that remembers what executed."""
        first, lo = lane.recorded, lane.window.lo
        if not self.recording or end <= first:
            return
        raw = lane.stream.queue.view()[lo + first : lo + end].tobytes()
        for index in range(end - first):
            lane.executed[lo + first + index] = raw[SQE_BYTES * index : SQE_BYTES * index + SQE_BYTES]
        lane.recorded = end


def _disagrees(handler: Handler, planned: str, given: object) -> PluginError:
    """A plan must say what `start` does (`emu_core.plans`)."""
    return PluginError(
        f"{handler.engine}.{handler.kind} is planned to give {planned}, but start gave {type(given).__name__}",
        id="plugin.engine-answer",
        remedy="report this to the author of the plugin",
    )
