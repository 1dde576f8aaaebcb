"""Which task of a program comes before which: streams run their tasks in order, an event's wait comes after its record.

Positions count tasks of one stream from 0. Of an event that several tasks record nothing is concluded, since any of
them may be the one that lets a wait pass.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from formats.blob.model import TaskType

if TYPE_CHECKING:
    from collections.abc import Mapping

    from formats.blob.model import Blob

_T = TypeVar("_T")


@dataclass(frozen=True)
class Order:
    """The order of the tasks of one blob.

    Attributes:
        streams: indices of the tasks of each stream, by stream id.
        position: of each task on its stream, by index of the task.
        records: tasks that record an event, `waits`: tasks that wait for it, both by event id.
    """

    blob: Blob
    streams: Mapping[int, tuple[int, ...]]
    position: tuple[int, ...]
    records: Mapping[int, tuple[int, ...]]
    waits: Mapping[int, tuple[int, ...]]
    _waits_on: Mapping[int, tuple[tuple[int, int], ...]]

    def before(self, first: int, second: int) -> bool:
        """Whether task `first` is over before task `second` starts (a wait: before it passes), in every run.

        Waits must not form a circle: behind one nothing runs, and the check of events reports it.
        """
        stream = self.blob.tasks[first].stream_id
        if stream == self.blob.tasks[second].stream_id:
            return self.position[first] < self.position[second]
        return self._reach(second, stream).get(stream, -1) >= self.position[first]

    def _reach(self, task: int, wanted: int) -> dict[int, int]:
        """Per stream the last position that comes before `task`; at least complete for stream `wanted`."""
        start = self.blob.tasks[task].stream_id
        reach, done = {start: self.position[task]}, dict.fromkeys(self.streams, 0)
        open_streams = [start]
        while open_streams:
            stream = open_streams.pop()
            if stream == wanted:
                continue
            waits = self._waits_on.get(stream, ())
            at = done[stream]
            while at < len(waits) and waits[at][0] <= reach[stream]:
                for other, position in self._released_by(waits[at][1]):
                    if position > reach.get(other, -1):
                        reach[other] = position
                        open_streams.append(other)
                at += 1
            done[stream] = at
        return reach

    def _released_by(self, event: int) -> tuple[tuple[int, int], ...]:
        found = self.records.get(event, ())
        return ((self.blob.tasks[found[0]].stream_id, self.position[found[0]]),) if len(found) == 1 else ()


def order_of(blob: Blob) -> Order:
    """The order of `blob`, whose stream ids must exist."""
    streams: dict[int, list[int]] = {stream.id: [] for stream in blob.streams}
    position: list[int] = []
    records: dict[int, list[int]] = {}
    waits: dict[int, list[int]] = {}
    waits_on: dict[int, list[tuple[int, int]]] = {}
    for index, task in enumerate(blob.tasks):
        at = len(streams[task.stream_id])
        streams[task.stream_id].append(index)
        position.append(at)
        if task.event_id is not None and task.type == TaskType.EVENT_RECORD:
            records.setdefault(task.event_id, []).append(index)
        elif task.event_id is not None and task.type == TaskType.EVENT_WAIT:
            waits.setdefault(task.event_id, []).append(index)
            waits_on.setdefault(task.stream_id, []).append((at, task.event_id))
    return Order(blob, _frozen(streams), tuple(position), _frozen(records), _frozen(waits), _frozen(waits_on))


def _frozen(lists: Mapping[int, list[_T]]) -> dict[int, tuple[_T, ...]]:
    return {key: tuple(found) for key, found in lists.items()}
