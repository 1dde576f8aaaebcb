"""Model calls: build, execute, abort (`device_semantics.md` 4.1 and 4.2, S47 to S52).

| call | does | refused |
|---|---|---|
| `create_model` | takes a model id | none left: 207010, EE1023 |
| `bind_stream` | the ring belongs to the model; flag 0 makes a head stream | bound, or used: 107005, EE1007 |
| `unbind_stream` | takes it out; what is in its ring is skipped | another model's: 107005, EE4002 |
| `end_graph` | a notify record that ends the model | stream not bound to it: 507000; second one: 507000 |
| `load_complete` | the device gets the model | no stream: 107005, EE1018; no end of graph: 507011, EE1018 |
| `execute_model` | model execute and the wait for its end, to the calling stream | not complete: 507011, EE1018 |
| `abort_model` | every stream idle, every flag clear | not complete: 507011, EE1018 |
| `destroy_model` | unbinds its streams and gives its id back | running: 107037 |

Whether a model is *busy* is the device's business: a second execution before the first is over makes the model execute
entry fail, and the synchronisation of its calling stream says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core.errors import LimitError
from emu_core.model import Model, ModelState
from emu_core.origin import NOWHERE, Origin
from emu_core.signals import Signal
from emu_core.trace import ModelPhase
from emu_plugins.runtime.host.base import RuntimeCore, api_call
from emu_plugins.runtime.host.codes import INTERNAL, MODEL_EXECUTE, MODEL_RUNNING, STREAM_MODEL
from emu_plugins.runtime.host.errors import RuntimeApiError
from emu_plugins.runtime.host.handles import HEAD_STREAM, Execution, ModelHandle, NotifyHandle, StreamHandle

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from emu_core.model import Port, Reshape

MOST_MODELS = 2048
"""Model ids of the host's resource map (`device_semantics.md` 1.2)."""


