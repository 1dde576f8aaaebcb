"""Which task of a program comes before which: streams run their tasks in order, an event's wait comes after its record.

Positions count tasks of one stream from 0. Of an event that several tasks record nothing is concluded, since any of
them may be the one that lets a wait pass.

A host-scheduled program is ordered by the host, too: it goes through the list, launches what is on its own stream, and
executes a static model where that model's end stands. What it submits later starts when all before it has ended (of a
model: when its end is reached). Before a kernel that the host tiles it waits until the device is idle, so that all of
the list before is over. Events on the host's own stream are not submitted, and order nothing.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from emu_plugins.checks.operators import KERNELS, RECORDS, WAITS
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
        moment: when the host runs each task: its own index, in a static model inside that of the model's end. The
            same for all tasks of a program that the host executes as one model.
        idle: indices of tasks before which the host waits until the device is idle, ascending.
    """

    blob: Blob
    streams: Mapping[int, tuple[int, ...]]
    position: tuple[int, ...]
    records: Mapping[int, tuple[int, ...]]
    waits: Mapping[int, tuple[int, ...]]
    moment: tuple[int, ...]
    idle: tuple[int, ...]
    _waits_on: Mapping[int, tuple[tuple[int, int], ...]]

    def before(self, first: int, second: int) -> bool:
        """Whether task `first` is over before task `second` starts (a wait: before it passes), in every run.

        Waits must not form a circle: behind one nothing runs, and the check of events reports it.
        """
        submitted, wanted = self.moment[first], self.moment[second]
        if submitted == wanted:
            return self._in_model(first, second)
        if submitted > wanted:
            return False
        return first == submitted or self._idle_between(submitted, wanted) or self._in_model(first, submitted)

    def by_host(self, task: int) -> bool:
        """Whether the host launches this task itself, outside any model."""
        return self.blob.unknown_shape and self.blob.tasks[task].stream_id == self.blob.tasks[-1].stream_id

    def _idle_between(self, submitted: int, wanted: int) -> bool:
        return bisect_right(self.idle, wanted) > bisect_right(self.idle, submitted)

    def _in_model(self, first: int, second: int) -> bool:
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
                for other, position in self._released_by(self.streams[stream][waits[at][0]], waits[at][1]):
                    if position > reach.get(other, -1):
                        reach[other] = position
                        open_streams.append(other)
                at += 1
            done[stream] = at
        return reach

    def _released_by(self, wait: int, event: int) -> tuple[tuple[int, int], ...]:
        """Stream and position of the one record of `event`, when it belongs to the same model as `wait`."""
        found = self.records.get(event, ())
        if len(found) != 1 or self.moment[found[0]] != self.moment[wait]:
            return ()
        return ((self.blob.tasks[found[0]].stream_id, self.position[found[0]]),)


def order_of(blob: Blob) -> Order:
    """The order of `blob`, whose stream ids must exist."""
    host = blob.tasks[-1].stream_id if blob.unknown_shape and blob.tasks else None
    streams: dict[int, list[int]] = {stream.id: [] for stream in blob.streams}
    position: list[int] = []
    records: dict[int, list[int]] = {}
    waits: dict[int, list[int]] = {}
    waits_on: dict[int, list[tuple[int, int]]] = {}
    for index, task in enumerate(blob.tasks):
        line = streams.setdefault(task.stream_id, [])
        position.append(len(line))
        line.append(index)
        if task.event_id is None or task.stream_id == host:
            continue
        if task.type in RECORDS:
            records.setdefault(task.event_id, []).append(index)
        elif task.type in WAITS:
            waits.setdefault(task.event_id, []).append(index)
            waits_on.setdefault(task.stream_id, []).append((position[index], task.event_id))
    moment, idle = ((0,) * len(blob.tasks), ()) if host is None else (_moments(blob, host), _idle(blob, host))
    return Order(
        blob, _frozen(streams), tuple(position), _frozen(records), _frozen(waits), moment, idle, _frozen(waits_on)
    )


def _moments(blob: Blob, host: int) -> tuple[int, ...]:
    """When the host runs each task; tasks behind the last end of a static model never run, and come last."""
    found, end = [], len(blob.tasks)
    for index in range(len(blob.tasks) - 1, -1, -1):
        task = blob.tasks[index]
        if task.stream_id != host and task.type == TaskType.MODEL_END_GRAPH:
            end = index
        found.append(index if task.stream_id == host else end)
    return tuple(reversed(found))


def _idle(blob: Blob, host: int) -> tuple[int, ...]:
    return tuple(
        index
        for index, task in enumerate(blob.tasks)
        if task.stream_id == host and task.op is not None and task.kernel is not None
        if task.type in KERNELS and blob.ops[task.op].host_tiling
    )


def _frozen(lists: Mapping[int, list[_T]]) -> dict[int, tuple[_T, ...]]:
    return {key: tuple(found) for key, found in lists.items()}
