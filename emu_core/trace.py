"""Typed trace events: declared once here, kept as records, drained through structlog's processors.

An event type that is off costs one set lookup. Times are integer virtual nanoseconds. The event's name in the
log is its `tag`. User configuration of structlog decides how drained events look.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from emu_core.slices import Slices


class Event(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """Base of all events.

    `time` is in virtual nanoseconds since the device was made, `run` counts executions of the model from 1. Events
    about an entry carry its stream, slot and task id, and where it comes from: graph node and index in the task list.
    """

    name: ClassVar[str] = ""
    level: ClassVar[str] = "info"

    time: int
    run: int = 0


class Doorbell(Event, frozen=True, gc=False, kw_only=True):
    """New entries of a queue were published, or a model stream was activated."""

    name: ClassVar[str] = "sq.doorbell"
    level: ClassVar[str] = "debug"

    stream: int
    tail: int
    reason: str


class TaskStarted(Event, frozen=True, gc=False, kw_only=True):
    """An engine took the entry at head."""

    name: ClassVar[str] = "task.start"

    stream: int
    slot: int
    task: int
    node: str = ""
    model_task: int = -1
    engine: str
    kind: str
    detail: str = ""
    facts: dict[str, int | str] = {}
    fetched_copy: bool = False


class TaskWaits(Event, frozen=True, gc=False, kw_only=True):
    """The entry at head waits for a flag."""

    name: ClassVar[str] = "task.wait"

    stream: int
    slot: int
    task: int
    node: str = ""
    model_task: int = -1
    kind: str
    signal: str


class TaskDone(Event, frozen=True, gc=False, kw_only=True):
    """The entry at head completed; `started` is when its engine took it (after any wait)."""

    name: ClassVar[str] = "task.done"

    stream: int
    slot: int
    task: int
    node: str = ""
    model_task: int = -1
    engine: str
    kind: str
    started: int
    detail: str = ""


class PipeUsed(Event, frozen=True, gc=False, kw_only=True):
    """A pipe of a core was busy from `started` to `ended`; told at the end of the entry, by `KernelSpec.spans`."""

    name: ClassVar[str] = "core.pipe"
    level: ClassVar[str] = "debug"

    stream: int
    slot: int
    task: int
    node: str = ""
    model_task: int = -1
    core: int
    pipe: str
    started: int
    ended: int
    what: str


class Patched(Event, frozen=True, gc=False, kw_only=True):
    """A field of an entry that was already submitted changed."""

    name: ClassVar[str] = "sqe.patch"

    stream: int
    slot: int
    task: int
    node: str = ""
    model_task: int = -1
    struct: str
    field: str
    bit_offset: int
    bit_width: int
    before: int
    after: int
    writer_stream: int
    writer_task: int
    engine: str
    tiling_key: int | None = None
    table_row: int | None = None


class ContextPatched(Event, frozen=True, gc=False, kw_only=True):
    """A field of a context changed; stream, slot and task are those of the entry that points at it, -1 if unknown."""

    name: ClassVar[str] = "context.patch"

    stream: int
    slot: int
    task: int
    node: str = ""
    model_task: int = -1
    address: int
    struct: str
    field: str
    bit_offset: int
    bit_width: int
    before: int
    after: int
    writer_stream: int
    writer_task: int
    engine: str
    tiling_key: int | None = None
    table_row: int | None = None


class CellWritten(Event, frozen=True, gc=False, kw_only=True):
    """A tiling cell got a value."""

    name: ClassVar[str] = "cell.write"

    address: int
    what: str
    before: int
    after: int
    writer_stream: int
    writer_task: int
    engine: str


class SignalChanged(Event, frozen=True, gc=False, kw_only=True):
    """A flag was set or cleared."""

    name: ClassVar[str] = "signal"
    level: ClassVar[str] = "debug"

    signal: str
    value: int
    stream: int
    task: int


class Completion(Event, frozen=True, gc=False, kw_only=True):
    """A completion entry was written."""

    name: ClassVar[str] = "cq.entry"
    level: ClassVar[str] = "debug"

    stream: int
    task: int
    sq_head: int
    error_type: int
    status: int


class HazardFound(Event, frozen=True, gc=False, kw_only=True):
    """Something ran that may be wrong although nothing failed."""

    name: ClassVar[str] = "hazard"
    level: ClassVar[str] = "warning"

    id: str
    stream: int
    slot: int
    task: int
    node: str = ""
    model_task: int = -1
    what: str
    remedy: str


class FaultRaised(Event, frozen=True, gc=False, kw_only=True):
    """A task failed."""

    name: ClassVar[str] = "fault"
    level: ClassVar[str] = "error"

    id: str
    stream: int
    slot: int
    task: int
    node: str = ""
    model_task: int = -1
    ts_code: int
    what: str


class ModelPhase(Event, frozen=True, gc=False, kw_only=True):
    """A model was loaded, started or ended."""

    name: ClassVar[str] = "model"

    model: int
    phase: str


EVENTS: tuple[type[Event], ...] = (
    Doorbell,
    TaskStarted,
    TaskWaits,
    TaskDone,
    PipeUsed,
    Patched,
    ContextPatched,
    CellWritten,
    SignalChanged,
    Completion,
    HazardFound,
    FaultRaised,
    ModelPhase,
)
"""Every event there is."""


class Logger(Protocol):
    """The part of a structlog logger that draining uses."""

    def debug(self, event: str, **values: object) -> object:
        """Log at debug level."""

    def info(self, event: str, **values: object) -> object:
        """Log at info level."""

    def warning(self, event: str, **values: object) -> object:
        """Log at warning level."""

    def error(self, event: str, **values: object) -> object:
        """Log at error level."""


class Trace:
    """The events of a device, in the order they happened.

    Queues that run ahead (`emu_core.lanes`) log columns instead of events; reading makes events of them.

    Attributes:
        enabled: event types that are kept. wants_steps: whether any of them tells of single entries or flags.
        log: takes an entry of the log: (time, front, event), or what `emu_core.spans` describes.
    """

    def __init__(self, enabled: Iterable[type[Event]] = EVENTS) -> None:
        self.enabled = frozenset(enabled)
        self.wants_steps = not self.enabled.isdisjoint(STEP_EVENTS)
        self._records: list[Event] = []
        self._logged: list[tuple[Any, ...]] = []
        self._clock: _Front = _NoClock()
        self._before_read: Callable[[], None] | None = None
        self._consumer: Callable[[list[tuple[Any, ...]]], None] | None = None
        self._given = 0
        self.log = self._logged.append

    def follow(self, clock: _Front, before_read: Callable[[], None]) -> None:
        """Take the place of events in the total order from `clock`; call `before_read` before somebody reads."""
        self._clock = clock
        self._before_read = before_read

    def give(self, consumer: Callable[[list[tuple[Any, ...]]], None]) -> None:
        """Give every entry of the log to `consumer` before it is made into events, and whenever `hand_on` is called."""
        self._consumer = consumer
        self.wants_steps = True

    def hand_on(self) -> None:
        """Give the consumer what was logged since."""
        if self._consumer is not None and self._given < len(self._logged):
            new = self._logged[self._given :]
            self._given = len(self._logged)
            self._consumer(new)

    def _forget_log(self) -> None:
        self.hand_on()
        self._logged.clear()
        self._given = 0

    def wants(self, kind: type[Event]) -> bool:
        """Whether events of `kind` are kept; ask before building one."""
        return kind in self.enabled

    def add(self, event: Event) -> None:
        """Keep `event` if its type is on."""
        if type(event) in self.enabled:
            self._logged.append((event.time, self._clock.front, event))

    def __len__(self) -> int:
        from emu_core.spans import count_of  # noqa: PLC0415 - it builds on this module

        self._up_to_now()
        return len(self._records) + count_of(self._logged, self.enabled)

    def __iter__(self) -> Iterator[Event]:
        return iter(self._all())

    def clear(self) -> None:
        """Forget every event."""
        self._up_to_now()
        self._records.clear()
        self._forget_log()

    def since(self, mark: int) -> tuple[Event, ...]:
        """Events from position `mark` (an earlier `len`) on."""
        return tuple(self._all()[mark:])

    def lines(self, kinds: Iterable[type[Event]] = EVENTS) -> bytes:
        """Events of these types as JSON lines, in order (`emu_core.lines`); no event objects are made or kept."""
        from emu_core.lines import lines_of  # noqa: PLC0415 - it builds on this module

        self._up_to_now()
        return lines_of(self._records, self._logged, self.enabled & frozenset(kinds))

    def slices(self) -> Slices:
        """Every entry that ended, as columns (`emu_core.slices`); needs `TaskDone` to be on."""
        from emu_core.slices import slices_of  # noqa: PLC0415 - it builds on this module

        self._up_to_now()
        return slices_of(self._records, self._logged)

    @property
    def read(self) -> int:
        """Events that somebody has read."""
        return len(self._records)

    @property
    def unread(self) -> int:
        """Entries of the log that nobody has read yet; of queues that run in single steps each is an event."""
        return len(self._logged)

    def peek(self, mark: int) -> list[Event]:
        """Events of the unread entries from position `mark` (an earlier `unread`) on; nothing is read by it."""
        from emu_core.spans import events_of  # noqa: PLC0415 - it builds on this module

        return events_of(self._logged[mark:], self.enabled)

    def _up_to_now(self) -> None:
        if self._before_read is not None:
            self._before_read()

    def _all(self) -> list[Event]:
        from emu_core.spans import events_of  # noqa: PLC0415 - it builds on this module

        self._up_to_now()
        self._records += events_of(self._logged, self.enabled)
        self._forget_log()
        return self._records


class _Front(Protocol):
    """The part of a clock that a trace follows."""

    @property
    def front(self) -> int:
        """The largest stream id of the actions that ran at this time."""


class _NoClock:
    """Of a trace that belongs to no device."""

    front = -1


STEP_EVENTS = frozenset({TaskStarted, TaskDone, TaskWaits, SignalChanged})
"""Events of single entries and flags."""


def drain(events: Iterable[Event], logger: Logger) -> None:
    """Send `events` through a structlog logger, each at its own level under its own name."""
    for event in events:
        values = msgspec.structs.asdict(event)
        getattr(logger, event.level)(event.name, **values)
