"""Events as JSON lines, the fast way: what `drain` sends through structlog, encoded at once.

Each line is an object: `event` (the event's name), `level`, then the fields of the event. Lines of spans and steps are
made from their columns, without an event object.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
import numpy as np

from emu_core.signals import KIND_BITS, NUMBERS
from emu_core.spans import (
    ENDS,
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

_ENCODE = msgspec.json.Encoder().encode
_NO_UPDATE = 'null,"table_row":null'
_Patch: TypeAlias = tuple[str, str, str, str, str]


def line(event: Event) -> bytes:
    """One event as a line."""
    head = f'{{"event":"{event.name}","level":"{event.level}",'.encode()
    return b"%s%s\n" % (head, _ENCODE(event)[1:])


def lines_of(records: Iterable[Event], log: Sequence[tuple[Any, ...]], wanted: frozenset[type[Event]]) -> bytes:
    """Lines of events that were read before and of a log (`emu_core.spans`), as far as they are of a wanted type."""
    found = [line(event).decode() for event in records if type(event) in wanted]
    writer = _Writer(wanted)
    keys = keys_of(log, wanted)
    if keys is None:
        for entry in log:
            writer.add(entry)
        return "".join([*found, *writer.found]).encode()
    times, at = list(map(str, keys.times.tolist())), 0
    for entry, count in zip(log, keys.counts, strict=True):
        if count:
            writer.add(entry, times[at : at + count])
            at += count
    return "".join([*found, *map(writer.found.__getitem__, keys.order().tolist())]).encode()


class _Writer:
    """Makes the lines of a log; entries of one kind, stream and origin differ in numbers only, and share a template."""

    def __init__(self, wanted: frozenset[type[Event]]) -> None:
        self.found: list[str] = []
        self._wanted = wanted
        self._starts, self._ends = TaskStarted in wanted, TaskDone in wanted
        self._patched = Patched in wanted
        self._only_tasks = wanted & STEP_EVENTS <= {TaskStarted, TaskDone}
        self._sheets: dict[tuple[int, int], _Sheet] = {}
        self._patches: dict[tuple[Any, ...], _Patch] = {}
        self._numbers: list[str] = []

    def add(self, entry: tuple[Any, ...], times: Sequence[str] = ()) -> None:
        """Make the lines of one entry of the log; `times`: of the events of a span, as texts."""
        thing = entry[2]
        if thing.__class__ is int:
            if thing >= PATCHES:
                if self._patched:
                    rows = (entry[3],) if thing == PATCHES else entry[3].rows()
                    self.found += [_patch_line(row, self._patches) for row in rows]
            elif not self._only_tasks:
                self.found += [line(event).decode() for event in step_events(entry, self._wanted)]
            elif self._starts or self._ends:
                self._add_step(*entry)
        elif thing.__class__ is Span:
            if self._starts or self._ends:
                self._add_span(thing, times)
        elif type(thing) in self._wanted:
            self.found.append(line(thing).decode())

    def _sheet(self, window: Window, stream: int, run: int) -> _Sheet:
        found = self._sheets.get((id(window), run))
        if found is None:
            found = self._sheets[id(window), run] = _Sheet(window, stream, run)
        return found

    def _add_step(
        self, time: int, _front: int, what: int, lane: Lane, window: Window, at: int, since: int, late: int
    ) -> None:
        sheet = self._sheets.get((id(window), lane.run)) or self._sheet(window, lane.sid, lane.run)
        made = sheet.alike.get(sheet.codes[at]) or sheet.template(at)
        slot = window.lo + at
        task = window.number + at & window.submissions.last_id
        flag = "" if made.shows is None else f"{sheet.keys[at] >> KIND_BITS:{made.shows}}"
        if self._starts and what in STARTS:
            self.found.append(made.start(time, slot, task, flag))
        if self._ends and what in ENDS:
            if late:
                made, flag = sheet.late(at, late), ""
            a, b, c, d, e, f = made.done
            self.found.append(f"{a}{time}{b}{slot}{c}{task}{d}{since}{e}{flag}{f}")

    def _add_span(self, span: Span, times: Sequence[str]) -> None:
        window, first = span.window, span.first
        sheet = self._sheet(window, span.stream, span.run)
        if not self._starts and sheet.until[first] >= span.done and sheet.origin is not None:
            made = sheet.template(first)
            if made.shows is None:
                self._add_alike(span, made, times)
                return
        left = iter(times)
        began, slot, number, last_id = str(span.time), window.lo, window.number, window.submissions.last_id
        for at in range(first, span.end if self._starts else span.done):
            made, task = sheet.template(at), number + at & last_id
            flag = "" if made.shows is None else f"{sheet.keys[at] >> KIND_BITS:{made.shows}}"
            if self._starts:
                began = next(left)
                self.found.append(made.start(began, slot + at, task, flag))
            if self._ends and at < span.done:
                ended = next(left)
                self.found.append(made.end(ended, slot + at, task, began, flag))
                began = ended

    def _add_alike(self, span: Span, made: _Template, ends: Sequence[str]) -> None:
        """The ends of entries of one kind and origin: each starts when the one before it ends."""
        window, first = span.window, span.first
        a, b, c, d, e, f = made.done
        e += f
        slot, task, count = window.lo + first, window.number + first, span.done - first
        last_id = window.submissions.last_id
        slots = tasks = self._texts(slot, slot + count)
        if task & last_id != slot or slot + count > last_id + 1:
            tasks = [str(task + i & last_id) for i in range(count)]
        starts = [str(span.time), *ends]
        self.found += [
            f"{a}{end}{b}{slot}{c}{task}{d}{start}{e}"
            for start, end, slot, task in zip(starts, ends, slots, tasks, strict=False)
        ]

    def _texts(self, first: int, end: int) -> list[str]:
        """The slots `first` to `end` (exclusive) as text; every stream has the same, so they are kept."""
        if end > len(self._numbers):
            self._numbers += map(str, range(len(self._numbers), end))
        return self._numbers[first:end]


class _Sheet:
    """What the lines of one window in one run share.

    Attributes:
        until: by index, where the run of entries of one kind that it lies in ends.
        codes, keys: by index, its kind, and the flag at which it is a stop.
        origin: where all of its entries come from; None when from several places.
        alike: templates by code, if there is one for each.
    """

    def __init__(self, window: Window, stream: int, run: int) -> None:
        self._window, self._stream, self._run = window, stream, run
        self.codes: list[int] = window.codes.tolist()
        count = len(self.codes)
        changes = np.flatnonzero(np.diff(window.codes)) + 1
        edges = np.concatenate([[0], changes, [count]])
        self.until: list[int] = np.repeat(edges[1:], np.diff(edges)).tolist()
        alone = window.submissions.same_origin(window.number, count)
        self.origin = window.submissions.origin_of(window.number) if alone else None
        self.alike: dict[int, _Template] = {}
        self._templates: dict[tuple[int, int], _Template] = {}
        self.keys = {stop[4]: stop[2] for stop in window.stops}

    def template(self, at: int) -> _Template:
        """The text of the entry at index `at`."""
        code = self.codes[at]
        if self.origin is not None:
            found = self.alike.get(code)
            if found is None:
                found = self.alike[code] = self._made(at, "")
            return found
        key = code, id(self._window.submissions.origin_of(self._window.number + at))
        found = self._templates.get(key)
        if found is None:
            found = self._templates[key] = self._made(at, "")
        return found

    def late(self, at: int, waited: int) -> _Template:
        """The text of an entry that waited for a unit so many nanoseconds."""
        return self._made(at, without_core(waited))

    def _made(self, at: int, more: str) -> _Template:
        """Entries of one kind have flags of one kind, so only the flag's number is left open, if there is one."""
        window = self._window
        kind = window.kind(at)
        if more or kind.value is None or not hasattr(kind.plan, "prefix"):
            return _Template(window, (self._stream, self._run, at), detail_of(window, at) + more, None)
        flag = window.signals.signal(self.keys[at]).kind
        return _Template(window, (self._stream, self._run, at), f"{kind.plan.prefix}{flag} ", NUMBERS.get(flag, ""))


