"""The queues that run ahead, and the loop that runs them and every other planned action in one order.

What a lane is, and who ends one: `emu_core.lane`. How one ends: `emu_core.settling`.
"""

from __future__ import annotations

from heapq import heappop, heappush, heappushpop
from typing import TYPE_CHECKING, Any

from emu_core.errors import DeviceFault
from emu_core.lane import ACTING, AT, HOLDING, OP, OPEN, OWNED, PARKED, QUEUED, STOP, WOKEN, Lane
from emu_core.notice import LATE
from emu_core.settling import Settler
from emu_core.spans import ACTED, CLEARED, HELD, HOLDS, PARKS, PASSED, SETS, TAKEN, Span
from emu_core.streams import Running
from emu_core.trace import TaskStarted
from emu_core.windows import ACT, CLEAR, END, ENTRY, HOLD, LONGEST, SET, TAKE, WAIT, Planner, Window

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emu_core.device import Device
    from emu_core.scheduler import Scheduler
    from emu_core.streams import Stream
    from emu_core.windows import Stop

NEVER = float("inf")
LEAST = 16
"""A queue with fewer entries pending is not worth decoding."""


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
        self._entered: Lane | None = None
        self._watched: set[str] = set()
        self._settler = Settler(device, scheduler)
        self.clock.before_guest = self._guest
        device.trace.follow(self.clock, self.settle_all)

    @property
    def looping(self) -> bool:
        """Whether planned actions are run right now."""
        return self._looping

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
            self.clock.put(lane.start + gap + own, lane.sid, lane.ticket, lane)
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

    def settle(self, lane: Lane, *, reached: bool = False) -> None:
        """Put the queue of `lane` where it stands now; `reached`: its place on the clock is reached."""
        self._settler.settle(lane, reached=reached)

    def settle_stream(self, stream: Stream) -> None:
        """Settle the lane of `stream`, if it is in one."""
        if stream.lane is not None:
            self._settler.settle(stream.lane)

    def settle_all(self) -> None:
        """Settle every lane."""
        for stream in self._device.streams.values():
            if stream.lane is not None:
                self._settler.settle(stream.lane)

    def _guest(self, stream_id: int) -> None:
        stream = self._device.streams.get(stream_id)
        if stream is not None and stream.lane is not None:
            self._settler.settle(stream.lane)

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
                self.clock.put(self.clock.now, entered.sid, entered.ticket, entered)

    def step(self) -> bool:
        """Run the next planned action only; False when nothing is planned."""
        outer, self._looping = self._looping, True
        try:
            return self.clock.step()
        finally:
            self._looping = outer
            entered, self._entered = self._entered, None
            if entered is not None:
                self.clock.put(self.clock.now, entered.sid, entered.ticket, entered)

    def _run(self) -> None:  # noqa: C901, PLR0912, PLR0915 - one loop over local names; a call per stop would cost more
        clock, device = self.clock, self._device
        queue, cancelled = clock.queue, clock.cancelled
        values, parked = device.signals.values, device.signals.parked
        log = device.trace.log if device.trace.wants_steps else None
        recording, starts = self.recording, self._starts
        plainly = log is None and not recording
        lane: Any
        asked = max((s.lane.asked for s in device.streams.values() if s.lane is not None), default=0)
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
                if phase == HOLDING and plainly and lane.line:
                    # The usual case of a crowded pool: hand the unit on, and stand in line again.
                    gap, op, key, own, at = stops[k + 1]
                    line = lane.line
                    following = line[0]
                    if op == HOLD and not gap and following.length:
                        line.popleft()
                        following.phase = HOLDING
                        following.began = time
                        asked += 1
                        lane.asked = asked
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
                            if starts or at > (lane.entry if k == lane.first else stops[k - 1][AT] + 1):
                                self._log_span(lane, time, at + (op in OWNED), at)
                            else:
                                lane.span = None
                        if gap or own:
                            due = time + gap + own
                            if queue and queue[0][0] <= due:
                                lane.k = k
                                lane.start = time
                                lane.phase = STOP
                                time, sid, ticket, lane = heappushpop(queue, (due, sid, ticket, lane))
                                break
                            # Nobody else does anything until then.
                            clock.now = time = due
                            clock.front = sid
                        phase = STOP
                    going = True
                    if recording:
                        lane.k = k
                        self._settler.record(lane, at if op in (ENTRY, END) else at + 1)
                    if op == SET:
                        values[key] = 1
                        if log is not None:
                            log((time, clock.front, SETS, lane, lane.window, at, time - own, 0))
                        k += 1
                        if key in parked:
                            woken = parked.pop(key)
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
                        elif plainly:
                            # Flag after flag, for which nobody waits, while nobody else does anything.
                            until = queue[0][0] if queue else NEVER
                            while True:
                                gap, op, key, own, at = stops[k]
                                due = time + gap + own
                                if op != SET or due >= until or key in parked:
                                    break
                                values[key] = 1
                                time = due
                                k += 1
                            if time != clock.now:
                                clock.now = time
                                clock.front = sid
                    elif op == WAIT or op == TAKE:  # noqa: PLR1714, SIM109 - a tuple of globals would be built each time
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
                        asked += 1
                        lane.asked = asked
                        lane.line = pool.line if lane.window.hold is not None else None
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
        stream, window = lane.stream, lane.window
        slot = window.lo + at
        task = self._scheduler.task(stream, slot, stream.queue.view()[slot].tobytes())
        kind = window.kind(at)
        lane.phase = ACTING
        try:
            kind.plan.act(task)  # type: ignore[union-attr]
        except DeviceFault as fault:
            self._settler.settle(lane)
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
                self._scheduler.waits.wake(stream)
            else:
                self.wake(stream.lane)

    def wake(self, lane: Lane) -> None:
        """The flag at which `lane` is parked was set."""
        lane.phase = WOKEN
        self.clock.put(self.clock.now, lane.sid, lane.ticket, lane)
