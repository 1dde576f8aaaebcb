"""A loaded model: its streams, ports, and one execution after the other.

| state | entered by | `execute` |
|---|---|---|
| ready | loading, a clean execution, `abort` | allowed |
| running | `execute` | refused: the device would answer "busy" |
| failed | a fault or a deadlock | refused until `abort` |
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from emu_core import codes
from emu_core.errors import DeviceFault, InputError
from emu_core.expected import expect
from emu_core.observing import tell_observers
from emu_core.reports import Hazard
from emu_core.streams import Cause, State
from emu_core.trace import ModelPhase
from formats.dtypes import dtype_named

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from emu_core.device import Device
    from emu_core.journal import JournalEntry
    from emu_core.reports import Deadlock, Fault
    from emu_core.signals import Signal
    from emu_core.streams import Stream
    from emu_core.trace import Event

    Array = npt.NDArray[np.generic]


@dataclass(frozen=True)
class Port:
    """A graph input or output: element type name, shape, and where its bytes lie (`size` bytes at `address`).

    With -1 or -2 in the shape it lies elsewhere in each execution, and `address` and `size` are 0.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    address: int
    size: int

    @property
    def unknown(self) -> bool:
        """The shape is known at run time only."""
        return min(self.shape, default=0) < 0


Reshape: TypeAlias = "Callable[[tuple[tuple[int, ...], ...]], tuple[tuple[Port, ...], tuple[Port, ...]]]"


@dataclass(frozen=True, repr=False)
class Result:
    """One execution.

    Attributes:
        run: number of the execution, from 1.
        outputs: arrays by name, in the shapes of the graph; bfloat16 as uint16. Empty unless `ok`.
        unwritten: outputs of which the program left bytes unwritten, with the number of the first such byte.
        faults: first cause first. hazards, deadlock: what else was seen.
        trace: events of this execution. patches: journal entries of this execution.
        started, ended: virtual nanoseconds.
    """

    run: int
    outputs: Mapping[str, Array]
    faults: tuple[Fault, ...]
    hazards: tuple[Hazard, ...]
    deadlock: Deadlock | None
    trace: tuple[Event, ...]
    patches: tuple[JournalEntry, ...]
    started: int
    ended: int
    unwritten: Mapping[str, int] = field(default_factory=dict)

    def __repr__(self) -> str:
        state = "ok" if self.ok else "deadlock" if self.deadlock else f"failed: {self.faults[0].id}"
        names = ", ".join(self.outputs) or "none"
        return (
            f"<Result run {self.run}: {state}, outputs {names}, {len(self.hazards)} hazards, {len(self.trace)} events>"
        )

    @property
    def ok(self) -> bool:
        """No fault and no deadlock; hazards may be there."""
        return not self.faults and self.deadlock is None


class ModelState(Enum):
    """See the module text."""

    READY = "ready"
    RUNNING = "running"
    FAILED = "failed"


