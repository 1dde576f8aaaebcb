"""The finished task list and its streams: the join at the graph's end, and streams that are too long.

Mirrors the join of attached streams to `NetOutput` and `StreamAllocator::SplitStreams`
(`reference/tiling_sink_compiler.md` 9.4, `device_semantics.md` 3).

Join: every stream but the one of the end sends an event from its last task to the end of the graph. With policy
`end_join` = `needed` the event is left out where the end's stream waits for that last task anyway.

Split: a stream whose entries and a margin of 27 exceed what a ring of the chip holds goes on in a new stream, behind
an event of its own. An event wait counts as two entries, wait and reset. Tasks of one operator stay together, since a
kernel must stand directly behind its wait and its NOPs.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import TYPE_CHECKING

from emu_core.limits import entries_of
from formats.blob.model import BlobEvent, BlobStream, BlobTask, TaskType

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_WAITS = (TaskType.EVENT_WAIT, TaskType.NOTIFY_WAIT)
_RECORDS = (TaskType.EVENT_RECORD, TaskType.NOTIFY_RECORD)
JOIN_STAGE = "join"
SPLIT_STAGE = "split"
SPLIT_MARGIN = 27
"""Entries that the vendor keeps free on a stream when it decides about splitting it."""
_CONTINUATION = 3
"""Entries that a part has besides its tasks at most: wait and reset at its start, record at its end."""


@dataclass(frozen=True)
class TaskList:
    """Tasks in list order with the streams and events they use."""

    tasks: tuple[BlobTask, ...]
    streams: tuple[BlobStream, ...]
    events: tuple[BlobEvent, ...]


def shifted(found: TaskList, streams: int, events: int) -> TaskList:
    """`found` with its stream and event numbers raised, to stand behind other lists in one model."""
    if not streams and not events:
        return found
    return TaskList(
        tuple(
            replace(
                task,
                stream_id=task.stream_id + streams,
                event_id=None if task.event_id is None else task.event_id + events,
            )
            for task in found.tasks
        ),
        tuple(
            replace(stream, id=stream.id + streams, serves=None if stream.serves is None else stream.serves + streams)
            for stream in found.streams
        ),
        tuple(replace(event, id=event.id + events) for event in found.events),
    )


def join_ends(found: TaskList, *, always: bool) -> TaskList:
    """`found` with an event from the end of each stream to the end of the graph, its last task."""
    *tasks, end = found.tasks
    last = {task.stream_id: task for task in tasks}
    awaited = {t.event_id for t in tasks if t.type in _WAITS and t.stream_id == end.stream_id}
    events = list(found.events)
    for stream in found.streams:
        task = last.get(stream.id)
        if stream.id == end.stream_id or task is None:
            continue
        if not always and task.type in _RECORDS and task.event_id in awaited:
            continue
        event = BlobEvent(len(events), f"{stream.name}_to_end")
        events.append(event)
        tasks.append(BlobTask(TaskType.EVENT_RECORD, stream.id, event_id=event.id, made_by=JOIN_STAGE))
        tasks.append(BlobTask(TaskType.EVENT_WAIT, end.stream_id, event_id=event.id, made_by=JOIN_STAGE))
    return TaskList((*tasks, end), found.streams, tuple(events))


def split_streams(found: TaskList, capacity: int) -> TaskList:
    """`found` with every stream of more than `capacity` entries cut into parts.

    A capacity that holds no more than the tasks of going on (a chip whose rings are smaller than the margin) cuts
    nothing; tasks of one operator that exceed it alone stay together. Both are for the check of limits to refuse.
    """
    entries: dict[int, int] = {}
    for task in found.tasks:
        entries[task.stream_id] = entries.get(task.stream_id, 0) + entries_of(task)
    long = {stream for stream, count in entries.items() if count > capacity}
    if not long or capacity <= _CONTINUATION:
        return found
    return _Splitter(found, capacity, long).split()


@dataclass
class _Part:
    """The part of a stream that is being filled."""

    id: int
    number: int = 0
    used: int = 0


@dataclass
class _Splitter:
    """State of one walk over the task list."""

    found: TaskList
    capacity: int
    long: set[int]
    tasks: list[BlobTask] = field(default_factory=list)
    parts: dict[int, _Part] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.streams = list(self.found.streams)
        self.events = list(self.found.events)
        self.by_id: Mapping[int, BlobStream] = {stream.id: stream for stream in self.streams}

    def split(self) -> TaskList:
        """The list with its parts."""
        sizes = _group_sizes(self.found.tasks, self.long)
        for index, task in enumerate(self.found.tasks):
            if task.stream_id not in self.long:
                self.tasks.append(task)
                continue
            part = self.parts.setdefault(task.stream_id, _Part(task.stream_id))
            group = sizes.get(index, 0)
            if group and part.used and part.used + group + 1 > self.capacity:
                self._go_on(task.stream_id, part)
            part.used += entries_of(task)
            self.tasks.append(replace(task, stream_id=part.id))
        return TaskList(tuple(self.tasks), tuple(self.streams), tuple(self.events))

    def _go_on(self, stream: int, part: _Part) -> None:
        """End the part with a record and begin the next one with a wait for it."""
        origin = self.by_id[stream]
        old, part.id, part.number = part.id, max(each.id for each in self.streams) + 1, part.number + 1
        name = f"{origin.name}_part_{part.number}"
        self.streams.append(BlobStream(part.id, name, serves=origin.serves))
        event = BlobEvent(len(self.events), f"split_{name}")
        self.events.append(event)
        self.tasks.append(BlobTask(TaskType.EVENT_RECORD, old, event_id=event.id, made_by=SPLIT_STAGE))
        wait = BlobTask(TaskType.EVENT_WAIT, part.id, event_id=event.id, made_by=SPLIT_STAGE)
        self.tasks.append(wait)
        part.used = entries_of(wait)


def _group_sizes(tasks: Sequence[BlobTask], streams: set[int]) -> dict[int, int]:
    """Entries of each run of tasks of one operator on one stream, by index of its first task."""
    return {first: size for stream in sorted(streams) for first, size in _runs(tasks, stream)}


def _runs(tasks: Sequence[BlobTask], stream: int) -> Iterator[tuple[int, int]]:
    line = ((index, task) for index, task in enumerate(tasks) if task.stream_id == stream)
    for _, members in groupby(line, key=lambda pair: pair[1].node):
        run = list(members)
        yield run[0][0], sum(entries_of(task) for _, task in run)
