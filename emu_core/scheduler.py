"""The scheduler: takes entries from head, asks their engine, retires them, and stops a queue at a fault.

One queue runs strictly in order; queues run side by side in virtual time. What executes is what was fetched: the
pre-image of a slot that was rewritten after its fetch, else the ring (`emu_core.prefetch`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from emu_core import codes
from emu_core.engines import Run, Task, Wait
from emu_core.errors import DeviceFault
from emu_core.memory import TaskMemory
from emu_core.reports import Blocked, Deadlock, Fault
from emu_core.streams import Cause, State, Stream
from emu_core.trace import Completion, Doorbell, FaultRaised, SignalChanged, TaskDone, TaskStarted, TaskWaits

if TYPE_CHECKING:
    from emu_core.device import Device
    from emu_core.engines import Handler, Outcome
    from emu_core.signals import Signal

NS_PER_S = 1_000_000_000


class Scheduler:
    """Runs the queues of one device."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.faults: list[Fault] = []
        header = device.layout("SqeHeader")
        self._wr_cqe = header.field("wr_cqe").read
        self._pre_p = header.field("pre_p").read
        self._type = header.field("type").read
        self._cqe = device.layout("CqeError")
        self._limit_ns = int(device.policies["event_wait_timeout_s"]) * NS_PER_S

    # ---- doorbells -------------------------------------------------------------------------------------------

    def ring_doorbell(self, stream: Stream, reason: str = "submit") -> None:
        """New entries of `stream` are published: let it run if it is idle."""
        device = self.device
        if device.trace.wants(Doorbell):
            device.trace.add(
                Doorbell(time=device.clock.now, run=device.run, stream=stream.id, tail=stream.queue.tail, reason=reason)
            )
        stream.queue.enabled = True
        if stream.state is State.IDLE and stream.queue.pending:
            stream.move(Cause.ACTIVATE)
            device.clock.after(0, stream.id, lambda: self._advance(stream))

    def activate(self, stream: Stream) -> None:
        """Start the queue of a model stream from entry 0; nothing is fetched yet."""
        stream.queue.head = 0
        stream.window.clear()
        stream.executed.clear()
        stream.last_wait = None
        self.ring_doorbell(stream, "activate")

    def run_until_idle(self) -> None:
        """Run until nothing is queued."""
        while self.device.clock.step():
            pass

    # ---- one entry -------------------------------------------------------------------------------------------

    def _advance(self, stream: Stream) -> None:
        queue = stream.queue
        if stream.state is not State.SLOT_ENABLE:
            return
        if not queue.pending:
            stream.move(Cause.DRAIN)
            return
        slot = queue.head
        ring = queue.entry(slot)
        fetched = stream.window.take(slot)
        task = self._task(stream, slot, ring if fetched is None else fetched)
        handler = self.device.dispatch.find(task.sqe)
        if handler is None:
            self._fault_at_start(task, _unknown_type(self._type(task.sqe), self.device.chip.name))
            return
        if fetched is not None and fetched != ring:
            refused = self._stale(task, ring)
            if refused is not None:
                self._fault_at_start(task, refused, handler)
                return
            if self.device.policies["stale_prefetch"] == "refetch":
                task = replace(task, sqe=ring)
        elif slot in stream.patched_in and stream.patched_in[slot] < task.run:
            self._silent_reuse(task, stream.patched_in[slot])
        if self.device.record_rings:
            stream.executed[slot] = task.sqe
        if self._pre_p(task.sqe):
            stream.move(Cause.PRE_P)
            stream.move(Cause.RESUME)
        else:
            stream.move(Cause.START)
        self._start(task, handler)

    def _task(self, stream: Stream, slot: int, sqe: bytes) -> Task:
        device = self.device
        holder: list[Task] = []
        seen: set[int] = set()

        def report(address: int, size: int, label: str) -> None:
            if address not in seen:
                seen.add(address)
                self._unwritten(holder[0], address, size, label)

        memory = TaskMemory(device.memory, report)
        task = Task(device, stream, slot, stream.queue.task_at.get(slot, -1), sqe, memory, device.run)
        holder.append(task)
        return task

    def _start(self, task: Task, handler: Handler) -> None:
        try:
            outcome = handler.start(task)
        except DeviceFault as fault:
            self._fail(task, handler, fault)
            return
        self._follow(task, handler, outcome)

    def _follow(self, task: Task, handler: Handler, outcome: Outcome) -> None:
        if isinstance(outcome, Wait):
            self._park(task, handler, outcome.signal)
        else:
            self._run(task, handler, outcome)

    def _park(self, task: Task, handler: Handler, signal: Signal) -> None:
        device, stream = self.device, task.stream
        stream.move(Cause.BLOCK)
        stream.waits_for = signal
        stream.waits_since = device.clock.now
        stream.last_wait = task.slot
        stream.waiting = (task, handler)
        device.signals.park(signal, stream.id)
        if device.trace.wants(TaskWaits):
            device.trace.add(
                TaskWaits(
                    **_place(task),
                    kind=handler.kind,
                    signal=str(signal),
                )
            )
        if self._limit_ns and stream.model_id is not None:
            stream.wait_timer = device.clock.after(
                self._limit_ns, stream.id, lambda: self._wait_expired(task, handler, signal)
            )

    def _wait_expired(self, task: Task, handler: Handler, signal: Signal) -> None:
        task.stream.wait_timer = None
        self.unpark(task.stream)
        self._fail(task, handler, _timeout(signal, self._limit_ns))

    def unpark(self, stream: Stream) -> None:
        """Forget what `stream` waits for, and the timer of that wait."""
        self.device.signals.unpark(stream.id)
        self._forget_wait(stream)

    def _forget_wait(self, stream: Stream) -> None:
        stream.waits_for = None
        stream.waiting = None
        if stream.wait_timer is not None:
            self.device.clock.cancel(stream.wait_timer)
            stream.wait_timer = None

    def _run(self, task: Task, handler: Handler, outcome: Run) -> None:
        device = self.device
        started = device.clock.now
        if device.trace.wants(TaskStarted):
            device.trace.add(
                TaskStarted(
                    **_place(task),
                    engine=handler.engine,
                    kind=handler.kind,
                    detail=outcome.detail,
                    facts=dict(outcome.facts),
                    fetched_copy=task.sqe != task.stream.queue.entry(task.slot),
                )
            )
        device.clock.after(outcome.duration_ns, task.stream.id, lambda: self._finish(task, handler, outcome, started))

    def _finish(self, task: Task, handler: Handler, outcome: Run, started: int) -> None:
        try:
            outcome.finish()
        except DeviceFault as fault:
            self._fail(task, handler, fault)
            return
        device, stream = self.device, task.stream
        if device.trace.wants(TaskDone):
            device.trace.add(
                TaskDone(
                    **_place(task),
                    engine=handler.engine,
                    kind=handler.kind,
                    started=started,
                    detail=outcome.detail,
                )
            )
        self._retire(stream)
        if self._wr_cqe(task.sqe):
            self._completion(task, 0, 0)
        stream.move(Cause.COMPLETE)
        device.clock.after(0, stream.id, lambda: self._advance(stream))

    @staticmethod
    def _retire(stream: Stream) -> None:
        """The entry at head leaves the ring, and the fetch buffer if it was rewritten while it ran."""
        stream.window.take(stream.queue.head)
        stream.queue.head = (stream.queue.head + 1) % stream.queue.depth

    # ---- flags -----------------------------------------------------------------------------------------------

    def set_signal(self, signal: Signal, task: Task) -> None:
        """Set a flag and wake every stream parked on it."""
        device = self.device
        self._signal_event(signal, 1, task)
        for stream_id in device.signals.set(signal):
            stream = device.streams[stream_id]
            waiting = stream.waiting
            if waiting is None:
                continue
            self._forget_wait(stream)
            stream.move(Cause.WAKE)
            parked, handler = waiting
            device.clock.after(0, stream_id, lambda t=parked, h=handler: self._start(t, h))  # type: ignore[misc]

    def clear_signal(self, signal: Signal, task: Task) -> None:
        """Clear a flag."""
        self._signal_event(signal, 0, task)
        self.device.signals.clear(signal)

    def _signal_event(self, signal: Signal, value: int, task: Task) -> None:
        device = self.device
        if device.trace.wants(SignalChanged):
            device.trace.add(
                SignalChanged(
                    time=device.clock.now,
                    run=task.run,
                    signal=str(signal),
                    value=value,
                    stream=task.stream.id,
                    task=task.task_id,
                )
            )

    # ---- hazards ---------------------------------------------------------------------------------------------

    def _stale(self, task: Task, ring: bytes) -> DeviceFault | None:
        """Report an entry that was rewritten after its fetch; the fault if the policy asks for one."""
        policy = self.device.policies["stale_prefetch"]
        if policy == "refetch":
            return None
        decoded = self.device.host.registry.decode(self.device.chip.family, ring)
        old = self.device.host.registry.decode(self.device.chip.family, task.sqe).values
        changed = [f.name for f in decoded.struct.fields if old.get(f.name) != decoded.values[f.name]]
        runs = "this is refused" if policy == "fault" else "the fetched copy runs"
        what = f"the entry in slot {task.slot} was rewritten after it was fetched ({', '.join(changed)}); {runs}"
        remedy, detail = _distance(task.stream, task.slot)
        if policy == "fault":
            return DeviceFault(what, ts_code=codes.SQE_ERROR, error_type=8, id="hazard.stale-prefetch", remedy=remedy)
        self.device.hazard(task, "hazard.stale-prefetch", what, remedy, **detail)
        return None

    def _silent_reuse(self, task: Task, patched: int) -> None:
        self.device.hazard(
            task,
            "hazard.silent-reuse",
            f"no update reached this entry in run {task.run}; it runs with the values patched in run {patched}",
            "check that the update task of this operator ran before the kernel",
            patched_in_run=patched,
        )

    def _unwritten(self, task: Task, address: int, size: int, label: str) -> None:
        policy = self.device.policies["uninitialised_read"]
        what = f"reads {size} bytes at {address:#x} ({label}) that nobody wrote"
        remedy = "check which task should have written them, and that it comes first"
        if policy == "fault":
            raise DeviceFault(what, ts_code=0, id="hazard.uninitialised-read", remedy=remedy)
        if policy == "hazard":
            self.device.hazard(task, "hazard.uninitialised-read", what, remedy, address=address, size=size)

    # ---- faults ----------------------------------------------------------------------------------------------

    def _fault_at_start(self, task: Task, fault: DeviceFault, handler: Handler | None = None) -> None:
        task.stream.move(Cause.START)
        self._fail(task, handler, fault)

    def _fail(self, task: Task, handler: Handler | None, fault: DeviceFault, status: int | None = None) -> None:
        device, stream = self.device, task.stream
        default = handler.exception_code if handler else codes.TASK_EXCEPTION
        ts_code = fault.ts_code or default
        found = Fault(
            fault.id,
            fault.what,
            ts_code,
            codes.acl_code(ts_code),
            fault.error_type,
            device.clock.now,
            task.run,
            stream.id,
            task.slot,
            task.task_id,
            handler.kind if handler else "unknown",
            handler.engine if handler else "scheduler",
            fault.remedy,
            node=task.origin.node,
        )
        self.faults.append(found)
        if device.trace.wants(FaultRaised):
            device.trace.add(
                FaultRaised(
                    **_place(task),
                    id=found.id,
                    ts_code=ts_code,
                    what=found.what,
                )
            )
        stream.queue.enabled = False
        stream.move(Cause.ERROR)
        self._completion(task, fault.error_type, ts_code if status is None else status)

    def end_wait(self, stream: Stream, fault: DeviceFault, status: int) -> None:
        """End the wait that `stream` is parked in with an error whose completion entry carries `status`."""
        if stream.waiting is not None:
            task, handler = stream.waiting
            self.unpark(stream)
            self._fail(task, handler, fault, status)

    def _completion(self, task: Task, error_type: int, status: int) -> None:
        device, queue = self.device, task.stream.queue
        if device.cq.full:
            device.cq.drain(device.cq.depth)
        device.cq.push(
            self._cqe.build(
                {
                    "phase": device.cq.phase,
                    "error_bit": int(bool(error_type)),
                    "sq_id": queue.stream_id & 0x7FF,
                    "sq_head": queue.head,
                    "stream_id": queue.stream_id & 0xFFFF,
                    "task_id": task.task_id & 0xFFFF,
                    "error_type": error_type,
                    "sqe_type": task.sqe[0] & 0x3F,
                    "sqe_index": task.slot,
                    "sq_sw_status": status,
                }
            )
        )
        if device.trace.wants(Completion):
            device.trace.add(
                Completion(
                    time=device.clock.now,
                    run=task.run,
                    stream=queue.stream_id,
                    task=task.task_id,
                    sq_head=queue.head,
                    error_type=error_type,
                    status=status,
                )
            )

    # ---- what is left ----------------------------------------------------------------------------------------

    def blocked(self, streams: list[Stream]) -> tuple[Blocked, ...]:
        """The streams among `streams` that wait for a flag, each with where its setter is."""
        return tuple(
            Blocked(
                s.id,
                s.name,
                s.waiting[0].slot,
                s.waiting[0].task_id,
                s.waiting[1].kind,
                str(s.waits_for),
                s.waits_since,
                self._setter(s.waits_for),
                s.waiting[0].origin.node,
            )
            for s in streams
            if s.waiting is not None and s.waits_for is not None
        )

    def deadlock(self, streams: list[Stream]) -> Deadlock | None:
        """The report when some of `streams` wait although nothing is queued."""
        found = self.blocked(streams)
        return Deadlock(self.device.clock.now, self.device.run, found) if found else None

    def _setter(self, signal: Signal) -> str:
        """Where the entry is that would set `signal`, in words."""
        for stream in self.device.streams.values():
            queue = stream.queue
            for slot, task_id in sorted(queue.task_at.items()):
                sqe = queue.entry(slot)
                handler = self.device.dispatch.find(sqe)
                if handler is None or handler.setter_of is None or handler.setter_of(sqe) != signal:
                    continue
                place = f"stream {stream.id} task {task_id} ({handler.kind})"
                if slot < queue.head:
                    return f"{place} set it before"
                if stream.state is State.SLOT_DISABLE:
                    return f"{place} would set it, but that stream stopped at task {queue.task_at.get(queue.head)}"
                return f"{place} would set it, but stream {stream.id} is at task {queue.task_at.get(queue.head)}"
        return "no entry of any stream sets it"


