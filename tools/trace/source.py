"""Reading a recorded run: a run record (`.sqr`), or JSON lines as `sqemu run --trace` writes them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from emu_core.event_fields import declared_events
from emu_core.trace import Event
from formats import FormatError
from tools.files import input_name, read_bytes
from tools.record.reader import Record, is_record

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class Foreign(Event, frozen=True, gc=False, kw_only=True):
    """An event that nothing here declares, of a plugin that is not loaded; `values` are all keys of its line."""

    name: ClassVar[str] = ""
    values: dict[str, Any]


def name_of(event: Event) -> str:
    """The name of an event; of one that nobody declares, as its line says."""
    return str(event.values["event"]) if isinstance(event, Foreign) else event.name


def level_of(event: Event) -> str:
    """The level of an event."""
    return str(event.values.get("level", "info")) if isinstance(event, Foreign) else event.level


def values_of(event: Event) -> dict[str, Any]:
    """The fields of an event by name, without those of all events."""
    found = dict(event.values) if isinstance(event, Foreign) else msgspec.structs.asdict(event)
    for key in ("event", "level", "time", "run"):
        found.pop(key, None)
    return found


@dataclass(frozen=True)
class RecordedRun:
    """One execution.

    Attributes:
        index: from 0, as in a record. number: as events say it, from 1.
        events: in the order in which they happened.
        report: of a record: outcome, faults, hazards, deadlock; empty for JSON lines.
    """

    index: int
    number: int
    events: tuple[Event, ...]
    report: Mapping[str, Any] = field(default_factory=dict)

    @property
    def started(self) -> int:
        """Virtual nanoseconds at which the first event of the execution happened."""
        return min((event.time for event in self.events if event.run), default=0)

    @property
    def ended(self) -> int:
        """Virtual nanoseconds of the last event."""
        return max((event.time for event in self.events), default=0)


@dataclass(frozen=True)
class Recording:
    """Everything that a file holds: its name, the chip (empty if it does not say), the executions, the record."""

    source: str
    chip: str
    runs: tuple[RecordedRun, ...]
    record: Record | None = None

    def run(self, index: int | None) -> RecordedRun:
        """Execution `index` from 0; None: the last one.

        Raises:
            FormatError: `record.run`: there is none with this number.
        """
        if index is None:
            return self.runs[-1]
        if index >= len(self.runs):
            raise FormatError(
                f"has no execution {index}", id="record.run", where=self.source,
                remedy=f"it has {len(self.runs)}, counted from 0",
            )  # fmt: skip
        return self.runs[index]


def read_recording(path: str) -> Recording:
    """The recording in a file, or on standard input for `-`.

    Raises:
        InputError: the file cannot be read.
        FormatError: a record that is damaged (`record.*`), or a line that is no event (`trace.line`).
    """
    data, name = read_bytes(path), input_name(path)
    kinds = {kind.name: kind for kind in declared_events()}
    if is_record(data):
        record = Record(data, name)
        runs = tuple(_of_record(record, index, kinds, name) for index in record.run_numbers)
        if not runs:
            raise FormatError("holds no execution", id="trace.empty", where=name, remedy="record a run that executes")
        return Recording(name, record.about.chip, runs, record)
    events = _events(data.splitlines(), kinds, name)
    if not events:
        raise FormatError("holds no event", id="trace.empty", where=name, remedy="write it with sqemu run --trace")
    return Recording(name, "", _by_run(events))


def _of_record(record: Record, index: int, kinds: Mapping[str, type[Event]], name: str) -> RecordedRun:
    report = record.run(index).report
    lines = record.lines(index, "trace")
    where = f"{name}: runs/{index}/trace.jsonl"
    events = tuple(_event(line, number, kinds, where) for number, line in enumerate(lines, 1))
    number = report.get("run", index + 1)
    if type(number) is not int:
        raise FormatError(
            f"has no number of its execution: {number!r}", id="record.damaged", where=f"{name}: runs/{index}"
        )
    return RecordedRun(index, number, events, report)


def _by_run(events: Iterable[Event]) -> tuple[RecordedRun, ...]:
    """Executions by the number that events carry; what came before any belongs to the first."""
    found: dict[int, list[Event]] = {}
    for event in events:
        found.setdefault(event.run, []).append(event)
    before = found.pop(0, []) if len(found) > 1 else []
    numbers = sorted(found)
    return tuple(
        RecordedRun(index, number, (*(before if not index else ()), *found[number]))
        for index, number in enumerate(numbers)
    )


def _events(lines: Iterable[bytes], kinds: Mapping[str, type[Event]], name: str) -> list[Event]:
    found = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            values = msgspec.json.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise _bad_line(name, number, f"is no JSON: {error}") from None
        found.append(_event(values, number, kinds, name))
    return found


def _event(values: object, number: int, kinds: Mapping[str, type[Event]], name: str) -> Event:
    """The event in a line."""
    if not isinstance(values, dict) or not isinstance(values.get("event"), str):
        raise _bad_line(name, number, "is no object with the name of an event under event")
    kind = kinds.get(values["event"])
    try:
        if kind is not None:
            found = msgspec.convert(values, kind)
        else:
            found = Foreign(**msgspec.structs.asdict(msgspec.convert(values, Event)), values=values)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        raise _bad_line(name, number, f"is no {values['event']!r} event: {error}") from None
    for place, (least, end) in _RANGES.items():
        value = values.get(place)
        if isinstance(value, int) and not least <= value < end:
            raise _bad_line(name, number, f"has {place} {value}, which is none")
    return found


_TIME, _PLACE = (0, 1 << 62), (-1, 1 << 32)
_RANGES: Mapping[str, tuple[int, int]] = {
    **dict.fromkeys(("time", "started", "ended"), _TIME),
    **dict.fromkeys(("run", "stream", "slot", "task", "model_task", "writer_stream", "writer_task", "core"), _PLACE),
}
"""Fields of events that say when and where, and what they may hold."""


def _bad_line(name: str, number: int, what: str) -> FormatError:
    return FormatError(
        f"line {number} {what}", id="trace.line", where=name,
        remedy="give a record of sqemu run --record, or lines of sqemu run --trace",
    )  # fmt: skip
