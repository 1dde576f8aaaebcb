"""Typed trace events: declared once here, kept as records, drained through structlog's processors.

An event type that is off costs one set lookup. Times are integer virtual nanoseconds. The event's name in the
log is its `tag`. User configuration of structlog decides how drained events look.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Protocol

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


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
    Patched,
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
    """The events of a device, in the order they happened."""

    def __init__(self, enabled: Iterable[type[Event]] = EVENTS) -> None:
        self.enabled = frozenset(enabled)
        self._records: list[Event] = []

    def wants(self, kind: type[Event]) -> bool:
        """Whether events of `kind` are kept; ask before building one."""
        return kind in self.enabled

    def add(self, event: Event) -> None:
        """Keep `event` if its type is on."""
        if type(event) in self.enabled:
            self._records.append(event)

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[Event]:
        return iter(self._records)

    def clear(self) -> None:
        """Forget every event."""
        self._records.clear()

    def since(self, mark: int) -> tuple[Event, ...]:
        """Events from position `mark` (an earlier `len`) on."""
        return tuple(self._records[mark:])


def drain(events: Iterable[Event], logger: Logger) -> None:
    """Send `events` through a structlog logger, each at its own level under its own name."""
    for event in events:
        values = msgspec.structs.asdict(event)
        getattr(logger, event.level)(event.name, **values)