def _unknown_type(sqe_type: int, chip: str) -> DeviceFault:
    return DeviceFault(
        f"no engine of {chip} handles SQE type {sqe_type}",
        ts_code=codes.SQE_ERROR,
        error_type=8,
        id="sqe.unknown-type",
        remedy="load the plugin that brings this engine",
    )


def _timeout(signal: Signal, limit_ns: int) -> DeviceFault:
    return DeviceFault(
        f"waited {limit_ns // NS_PER_S} s for {signal}",
        ts_code=codes.TASK_TIMEOUT,
        error_type=4,
        id="wait.timeout",
        remedy="find the task that should have set it: sqemu run --trace shows where each stream stands",
    )


def _place(task: Task) -> dict[str, Any]:
    """What every event about an entry says: when, and which entry."""
    return {
        "time": task.device.clock.now,
        "run": task.run,
        "stream": task.stream.id,
        "slot": task.slot,
        "task": task.task_id,
        "node": task.origin.node,
        "model_task": task.origin.model_task,
    }


def _distance(stream: Stream, slot: int) -> tuple[str, dict[str, int]]:
    """How far `slot` lies past the wait at which the stream was held, what is missing, and both as numbers."""
    depth = stream.window.depth
    if stream.last_wait is None or stream.last_wait >= slot:
        return "rewrite the entry before it is fetched", {"slot": slot, "prefetch_depth": depth}
    distance = slot - stream.last_wait
    missing = depth + 1 - distance
    remedy = (
        f"it lies {distance} entries past the wait in slot {stream.last_wait}, within the prefetch depth {depth}: put "
        f"{missing} more NOP{'s' * (missing != 1)} in between (policy nop_count)"
    )
    return remedy, {"slot": slot, "prefetch_depth": depth, "distance": distance, "missing": missing}