class Model:
    """A model on a device.

    Args:
        device: where it lives. model_id: its id there. name: the graph's.
        streams: bound streams in blob order. head_streams: those that model execution activates.
        caller: the stream that executes the model; bound to none.
        end: flag that the end of the graph sets, on which the caller waits; None for a host-scheduled model.
        inputs, outputs: ports.
        scratch: addresses of allocations whose contents do not survive from one execution to the next; looked at
            before each execution, so that its owner may exchange them.
        launch: starts one execution (submits to `caller`, or drives the launches from the host).
        reshape: places the ports for one execution, from the shapes of its input arrays in port order; None when all
            shapes are known. It raises before anything has run.
        details: what the loader found out about each operator, by operator name, for people to read.
    """

    def __init__(
        self,
        *,
        device: Device,
        model_id: int,
        name: str,
        streams: tuple[Stream, ...],
        head_streams: tuple[Stream, ...],
        caller: Stream,
        end: Signal | None,
        inputs: tuple[Port, ...],
        outputs: tuple[Port, ...],
        scratch: Sequence[int],
        launch: Callable[[Model], None],
        details: Mapping[str, object] | None = None,
        reshape: Reshape | None = None,
    ) -> None:
        self.device = device
        self.id = model_id
        self.name = name
        self.streams = streams
        self.head_streams = head_streams
        self.caller = caller
        self.end = end
        self.inputs = inputs
        self.outputs = outputs
        self.state = ModelState.READY
        self.executions = 0
        self.details = dict(details or {})
        self._scratch = scratch
        self._launch = launch
        self.reshape = reshape
        self._placed = (inputs, outputs)
        self._loaded = {s.id: s.queue.contents() for s in streams}
        self._marks = (0, 0, 0, 0)
        self._started = 0
        for stream in streams:
            stream.model_id = model_id

    def rings(self) -> dict[int, bytes]:
        """Present contents of each bound ring, by stream id; of the calling stream for a host-scheduled model."""
        return {s.id: s.queue.contents() for s in self._ring_streams}

    @property
    def _ring_streams(self) -> tuple[Stream, ...]:
        return self.streams or (self.caller,)

    def executed(self) -> dict[int, bytes]:
        """What ran in the last execution: the ring, with the bytes that executed in each slot that was reached."""
        found = {}
        for stream in self._ring_streams:
            raw = bytearray(stream.queue.contents())
            for slot, sqe in stream.executed.items():
                raw[64 * slot : 64 * slot + 64] = sqe
            found[stream.id] = bytes(raw)
        return found

    def execute(self, inputs: Mapping[str, Array]) -> Result:
        """Run the model once on `inputs` (arrays by port name; names that are no port are ignored).

        Raises:
            InputError: a port is missing (`input.missing`), has another dtype (`input.dtype`) or shape
                (`input.shape`) or masked values (`input.array`), or the model is not ready (`model.busy`).
        """
        self.begin(inputs)
        try:
            self._launch(self)
            self.device.scheduler.run_until_idle()
        except BaseException:
            self.state = ModelState.FAILED
            self.device.clock.clear()
            raise
        return self.complete()

    def begin(self, inputs: Mapping[str, Array]) -> None:
        """The first part of `execute`: check the inputs and write them to their ports; raises as it."""
        expect(inputs, Mapping, "a mapping of arrays by input name", "use {} when the graph has no inputs")
        if self.state is not ModelState.READY:
            raise InputError(
                f"model {self.name} is {self.state.value}",
                id="model.busy",
                where=f"model {self.id}",
                remedy="abort it, or load it again",
            )
        arrays = [_checked(port, inputs) for port in self.inputs]
        if self.reshape is not None:
            self._placed = self.reshape(tuple(array.shape for array in arrays))
        device = self.device
        self.executions += 1
        device.run = self.executions
        self._marks = (len(device.trace), len(device.journal), len(device.hazards), len(device.scheduler.faults))
        self._prepare(arrays)
        self.state = ModelState.RUNNING
        self._started = started = device.clock.now
        device.trace.add(ModelPhase(time=started, run=self.executions, model=self.id, phase="start"))

    def submit(self) -> None:
        """The second part of `execute`: what the host submits; one that drives the launches itself runs the device."""
        self._launch(self)

    def complete(self) -> Result:
        """The last part of `execute`, when nothing is queued any more: what came of it."""
        result = self._collect(self._started, self._marks)
        tell_observers(self.device, result)
        return result

    def abort(self) -> None:
        """Throw away what is queued: every stream idle at entry 0, its flags cleared; the model is ready again."""
        device = self.device
        for stream in (*self.streams, self.caller):
            device.scheduler.unpark(stream)
            if stream.state not in (State.IDLE, State.SLOT_DISABLE):
                stream.move(Cause.ERROR)
            if stream.state is State.SLOT_DISABLE:
                stream.move(Cause.HANDLED)
            stream.queue.head = stream.queue.tail
            stream.queue.enabled = False
            stream.window.clear()
        device.signals.clear_all()
        if device.ordering is not None:
            device.ordering.forget_flags()
        self.state = ModelState.READY

    def _prepare(self, arrays: list[Array]) -> None:
        memory = self.device.memory
        for address in self._scratch:
            memory.forget_written(address, 1)
        for port, array in zip(self._placed[0], arrays, strict=True):
            memory.write(port.address, np.frombuffer(array.tobytes(), np.uint8))
        if self.executions > 1 and self.device.policies["reexecute_keeps_patch"] == "off":
            self._restore()

    def _restore(self) -> None:
        for stream in self.streams:
            loaded = self._loaded[stream.id]
            for slot in list(stream.patched_in):
                self.device.replace_sqe(stream.id, slot, loaded[64 * slot : 64 * slot + 64])
        self.device.contexts.restore(stream.id for stream in self.streams)

    def _collect(self, started: int, marks: tuple[int, int, int, int]) -> Result:
        device = self.device
        scheduler = device.scheduler
        everything = [*self.streams, self.caller]
        deadlock = None
        if len(scheduler.faults) > marks[3]:
            self.conclude(marks[3])
        else:
            deadlock = scheduler.deadlock(everything)
        faults = tuple(scheduler.faults[marks[3] :])
        failed = bool(faults) or deadlock is not None
        unwritten = {} if failed else self._unwritten()
        for name, at in unwritten.items():
            device.report(self._unwritten_hazard(name, at))
        self.state = ModelState.FAILED if failed else ModelState.READY
        phase = "failed" if failed else "end"
        device.trace.add(ModelPhase(time=device.clock.now, run=self.executions, model=self.id, phase=phase))
        device.cq.drain(device.cq.depth)
        return Result(
            run=self.executions,
            outputs={} if failed else {port.name: self._output(port) for port in self._placed[1]},
            faults=faults,
            hazards=tuple(device.hazards[marks[2] :]),
            deadlock=deadlock,
            trace=device.trace.since(marks[0]),
            patches=device.journal.since(marks[1]),
            started=started,
            ended=device.clock.now,
            unwritten=unwritten,
        )

    def conclude(self, first: int) -> None:
        """A bound stream failed: name what stopped because of it, then end the caller's wait (`codes.model_end`)."""
        scheduler = self.device.scheduler
        cause = scheduler.faults[first]
        lines = [b.text() for b in scheduler.blocked(list(self.streams))]
        end = codes.model_end(cause.ts_code)
        ended = f"model {self.name} ends with TS {end.ts_code:#x}, ACL {codes.acl_code(end.ts_code)}"
        scheduler.faults[first] = replace(cause, consequences=(*lines, ended))
        waiting = self.caller.waiting
        if waiting is not None and self.end is not None:
            status = cause.task & 0xFFFF | (cause.stream & 0xFFF) << 16 | end.result << 28
            scheduler.end_wait(self.caller, _model_failed(self.name, cause, end.ts_code), status)

    def _output(self, port: Port) -> Array:
        raw = self.device.memory.read(port.address, port.size)
        return np.frombuffer(raw, dtype_named(port.dtype).carrier).reshape(port.shape).copy()

    def _unwritten_hazard(self, name: str, at: int) -> Hazard:
        return Hazard(
            "hazard.unwritten-output",
            f"output {name} was not written completely, first at byte {at}; what was there before is returned",
            "check which task should write it; an operator may leave parts out, such as those of empty sequences",
            self.device.clock.now,
            self.executions,
            -1,
            -1,
            -1,
            {"output": name, "byte": at},
        )

    def _unwritten(self) -> dict[str, int]:
        found = {}
        for port in self._placed[1]:
            gap = self.device.memory.unwritten(port.address, port.size)
            if gap is not None:
                found[port.name] = gap - port.address
        return found


