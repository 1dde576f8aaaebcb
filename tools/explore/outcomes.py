"""What a program gives under a schedule: outputs, faults and deadlocks of every execution."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from emu_core.device import Device
from emu_core.trace import TaskDone, Trace
from tools.explore.schedules import PLAIN

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from emu_core.chips import Chip
    from emu_core.engines import Handler, Task
    from emu_core.model import Result
    from emu_core.plugins import PluginHost
    from emu_core.reports import Hazard
    from formats.blob import Blob
    from tools.explore.schedules import Key, Schedule

    Arrays = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Subject:
    """A program and what it is run with: input arrays of each execution."""

    blob: Blob
    chip: Chip | str
    policies: Mapping[str, str]
    host: PluginHost
    inputs: Sequence[Arrays]


@dataclass(frozen=True)
class Entry:
    """An entry that started under the plain schedule, for reports."""

    key: Key
    task: int
    kind: str
    node: str
    took_ns: int

    def text(self) -> str:
        """Which entry it is."""
        run, stream, _ = self.key
        return (
            f"execution {run}, stream {stream} task {self.task} ({self.kind}{f' of {self.node}' if self.node else ''})"
        )


@dataclass(frozen=True)
class Outcome:
    """What came out: by execution the outputs, or how it failed; and what the device reported on the way."""

    outputs: tuple[Mapping[str, np.ndarray], ...]
    failures: tuple[str, ...]
    hazards: tuple[Hazard, ...]
    entries: tuple[Entry, ...]

    def difference(self, other: Outcome) -> str:
        """The first thing in which `other` differs, in words; empty when it is the same."""
        for run, (ours, others) in enumerate(zip(self.failures, other.failures, strict=True), 1):
            if ours != others:
                return f"execution {run} ends with {others or 'no error'} instead of {ours or 'no error'}"
        for run, (mine, theirs) in enumerate(zip(self.outputs, other.outputs, strict=True), 1):
            for name, array in mine.items():
                at = _first_difference(array, theirs[name])
                if at is not None:
                    return f"output {name} of execution {run} differs, first in element {at}"
        return ""


def _first_difference(first: np.ndarray, second: np.ndarray) -> int | None:
    a, b = np.ascontiguousarray(first), np.ascontiguousarray(second)
    size = a.itemsize
    different = np.flatnonzero(a.view(np.uint8).reshape(-1) != b.view(np.uint8).reshape(-1))
    return int(different[0]) // size if different.size else None


def outcome_of(subject: Subject, schedule: Schedule, *, follow: bool = False) -> Outcome:
    """Load and execute the program under `schedule`; `follow`: with policy `ordering=report`."""
    ordering = {"ordering": "report"} if follow else {}
    trace = Trace((TaskDone,) if schedule is PLAIN else ())
    device = Device(subject.chip, {**subject.policies, **ordering}, subject.host, trace=trace)
    model = device.load(subject.blob)
    if schedule is not PLAIN:
        device.scheduler.delay_by(_Delays(schedule))
    outputs: list[Mapping[str, np.ndarray]] = []
    failures: list[str] = []
    entries: list[Entry] = []
    for arrays in subject.inputs:
        result = model.execute(arrays)
        outputs.append(result.outputs)
        failures.append(_failure(result))
        entries += _entries(result)
        if not result.ok:
            model.abort()
    return Outcome(tuple(outputs), tuple(failures), tuple(device.hazards), tuple(entries))


def _failure(result: Result) -> str:
    if result.deadlock is not None:
        return "a deadlock"
    return result.faults[0].id if result.faults else ""


def _entries(result: Result) -> list[Entry]:
    count: dict[int, int] = defaultdict(int)
    found = []
    for event in result.trace:
        if isinstance(event, TaskDone):
            key = (result.run, event.stream, count[event.stream])
            count[event.stream] += 1
            found.append(Entry(key, event.task, event.kind, event.node, event.time - event.started))
    return found


class _Delays:
    """Counts the entries that start on each stream, and gives each its delay."""

    def __init__(self, schedule: Schedule) -> None:
        self._delays = schedule.delays
        self._count: dict[tuple[int, int], int] = defaultdict(int)

    def __call__(self, task: Task, _handler: Handler) -> int:
        place = task.run, task.stream.id
        number = self._count[place]
        self._count[place] += 1
        return self._delays.get((*place, number), 0)
