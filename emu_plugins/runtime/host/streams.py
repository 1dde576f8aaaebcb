"""Stream calls: create, destroy, synchronise.

Everything is asynchronous: a submission costs the host nothing, and the device runs when the host waits. A device error
surfaces at the next synchronisation of its stream; when several happened, the last one hides those before it
(`device_semantics.md` 2.5, 8.4), and all are in `DeviceError.faults`. What ran and may be wrong is no error: each
hazard is given by the synchronisation after it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core.streams import State
from emu_plugins.runtime.host.base import Mark, RuntimeCore, api_call
from emu_plugins.runtime.host.codes import DEVICE_ABORTED, STREAM_MODEL, STREAM_SYNC_TIMEOUT
from emu_plugins.runtime.host.errors import DeviceError, RuntimeApiError, bad_value
from emu_plugins.runtime.host.handles import StreamHandle

if TYPE_CHECKING:
    from emu_core.reports import Fault, Hazard

NS_PER_MS = 1_000_000
FOREVER = -1


class StreamCalls(RuntimeCore):
    """See the module text."""

    @api_call
    def create_stream(self, *, priority: int = 0, name: str = "stream") -> StreamHandle:
        """A new stream.

        Args:
            priority: 0 (first) to 7.
            name: what reports call it.

        Raises:
            RuntimeApiError: no such priority (107000); no stream id (207008) or memory (207001) left (EE1023).
        """
        if priority not in range(8):
            raise bad_value("create_stream", "priority", priority, "[0, 7]")
        core = self.device.create_stream(name, bound=False, priority=priority)
        return StreamHandle(self, core, seen_faults=len(self.device.scheduler.faults))

    @api_call
    def destroy_stream(self, stream: StreamHandle | None) -> None:
        """Wait until `stream` is done, and give back its ring, its tiling tables and its id.

        Raises:
            RuntimeApiError: null (107000, EE1004), destroyed (107017), bound to a model (107005).
        """
        found = self.require("destroy_stream", "stream", stream, StreamHandle)
        if found.model is not None:
            raise RuntimeApiError(
                STREAM_MODEL,
                f"stream {found.id} is bound to model {found.model.id}",
                function="destroy_stream",
                remedy="unbind it, or destroy the model first",
            )
        self.drive(lambda: found.core.queue.pending == 0)
        found.alive = False
        for address in found.owned:
            self.device.memory.free(address)
        self.device.destroy_stream(found.core)

    @api_call
    def synchronize_stream(self, stream: StreamHandle | None, timeout_ms: int = FOREVER) -> tuple[Hazard, ...]:
        """Let the device run until everything submitted to `stream` is done.

        Returns:
            What ran on the device and may be wrong, since a synchronisation told of it last (`hazards` has all of it).

        Args:
            stream: a plain stream, or one of a complete model: it is done when no execution is left to start and it
                stands still, which may be later than the end of graph.
            timeout_ms: virtual milliseconds to wait at most; -1 is for ever.

        Raises:
            RuntimeApiError: null (107000, EE1004), destroyed (107017), a limit below -1 (107000, EE1003), bound to a
                model that is not complete (107005); the error of
                the last task of this stream that failed, by its own code (507011 for a model); not done in time
                (507046). A stream that can never go on is reported likewise: the vendor would hang.
        """
        function = "synchronize_stream"
        found = self.require(function, "stream", stream, StreamHandle)
        if timeout_ms < FOREVER:
            raise bad_value(function, "timeout", timeout_ms, "-1 or more")
        limit = None if timeout_ms == FOREVER else timeout_ms * NS_PER_MS
        if found.model is not None and found.model.core is None:
            raise RuntimeApiError(
                STREAM_MODEL,
                f"stream {found.id} belongs to model {found.model.id}, which is not complete: nothing of it runs yet",
                function=function,
                remedy="call load_complete and execute_model, and synchronise the calling stream",
            )
        done = self.drive(lambda: self._at_rest(found), limit)
        self._settle(found)
        if done and self.device.ordering is not None:
            self.device.ordering.host_waited(found.id)
        told = self._new_hazards()
        self._report(found, function, told)
        if not done:
            raise self._stuck(found, function, timed_out=limit is not None)
        return told

    def _at_rest(self, stream: StreamHandle) -> bool:
        """Whether nothing is left to do: a ring of a model is at rest between executions, though it is never empty."""
        core = stream.core
        if not core.queue.bound:
            return core.queue.pending == 0
        model = None if stream.model is None else stream.model.core
        called = any(run.core is model and run.caller.queue.pending for run in self._running)
        return core.state is State.IDLE and not called

    def _settle(self, caller: StreamHandle) -> None:
        """Models that `caller` executed are over when it is done."""
        if caller.core.queue.pending == 0:
            self._running = [execution for execution in self._running if execution.caller is not caller.core]

    def _new_hazards(self) -> tuple[Hazard, ...]:
        """Hazards that no synchronisation has given yet."""
        new = self._told_hazards.behind(self.device.hazards)
        self._told_hazards = Mark.at_end(self.device.hazards)
        return new

    def _report(self, stream: StreamHandle, function: str, hazards: tuple[Hazard, ...]) -> None:
        faults = self.device.scheduler.faults
        new = faults[min(stream.seen_faults, len(faults)) :]
        of_models = {each.id for model in stream.called for each in model.streams}
        stream.seen_faults = len(faults)
        if stream.core.queue.pending == 0:
            stream.called.clear()
        last = next((f for f in reversed(new) if f.stream == stream.id), None)
        if last is not None:
            told = tuple(f for f in new if f.stream == stream.id or f.stream in of_models)
            raise _device_error(last, told, function, hazards)

    def _stuck(self, stream: StreamHandle, function: str, *, timed_out: bool) -> RuntimeApiError:
        if self.device.scheduler.recovery.aborted:
            return RuntimeApiError(
                DEVICE_ABORTED,
                f"stream {stream.id} is not done: {self.device.scheduler.recovery.aborted}",
                function=function,
                remedy="make a new device, or use failure mode continue",
            )
        streams = list(self.device.streams.values())
        lines = [blocked.text() for blocked in self.device.scheduler.blocked(streams)]
        why = "; ".join(lines) if lines else "its tasks take longer"
        goes_on = timed_out and bool(self.device.clock.pending)
        return RuntimeApiError(
            STREAM_SYNC_TIMEOUT,
            f"stream {stream.id} is not done{' in time' if goes_on else ' and never will be'}: {why}",
            function=function,
            remedy="wait longer: the device still works" if goes_on else _NEVER,
        )


_NEVER = (
    "nothing on the device is left to do, so waiting longer is no use: submit the task that sets what is waited for, "
    "or look why the one that should have set it did not run"
)


def _device_error(last: Fault, faults: tuple[Fault, ...], function: str, hazards: tuple[Hazard, ...]) -> DeviceError:
    """The error of `last`, with everything that failed."""
    first = faults[0]
    more = f" ({len(faults)} tasks failed, this is the last; the first cause is {_place(first)}: {first.what})"
    return DeviceError(
        last.acl_code,
        f"{_place(last)}: {last.what}{more if first is not last else ''}",
        function=function,
        remedy=last.remedy,
        id=last.id,
        faults=faults,
        hazards=hazards,
    )


def _place(fault: Fault) -> str:
    return f"stream {fault.stream} task {fault.task} ({fault.kind})"
