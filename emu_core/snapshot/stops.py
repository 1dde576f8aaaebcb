"""Where a run is to stop: looked at after each step, from what the step told trace and journal.

| stop | holds after a step in which |
|---|---|
| `AtTask` | the entry started, or began to wait |
| `OfKind` | an entry of that kind did |
| `OfFlag` | the flag changed, or an entry began to wait for it |
| `OfPatch` | an entry or a context was patched |
| `OfKey` | an entry got, or a kernel started with, that tiling key |
| `OfField` | that field of that entry was written; without a field, any of it |
| `OfFault` | a task failed |
| `OfHazard` | a hazard was found |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from emu_core.trace import (
    ContextPatched,
    FaultRaised,
    HazardFound,
    Patched,
    SignalChanged,
    TaskStarted,
    TaskWaits,
)

if TYPE_CHECKING:
    from emu_core.journal import JournalEntry
    from emu_core.trace import Event


class Stop(Protocol):
    """One condition."""

    def why(self, event: Event) -> str | None:
        """Why an event stops the run, in words; None when it does not."""


def _entry(event: TaskStarted | TaskWaits) -> str:
    what = "waits for " + event.signal if isinstance(event, TaskWaits) else "starts"
    return f"stream {event.stream} task {event.task} ({event.kind}) {what}"


def _patch(event: Patched | ContextPatched) -> str:
    by = "the host" if event.writer_stream < 0 else f"stream {event.writer_stream} task {event.writer_task}"
    which = f"stream {event.stream} task {event.task} {event.struct}.{event.field}"
    return f"{which}: {event.before:#x} -> {event.after:#x} by {by}"


@dataclass(frozen=True)
class AtTask:
    """Task `task` of stream `stream`."""

    stream: int
    task: int

    def why(self, event: Event) -> str | None:
        """See the module text."""
        found = isinstance(event, TaskStarted | TaskWaits) and (event.stream, event.task) == (self.stream, self.task)
        return _entry(event) if found else None  # type: ignore[arg-type]

    def __str__(self) -> str:
        return f"stream {self.stream} task {self.task}"


@dataclass(frozen=True)
class OfKind:
    """Entries of `kind`, the name in the trace, for example `task_update`."""

    kind: str

    def why(self, event: Event) -> str | None:
        """See the module text."""
        return _entry(event) if isinstance(event, TaskStarted | TaskWaits) and event.kind == self.kind else None

    def __str__(self) -> str:
        return f"kind {self.kind}"


@dataclass(frozen=True)
class OfFlag:
    """A flag by its name in the trace, for example `event 3`."""

    flag: str

    def why(self, event: Event) -> str | None:
        """See the module text."""
        if isinstance(event, TaskWaits) and event.signal == self.flag:
            return _entry(event)
        if isinstance(event, SignalChanged) and event.signal == self.flag:
            return f"{self.flag} becomes {event.value} by stream {event.stream} task {event.task}"
        return None

    def __str__(self) -> str:
        return self.flag


@dataclass(frozen=True)
class OfPatch:
    """Any patch."""

    def why(self, event: Event) -> str | None:
        """See the module text."""
        return _patch(event) if isinstance(event, Patched | ContextPatched) else None

    def __str__(self) -> str:
        return "patch"


@dataclass(frozen=True)
class OfKey:
    """A tiling key."""

    key: int

    def why(self, event: Event) -> str | None:
        """See the module text."""
        if isinstance(event, Patched | ContextPatched) and event.tiling_key == self.key:
            return _patch(event)
        if isinstance(event, TaskStarted) and event.facts.get("tiling_key") == self.key:
            return _entry(event)
        return None

    def __str__(self) -> str:
        return f"tiling_key {self.key}"


@dataclass(frozen=True)
class OfField:
    """Writes to task `number` of `stream`, or (`by_slot`) to that slot; `field` empty: to any of its fields."""

    stream: int
    number: int
    field: str = ""
    by_slot: bool = False

    def why(self, event: Event) -> str | None:
        """See the module text."""
        if not isinstance(event, Patched | ContextPatched):
            return None
        place = (event.stream, event.slot if self.by_slot else event.task)
        return _patch(event) if place == (self.stream, self.number) and self._named(event.field) else None

    def wrote(self, entry: JournalEntry) -> bool:
        """Whether a journal entry is such a write."""
        place = (entry.stream, entry.slot if self.by_slot else entry.task)
        return place == (self.stream, self.number) and entry.target != "cell" and self._named(entry.field)

    def _named(self, field: str) -> bool:
        return not self.field or field == self.field

    def __str__(self) -> str:
        place = f"{self.stream}:{'slot ' if self.by_slot else ''}{self.number}"
        return f"{place}.{self.field}" if self.field else place


@dataclass(frozen=True)
class OfFault:
    """Any fault."""

    def why(self, event: Event) -> str | None:
        """See the module text."""
        if not isinstance(event, FaultRaised):
            return None
        return f"fault {event.id}: stream {event.stream} task {event.task}: {event.what}"

    def __str__(self) -> str:
        return "fault"


@dataclass(frozen=True)
class OfHazard:
    """Any hazard."""

    def why(self, event: Event) -> str | None:
        """See the module text."""
        if not isinstance(event, HazardFound):
            return None
        return f"hazard {event.id}: stream {event.stream} task {event.task}: {event.what}"

    def __str__(self) -> str:
        return "hazard"
