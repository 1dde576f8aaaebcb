"""Events as JSON lines, the fast way: what `drain` sends through structlog, encoded at once.

Each line is an object: `event` (the event's name), `level`, then the fields of the event. Lines of spans and steps are
made from their columns, without an event object.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from emu_core.spans import ENDS, PATCHES, STARTS, Span, detail_of, order_of, place, step_events, without_core
from emu_core.trace import STEP_EVENTS, Patched, TaskDone, TaskStarted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from emu_core.lane import Lane
    from emu_core.trace import Event
    from emu_core.windows import Window

_ENCODE = msgspec.json.Encoder().encode


def line(event: Event) -> bytes:
    """One event as a line."""
    head = f'{{"event":"{event.name}","level":"{event.level}",'.encode()
    return b"%s%s\n" % (head, _ENCODE(event)[1:])


def lines_of(records: Iterable[Event], log: Sequence[tuple[Any, ...]], wanted: frozenset[type[Event]]) -> bytes:
    """Lines of events that were read before and of a log (`emu_core.spans`), as far as they are of a wanted type."""
    found = [line(event).decode() for event in records if type(event) in wanted]
    writer = _Writer(wanted)
    told = [entry for entry in log if _is_patch(entry[2])] if wanted == {Patched} else log
    for entry in told:
        writer.add(entry)
    logged = writer.found
    order = order_of(log, wanted)
    if order is not None:
        logged = [logged[at] for at in order.tolist()]
    return "".join([*found, *logged]).encode()


def _is_patch(thing: object) -> bool:
    return type(thing) is Patched or (type(thing) is int and thing == PATCHES)


class _Writer:
    """Makes the lines of a log; entries of one kind, stream and origin differ in numbers only, and share a template."""

    def __init__(self, wanted: frozenset[type[Event]]) -> None:
        self.found: list[str] = []
        self._wanted = wanted
        self._starts, self._ends = TaskStarted in wanted, TaskDone in wanted
        self._only_tasks = wanted & STEP_EVENTS <= {TaskStarted, TaskDone}
        self._templates: dict[tuple[int, ...], _Template] = {}

    def add(self, entry: tuple[Any, ...]) -> None:
        """Make the lines of one entry of the log."""
        thing = entry[2]
        if type(thing) is Span:
            if self._starts or self._ends:
                self._add_span(thing)
        elif type(thing) is not int:
            if type(thing) in self._wanted:
                self.found.append(line(thing).decode())
        elif thing == PATCHES:
            if Patched in self._wanted:
                self.found.append(_patch_line(entry[3]))
        elif not self._only_tasks:
            self.found += [line(event).decode() for event in step_events(entry, self._wanted)]
        elif self._starts or self._ends:
            self._add_step(*entry)

    def _template(self, window: Window, stream: int, run: int, at: int) -> _Template:
        code = int(window.codes[at])
        origin = window.submissions.origin_of(window.number + at)
        key = (id(window.kinds), code, id(origin), stream, run)
        found = self._templates.get(key)
        if found is None:
            found = self._templates[key] = _Template(window, stream, run, at)
        return found

    def _add_step(
        self, time: int, _front: int, what: int, lane: Lane, window: Window, at: int, since: int, late: int
    ) -> None:
        made = self._template(window, lane.sid, lane.run, at)
        slot, task = window.lo + at, (window.number + at) & window.submissions.last_id
        detail = detail_of(window, at)
        if self._starts and what in STARTS:
            self.found.append(made.start(time, slot, task, _text(detail)))
        if self._ends and what in ENDS:
            detail += without_core(late)
            self.found.append(made.end(time, slot, task, since, _text(detail)))

    def _add_span(self, span: Span) -> None:
        window, first = span.window, span.first
        end = span.end if self._starts else span.done
        if end == first:
            return
        slot, number, last_id = window.lo + first, window.number + first, window.submissions.last_id
        starts, ends = span.starts().tolist(), span.stops().tolist()
        codes = window.codes[first:end]
        lone = not self._starts and (codes == codes[0]).all() and window.submissions.same_origin(number, end - first)
        if lone:
            made = self._template(window, span.stream, span.run, first)
            a, b, c, d, e, f = made.done
            f = _text(detail_of(window, first)) + f
            self.found += [
                f"{a}{stop}{b}{slot + i}{c}{number + i & last_id}{d}{start}{e}{f}"
                for i, (start, stop) in enumerate(zip(starts, ends, strict=False))
            ]
            return
        for index in range(end - first):
            made = self._template(window, span.stream, span.run, first + index)
            task, detail = number + index & last_id, _text(detail_of(window, first + index))
            if self._starts:
                self.found.append(made.start(starts[index], slot + index, task, detail))
            if self._ends and index < len(ends):
                self.found.append(made.end(ends[index], slot + index, task, starts[index], detail))


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

    def start(self, time: int, slot: int, task: int, detail: str) -> str:
        """The line at its start."""
        a, b, c, d, e = self.begun
        return f"{a}{time}{b}{slot}{c}{task}{d}{detail}{e}"

    def end(self, time: int, slot: int, task: int, started: int, detail: str) -> str:
        """The line at its end."""
        a, b, c, d, e, f = self.done
        return f"{a}{time}{b}{slot}{c}{task}{d}{started}{e}{detail}{f}"


def _patch_line(row: tuple[Any, ...]) -> str:
    """The line of a field that was patched, from the fields of its journal entry."""
    (
        time,
        run,
        writer,
        _,
        stream,
        slot,
        task,
        struct,
        field,
        _,
        offset,
        width,
        before,
        after,
        key,
        table_row,
        node,
        of,
    ) = row
    whose = f'"stream":{stream},"slot":{slot},"task":{task},"node":{_text(node)},"model_task":{of}'
    which = f'"struct":"{struct}","field":"{field}","bit_offset":{offset},"bit_width":{width}'
    change = f'"before":{before},"after":{after}'
    by = f'"writer_stream":{writer.stream},"writer_task":{writer.task},"engine":{_text(writer.engine)}'
    update = f'"tiling_key":{_number(key)},"table_row":{_number(table_row)}'
    head = f'"event":"{Patched.name}","level":"{Patched.level}","time":{time},"run":{run}'
    return f"{{{head},{whose},{which},{change},{by},{update}}}\n"


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
    if not text:
        return '""'
    return _ENCODE(text).decode()
