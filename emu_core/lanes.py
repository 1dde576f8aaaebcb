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
from heapq import heappop, heappush, heappushpop
from typing import TYPE_CHECKING

from emu_core.cores import CorePool, Job
from emu_core.engines import Launch
from emu_core.errors import DeviceFault
from emu_core.notice import LATE
from emu_core.plans import Holds
from emu_core.rings import SQE_BYTES
from emu_core.spans import ACTED, CLEARED, HELD, HOLDS, PARKS, PASSED, SETS, TAKEN, Span
from emu_core.streams import Running, State
from emu_core.trace import TaskStarted
from emu_core.windows import ACT, CLEAR, END, ENTRY, HOLD, LONGEST, SET, TAKE, WAIT, Planner, Window

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from emu_core.device import Device
    from emu_core.engines import Handler, Run, Task
    from emu_core.scheduler import Scheduler
    from emu_core.streams import Stream
    from emu_core.windows import Stop

OPEN, STOP, PARKED, WOKEN, QUEUED, HOLDING, ACTING = range(7)

OP, KEY, AT = 1, 2, 4
"""Places in a stop."""

OWNED = frozenset({SET, CLEAR, ACT})
"""Stops that are in flight for a time of their own."""

LEAST = 16
"""A queue with fewer entries pending is not worth decoding."""

_STATES = {OPEN: State.SLOT_ENABLE, PARKED: State.POLLING_FLAG}


class Lane:
    """One queue that runs ahead.

    Attributes:
        then: what its place on the clock stands for after it has settled.
        executed, waited: the stream's `executed` and `last_wait`.
        k: index of the stop it goes to or is at. start: when the entries before that stop began.
        since: when it came to the stop. began: when it got its unit. length: how long it holds it.
        asked: its place among those that asked a pool.
    """

    __slots__ = (
        "asked", "began", "entry", "executed", "first", "k", "lanes", "length", "phase", "recorded", "run", "sid", "since", "span", "start",
        "stops", "stream", "then", "ticket", "waited", "window",
    )  # fmt: skip

    def __init__(self, lanes: Lanes, stream: Stream, ticket: int) -> None:
        self.lanes = lanes
        self.stream = stream
        self.sid = stream.id
        self.ticket = ticket
        self.then: Callable[[], None] | None = None
        self.phase = OPEN
        self.start = self.since = self.began = self.run = self.asked = self.length = 0
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
    def recording(self) -> bool:
        """Whether the bytes that execute are kept."""
        return self.lanes.recording

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