_MARKS = (10**17 + 1, 10**17 + 2, 10**17 + 3, 10**17 + 4)
"""Numbers that stand for time, slot, task and `started` while a template is made; no slot or task is as large."""
_NUMBER = str(10**17 + 5)
"""What stands for the number of a flag."""


class _Template:
    """The text of `task.start` and `task.done` of an entry, around time, slot, task, `started` and a flag's number.

    `shows`: how that number is formatted; None when there is none, then the text for it is empty.
    """

    def __init__(self, window: Window, entry: tuple[int, int, int], detail: str, shows: str | None) -> None:
        stream, run, at = entry
        handler = window.kind(at).handler
        time, slot, task, started = _MARKS
        about = {
            **place(window, stream, at),
            "slot": slot,
            "task": task,
            "engine": handler.engine,
            "kind": handler.kind,
            "detail": detail + _NUMBER,
        }
        begun = line(TaskStarted(time=time, run=run, **about)).decode()
        done = line(TaskDone(time=time, run=run, **about, started=started)).decode()
        self.shows = shows
        self.begun = _parts(begun, (time, slot, task, _NUMBER))
        self.done = _parts(done, (time, slot, task, started, _NUMBER))

    def start(self, time: int | str, slot: int, task: int, flag: str) -> str:
        """The line at its start."""
        a, b, c, d, e = self.begun
        return f"{a}{time}{b}{slot}{c}{task}{d}{flag}{e}"

    def end(self, time: int | str, slot: int, task: int, started: int | str, flag: str) -> str:
        """The line at its end."""
        a, b, c, d, e, f = self.done
        return f"{a}{time}{b}{slot}{c}{task}{d}{started}{e}{flag}{f}"


