"""Stream calls: create, destroy, synchronise.

Everything is asynchronous: a submission costs the host nothing, and the device runs when the host waits. A device error
surfaces at the next synchronisation of its stream; when several happened, the last one hides those before it
(`device_semantics.md` 2.5, 8.4), and all are in `RuntimeApiError.faults`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core.streams import State
from emu_plugins.runtime.host.base import RuntimeCore, api_call
from emu_plugins.runtime.host.codes import DEVICE_ABORTED, STREAM_MODEL, STREAM_SYNC_TIMEOUT
from emu_plugins.runtime.host.errors import DeviceError, RuntimeApiError, bad_value
from emu_plugins.runtime.host.handles import StreamHandle

if TYPE_CHECKING:
    from emu_core.reports import Fault

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
    def synchronize_stream(self, stream: StreamHandle | None, timeout_ms: int = FOREVER) -> None:
        """Let the device run until everything submitted to `stream` is done.

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
        self._report(found, function)
        if not done:
            raise self._stuck(found, function, timed_out=limit is not None)

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

    def _report(self, stream: StreamHandle, function: str) -> None:
        faults = self.device.scheduler.faults
        own = tuple(f for f in faults[min(stream.seen_faults, len(faults)) :] if f.stream == stream.id)
        stream.seen_faults = len(faults)
        if own:
            raise _device_error(own, function)

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
        return RuntimeApiError(
            STREAM_SYNC_TIMEOUT,
            f"stream {stream.id} is not done{' in time' if timed_out else ' and never will be'}: {why}",
            function=function,
            remedy="look for the task that should have set what is waited for, or wait longer",
        )


def _device_error(faults: tuple[Fault, ...], function: str) -> DeviceError:
    last = faults[-1]
    more = f" ({len(faults)} tasks failed, this is the last)" if len(faults) > 1 else ""
    return DeviceError(
        last.acl_code,
        f"stream {last.stream} task {last.task} ({last.kind}): {last.what}{more}",
        function=function,
        remedy=last.remedy,
        id=last.id,
        faults=faults,
    )