class Lanes:
    """All lanes of a device, and the loop that runs them and every other planned action in one order.

    Attributes:
        on: whether queues run ahead at all. least: see `LEAST`.
    """

    def __init__(self, device: Device, scheduler: Scheduler) -> None:
        self.on = device.policies["nop_model"] not in LATE
        self.recording = device.record_rings
        self._starts = device.trace.wants(TaskStarted)
        self.least = LEAST
        self.clock = device.clock
        self._device = device
        self._scheduler = scheduler
        self._planner: Planner | None = None
        self._looping = False
        self._asked = 0
        self._entered: Lane | None = None
        self._watched: set[str] = set()
        self.clock.before_guest = self._guest
        device.trace.follow(self.clock, self.settle_all)

    @property
    def planner(self) -> Planner:
        """Decodes entries; made when it is first needed, and again when other kinds are watched."""
        if self._planner is None:
            self._planner = Planner(self._device, self._watched)
        return self._planner

    def watch(self, kinds: Iterable[str]) -> None:
        """Execute entries of these kinds one by one."""
        if set(kinds) != self._watched:
            self.settle_all()
            self._watched = set(kinds)
            self._planner = None
            for stream in self._device.streams.values():
                stream.decoded = None

    # ---- into a lane and out of it ---------------------------------------------------------------------------

    def enter(self, stream: Stream) -> bool:
        """Put `stream`, between two entries, into a lane if the entry at head is planned; `run` goes on with it."""
        if not self.on or not self._looping:
            return False
        head = stream.queue.head
        window = stream.decoded
        if (
            window is None
            or not window.fresh <= head < window.hi
            or (window.run != self._device.run and stream.patched_in)
        ):
            window = self._decode(stream, head)
            if window is None:
                return False
        at = head - window.lo
        if not window.codes[at] or self.clock.has_guests(stream.id) or self._scheduler.recovery.aborted:
            return False
        lane = stream.spare or Lane(self, stream, self.clock.ticket())
        lane.enter(window, at, self.clock.now, self._device.run)
        stop = lane.stops[lane.k]
        if stop[OP] == ENTRY and stop[AT] == at:
            stream.spare = lane
            return False
        stream.spare = None
        stream.lead(lane)
        self._set_off(lane, stop)
        return True

    def _set_off(self, lane: Lane, stop: Stop) -> None:
        """The first step of a lane: to its next stop, from wherever it stands."""
        gap, op, _, own, at = stop
        before = lane.stops[lane.k - 1][AT] + 1 if lane.k else 0
        if lane.entry != before:
            gap = int(lane.window.ends[at] - lane.window.ends[lane.entry])
        if self._device.trace.wants_steps:
            self._log_span(lane, lane.start, at + (op in OWNED), at)
        if gap or own:
            heappush(self.clock.queue, (lane.start + gap + own, lane.sid, lane.ticket, lane))
        else:
            self._entered = lane

    def _decode(self, stream: Stream, head: int) -> Window | None:
        queue = stream.queue
        pending = queue.pending
        if pending < self.least or not self.planner.useful:
            return None
        queue.follow_writes(stream.before_write)
        end = min(head + pending, head + LONGEST, queue.depth)
        stream.decoded = Window(stream, head, end, self.planner, self._device.run)
        return stream.decoded

    def leave(self, lane: Lane) -> None:
        """`lane` is at a stop of which nothing is known: its queue stands there, between two entries."""
        stream = lane.stream
        stream.follow(lane.window.lo + lane.stops[lane.k][AT])
        stream.spare = lane

    def settle_stream(self, stream: Stream) -> None:
        """Settle the lane of `stream`, if it is in one."""
        if stream.lane is not None:
            self.settle(stream.lane)

    def settle_all(self) -> None:
        """Settle every lane."""
        for stream in self._device.streams.values():
            if stream.lane is not None:
                self.settle(stream.lane)

    def _guest(self, stream_id: int) -> None:
        stream = self._device.streams.get(stream_id)
        if stream is not None and stream.lane is not None:
            self.settle(stream.lane)

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
            self._record(lane, at if at == stop[AT] and stop[OP] not in OWNED else at + 1)
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
        self.clock.cancel(lane.ticket)
        running.ticket = self.clock.plan(lane.starts(at + 1), stream.id, finish)
        if lane.span is not None:
            lane.span.cut(at)

    def _running(self, lane: Lane, task: Task, handler: Handler, since: int) -> tuple[Running, Callable[[], None]]:
        outcome = handler.start(task)
        assert not hasattr(outcome, "signal"), "a plan that is no wait belongs to a handler that does not wait"
        done: Run | Launch = outcome  # type: ignore[assignment]
        running = Running(task, handler, since)
        lane.stream.running = running
        return running, lambda: self._scheduler.finish(running, done, done.detail)

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
        lane.then = lambda: self._scheduler.again(task, handler)

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
        outcome = handler.start(task)
        assert isinstance(outcome, Launch), "a plan that holds a unit belongs to a handler that launches"
        running = Running(task, handler, lane.since)
        stream.running = running
        job = self._scheduler.job(running, outcome)
        job.asked = lane.since
        if lane.phase == HOLDING:
            assert isinstance(outcome.pool, CorePool)
            lane.then = outcome.pool.resume(job, lane.began, lane.ticket)
        return job

    def _task(self, lane: Lane, at: int) -> tuple[Task, Handler]:
        slot = lane.window.lo + at
        return self._scheduler.task(lane.stream, slot, lane.stream.queue.entry(slot)), lane.window.kind(at).handler

    def _record(self, lane: Lane, end: int) -> None:
        """Keep the bytes of the entries that started, up to index `end`, for a device that remembers what executed."""
        first, lo = lane.recorded, lane.window.lo
        if not self.recording or end <= first:
            return
        raw = lane.stream.queue.view()[lo + first : lo + end].tobytes()
        for index in range(end - first):
            lane.executed[lo + first + index] = raw[SQE_BYTES * index : SQE_BYTES * index + SQE_BYTES]
        lane.recorded = end

    # ---- the loop --------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Run until nothing is planned."""
        outer, self._looping = self._looping, True
        try:
            self._run()
        finally:
            self._looping = outer
            entered, self._entered = self._entered, None
            if entered is not None:
                heappush(self.clock.queue, (self.clock.now, entered.sid, entered.ticket, entered))

    def _run(self) -> None:  # noqa: C901, PLR0912, PLR0915 - one loop over local names; a call per stop would cost more
        clock, device = self.clock, self._device
        queue, cancelled = clock.queue, clock.cancelled
        values, parked = device.signals.values, device.signals.parked
        log = device.trace.log if device.trace.wants_steps else None
        recording = self.recording
        plainly = log is None and not recording
        while queue:
            time, sid, ticket, lane = heappop(queue)
            while True:
                if cancelled and ticket in cancelled:
                    cancelled.remove(ticket)
                    break
                if time != clock.now:
                    clock.now = time
                    clock.front = sid
                elif sid > clock.front:
                    clock.front = sid
                if lane.__class__ is not Lane or lane.then is not None:
                    clock.served(ticket)
                    lane()
                    lane, self._entered = self._entered, None
                    if lane is None:
                        break
                    sid, ticket = lane.sid, lane.ticket
                k = lane.k
                stops = lane.stops
                phase = lane.phase
                if phase == HOLDING and plainly:
                    # The usual case of a crowded pool: hand the unit on, and stand in line again.
                    hold = lane.window.hold
                    gap, op, key, own, at = stops[k + 1]
                    if op == HOLD and not gap and hold is not None and hold[0].line and hold[0].line[0].length:
                        line = hold[0].line
                        following = line.popleft()
                        following.phase = HOLDING
                        following.began = time
                        self._asked += 1
                        lane.asked = self._asked
                        lane.k = k + 1
                        lane.since = time
                        lane.length = key
                        lane.phase = QUEUED
                        line.append(lane)
                        time, sid, ticket, lane = heappushpop(
                            queue, (time + following.length, following.sid, following.ticket, following)
                        )
                        continue
                going = phase == OPEN
                while True:
                    gap, op, key, own, at = stops[k]
                    if going:
                        # Between two entries: what is next?
                        if log is not None:
                            lane.k = k
                            self._log_span(lane, time, at + (op in OWNED), at)
                        if gap or own:
                            lane.k = k
                            lane.start = time
                            lane.phase = STOP
                            time, sid, ticket, lane = heappushpop(queue, (time + gap + own, sid, ticket, lane))
                            break
                        phase = STOP
                    going = True
                    if recording:
                        lane.k = k
                        self._record(lane, at if op in (ENTRY, END) else at + 1)
                    if op == SET:
                        values[key] = 1
                        if log is not None:
                            log((time, clock.front, SETS, lane, lane.window, at, time - own, 0))
                        k += 1
                        woken = parked.pop(key, None)
                        if woken is not None:
                            lane.k = k
                            lane.phase = OPEN
                            first = device.streams[woken[0]].lane
                            if first is not None and first.sid < sid and len(woken) == 1:
                                heappush(queue, (time, sid, ticket, lane))
                                first.phase = WOKEN
                                lane = first
                                sid, ticket = lane.sid, lane.ticket
                                break
                            self.wake_all(woken)
                            if queue[0][0] == time and queue[0][1] < sid:
                                time, sid, ticket, lane = heappushpop(queue, (time, sid, ticket, lane))
                                break
                    elif op == WAIT or op == TAKE:  # noqa: PLR1714 - a tuple of globals would be built each time
                        if key not in values:
                            if key in parked:
                                parked[key].append(sid)
                            else:
                                parked[key] = [sid]
                            lane.k = k
                            lane.phase = PARKED
                            lane.since = time
                            lane.waited = lane.window.lo + at
                            if log is not None:
                                log((time, clock.front, PARKS, lane, lane.window, at, time, 0))
                            lane = None
                            break
                        if op == TAKE:
                            del values[key]
                        if log is not None:
                            log((time, clock.front, PASSED if op == WAIT else TAKEN, lane, lane.window, at, time, 0))
                        k += 1
                    elif op == CLEAR:
                        values.pop(key, None)
                        if log is not None:
                            log((time, clock.front, CLEARED, lane, lane.window, at, time - own, 0))
                        k += 1
                    elif op == ACT:
                        lane.k = k
                        if not self._act(lane, at, time - own):
                            lane = None
                            break
                        if log is not None:
                            log((time, clock.front, ACTED, lane, lane.window, at, time - own, 0))
                        k += 1
                        if queue and queue[0][0] == time and queue[0][1] < sid:
                            lane.k = k
                            lane.phase = OPEN
                            time, sid, ticket, lane = heappushpop(queue, (time, sid, ticket, lane))
                            break
                    elif op == HOLD:
                        pool, unit = lane.window.hold_at(at)
                        lane.k = k
                        if phase == HOLDING:
                            phase = OPEN
                            del pool.planned[lane]
                            if pool.line:
                                following = pool.line.popleft()
                                following.phase = HOLDING
                                following.began = time
                                heappush(queue, (time + following.length, following.sid, following.ticket, following))
                            else:
                                pool.free[unit] += 1
                            if log is not None:
                                late = lane.began - lane.since
                                log((time, clock.front, HELD, lane, lane.window, at, lane.since, late))
                            k += 1
                            if queue and queue[0][0] == time and queue[0][1] < sid:
                                lane.k = k
                                lane.phase = OPEN
                                time, sid, ticket, lane = heappushpop(queue, (time, sid, ticket, lane))
                                break
                            continue
                        if pool.busy or lane.stream.priority:
                            self.leave(lane)
                            self._scheduler.take(lane.stream)
                            lane = None
                            break
                        if log is not None:
                            log((time, clock.front, HOLDS, lane, lane.window, at, time, 0))
                        lane.since = time
                        lane.length = key
                        self._asked += 1
                        lane.asked = self._asked
                        pool.planned[lane] = None
                        if pool.free[unit]:
                            pool.free[unit] -= 1
                            lane.began = time
                            lane.phase = HOLDING
                            time, sid, ticket, lane = heappushpop(queue, (time + key, sid, ticket, lane))
                        else:
                            lane.phase = QUEUED
                            pool.line.append(lane)
                            lane = None
                        break
                    else:
                        lane.k = k
                        self.leave(lane)
                        self._scheduler.advance(lane.stream)
                        lane, self._entered = self._entered, None
                        break
                if lane is None:
                    break

    def _act(self, lane: Lane, at: int, since: int) -> bool:
        """Do what the entry at head does; False when the lane has ended over it."""
        stream, slot = lane.stream, lane.window.lo + at
        task = self._scheduler.task(stream, slot, stream.queue.entry(slot))
        kind = lane.window.kind(at)
        lane.phase = ACTING
        try:
            kind.plan.act(task)  # type: ignore[union-attr]
        except DeviceFault as fault:
            self.settle(lane)
            self._scheduler.fail(task, kind.handler, fault)
            return False
        if stream.lane is lane:
            return True
        detail = kind.plan.detail  # type: ignore[union-attr]
        self._scheduler.done(Running(task, kind.handler, since), detail)
        return False

    def _log_span(self, lane: Lane, time: int, end: int, done: int) -> None:
        first = lane.position
        lane.span = None
        if (end if self._starts else done) > first:
            lane.span = Span(lane.window, lane.sid, first, end, done, time, lane.run)
            self._device.trace.log((time, self.clock.front, lane.span))

    def wake_all(self, stream_ids: Iterable[int]) -> None:
        """Ask the entries of these streams again whose flag was set."""
        for stream_id in stream_ids:
            stream = self._device.streams[stream_id]
            if stream.lane is None:
                self._scheduler.wake(stream)
            else:
                self.wake(stream.lane)

    def wake(self, lane: Lane) -> None:
        """The flag at which `lane` is parked was set."""
        lane.phase = WOKEN
        heappush(self.clock.queue, (self.clock.now, lane.sid, lane.ticket, lane))
