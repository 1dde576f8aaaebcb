"""Events as JSON lines, the fast way: what `drain` sends through structlog, encoded at once.

Each line is an object: `event` (the event's name), `level`, then the fields of the event. Lines of spans and steps are
made from their columns, without an event object.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
import numpy as np

from emu_core.spans import ENDS, PATCHES, STARTS, Span, detail_of, keys_of, place, step_events, without_core
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
        for entry in [entry for entry in log if _is_patch(entry[2])] if wanted == {Patched} else log:
            writer.add(entry)
        return "".join([*found, *writer.found]).encode()
    times, at = list(map(str, keys.times.tolist())), 0
    for entry, count in zip(log, keys.counts, strict=True):
        if count:
            writer.add(entry, times[at : at + count])
            at += count
    return "".join([*found, *map(writer.found.__getitem__, keys.order().tolist())]).encode()


def _is_patch(thing: object) -> bool:
    return type(thing) is Patched or (type(thing) is int and thing == PATCHES)


class _Writer:
    """Makes the lines of a log; entries of one kind, stream and origin differ in numbers only, and share a template."""

    def __init__(self, wanted: frozenset[type[Event]]) -> None:
        self.found: list[str] = []
        self._wanted = wanted
        self._starts, self._ends = TaskStarted in wanted, TaskDone in wanted
        self._only_tasks = wanted & STEP_EVENTS <= {TaskStarted, TaskDone}
        self._sheets: dict[int, _Sheet] = {}
        self._patches: dict[tuple[Any, ...], _Patch] = {}

    def add(self, entry: tuple[Any, ...], times: Sequence[str] = ()) -> None:
        """Make the lines of one entry of the log; `times`: of the events of a span, as texts."""
        thing = entry[2]
        if type(thing) is Span:
            if self._starts or self._ends:
                self._add_span(thing, times)
        elif type(thing) is not int:
            if type(thing) in self._wanted:
                self.found.append(line(thing).decode())
        elif thing == PATCHES:
            if Patched in self._wanted:
                self.found.append(_patch_line(entry[3], self._patches))
        elif not self._only_tasks:
            self.found += [line(event).decode() for event in step_events(entry, self._wanted)]
        elif self._starts or self._ends:
            self._add_step(*entry)

    def _sheet(self, window: Window) -> _Sheet:
        found = self._sheets.get(id(window))
        if found is None:
            found = self._sheets[id(window)] = _Sheet(window)
        return found

    def _add_step(
        self, time: int, _front: int, what: int, lane: Lane, window: Window, at: int, since: int, late: int
    ) -> None:
        sheet = self._sheets.get(id(window)) or self._sheet(window)
        made = sheet.template(at, lane.sid, lane.run)
        slot = window.lo + at
        task = window.number + at & window.submissions.last_id
        detail = sheet.detail(at)
        if self._starts and what in STARTS:
            self.found.append(made.start(time, slot, task, detail))
        if self._ends and what in ENDS:
            if late:
                detail = _text(detail_of(window, at) + without_core(late))
            a, b, c, d, e, f = made.done
            self.found.append(f"{a}{time}{b}{slot}{c}{task}{d}{since}{e}{detail}{f}")

    def _add_span(self, span: Span, times: Sequence[str]) -> None:
        window, first = span.window, span.first
        sheet = self._sheet(window)
        if not self._starts and sheet.until[first] >= span.done and sheet.origin is not None:
            self._add_alike(span, sheet, times)
            return
        left = iter(times)
        began, slot, number, last_id = str(span.time), window.lo, window.number, window.submissions.last_id
        for at in range(first, span.end if self._starts else span.done):
            made, detail, task = sheet.template(at, span.stream, span.run), sheet.detail(at), number + at & last_id
            if self._starts:
                began = next(left)
                self.found.append(made.start(began, slot + at, task, detail))
            if self._ends and at < span.done:
                ended = next(left)
                self.found.append(made.end(ended, slot + at, task, began, detail))
                began = ended

    def _add_alike(self, span: Span, sheet: _Sheet, ends: Sequence[str]) -> None:
        """The ends of entries of one kind and origin: each starts when the one before it ends."""
        window, first = span.window, span.first
        a, b, c, d, e, f = sheet.template(first, span.stream, span.run).done
        f = sheet.detail(first) + f
        slot, task, count = window.lo + first, window.number + first, span.done - first
        last_id = window.submissions.last_id
        slots = tasks = list(map(str, range(slot, slot + count)))
        if task & last_id != slot or slot + count > last_id + 1:
            tasks = [str(task + i & last_id) for i in range(count)]
        starts = [str(span.time), *ends]
        self.found += [
            f"{a}{end}{b}{slot}{c}{task}{d}{start}{e}{f}"
            for start, end, slot, task in zip(starts, ends, slots, tasks, strict=False)
        ]


class _Sheet:
    """What the lines of one window share.

    Attributes:
        until: by index, where the run of entries of one kind that it lies in ends.
        origin: where all of its entries come from; None when from several places.
    """

    def __init__(self, window: Window) -> None:
        self._window = window
        self._codes: list[int] = window.codes.tolist()
        count = len(self._codes)
        changes = np.flatnonzero(np.diff(window.codes)) + 1
        edges = np.concatenate([[0], changes, [count]])
        self.until: list[int] = np.repeat(edges[1:], np.diff(edges)).tolist()
        alone = window.submissions.same_origin(window.number, count)
        self.origin = window.submissions.origin_of(window.number) if alone else None
        self._templates: dict[tuple[int, int, int, int], _Template] = {}
        self._details: dict[int, tuple[str, bool]] = {}
        self._keys = {stop[4]: stop[2] for stop in window.stops}

    def template(self, at: int, stream: int, run: int) -> _Template:
        """The text of the entry at index `at`."""
        window = self._window
        origin = self.origin or window.submissions.origin_of(window.number + at)
        key = (self._codes[at], id(origin), stream, run)
        found = self._templates.get(key)
        if found is None:
            found = self._templates[key] = _Template(window, stream, run, at)
        return found

    def detail(self, at: int) -> str:
        """The detail of that entry as a JSON string."""
        code = self._codes[at]
        known = self._details.get(code)
        if known is None:
            known = self._details[code] = self._detail(at)
        text, flagged = known
        return _text(f"{text}{self._window.signals.text(self._keys[at])}") if flagged else text

    def _detail(self, at: int) -> tuple[str, bool]:
        """What all entries of the kind say, as JSON; or what stands before the flag of each, and true."""
        kind = self._window.kind(at)
        if kind.value is None or not hasattr(kind.plan, "prefix"):
            return _text(detail_of(self._window, at)), False
        return kind.plan.prefix, True


_MARKS = (10**17 + 1, 10**17 + 2, 10**17 + 3, 10**17 + 4)
"""Numbers that stand for time, slot, task and `started` while a template is made; no slot or task is as large."""


class _Template:
    """The text of `task.start` and `task.done` of an entry, around time, slot, task, `started` and detail."""

    def __init__(self, window: Window, stream: int, run: int, at: int) -> None:
        handler = window.kind(at).handler
        time, slot, task, started = _MARKS
        about = {
            **place(window, stream, at),
            "slot": slot,
            "task": task,
            "engine": handler.engine,
            "kind": handler.kind,
        }
        begun = line(TaskStarted(time=time, run=run, **about, detail="\1")).decode()
        done = line(TaskDone(time=time, run=run, **about, started=started, detail="\1")).decode()
        self.begun = _parts(begun, (time, slot, task, _text("\1")))
        self.done = _parts(done, (time, slot, task, started, _text("\1")))

    def start(self, time: int | str, slot: int, task: int, detail: str) -> str:
        """The line at its start."""
        a, b, c, d, e = self.begun
        return f"{a}{time}{b}{slot}{c}{task}{d}{detail}{e}"

    def end(self, time: int | str, slot: int, task: int, started: int | str, detail: str) -> str:
        """The line at its end."""
        a, b, c, d, e, f = self.done
        return f"{a}{time}{b}{slot}{c}{task}{d}{started}{e}{detail}{f}"


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