_UNKNOWN_RANK = (-2,)
_ANY = "-1 stands for any number; give the other dimensions as the graph has them"


def fits_shape(found: tuple[int, ...], declared: tuple[int, ...]) -> bool:
    """Whether a known shape is one of those that `declared` stands for: -1 is any number, (-2,) any shape at all."""
    if declared == _UNKNOWN_RANK:
        return True
    return len(found) == len(declared) and all(want in (-1, have) for have, want in zip(found, declared, strict=True))


def _model_failed(name: str, cause: Fault, ts_code: int) -> DeviceFault:
    return DeviceFault(
        f"model {name} failed because of stream {cause.stream} task {cause.task}: {cause.id}",
        ts_code=ts_code,
        error_type=32,
        id="model.failed",
        remedy="repair the first fault",
    )


def _checked(port: Port, inputs: Mapping[str, Array]) -> Array:
    if port.name not in inputs:
        raise InputError(
            f"input {port.name!r} is missing",
            id="input.missing",
            where=f"input {port.name}",
            remedy=f"the arrays given are {', '.join(sorted(map(str, inputs))) or 'none'}",
        )
    if np.ma.is_masked(inputs[port.name]):
        raise InputError(
            f"input {port.name!r} has masked values",
            id="input.array",
            where=f"input {port.name}",
            remedy="fill them first, for example with numpy.ma.filled",
        )
    try:
        array = np.asarray(inputs[port.name])
    except ValueError as error:
        raise InputError(
            f"input {port.name!r} is no array: {error}", id="input.array", where=f"input {port.name}"
        ) from None
    carrier = np.dtype(dtype_named(port.dtype).carrier)
    if array.dtype != carrier:
        raise InputError(
            f"input {port.name!r} has dtype {array.dtype}, the graph says {port.dtype}",
            id="input.dtype",
            where=f"input {port.name}",
            remedy=f"give it as numpy {carrier.name}",
        )
    if not fits_shape(array.shape, port.shape):
        raise InputError(
            f"input {port.name!r} has shape {list(array.shape)}, the graph says {list(port.shape)}",
            id="input.shape",
            where=f"input {port.name}",
            remedy=_ANY if port.unknown else "",
        )
    return np.ascontiguousarray(array)
