"""What the host does about an error report of a stream that belongs to no model (`reference/device_semantics.md` 2.5).

| step | what |
|---|---|
| 1 | the queue has stopped at the failing entry; a report without any of the six error bits does nothing |
| 2 | head := behind the failing task: reported head + its units; + 1 more behind a model execute, whose wait goes too |
| 3 | head equals tail: nothing else happens until more is submitted |
| 4 | else the queue is enabled again, one host round trip after the report, unless the failure mode is *stop* |

In mode *stop* the first such error aborts the whole context:

| what | becomes of it |
|---|---|
| submissions from now on | refused (`stream.aborted`) |
| waits for flags and memory values of every stream, now or later | released: their queues stop at the wait |
| entries that run, and what follows them in their queues | go on |

What was released is a consequence of the first fault, not a deadlock and no fault of its own (our reading of "pending
events are released").
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from emu_core.errors import InputError, LimitError
from emu_core.streams import Cause, State

if TYPE_CHECKING:
    from collections.abc import Callable

    from emu_core.device import Device
    from emu_core.reports import Fault
    from emu_core.streams import Stream

ERROR_BITS = 0x3F


class Recovery:
    """The host's error handling for one device; `enable(stream)` lets a queue run again.

    Attributes:
        stops: failure mode *stop* holds for streams created from now on. aborted: why everything is refused, or empty.
    """

    def __init__(self, device: Device, enable: Callable[[Stream], None]) -> None:
        self.stops = device.policies["failure_mode"] == "stop"
        self.aborted = ""
        self._cause: Fault | None = None
        self._device = device
        self._enable = enable
        self._layout = device.layout("CqeError")

    def set_mode(self, mode: str) -> None:
        """Set the failure mode of the device, `continue` or `stop`; streams created later inherit it.

        Raises:
            LimitError: mode *stop* cannot be left (207000).
        """
        if self.stops and mode != "stop":
            raise LimitError(
                "the failure mode is stop and cannot be changed back", id="207000", remedy="make a new device"
            )
        self.stops = mode == "stop"
        for stream in self._device.streams.values():
            stream.stops = self.stops

    def require_working(self, stream: Stream) -> None:
        """`InputError` (id `stream.aborted`) when an error in mode *stop* came before."""
        if self.aborted and not stream.queue.bound:
            raise InputError(
                f"nothing can be submitted any more: {self.aborted}",
                id="stream.aborted",
                where=f"stream {stream.id}",
                remedy="make a new device, or use failure_mode=continue",
            )

    def stopped(self, stream: Stream, report: bytes) -> None:
        """`stream` stopped with this error report: plan what the host does about it."""
        stream.report = report
        stream.recovered = False
        if stream.model_id is not None:
            return
        if stream.stops:
            self._abort(stream)
            return
        if stream.queue.pending <= self._skips(stream, report):
            self.handle(stream, report)
            return
        delay = self._device.chip.latencies.host_round_trip_ns
        self._device.clock.after(delay, stream.id, lambda: self._later(stream, report))

    def _abort(self, stream: Stream) -> None:
        if not self.aborted:
            self.aborted = f"stream {stream.id} failed in failure mode stop"
            self._cause = self._device.scheduler.faults[-1]
        for other in self._device.streams.values():
            if other.waiting is not None:
                self.release(other)

    def release(self, stream: Stream) -> None:
        """End the wait of `stream`, which stops there, and note it with the fault that aborted the context."""
        if stream.waiting is None:
            return
        task, handler = stream.waiting
        self._note(
            f"stream {stream.id} task {task.task_id} ({handler.kind}) was released from {stream.waits_for} and stopped"
        )
        stream.queue.enabled = False
        self._device.scheduler.unpark(stream)
        stream.move(Cause.ERROR)

    def _note(self, consequence: str) -> None:
        """Add a consequence to the fault that aborted the context."""
        faults = self._device.scheduler.faults
        for at, fault in enumerate(faults):
            if fault is self._cause:
                self._cause = faults[at] = replace(fault, consequences=(*fault.consequences, consequence))
                return

    def _later(self, stream: Stream, report: bytes) -> None:
        """Nothing when somebody has put the stream right in between."""
        if stream.report is report:
            self.handle(stream, report)

    def handle(self, stream: Stream, report: bytes) -> bool:
        """Steps 1 to 4 for one completion entry; False when it reports no error or the stream has not stopped."""
        values = self._layout.parse(report)
        if not values["error_type"] & ERROR_BITS or stream.state is not State.SLOT_DISABLE:
            return False
        queue = stream.queue
        left = (queue.tail - values["sq_head"]) % queue.depth
        queue.head = (values["sq_head"] + min(self._skips(stream, report), left)) % queue.depth
        stream.window.clear()
        stream.report = None
        stream.recovered = True
        if queue.pending and not stream.stops:
            self.reenable(stream)
        return True

    def reenable(self, stream: Stream) -> None:
        """Take a stream that was put right out of its stop, and let it run."""
        stream.recovered = False
        stream.move(Cause.HANDLED)
        self._enable(stream)

    def _skips(self, stream: Stream, report: bytes) -> int:
        handler = self._device.dispatch.find(stream.queue.entry(self._layout.field("sqe_index").read(report)))
        return max(stream.units, 1) + (handler.skips - 1 if handler else 0)
