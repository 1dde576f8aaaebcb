"""The scheduler: takes entries from head, asks their engine, retires them, and stops a queue at a fault.

One queue runs strictly in order; queues run side by side in virtual time. What executes is what was fetched: the
pre-image of a slot that was rewritten after its fetch, else the ring (`emu_core.prefetch`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from emu_core import hazards, stuck, task_events, task_faults, units
from emu_core.completions import Completions
from emu_core.cores import Job
from emu_core.engines import Launch, Run, Task, Wait
from emu_core.errors import DeviceFault, InputError
from emu_core.lanes import Lanes
from emu_core.ordering import records
from emu_core.recovery import Recovery
from emu_core.reports import Blocked, Deadlock
from emu_core.rings import SQE_BYTES
from emu_core.slots import ActiveSlots
from emu_core.streams import Cause, Running, State, Stream
from emu_core.trace import Doorbell
from emu_core.wait_graph import wait_graph
from emu_core.waits import Waits
from formats.task_units import unit_counter

if TYPE_CHECKING:
    from collections.abc import Callable

    from emu_core.device import Device
    from emu_core.engines import Handler, Limit, Outcome
    from emu_core.reports import Fault
    from emu_core.signals import Signal

    Watcher: TypeAlias = Callable[[Task, Handler], Handler | None]


class Scheduler:
    """Runs the queues of one device.

    Attributes:
        faults: what failed, first cause first. completions: writes completion entries. recovery: the host's answer to
        errors of plain streams. slots: which queues are active. waits: entries that wait. lanes: queues that run ahead.
    """

    def __init__(self, device: Device) -> None:
        self.device = device
        self.faults: list[Fault] = []
        header = device.layout("SqeHeader")
        self._wr_cqe = header.field("wr_cqe").read
        self._pre_p = header.field("pre_p").read
        self._type = header.field("type").read
        self._units = unit_counter(device.host.registry, device.chip.family)
        self.completions = Completions(device)
        self.recovery = Recovery(device, lambda stream: self.ring_doorbell(stream, "recovered"))
        self.slots = ActiveSlots()
        self.lanes = Lanes(device, self)
        self._watchers: dict[str, list[Watcher]] = {}
        self._extra: Callable[[Task, Handler], int] | None = None
        self.waits = Waits(device, self)

    # ---- doorbells -------------------------------------------------------------------------------------------

    def ring_doorbell(self, stream: Stream, reason: str = "submit", by: Task | None = None) -> None:
        """New entries of `stream` are published, by the host or the entry `by`: let it run if it is idle.

        Raises:
            InputError: an error in failure mode *stop* came before (`stream.aborted`).
        """
        device = self.device
        self.recovery.require_working(stream)
        if device.ordering is not None:
            place = (-1, -1, -1) if by is None else (by.stream.id, by.slot, by.task_id)
            device.ordering.note(records.ACTIVATE, *place, stream.id)
        if device.trace.wants(Doorbell):
            device.trace.add(
                Doorbell(time=device.clock.now, run=device.run, stream=stream.id, tail=stream.queue.tail, reason=reason)
            )
        if stream.state is State.SLOT_DISABLE and stream.recovered:
            self.recovery.reenable(stream)
            stream.steps = 0
            return
        stream.queue.enabled = True
        if reason != "recovered":
            stream.steps = 0
        if stream.state is State.IDLE and stream.queue.pending:
            if self.slots.take(stream):
                self._go(stream)
            else:
                stream.move(Cause.QUEUE)

    def _go(self, stream: Stream) -> None:
        """`stream` has a slot: look at its head."""
        stream.move(Cause.ACTIVATE)
        self.plan(0, stream, lambda: self.advance(stream))

    def plan(self, delay: int, stream: Stream, action: Callable[[], object]) -> int:
        """Plan the next step of `stream`; returns its ticket."""
        clock = self.device.clock
        return clock.plan(clock.now + delay, stream.id, action)

    def _leave_slot(self, stream: Stream) -> None:
        following = self.slots.leave(stream)
        if following is not None:
            self._go(following)

    def activate(self, stream: Stream, by: Task | None = None) -> None:
        """Start the queue of a model stream from entry 0, by the host or the entry `by`; nothing is fetched yet."""
        self.lanes.settle_stream(stream)
        stream.queue.head = 0
        stream.window.clear()
        stream.executed.clear()
        stream.last_wait = None
        self.ring_doorbell(stream, "activate", by)

    def run_until_idle(self) -> None:
        """Run until nothing is queued."""
        self.lanes.run()
        ordering = self.device.ordering
        if ordering is not None:
            self.lanes.settle_all()
            ordering.note(records.EPOCH, -1, -1, -1)
            self.device.trace.hand_on()

    def step(self) -> bool:
        """Run the next planned action only; False when nothing is queued. With `lanes.on` it may be many entries."""
        return self.lanes.step()

    def watch(self, kind: str, callback: Watcher) -> Callable[[], None]:
        """Call `callback` with task and handler when an entry of `kind` is about to start; returns what ends that.

        `kind` is that of `Handler.kind`. The callback may look at everything, and stop the program by an exception of
        its own; a `DeviceFault` that it raises is the entry's. It may change `task.sqe`, the bytes that execute, and
        return another handler, which executes the entry then. Entries of a watched kind are never run ahead.
        """
        watchers = self._watchers.setdefault(kind, [])
        watchers.append(callback)
        self.lanes.watch(self._watchers)

        def end() -> None:
            if callback in watchers:
                watchers.remove(callback)
            if not watchers:
                self._watchers.pop(kind, None)
            self.lanes.watch(self._watchers)

        return end

    def delay_by(self, extra: Callable[[Task, Handler], int]) -> None:
        """From now on every entry takes `extra(task, handler)` nanoseconds longer; queues go in single steps then.

        Another schedule of the same program comes of it, as legal as this one: engines may take any time.
        """
        self.lanes.settle_all()
        self.lanes.on = False
        self._extra = extra

    # ---- what the host does to a queue -----------------------------------------------------------------------

    def pause(self, stream: Stream) -> None:
        """Halt `stream` before its next entry; the one at head goes on."""
        self.lanes.settle_stream(stream)
        stream.paused = True

    def resume(self, stream: Stream) -> None:
        """Let a paused stream go on."""
        stream.paused = False
        if stream.state is State.SLOT_ENABLE:
            self.plan(0, stream, lambda: self.advance(stream))

    def clear_prefetch(self, stream: Stream) -> None:
        """Throw away what was fetched of `stream`; it is fetched again from head.

        Raises:
            InputError: the queue has neither stopped with an error nor is paused (`prefetch.clear`).
        """
        if stream.state is not State.SLOT_DISABLE and not stream.paused:
            raise InputError(
                f"prefetch clear needs a queue that stopped or is paused, this one is {stream.state.name.lower()}",
                id="prefetch.clear",
                where=f"stream {stream.id}",
                remedy="pause the stream first",
            )
        stream.window.clear()

    def halt(self, stream: Stream) -> None:
        """Take `stream` off the device, whatever it does: idle, head at tail, nothing queued or held."""
        self.unpark(stream)
        if stream.state not in (State.IDLE, State.SLOT_DISABLE):
            stream.move(Cause.ERROR)
        if stream.state is State.SLOT_DISABLE:
            stream.move(Cause.HANDLED)
        stream.queue.head = stream.queue.tail
        stream.queue.enabled = False
        stream.window.clear()

    # ---- one entry -------------------------------------------------------------------------------------------

    def advance(self, stream: Stream) -> None:
        """`stream` is between two entries: look at the next one."""
        queue = stream.queue
        if stream.state is not State.SLOT_ENABLE:
            return
        if not queue.pending or not queue.enabled:
            stream.move(Cause.DRAIN)
            self._leave_slot(stream)
        elif not stream.paused and not self.lanes.enter(stream):
            self.take(stream)

    def take(self, stream: Stream) -> None:
        """Execute what was fetched of the entry at head."""
        queue = stream.queue
        slot = queue.head
        ring = queue.entry(slot)
        fetched = stream.window.take(slot)
        task = self.task(stream, slot, ring if fetched is None else fetched)
        try:
            task, ring, fetched = units.whole(task, ring, fetched, self._units)
        except DeviceFault as fault:
            self._fault_at_start(task, fault)
            return
        handler = self.device.dispatch.find(task.sqe)
        if handler is None:
            self._fault_at_start(task, task_faults.unknown_type(self._type(task.sqe), self.device.chip.name))
            return
        if fetched is not None and fetched != ring:
            refused = hazards.stale(task, ring)
            if refused is not None:
                self._fault_at_start(task, refused, handler)
                return
            if self.device.policies["stale_prefetch"] == "refetch":
                task = replace(task, sqe=ring[:SQE_BYTES], further=ring[SQE_BYTES:])
        elif slot in stream.patched_in and stream.patched_in[slot] < task.run:
            hazards.silent_reuse(task, stream.patched_in[slot])
        if self.device.record_rings:
            units.remember(task)
        self._begin_work(task, handler)

    def _begin_work(self, task: Task, handler: Handler) -> None:
        """The bytes that execute are known: those who watch the kind look, then its engine."""
        if self._pre_p(task.sqe):
            task.stream.move(Cause.PRE_P)
            task.stream.move(Cause.RESUME)
        else:
            task.stream.move(Cause.START)
        try:
            for watcher in tuple(self._watchers.get(handler.kind, ())):
                handler = watcher(task, handler) or handler
        except DeviceFault as fault:
            self.fail(task, handler, fault)
            return
        self.start(task, handler)

    def task(self, stream: Stream, slot: int, sqe: bytes) -> Task:
        """The entry `sqe` in `slot` of `stream`, about to be executed."""
        number = stream.queue.submissions.task_at(slot)
        return Task(self.device, stream, slot, -1 if number is None else number, sqe, self.device.run)

    def start(self, task: Task, handler: Handler) -> None:
        """Ask the engine of the entry at head what happens."""
        ordering = self.device.ordering
        if ordering is not None:
            ordering.note(records.START, task.stream.id, task.slot, task.task_id)
        try:
            outcome = handler.start(task)
        except DeviceFault as fault:
            self.fail(task, handler, fault)
            return
        if ordering is not None and isinstance(outcome, Wait) and task.memory.accesses:
            task.memory.accesses.clear()  # what a wait looks at in vain orders nothing
        self._follow(task, handler, outcome)

    def _follow(self, task: Task, handler: Handler, outcome: Outcome) -> None:
        if isinstance(outcome, Wait):
            self.waits.park(task, handler, outcome)
        elif isinstance(outcome, Launch):
            self._launch(task, handler, outcome)
        else:
            self._run(task, handler, outcome)

    def unpark(self, stream: Stream) -> None:
        """Forget what `stream` waits for or has in work, with all timers, and give back what it holds."""
        self.lanes.settle_stream(stream)
        self.waits.stop(stream)
        running, stream.running = stream.running, None
        if running is not None:
            self._drop(running)
        self.completions.forget(stream)
        stream.jump = stream.report = None
        stream.recovered = stream.paused = False
        self._leave_slot(stream)

    def _drop(self, running: Running) -> None:
        for ticket in (running.ticket, running.timer):
            if ticket is not None:
                self.device.clock.cancel(ticket)
        if running.pool is not None and running.job is not None:
            running.pool.cancel(running.job)

    def _begin(self, task: Task, handler: Handler, outcome: Run | Launch) -> Running:
        task_events.started(task, handler, outcome)
        running = Running(task, handler, self.device.clock.now)
        task.stream.running = running
        return running

    def _run(self, task: Task, handler: Handler, outcome: Run) -> None:
        running = self._begin(task, handler, outcome)
        limit = handler.limit(task) if handler.limit else None
        if limit is not None and outcome.duration_ns >= limit.ns:
            running.timer = self.plan(limit.ns, task.stream, lambda: self._expired(running, limit))
            return
        duration = outcome.duration_ns + self._delay(task, handler)
        running.ticket = self.plan(duration, task.stream, lambda: self.finish(running, outcome, outcome.detail))

    def _delay(self, task: Task, handler: Handler) -> int:
        return self._extra(task, handler) if self._extra is not None else 0

    def _launch(self, task: Task, handler: Handler, outcome: Launch) -> None:
        running = self._begin(task, handler, outcome)
        limit = handler.limit(task) if handler.limit else None
        if limit is not None:
            running.timer = self.plan(limit.ns, task.stream, lambda: self._expired(running, limit))
        launch = outcome.launch_ns + self._delay(task, handler)
        running.ticket = self.plan(launch, task.stream, lambda: self._ask(running, outcome))

    def _ask(self, running: Running, outcome: Launch) -> None:
        """The launch is over: ask the pool for units."""
        running.ticket = None
        outcome.pool.submit(self.job(running, outcome))

    def job(self, running: Running, outcome: Launch) -> Job:
        """The launch of the entry at head, for its pool; at its end the entry is finished."""
        stream = running.task.stream

        def done() -> None:
            self.finish(running, outcome, outcome.detail + _waves(job))

        job = Job(stream.id, stream.priority, outcome.demand, done)
        running.pool, running.job = outcome.pool, job
        return job

    def _expired(self, running: Running, limit: Limit) -> None:
        """The time budget of the entry at head is used up."""
        why = running.pool.why(running.job) if running.pool and running.job else ""
        running.task.stream.running = None
        running.timer = None
        self._drop(running)
        self.fail(running.task, running.handler, task_faults.over_budget(limit, why))

    def finish(self, running: Running, outcome: Run | Launch, detail: str) -> None:
        """The time of the entry at head is up: its effects, then it retires."""
        task, handler = running.task, running.handler
        device, stream = self.device, task.stream
        stream.running = None
        if running.timer is not None:
            device.clock.cancel(running.timer)
        try:
            outcome.finish()
        except DeviceFault as fault:
            self.fail(task, handler, fault)
            return
        self.done(running, detail)

    def done(self, running: Running, detail: str) -> None:
        """The entry at head has had its effects: it retires."""
        task_events.done(running, detail)
        task = running.task
        task.tell_accesses()
        stream = task.stream
        if self._wr_cqe(task.sqe):
            self.completions.post(task, 0, 0, lambda _: self._completed(stream), self._next_head(stream))
        else:
            self._completed(stream)

    def _completed(self, stream: Stream) -> None:
        """The entry at head leaves the ring, and the fetch buffer if it was rewritten while it ran."""
        queue = stream.queue
        stream.window.take(queue.head)
        for slot in queue.further(queue.head, stream.units) if stream.units > 1 else ():
            stream.window.take(slot)
        if stream.jump is not None:
            stream.window.clear()
        queue.head = self._next_head(stream)
        stream.jump = None
        stream.move(Cause.COMPLETE)
        self.plan(0, stream, lambda: self.advance(stream))

    @staticmethod
    def _next_head(stream: Stream) -> int:
        return (stream.queue.head + stream.units) % stream.queue.depth if stream.jump is None else stream.jump

    # ---- flags -----------------------------------------------------------------------------------------------

    def set_signal(self, signal: Signal, task: Task, value: int = 1) -> None:
        """Set a flag, or a counted one to `value`, and wake every stream parked on it."""
        device = self.device
        task.tell_accesses()
        if device.ordering is not None:
            key = device.signals.key(signal)
            device.ordering.note(records.SET, task.stream.id, task.slot, task.task_id, key, value)
        task_events.signal_changed(task, signal, value)
        device.signals.fired(signal, device.clock.now)
        self.lanes.wake_all(device.signals.set(signal, value))

    def clear_signal(self, signal: Signal, task: Task) -> None:
        """Clear a flag."""
        ordering = self.device.ordering
        if ordering is not None:
            ordering.note(records.CLEAR, task.stream.id, task.slot, task.task_id, self.device.signals.key(signal))
        task_events.signal_changed(task, signal, 0)
        self.device.signals.clear(signal)

    # ---- faults ----------------------------------------------------------------------------------------------

    def _fault_at_start(self, task: Task, fault: DeviceFault, handler: Handler | None = None) -> None:
        task.stream.move(Cause.START)
        self.fail(task, handler, fault)

    def fail(self, task: Task, handler: Handler | None, fault: DeviceFault, status: int | None = None) -> None:
        """End `task` with `fault`: reported, written to the completion ring, its queue stopped."""
        stream = task.stream
        found = task_faults.report(task, handler, fault)
        self.faults.append(found)
        task_events.failed(task, found)
        stream.queue.enabled = False
        stream.jump = None
        if stream.state is State.POLLING_FLAG:
            stream.move(Cause.WAKE)
        status = found.ts_code if status is None else status
        self.completions.post(task, fault.error_type, status, lambda r: self._stopped(stream, r), stream.queue.head)

    def _stopped(self, stream: Stream, report: bytes) -> None:
        stream.move(Cause.ERROR)
        self._leave_slot(stream)
        self.recovery.stopped(stream, report)

    def end_wait(self, stream: Stream, fault: DeviceFault, status: int) -> None:
        """End the wait that `stream` is parked in with an error whose completion entry carries `status`."""
        if stream.waiting is not None:
            task, handler = stream.waiting
            self.waits.stop(stream)
            self.fail(task, handler, fault, status)

    # ---- what is left ----------------------------------------------------------------------------------------

    def blocked(self, streams: list[Stream]) -> tuple[Blocked, ...]:
        """The streams among `streams` that cannot go on, each with why and who would have to do something."""
        return stuck.blocked(self.device, streams)

    def deadlock(self, streams: list[Stream]) -> Deadlock | None:
        """The report when some of `streams` wait although nothing is queued."""
        found = self.blocked(streams)
        if not found:
            return None
        return Deadlock(self.device.clock.now, self.device.run, found, wait_graph(self.device, found))


def _waves(job: Job) -> str:
    """What sharing meant for a launch, for traces; empty when all of its blocks started at once and at once."""
    waited = (job.started_at or 0) - job.asked
    waves = f", in {job.waves} waves" if job.waves > 1 else ""
    return waves + (f", after {waited} ns without a core" if waited else "")
