"""Events as JSON lines, the fast way: what `drain` sends through structlog, encoded at once.

Each line is an object: `event` (the event's name), `level`, then the fields of the event. Lines of spans and steps are
made from their columns: a record per line that msgspec encodes together with all others, and no event object.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from emu_core.signals import KIND_BITS, NUMBERS
from emu_core.spans import (
    ENDS,
    ORDERED,
    PATCHES,
    STARTS,
    Span,
    detail_of,
    keys_of,
    place,
    step_events,
    without_core,
)
from emu_core.trace import STEP_EVENTS, Patched, TaskDone, TaskStarted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from emu_core.lane import Lane
    from emu_core.trace import Event
    from emu_core.windows import Window

_ENCODER = msgspec.json.Encoder()
_CLASSES: dict[type[Event], type[msgspec.Struct]] = {}
"""Classes of lines by that of their event, made when a line of the kind is first asked for."""
_NO_FACTS: dict[str, int | str] = {}


def line_class(kind: type[Event]) -> type[msgspec.Struct]:
    """The class of a line of this kind: its level, then the fields of the event, in order; its tag is the name."""
    found = _CLASSES.get(kind)
    if found is None:
        names = ("level", *(each.name for each in msgspec.structs.fields(kind)))
        found = _CLASSES[kind] = msgspec.defstruct(
            f"{kind.__name__}Line", [(name, Any) for name in names], tag_field="event", tag=kind.name, gc=False
        )
    return found


def _line_of(event: Event) -> msgspec.Struct:
    return line_class(type(event))(event.level, *msgspec.structs.astuple(event))


def line(event: Event) -> bytes:
    """One event as a line."""
    return _ENCODER.encode_lines([_line_of(event)])


def lines_of(records: Iterable[Event], log: Sequence[tuple[Any, ...]], wanted: frozenset[type[Event]]) -> bytes:
    """Lines of events that were read before and of a log (`emu_core.spans`), as far as they are of a wanted type."""
    found = [_line_of(event) for event in records if type(event) in wanted]
    writer = _Writer(wanted)
    keys = keys_of(log, wanted)
    if keys is None:
        for entry in log:
            writer.add(entry)
        return _ENCODER.encode_lines(found + writer.found)
    times, at = keys.times.tolist(), 0
    for entry, count in zip(log, keys.counts, strict=True):
        if count:
            writer.add(entry, times[at : at + count])
            at += count
    order = keys.order()
    found += writer.found if order is None else map(writer.found.__getitem__, order.tolist())
    return _ENCODER.encode_lines(found)


_STARTED, _DONE, _PATCHED = (line_class(kind) for kind in (TaskStarted, TaskDone, Patched))


class _Writer:
    """Makes the lines of a log; entries of one kind, stream and origin differ in numbers only, and share the rest."""

    def __init__(self, wanted: frozenset[type[Event]]) -> None:
        self.found: list[msgspec.Struct] = []
        self._wanted = wanted
        self._starts, self._ends = TaskStarted in wanted, TaskDone in wanted
        self._patched = Patched in wanted
        self._only_tasks = wanted & STEP_EVENTS <= {TaskStarted, TaskDone}
        self._sheets: dict[tuple[int, int], _Sheet] = {}

    def add(self, entry: tuple[Any, ...], times: Sequence[int] = ()) -> None:
        """Make the lines of one entry of the log; `times`: of the events of a span."""
        thing = entry[2]
        if thing.__class__ is int:
            if thing >= PATCHES:
                if self._patched and thing != ORDERED:
                    rows = (entry[3],) if thing == PATCHES else entry[3].rows()
                    self.found += map(_patch_line, rows)
            elif not self._only_tasks:
                self.found += map(_line_of, step_events(entry, self._wanted))
            elif self._starts or self._ends:
                self._add_step(*entry)
        elif thing.__class__ is Span:
            if self._starts or self._ends:
                self._add_span(thing, times)
        elif type(thing) in self._wanted:
            self.found.append(_line_of(thing))

    def _sheet(self, window: Window, stream: int, run: int) -> _Sheet:
        found = self._sheets.get((id(window), run))
        if found is None:
            found = self._sheets[id(window), run] = _Sheet(window, stream)
        return found

    def _add_step(
        self, time: int, _front: int, what: int, lane: Lane, window: Window, at: int, since: int, late: int
    ) -> None:
        stream, run = lane.sid, lane.run
        sheet = self._sheets.get((id(window), run)) or self._sheet(window, stream, run)
        made = sheet.alike.get(sheet.codes[at]) or sheet.shared(at)
        slot = window.lo + at
        task = window.number + at & window.submissions.last_id
        detail = made.detail(sheet, at)
        node, of, engine, kind = made.about
        if self._starts and what in STARTS:
            self.found.append(
                _STARTED(_INFO, time, run, stream, slot, task, node, of, engine, kind, detail, _NO_FACTS, _FRESH)
            )
        if self._ends and what in ENDS:
            if late:
                detail += without_core(late)
            self.found.append(_DONE(_INFO, time, run, stream, slot, task, node, of, engine, kind, since, detail))

    def _add_span(self, span: Span, times: Sequence[int]) -> None:
        window, first = span.window, span.first
        sheet = self._sheet(window, span.stream, span.run)
        if not self._starts and sheet.until[first] >= span.done and sheet.alone:
            made = sheet.shared(first)
            if made.shows is None:
                self.found += _alike(span, made, times)
                return
        left, run, stream = iter(times), span.run, span.stream
        began, number, last_id = span.time, window.number, window.submissions.last_id
        for at in range(first, span.end if self._starts else span.done):
            made = sheet.shared(at)
            slot, task, detail = window.lo + at, number + at & last_id, made.detail(sheet, at)
            node, of, engine, kind = made.about
            if self._starts:
                began = next(left)
                self.found.append(
                    _STARTED(_INFO, began, run, stream, slot, task, node, of, engine, kind, detail, _NO_FACTS, _FRESH)
                )
            if self._ends and at < span.done:
                ended = next(left)
                self.found.append(_DONE(_INFO, ended, run, stream, slot, task, node, of, engine, kind, began, detail))
                began = ended


_INFO = TaskDone.level
assert TaskStarted.level == TaskDone.level == Patched.level
_FRESH = False


def _alike(span: Span, made: _Shared, ends: Sequence[int]) -> list[msgspec.Struct]:
    """The ends of entries of one kind and origin: each starts when the one before it ends."""
    window, count = span.window, span.done - span.first
    slot, task, last_id = window.lo + span.first, window.number + span.first, window.submissions.last_id
    line, info, run, stream, detail = _DONE, _INFO, span.run, span.stream, made.prefix
    node, of, engine, kind = made.about
    starts = [span.time, *ends[:-1]]
    if task & last_id == slot and slot + count <= last_id + 1:
        return [
            line(info, end, run, stream, at, at, node, of, engine, kind, start, detail)
            for end, start, at in zip(ends, starts, range(slot, slot + count), strict=True)
        ]
    return [
        line(info, end, run, stream, at, number & last_id, node, of, engine, kind, start, detail)
        for end, start, at, number in zip(
            ends, starts, range(slot, slot + count), range(task, task + count), strict=True
        )
    ]


class _Sheet:
    """What the lines of one window in one run share.

    Attributes:
        until: by index, where the run of entries of one kind that it lies in ends.
        codes, keys: by index, its kind, and the flag at which it is a stop.
        alone: whether all of its entries come from one place.
        alike: what lines share by code, if that is the same for all entries of a code.
    """

    def __init__(self, window: Window, stream: int) -> None:
        self._window, self._stream = window, stream
        self.codes: list[int] = window.codes.tolist()
        count = len(self.codes)
        changes = np.flatnonzero(np.diff(window.codes)) + 1
        edges = np.concatenate([[0], changes, [count]])
        self.until: list[int] = np.repeat(edges[1:], np.diff(edges)).tolist()
        self.alone = bool(window.submissions.same_origin(window.number, count))
        self.alike: dict[int, _Shared] = {}
        self._others: dict[tuple[int, int], _Shared] = {}
        self.keys = {stop[4]: stop[2] for stop in window.stops}

    def shared(self, at: int) -> _Shared:
        """What the lines of the entry at index `at` share with others."""
        code = self.codes[at]
        if self.alone:
            found = self.alike.get(code)
            if found is None:
                found = self.alike[code] = self._made(at)
            return found
        key = code, id(self._window.submissions.origin_of(self._window.number + at))
        found = self._others.get(key)
        if found is None:
            found = self._others[key] = self._made(at)
        return found

    def _made(self, at: int) -> _Shared:
        """Entries of one kind have flags of one kind, so only the flag's number is left open, if there is one."""
        window = self._window
        kind, origin = window.kind(at), place(window, self._stream, at)
        about = (origin["node"], origin["model_task"], kind.handler.engine, kind.handler.kind)
        if kind.value is None or not hasattr(kind.plan, "prefix"):
            return _Shared(about, detail_of(window, at), None)
        flag = window.signals.signal(self.keys[at]).kind
        return _Shared(about, f"{kind.plan.prefix}{flag} ", NUMBERS.get(flag, ""))


class _Shared:
    """What lines of entries of one kind and origin share.

    `about`: node, index in the task list, engine, kind. `prefix`: the detail, up to the number of a flag if there is
    one. `shows`: how that number is formatted; None when there is none.
    """

    __slots__ = ("about", "prefix", "shows")

    def __init__(self, about: tuple[str, int, str, str], prefix: str, shows: str | None) -> None:
        self.about = about
        self.prefix = prefix
        self.shows = shows

    def detail(self, sheet: _Sheet, at: int) -> str:
        """The detail of the entry at index `at`."""
        return self.prefix if self.shows is None else f"{self.prefix}{sheet.keys[at] >> KIND_BITS:{self.shows}}"


def _patch_line(row: tuple[Any, ...]) -> msgspec.Struct:
    """The line of a field that was patched, from the fields of its journal entry."""
    time, run, writer, _, stream, slot, task, struct, field, _, offset, width, before, after, key, line, node, of = row
    changed = (struct, field, offset, width, before, after)
    return _PATCHED(_INFO, time, run, stream, slot, task, node, of, *changed, *writer, key, line)