def _patch_line(row: tuple[Any, ...], known: dict[tuple[Any, ...], _Patch]) -> str:
    """The line of a field that was patched, from the fields of its journal entry; `known`: what lines share."""
    time, run, writer, _, stream, slot, task, struct, field, _, offset, width, before, after, key, line, node, of = row
    shared = (run, stream, node, of, struct, field, offset, width, writer.stream, writer.engine)
    found = known.get(shared)
    if found is None:
        found = known[shared] = _patch_parts(shared)
    a, b, c, d, e = found
    update = f'{_number(key)},"table_row":{_number(line)}' if key is not None or line is not None else _NO_UPDATE
    return f'{a}{time}{b}{slot},"task":{task}{c}{before},"after":{after}{d}{writer.task}{e}{update}}}\n'


def _patch_parts(shared: tuple[Any, ...]) -> _Patch:
    """The text around time, slot, task, values, the writer's task and what follows the key."""
    run, stream, node, of, struct, field, offset, width, writer, engine = shared
    which = f'"struct":"{struct}","field":"{field}","bit_offset":{offset},"bit_width":{width}'
    return (
        f'{{"event":"{Patched.name}","level":"{Patched.level}","time":',
        f',"run":{run},"stream":{stream},"slot":',
        f',"node":{_text(node)},"model_task":{of},{which},"before":',
        f',"writer_stream":{writer},"writer_task":',
        f',"engine":{_text(engine)},"tiling_key":',
    )


def _number(value: int | None) -> str:
    return "null" if value is None else str(value)


def _parts(text: str, marks: Sequence[object]) -> list[str]:
    """What lies between `marks`, which occur once each and in this order."""
    found = []
    for mark in marks:
        before, _, text = text.partition(str(mark))
        found.append(before)
    return [*found, text]


def _text(text: str) -> str:
    """`text` as a JSON string."""
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return _ENCODE(text).decode()
