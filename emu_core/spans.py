"""What lanes leave in the trace, and how it becomes events.

A *span* is a stretch of entries that a queue went through ahead of the clock: columns, from which the events of each
entry are made when somebody reads the trace. A *step* is what happened at a stop, as a tuple:
(time, front, what, lane, window, index, since, waited). A patched field is a step, too: (time, front, what, row), where
row is the fields of its journal entry; so are many at once: (time, front, what, `emu_core.patches.BulkPatch`).

The order of events is the order in which single steps would have made them. An event's key is (time, front, late,
arrival), where `front` is the largest stream id of the steps at that time so far:

| event | key |
|---|---|
| of a single step, or of a stop | its time, the front then, 1, its place in the log |
| in a span, at the time at which the span was logged | the same: no time has passed |
| in a span, later | its time, its own stream id, 0, 0: the step of a queue comes when all smaller ids have come |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from emu_core.trace import Event, Patched, SignalChanged, TaskDone, TaskStarted, TaskWaits

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from emu_core.windows import Window

    Times = npt.NDArray[np.int64]

_STEPS = range(9)
SETS, CLEARED, ACTED, PASSED, TAKEN, PARKS, HOLDS, HELD, PATCHES = _STEPS
MANY_PATCHES = len(_STEPS)
ORDERED = MANY_PATCHES + 1
"""A record of `emu_core.ordering`, of which no event is made."""

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
    if what >= MANY_PATCHES:
        return len(step[3]) if what == MANY_PATCHES and Patched in wanted else 0
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
    if step[2] == MANY_PATCHES:
        if Patched in wanted:
            yield from map(_patched, step[3].rows())
        return
    if step[2] == ORDERED:
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


@dataclass(frozen=True)
class Keys:
    """When events of a log happen, in the order of the log: counts by entry; time and front of each event."""

    counts: list[int]
    times: Times
    fronts: Times

    def order(self) -> npt.NDArray[np.intp] | None:
        """Positions of the events in the order in which they happened; None: as they are."""
        width = int(self.fronts.max(initial=0)) + 2
        if int(self.times.max(initial=0)) >= (1 << 62) // width:
            return np.lexsort((self.fronts, self.times))
        keys = self.times * width + self.fronts
        return None if (keys[1:] >= keys[:-1]).all() else np.argsort(keys, kind="stable")


def order_of(log: Sequence[tuple[Any, ...]], wanted: frozenset[type[Event]]) -> npt.NDArray[np.intp] | None:
    """Positions of events, as they come out of the log, in the order in which they happened; None: as they are."""
    keys = keys_of(log, wanted)
    return None if keys is None else keys.order()


def keys_of(log: Sequence[tuple[Any, ...]], wanted: frozenset[type[Event]]) -> Keys | None:
    """The keys of events, as they come out of the log; None when that is the order in which they happened."""
    if wanted.isdisjoint((TaskStarted, TaskDone)) or not any(type(entry[2]) is Span for entry in log):
        return None
    by_step = [step_count((0, 0, what), wanted) for what in _STEPS]
    counts = [
        by_step[what] if (what := entry[2]).__class__ is int and what < MANY_PATCHES else _count(entry, wanted)
        for entry in log
    ]
    times = np.repeat(np.array([entry[0] for entry in log], np.int64), counts)
    fronts = np.repeat(np.array([2 * entry[1] + 1 for entry in log], np.int64), counts)
    by_window: dict[int, list[tuple[int, Span]]] = {}
    at = 0
    for entry, count in zip(log, counts, strict=True):
        span = entry[2]
        if count and type(span) is Span:
            by_window.setdefault(id(span.window), []).append((at, span))
        at += count
    for spans in by_window.values():
        _put_times(spans, wanted, times, fronts)
    return Keys(counts, times, fronts)


def _put_times(spans: list[tuple[int, Span]], wanted: frozenset[type[Event]], times: Times, fronts: Times) -> None:
    """The times of the events of spans of one window; what comes later than its span was logged has another front.

    `spans`: position of the first event of each, and the span.
    """
    ends, stream = spans[0][1].window.ends, spans[0][1].stream
    place, first, logged = np.array([(at, span.first, span.time) for at, span in spans], np.int64).T
    for kind, ahead, until in ((TaskStarted, 0, "end"), (TaskDone, 1, "done")):
        if kind not in wanted:
            continue
        count = np.array([getattr(span, until) for _, span in spans], np.int64) - first
        which = np.repeat(np.arange(len(count)), count)
        within = np.arange(len(which)) - (np.cumsum(count) - count)[which]
        step = 2 if wanted.issuperset((TaskStarted, TaskDone)) else 1
        at = place[which] + step * within + (ahead if step > 1 else 0)
        times[at] = time = ends[first[which] + within + ahead] - ends[first][which] + logged[which]
        fronts[at[time > logged[which]]] = 2 * stream
