"""State of a runtime, and the one way an entry gets into a ring.

| step of a submission | refused with |
|---|---|
| an error in failure mode *stop* came before | 107023 |
| a full ring: a plain stream's is run empty first, one bound to a model never wraps | 507002, EE1019 |
| the driver looks at the entry: credit *never* where that is not allowed makes it type 63 | the device answers, S58 |
| the entry goes to tail; the doorbell rings, but not for a stream that is bound to a model | |
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import wraps
from inspect import signature
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from emu_core.errors import DeviceFault, InputError, LimitError
from emu_core.origin import NOWHERE
from emu_core.rings import SQE_BYTES, is_full
from emu_core.signals import Signal
from emu_plugins.engines.credits import as_submitted
from emu_plugins.runtime.builders import builder_for
from emu_plugins.runtime.host.capability import Firmware
from emu_plugins.runtime.host.codes import PARAM_INVALID, STREAM_CONTEXT, STREAM_MODEL
from emu_plugins.runtime.host.errors import RuntimeApiError, dead_handle, null_pointer, public, shown
from emu_plugins.runtime.host.handles import Handle
from emu_plugins.runtime.host.kinds import HANDLES, OF_THE_CALL, accept, kind_of
from emu_plugins.runtime.sqes import Place

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from emu_core.device import Device
    from emu_core.origin import Origin
    from emu_core.reports import Hazard
    from emu_plugins.runtime.host.handles import Execution, Flag, StreamHandle

STACK_POOL = 32 * 1024
"""Bytes of the stack pool that every AI Core entry names."""
TEXT_SHOWN = 40
MOST_USES = 64
"""Entries of a flag that are remembered before those that are done are forgotten."""

P = ParamSpec("P")
R = TypeVar("R")
C = TypeVar("C", bound="RuntimeCore")
H = TypeVar("H", bound=Handle)


def api_call(method: Callable[Concatenate[C, P], R]) -> Callable[Concatenate[C, P], R]:
    """A call of the host API: its parameters are looked at first, and all errors leave it as `RuntimeApiError`."""
    name = method.__name__
    kinds = {parameter: kind_of(name, parameter) for parameter in list(signature(method).parameters)[1:]}
    rows = tuple(kinds.items())

    def accepted(runtime: C, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        try:
            return (
                [
                    value if kind is OF_THE_CALL or type(value) is kind.plain else accept(name, parameter, value, kind)
                    for (parameter, kind), value in zip(rows, args, strict=False)
                ],
                {p: accept(name, p, value, kinds[p]) for p, value in kwargs.items() if p in kinds},
            )
        except RuntimeApiError:
            for parameter, value in (*zip(kinds, args, strict=False), *kwargs.items()):
                if parameter in HANDLES:
                    runtime.require(name, parameter, value, HANDLES[parameter])
            raise

    @wraps(method)
    def call(runtime: C, /, *args: P.args, **kwargs: P.kwargs) -> R:
        try:
            if len(args) > len(rows) or not kinds.keys() >= kwargs.keys():
                return method(runtime, *args, **kwargs)
            given, named = accepted(runtime, args, kwargs)
            return method(runtime, *given, **named)
        except RuntimeApiError as error:
            if not error.function:
                error.function = error.where = name
            raise
        except (LimitError, InputError, DeviceFault) as error:
            raise public(error, name) from error

    return call


def is_queued(stream: StreamHandle, task_id: int) -> bool:
    """Whether a task may still be executed: it is between head and tail, or in the ring of a model."""
    if not stream.alive:
        return False
    queue = stream.core.queue
    slot = queue.slot_of.get(task_id)
    return slot is not None and (queue.bound or (slot - queue.head) % queue.depth < queue.pending)


@dataclass(frozen=True)
class Mark:
    """A place in the list of hazards, which may be cleared in between: how many stood before it, and the last."""

    count: int
    last: Hazard | None

    @classmethod
    def at_end(cls, hazards: Sequence[Hazard]) -> Mark:
        """The place behind the last hazard."""
        return cls(len(hazards), hazards[-1] if hazards else None)

    def behind(self, hazards: Sequence[Hazard]) -> tuple[Hazard, ...]:
        """What came since: all, when the list was cleared."""
        here = self.count and len(hazards) >= self.count and hazards[self.count - 1] is self.last
        return tuple(hazards[self.count if here else 0 :])


class RuntimeCore:
    """What all calls of one runtime share. Use `Runtime`.

    Attributes:
        device: the emulated device. firmware: which features its firmware has. device_id: its number for queries.
        warnings: what the host warned about, in order; such calls succeed.
    """

    def __init__(self, device: Device, *, firmware: Firmware | None = None, device_id: int = 0) -> None:
        self.device = device
        self.firmware = Firmware() if firmware is None else firmware
        self.device_id = device_id
        self.build = builder_for(device.host.registry, device.chip.family)
        self.warnings: list[str] = []
        self._running: list[Execution] = []
        self._retired: list[tuple[str, Flag, int]] = []
        self._allocated: set[int] = set()
        self._texts: dict[str, int] = {}
        self._stack: int | None = None
        self._last_task: int | None = None
        self._execute_timeout_us: int | None = None
        self._timeout_unit = ""
        self._wait_timeout_s = 0
        self._first_hazard = self._told_hazards = Mark.at_end(device.hazards)
        if device.ordering is not None:
            device.ordering.keeps_records = True

    # ---- shared memory ---------------------------------------------------------------------------------------

    def stack(self) -> int:
        """Address of the stack pool, made by the first call."""
        if self._stack is None:
            self._stack = self.device.memory.allocate(STACK_POOL, label="stack pool").address
        return self._stack

    def text(self, text: str) -> int:
        """Address of a zero-terminated text in device memory, one copy each."""
        if text not in self._texts:
            raw = text.encode() + b"\0"
            found = self.device.memory.allocate(len(raw), label=f"text {text[:TEXT_SHOWN]!r}", align=64)
            self.device.memory.write(found.address, raw)
            self._texts[text] = found.address
        return self._texts[text]

    # ---- handles ---------------------------------------------------------------------------------------------

    def require(self, function: str, parameter: str, handle: H | None, kind: type[H]) -> H:
        """`handle`, when it is one of ours and lives.

        Raises:
            RuntimeApiError: None (107000, EE1004), no such handle or destroyed (107017), another device's (107003).
        """
        if handle is None:
            raise null_pointer(function, parameter)
        if not isinstance(handle, kind):
            raise dead_handle(function, parameter, f"the {type(handle).__name__} {shown(handle)}")
        if not handle.alive:
            raise dead_handle(function, parameter, f"a destroyed {kind.__name__}")
        if handle.runtime.device is not self.device:
            raise RuntimeApiError(
                STREAM_CONTEXT,
                f"parameter {parameter} belongs to another device",
                function=function,
                remedy="create it with this runtime",
            )
        return handle

    # ---- submission ------------------------------------------------------------------------------------------

    def submit(self, stream: StreamHandle, make: Callable[[Place], bytes], origin: Origin = NOWHERE) -> int:
        """Write one entry to the ring of `stream` and return its task id.

        Args:
            stream: a live stream.
            make: builds the entry for the place it gets.
            origin: graph node and model task behind it, for messages.

        Raises:
            LimitError: the ring is full (EE1019 when bound). InputError: aborted in mode *stop*.
        """
        queue, scheduler = stream.core.queue, self.device.scheduler
        scheduler.recovery.require_working(stream.core)
        self.reserve(stream, 1)
        place = Place(queue.stream_id, queue.next_task_id())
        sqe = self._as_sent(make(place))
        self.reserve(stream, len(sqe) // SQE_BYTES)
        queue.append(sqe, origin)
        stream.launched.pop(place.task_id, None)
        self._last_task = place.task_id
        if not queue.bound:
            scheduler.ring_doorbell(stream.core)
        return place.task_id

    def reserve(self, stream: StreamHandle, units: int) -> None:
        """Make sure that `units` more entries fit: a plain stream that is too full is run empty.

        Raises:
            LimitError: they do not (EE1019 for a stream of a model). RuntimeApiError: its model is complete (107005).
        """
        queue = stream.core.queue
        if queue.bound:
            if stream.model is not None and stream.model.core is not None:
                raise RuntimeApiError(
                    STREAM_MODEL,
                    f"stream {stream.id} belongs to model {stream.model.id}, which is complete",
                    remedy="submit all tasks before load_complete, or use another stream",
                )
            if queue.tail + units > queue.usable:
                raise LimitError(
                    f"stream {stream.id} is full: a model-bound ring holds {queue.usable} tasks",
                    id="EE1019",
                    remedy="put fewer tasks on one stream",
                )
            return
        if is_full(queue.head, queue.tail, queue.depth, units):
            self.drive(lambda: queue.pending == 0)
        if is_full(queue.head, queue.tail, queue.depth, units):
            raise LimitError(
                f"SQ {stream.id} is full: {queue.pending} entries wait",
                id="limit.sq-full",
                remedy="synchronise the stream: it may wait for something that never comes",
            )

    def _as_sent(self, sqe: bytes) -> bytes:
        """The entry as the kernel driver passes it on (`device_semantics.md` 2.2); its rule is for v100 entries."""
        return as_submitted(sqe) if self.device.chip.family == "v100" else sqe

    def last_task_id(self) -> int:
        """Task id of the entry that was submitted last, as `aclrtGetThreadLastTaskId` gives it.

        Raises:
            RuntimeApiError: nothing was submitted yet (107000, EE1018); that answer is our choice.
        """
        if self._last_task is None:
            raise RuntimeApiError(
                PARAM_INVALID,
                "nothing was submitted yet",
                message="EE1018",
                function="last_task_id",
                remedy="call it right after the launch whose task it asks for",
            )
        return self._last_task

    # ---- the device runs -------------------------------------------------------------------------------------

    def drive(self, done: Callable[[], bool], timeout_ns: int | None = None) -> bool:
        """Let the device run until `done`, until nothing is left to do, or until `timeout_ns` have passed.

        Returns:
            Whether `done` holds.
        """
        clock = self.device.clock
        expired: list[bool] = []
        ticket = None if timeout_ns is None else clock.after(timeout_ns, -1, lambda: expired.append(True))
        while not done() and not expired and (clock.step() or self._conclude()):
            pass
        if expired and not clock.pending:  # nothing but the limit was left: what failed before is told
            while not done() and self._conclude():
                while not done() and clock.step():
                    pass
        if ticket is not None and not expired:
            clock.cancel(ticket)
        return done()

    def _conclude(self) -> bool:
        """End the wait of a model's caller when one of its streams has failed; whether that gave work to do."""
        faults = self.device.scheduler.faults
        for execution in list(self._running):
            core, caller = execution.core, execution.caller
            ids = {stream.id for stream in core.streams}
            new = range(min(execution.mark, len(faults)), len(faults))
            first = next((i for i in new if faults[i].stream in ids), None)
            if first is not None and caller.waiting is not None and caller.waits_for == core.end:
                self._running.remove(execution)
                core.caller = caller
                core.conclude(first)
                return True
        return False

    # ---- ids of flags ----------------------------------------------------------------------------------------

    def submit_for(
        self, flag: Flag, stream: StreamHandle, make: Callable[[Place], bytes], origin: Origin = NOWHERE
    ) -> int:
        """`submit` of an entry that names the id of `flag`."""
        task = self.submit(stream, make, origin)
        if len(flag.uses) >= MOST_USES:
            flag.uses[:] = [use for use in flag.uses if is_queued(*use)]
        flag.uses.append((stream, task))
        return task

    def retire(self, kind: str, flag: Flag, number: int) -> None:
        """Give the id of a destroyed flag back as soon as no entry names it."""
        flag.alive = False
        self._retired.append((kind, flag, number))
        self.reuse_ids()

    def reuse_ids(self) -> None:
        """Give back the ids of destroyed flags whose entries are all done, with the flags clear."""
        waiting = []
        for kind, flag, number in self._retired:
            if any(is_queued(*use) for use in flag.uses):
                waiting.append((kind, flag, number))
            else:
                signal = Signal(kind, number)
                self.device.signals.clear(signal)
                if self.device.ordering is not None:
                    self.device.ordering.host_cleared(self.device.signals.key(signal))
                self.device.release_id(kind, number)
        self._retired = waiting
