"""What lanes leave in the trace, and how it becomes events.

A *span* is a stretch of entries that a queue went through ahead of the clock: columns, from which the events of each
entry are made when somebody reads the trace. A *step* is what happened at a stop, as a tuple:
(time, front, what, lane, window, index, since, waited). A patched field is a step, too: (time, front, what, row), where
row is the fields of its journal entry.

The order of events is the order in which single steps would have made them. An event's key is (time, front, late,
arrival), where `front` is the largest stream id of the steps at that time so far:

| event | key |
|---|---|
| of a single step, or of a stop | its time, the front then, 1, its place in the log |
| in a span, at the time at which the span was logged | the same: no time has passed |
| in a span, later | its time, its own stream id, 0, 0: the step of a queue comes when all smaller ids have come |
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from emu_core.trace import Event, Patched, SignalChanged, TaskDone, TaskStarted, TaskWaits

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from emu_core.windows import Window

    Times = npt.NDArray[np.int64]

SETS, CLEARED, ACTED, PASSED, TAKEN, PARKS, HOLDS, HELD, PATCHES = range(9)

_SIGNAL = {SETS: 1, CLEARED: 0, TAKEN: 0}
"""Steps that change a flag, and its value then."""

STARTS = frozenset({PASSED, TAKEN, HOLDS})
ENDS = frozenset({SETS, CLEARED, ACTED, PASSED, TAKEN, HELD})


class Span:
    """Entries `first` to `end` (exclusive) of a window started, those before `done` ended too; from `time` on."""

    __slots__ = ("done", "end", "first", "run", "stream", "time", "window")

    def __init__(self, window: Window, stream: int, first: int, end: int, done: int, time: int, run: int) -> None:
        self.window = window
        self.stream = stream
        self.first = first
        self.end = end
        self.done = done
        self.time = time
        self.run = run

    def cut(self, at: int) -> None:
        """Entry `at` is in flight; what was to come did not happen."""
        self.done, self.end = at, at + 1

    def starts(self) -> Times:
        """When each entry started; shape (end - first,), nanoseconds."""
        ends = self.window.ends
        found: Times = ends[self.first : self.end] - ends[self.first] + self.time
        return found

    def stops(self) -> Times:
        """When each entry that is done ended; shape (done - first,), nanoseconds."""
        ends = self.window.ends
        found: Times = ends[self.first + 1 : self.done + 1] - ends[self.first] + self.time
        return found

    def count(self, wanted: frozenset[type[Event]]) -> int:
        """Events it stands for."""
        return (TaskStarted in wanted) * (self.end - self.first) + (TaskDone in wanted) * (self.done - self.first)

    def times(self, wanted: frozenset[type[Event]]) -> Times:
        """Times of its events, in order."""
        if TaskStarted not in wanted:
            return self.stops() if TaskDone in wanted else np.empty(0, np.int64)
        starts = self.starts()
        if TaskDone not in wanted:
            return starts
        both = np.empty(self.count(wanted), np.int64)
        both[::2], both[1::2] = starts, self.stops()
        return both

    def events(self, wanted: frozenset[type[Event]]) -> Iterator[Event]:
        """Its events, in order."""
        window, run, stream = self.window, self.run, self.stream
        starts = self.starts().tolist()
        ends = self.stops().tolist()
        for index, started in enumerate(starts):
            at = self.first + index
            about = place(window, stream, at)
            kind = window.kind(at)
            engine, name, detail = kind.handler.engine, kind.handler.kind, detail_of(window, at)
            if TaskStarted in wanted:
                yield TaskStarted(time=started, run=run, **about, engine=engine, kind=name, detail=detail)
            if TaskDone in wanted and index < len(ends):
                yield TaskDone(
                    time=ends[index], run=run, **about, engine=engine, kind=name, started=started, detail=detail
                )


def place(window: Window, stream: int, at: int) -> dict[str, Any]:
    """Which entry index `at` of a window is."""
    number = window.number + at
    origin = window.submissions.origin_of(number)
    return {
        "stream": stream,
        "slot": window.lo + at,
        "task": number & window.submissions.last_id,
        "node": origin.node,
        "model_task": origin.model_task,
    }


def detail_of(window: Window, at: int) -> str:
    """The detail of a planned entry in traces."""
    kind = window.kind(at)
    if kind.value is None or not hasattr(kind.plan, "prefix"):
        return str(getattr(kind.plan, "detail", ""))
    return f"{kind.plan.prefix}{window.signals.signal(window.key(at))}"


def without_core(waited: int) -> str:
    """What waiting for a unit adds to the detail of an entry."""
    return f", after {waited} ns without a core" if waited else ""


def step_count(step: Sequence[Any], wanted: frozenset[type[Event]]) -> int:
    """Events that a step stands for."""
    what = step[2]
    return (
        (SignalChanged in wanted and what in _SIGNAL)
        + (TaskStarted in wanted and what in STARTS)
        + (TaskDone in wanted and what in ENDS)
        + (TaskWaits in wanted and what == PARKS)
        + (Patched in wanted and what == PATCHES)
    )


def step_events(step: Sequence[Any], wanted: frozenset[type[Event]]) -> Iterator[Event]:
    """The events of a step, in order."""
    if step[2] == PATCHES:
        if Patched in wanted:
            yield _patched(step[3])
        return
    time, _, what, lane, window, at, since, waited = step
    run, kind = lane.run, window.kind(at)
    about = place(window, lane.sid, at)
    named = {"engine": kind.handler.engine, "kind": kind.handler.kind, "detail": detail_of(window, at)}
    if SignalChanged in wanted and what in _SIGNAL:
        signal = str(window.signals.signal(window.key(at)))
        yield SignalChanged(
            time=time, run=run, signal=signal, value=_SIGNAL[what], stream=about["stream"], task=about["task"]
        )
    if TaskWaits in wanted and what == PARKS:
        signal = str(window.signals.signal(window.key(at)))
        yield TaskWaits(time=time, run=run, **about, kind=kind.handler.kind, signal=signal)
    if TaskStarted in wanted and what in STARTS:
        yield TaskStarted(time=time, run=run, **about, **named)
    if TaskDone in wanted and what in ENDS:
        named["detail"] += without_core(waited)
        yield TaskDone(time=time, run=run, **about, **named, started=since)


def _patched(row: tuple[Any, ...]) -> Patched:
    time, run, writer, _, stream, slot, task, struct, field, _, offset, width, before, after, key, line, node, of = row
    return Patched(
        time=time,
        run=run,
        stream=stream,
        slot=slot,
        task=task,
        struct=struct,
        field=field,
        bit_offset=offset,
        bit_width=width,
        before=before,
        after=after,
        writer_stream=writer.stream,
        writer_task=writer.task,
        engine=writer.engine,
        tiling_key=key,
        table_row=line,
        node=node,
        model_task=of,
    )


def count_of(log: Sequence[tuple[Any, ...]], wanted: frozenset[type[Event]]) -> int:
    """Events that a log stands for."""
    return sum(_count(entry, wanted) for entry in log)


def _count(entry: tuple[Any, ...], wanted: frozenset[type[Event]]) -> int:
    thing = entry[2]
    if isinstance(thing, Span):
        return thing.count(wanted)
    return int(type(thing) in wanted) if isinstance(thing, Event) else step_count(entry, wanted)


def _events(entry: tuple[Any, ...], wanted: frozenset[type[Event]]) -> Iterator[Event]:
    thing = entry[2]
    if isinstance(thing, Span):
        yield from thing.events(wanted)
    elif isinstance(thing, Event):
        if type(thing) in wanted:
            yield thing
    else:
        yield from step_events(entry, wanted)


def events_of(log: Sequence[tuple[Any, ...]], wanted: frozenset[type[Event]]) -> list[Event]:
    """The events of a log, in the order in which they happened."""
    found = [event for entry in log for event in _events(entry, wanted)]
    order = order_of(log, wanted)
    return found if order is None else [found[i] for i in order.tolist()]


def order_of(log: Sequence[tuple[Any, ...]], wanted: frozenset[type[Event]]) -> npt.NDArray[np.intp] | None:
    """Positions of events, as they come out of the log, in the order in which they happened; None: as they are."""
    if wanted.isdisjoint((TaskStarted, TaskDone)) or not any(type(entry[2]) is Span for entry in log):
        return None
    return _order(log, wanted)


def _order(log: Sequence[tuple[Any, ...]], wanted: frozenset[type[Event]]) -> npt.NDArray[np.intp]:
    """Positions of events, as they come out of the log, in the order of their keys."""
    counts = [_count(entry, wanted) for entry in log]
    times = np.repeat(np.array([entry[0] for entry in log], np.int64), counts)
    fronts = np.repeat(np.array([2 * entry[1] + 1 for entry in log], np.int64), counts)
    at = 0
    for entry, count in zip(log, counts, strict=True):
        span = entry[2]
        if type(span) is Span and count:
            mine = span.times(wanted)
            times[at : at + count] = mine
            # Times do not fall: all but the first few are later.
            later = at + int(mine.searchsorted(entry[0], "right"))
            fronts[later : at + count] = 2 * span.stream
        at += count
    width = int(fronts.max(initial=0)) + 2
    if int(times.max(initial=0)) < (1 << 62) // width:
        return np.argsort(times * width + fronts, kind="stable")
    return np.lexsort((fronts, times))