class ModelCalls(RuntimeCore):
    """See the module text."""

    @api_call
    def create_model(self, name: str = "model") -> ModelHandle:
        """A new model to build; `name` is for reports.

        Raises:
            RuntimeApiError: no model id left (207010, EE1023).
        """
        return ModelHandle(self, self.device.take_id("model", MOST_MODELS, "207010"), name)

    @api_call
    def bind_stream(self, model: ModelHandle | None, stream: StreamHandle | None, flag: int = HEAD_STREAM) -> None:
        """Bind `stream`; flag 0 is a head stream, any other one waits for another stream to activate it (S47, S48).

        Raises:
            RuntimeApiError: null (107000, EE1004), destroyed (107017); the model is complete (107005); bound already,
                or used as a plain stream before (107005, EE1007).
        """
        function = "bind_stream"
        found, target = self._model_pair(function, model, stream)
        if found.core is not None:
            raise _refused(STREAM_MODEL, "", function, f"model {found.id} is complete")
        if target.model is not None:
            raise _refused(
                STREAM_MODEL, "EE1007", function, f"stream {target.id} is bound to model {target.model.id} already"
            )
        if target.core.queue.task_at:
            raise _refused(STREAM_MODEL, "EE1007", function, f"stream {target.id} was used before it was bound")
        target.model = found
        target.core.queue.bound = True
        found.streams.append(target)
        if flag == HEAD_STREAM:
            found.heads.append(target)

    @api_call
    def unbind_stream(self, model: ModelHandle | None, stream: StreamHandle | None) -> None:
        """Take `stream` out of `model`; it is a plain stream then, and what its ring holds is never executed again.

        Raises:
            RuntimeApiError: null (107000, EE1004), destroyed (107017), bound to another model or to none (107005,
                EE4002), running (107037).
        """
        function = "unbind_stream"
        found, target = self._model_pair(function, model, stream)
        if target.model is not found:
            raise _refused(STREAM_MODEL, "EE4002", function, f"stream {target.id} is not bound to model {found.id}")
        self._require_rest(function, found)
        self._release(found, target)

    def _release(self, model: ModelHandle, stream: StreamHandle) -> None:
        model.streams.remove(stream)
        if stream in model.heads:
            model.heads.remove(stream)
        stream.model = None
        stream.core.model_id = None
        stream.core.queue.bound = False
        stream.core.queue.head = stream.core.queue.tail

    @api_call
    def end_graph(self, model: ModelHandle | None, stream: StreamHandle | None, *, origin: Origin = NOWHERE) -> int:
        """Submit the record that ends an execution, and return its task id (S49).

        Raises:
            RuntimeApiError: null (107000, EE1004), destroyed (107017); the stream is not bound to the model, or the
                model has an end already (507000); no notify id left (207009, EE1023); ring full (507002, EE1019).
        """
        function = "end_graph"
        found, target = self._model_pair(function, model, stream)
        if target.model is not found:
            raise _refused(INTERNAL, "", function, f"stream {target.id} is not bound to model {found.id}")
        if found.end is not None:
            raise _refused(INTERNAL, "", function, f"model {found.id} has an end of graph already")
        self.reuse_ids()
        end = NotifyHandle(self, self.device.create_notify(), name=f"end of {found.name}" if found.name else "")
        try:
            task = self.submit_for(end, target, lambda place: self.build.notify_record(place, end.id), origin)
        except BaseException:
            self.device.release_id("notify", end.id)
            raise
        found.end = end
        return task

    @api_call
    def load_complete(
        self,
        model: ModelHandle | None,
        *,
        caller: StreamHandle | None = None,
        inputs: tuple[Port, ...] = (),
        outputs: tuple[Port, ...] = (),
        scratch: Sequence[int] = (),
        details: Mapping[str, object] | None = None,
    ) -> Model:
        """Hand the model to the device; returns the device's model, whose `execute` runs it with arrays.

        Args:
            model: what was built.
            caller: the stream that `Model.execute` calls from; `execute_model` names one itself.
            inputs, outputs: ports for `Model.execute`.
            scratch: addresses of allocations whose contents do not survive an execution.
            details: what the builder found out, by operator name, for people to read.

        Raises:
            RuntimeApiError: null (107000, EE1004), destroyed (107017), complete already (507000); no stream (107005,
                EE1018); no end of graph (507011, EE1018); more sunk tasks than the chip keeps (207005, EE1023).
        """
        function = "load_complete"
        found = self.require(function, "model", model, ModelHandle)
        if found.core is not None:
            raise _refused(INTERNAL, "", function, f"model {found.id} is complete already")
        if caller is not None:
            self.require(function, "caller", caller, StreamHandle)
        if not found.streams:
            raise _refused(STREAM_MODEL, "EE1018", function, f"no stream is bound to model {found.id}")
        if found.end is None:
            raise _refused(MODEL_EXECUTE, "EE1018", function, f"model {found.id} has no end of graph")
        self.require_persistent(found)
        streams = tuple(stream.core for stream in found.streams)
        found.core = self._register(
            Model(
                device=self.device,
                model_id=found.id,
                name=found.name,
                streams=streams,
                head_streams=tuple(stream.core for stream in found.heads),
                caller=streams[0] if caller is None else caller.core,
                end=Signal("notify", found.end.id),
                inputs=inputs,
                outputs=outputs,
                scratch=scratch,
                launch=lambda _core: self._launch_from(found, caller),
                details=details,
            )
        )
        return found.core

    def host_scheduled(
        self,
        name: str,
        caller: StreamHandle,
        launch: Callable[[Model], None],
        *,
        inputs: tuple[Port, ...],
        outputs: tuple[Port, ...],
        scratch: Sequence[int],
        parts: Sequence[ModelHandle] = (),
        reshape: Reshape | None = None,
    ) -> Model:
        """A model without rings of its own: `launch` submits its tasks to `caller` at each execution.

        `parts`: complete models that `launch` executes as well; their streams are shown and aborted with this model.
        `reshape`: places the ports for one execution, when their shapes are known at run time only.
        """
        ends = [part.end.id for part in parts if part.end is not None]
        core = self._register(
            Model(
                device=self.device,
                model_id=self.device.take_id("model", MOST_MODELS, "207010"),
                name=name,
                streams=tuple(stream.core for part in parts for stream in part.streams),
                head_streams=(),
                caller=caller.core,
                end=Signal("notify", ends[-1]) if ends else None,
                inputs=inputs,
                outputs=outputs,
                scratch=scratch,
                launch=launch,
                reshape=reshape,
            )
        )
        for part in parts:
            for stream in part.streams:
                stream.core.model_id = part.id
        return core

    def submit_model(self, model: ModelHandle, caller: StreamHandle) -> None:
        """Model execute and the wait for its end, for a caller that keeps account of its executions itself."""
        self._launch_from(model, caller)

    def _register(self, core: Model) -> Model:
        self.device.models[core.id] = core
        self.device.trace.add(ModelPhase(time=self.device.clock.now, model=core.id, phase="loaded"))
        return core

    def require_persistent(self, model: ModelHandle) -> None:
        """`LimitError` when the streams of `model` hold more tasks than the chip keeps."""
        chip = self.device.chip
        used = sum(len(stream.core.queue.task_at) for stream in model.streams)
        if used > chip.persistent_tasks:
            raise LimitError(
                f"the model has {used} tasks, {chip.name} keeps at most {chip.persistent_tasks}",
                id="limit.persistent-tasks",
                remedy="split the graph",
            )

    # ---- execution -------------------------------------------------------------------------------------------

    @api_call
    def execute_model(self, model: ModelHandle | None, stream: StreamHandle | None) -> None:
        """Submit an execution to the calling `stream`; `synchronize_stream` of it waits for the end and reports errors.

        Raises:
            RuntimeApiError: null (107000, EE1004), destroyed (107017); not complete (507011, EE1018); the stream is
                bound to a model (107005); ring full (507002).
        """
        function = "execute_model"
        found, caller = self._model_pair(function, model, stream)
        core = self._complete(function, found)
        if caller.model is not None:
            raise _refused(STREAM_MODEL, "", function, f"stream {caller.id} is bound to model {caller.model.id}")
        self._reserve_call(caller)
        core.executions += 1
        self.device.run = core.executions
        self.device.trace.add(
            ModelPhase(time=self.device.clock.now, run=core.executions, model=found.id, phase="start")
        )
        self._launch_from(found, caller)
        self._running.append(Execution(core, caller.core, len(self.device.scheduler.faults)))
        if core not in caller.called:
            caller.called.append(core)

    def _reserve_call(self, caller: StreamHandle) -> None:
        """Refuse a call that would not be submitted as a whole."""
        self.device.scheduler.recovery.require_working(caller.core)
        self.reserve(caller, 2)

    def _launch_from(self, model: ModelHandle, caller: StreamHandle | None) -> None:
        """Model execute, and the wait for the end of the model."""
        end = model.end
        if caller is None:
            raise _refused(STREAM_MODEL, "", "Model.execute", f"model {model.id} has no calling stream")
        assert end is not None
        assert model.core is not None
        model.core.caller = caller.core
        self._reserve_call(caller)
        self.submit(caller, lambda place: self.build.model_execute(place, model.id))
        self.submit_for(end, caller, lambda place: self.build.notify_wait(place, end.id))

    @api_call
    def abort_model(self, model: ModelHandle | None) -> None:
        """Throw away what is queued of `model` and the streams that call it; it can be executed again.

        Raises:
            RuntimeApiError: null (107000, EE1004), destroyed (107017), not complete (507011, EE1018).
        """
        found = self.require("abort_model", "model", model, ModelHandle)
        core = self._complete("abort_model", found)
        callers = [execution.caller for execution in self._running if execution.core is core] or [core.caller]
        for core.caller in callers:
            core.abort()
        self._running = [execution for execution in self._running if execution.core is not core]

    @api_call
    def destroy_model(self, model: ModelHandle | None) -> None:
        """Unbind the streams of `model`, and give back its id and its end-of-graph notify.

        Raises:
            RuntimeApiError: null (107000, EE1004), destroyed (107017), running (107037).
        """
        found = self.require("destroy_model", "model", model, ModelHandle)
        self._require_rest("destroy_model", found)
        for stream in list(found.streams):
            self._release(found, stream)
        self.device.models.pop(found.id, None)
        if found.end is not None:
            self.retire("notify", found.end, found.end.id)
        self.device.release_id("model", found.id)
        found.alive = False

    def _require_rest(self, function: str, model: ModelHandle) -> None:
        core = model.core
        if core is not None and (core.state is ModelState.RUNNING or any(e.core is core for e in self._running)):
            raise _refused(MODEL_RUNNING, "", function, f"model {model.id} is running")

    @staticmethod
    def _complete(function: str, model: ModelHandle) -> Model:
        if model.core is None:
            raise _refused(MODEL_EXECUTE, "EE1018", function, f"model {model.id} is not complete")
        return model.core

    def _model_pair(
        self, function: str, model: ModelHandle | None, stream: StreamHandle | None
    ) -> tuple[ModelHandle, StreamHandle]:
        return (
            self.require(function, "model", model, ModelHandle),
            self.require(function, "stream", stream, StreamHandle),
        )


_REMEDIES = {
    "bind_stream": "bind each stream once, before its first task and before load_complete",
    "unbind_stream": "unbind it from the model that it is bound to",
    "end_graph": "bind the stream to this model first, and end the graph once",
    "load_complete": "bind streams, submit tasks, call end_graph, then load_complete once",
    "execute_model": "complete the model first, and call it from a plain stream",
    "abort_model": "complete the model first",
    "Model.execute": "give load_complete a caller, or use execute_model",
}


def _refused(code: int, message: str, function: str, what: str) -> RuntimeApiError:
    remedy = _REMEDIES.get(function, "synchronise its calling stream first, or abort it")
    return RuntimeApiError(code, what, message=message, function=function, remedy=remedy)
