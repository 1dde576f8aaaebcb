"""The events of an execution as tasks: when each reached the head of its queue, waited, started, ended.

A task is known by stream and task id. An entry that executes several times in an execution (a loop) is several tasks
with one name, counted from 1 (`Task.nth`).
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from emu_core.errors import InputError, OptionError
from emu_core.trace import FaultRaised, SignalChanged, TaskDone, TaskStarted, TaskWaits
from tools.suggest import nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from emu_core.trace import Event

Name: TypeAlias = tuple[int, int]
"""Stream and task id."""

_WAITED = re.compile(r", after (\d+) ns without a core$")
_WAVES = re.compile(r", in (\d+) waves(?=,|$)")
_TASK = re.compile(r"(\d{1,9}):(\d{1,10})")


@dataclass
class Task:
    """One execution of an entry.

    Attributes:
        stream, slot, task, node, model_task, kind, engine, detail: as in the events.
        nth: which execution of this entry in this run, from 1.
        row: position in its queue among what came to the head of it.
        at: position in the events at which it was first seen; `started_at`, `ended_at`: at which it started and ended,
            -1 if it did not.
        waits_since: when it came to wait for `signal`; None: it did not wait.
        started, ended: virtual nanoseconds; None: not.
        coreless: nanoseconds of its duration in which no core was free for it. waves: in how many its blocks ran.
        fetched_copy: what executed was a stale copy. facts: as in `task.start`. fault, failed: id of its
            fault, or empty, and when.
    """

    stream: int
    slot: int
    task: int
    node: str
    model_task: int
    kind: str
    at: int
    engine: str = ""
    detail: str = ""
    nth: int = 1
    row: int = 0
    started_at: int = -1
    ended_at: int = -1
    waits_since: int | None = None
    signal: str = ""
    started: int | None = None
    ended: int | None = None
    coreless: int = 0
    waves: int = 1
    fetched_copy: bool = False
    facts: Mapping[str, int | str] = field(default_factory=dict)
    fault: str = ""
    failed: int | None = None

    @property
    def name(self) -> Name:
        """Stream and task id."""
        return self.stream, self.task

    @property
    def begun(self) -> int:
        """When it came to the head of its queue: when it began to wait, or else when it started."""
        return self.started or 0 if self.waits_since is None else self.waits_since

    @property
    def busy(self) -> int:
        """Nanoseconds from start to end; 0 if it did not end."""
        return 0 if self.ended is None or self.started is None else self.ended - self.started

    @property
    def waited(self) -> int:
        """Nanoseconds from the beginning of its wait to its start."""
        return 0 if self.waits_since is None or self.started is None else self.started - self.waits_since

    @property
    def place(self) -> str:
        """As messages name it: `0:7 kernel of probe0`."""
        return f"{self.stream}:{self.task} {self.kind}{f' of {self.node}' if self.node else ''}"


class Tasks:
    """The tasks of an execution.

    Attributes:
        all: in the order in which they were first seen.
        by_stream: of each stream, in the order in which they came to its head.
        signals: changes of each flag, in order: position in the events, and the event.
    """

    def __init__(self, events: Sequence[Event]) -> None:
        self.all: list[Task] = []
        self.by_stream: dict[int, list[Task]] = {}
        self.signals: dict[str, list[tuple[int, SignalChanged]]] = {}
        self._open: dict[Name, Task] = {}
        self._by_name: dict[Name, list[Task]] = {}
        for at, event in enumerate(events):
            if isinstance(event, TaskWaits):
                self._waits(event, at)
            elif isinstance(event, TaskStarted):
                self._started(event, at)
            elif isinstance(event, TaskDone):
                self._done(event, at)
            elif isinstance(event, FaultRaised):
                self._failed(event, at)
            elif isinstance(event, SignalChanged):
                self.signals.setdefault(event.signal, []).append((at, event))

    def _new(self, event: TaskWaits | TaskStarted | TaskDone | FaultRaised, at: int) -> Task:
        name = event.stream, event.task
        same, queue = self._by_name.setdefault(name, []), self.by_stream.setdefault(event.stream, [])
        kind = "task" if isinstance(event, FaultRaised) else event.kind
        made = Task(event.stream, event.slot, event.task, event.node, event.model_task, kind, at)
        made.nth, made.row = len(same) + 1, len(queue)
        self._open[name] = made
        for places in (self.all, same, queue):
            places.append(made)
        return made

    def _waits(self, event: TaskWaits, at: int) -> None:
        task = self._new(event, at)
        task.waits_since, task.signal = event.time, event.signal

    def _started(self, event: TaskStarted, at: int) -> None:
        task = self._open.get((event.stream, event.task))
        if task is None or task.started is not None:
            task = self._new(event, at)
        task.started, task.started_at, task.engine = event.time, at, event.engine
        task.detail, task.facts, task.fetched_copy = event.detail, event.facts, event.fetched_copy

    def _done(self, event: TaskDone, at: int) -> None:
        name = event.stream, event.task
        task = self._open.pop(name, None) or self._new(event, at)
        self._open.pop(name, None)
        if task.started is None:
            task.started, task.started_at, task.engine = event.started, at, event.engine
        waited, waves = _WAITED.search(event.detail), _WAVES.search(event.detail)
        task.ended, task.ended_at, task.coreless = event.time, at, int(waited[1]) if waited else 0
        task.waves = int(waves[1]) if waves else 1
        task.detail = _WAVES.sub("", _WAITED.sub("", event.detail)) or task.detail

    def _failed(self, event: FaultRaised, at: int) -> None:
        """An entry that is refused at its start has no event but this one."""
        task = self._open.pop((event.stream, event.task), None) or self._new(event, at)
        self._open.pop(task.name, None)
        if task.started is None:
            task.started, task.started_at = event.time, at
        task.fault, task.failed, task.ended_at = event.id, event.time, at

    def named(self, name: Name, nth: int | None = None) -> Task | None:
        """The execution `nth` of an entry, the last one for None; None when it was not seen."""
        found = self._by_name.get(name, [])
        if nth is not None:
            return found[nth - 1] if 0 < nth <= len(found) else None
        return found[-1] if found else None

    def count(self, name: Name) -> int:
        """How often an entry was seen."""
        return len(self._by_name.get(name, ()))

    def before(self, task: Task) -> Task | None:
        """What stood at the head of its queue before `task`."""
        return self.by_stream[task.stream][task.row - 1] if task.row else None

    def running(self, at: int, name: Name) -> Task | None:
        """The execution of an entry that was going on at position `at` of the events."""
        found = self._by_name.get(name, [])
        later = bisect_right(found, at, key=lambda task: task.at)
        return found[later - 1] if later else None

    def next(self, at: int, name: Name) -> Task | None:
        """The execution of an entry that started first after position `at` of the events."""
        found = [task for task in self._by_name.get(name, []) if task.started_at >= 0]
        later = bisect_right(found, at, key=lambda task: task.started_at)
        return found[later] if later < len(found) else None

    def setting(self, task: Task) -> tuple[int, SignalChanged] | None:
        """The last setting of the flag for which `task` waited before it started: position and event."""
        changes = self.signals.get(task.signal, [])
        before = bisect_left(changes, task.started_at, key=lambda change: change[0])
        return next(((at, event) for at, event in reversed(changes[:before]) if event.value), None)

    def setter(self, at: int, event: SignalChanged) -> Task | None:
        """The task that changed a flag at position `at`; None for the host."""
        return self.running(at, (event.stream, event.task)) if event.stream >= 0 else None


def parse_task(text: str) -> Name:
    """`STREAM:TASK` as numbers; `OptionError` otherwise."""
    found = _TASK.fullmatch(text)
    if found is None:
        raise OptionError(
            f"{text!r} is no task", id="trace.task-form", where="TASK",
            remedy="write STREAM:TASK, for example 0:7, as sqemu dump and the trace number them",
        )  # fmt: skip
    return int(found[1]), int(found[2])


def unknown_task(name: Name, known: Iterable[Name], where: str) -> InputError:
    """The error for a task that no event names."""
    names = sorted(set(known))
    texts = [f"{stream}:{task}" for stream, task in names]
    close = nearest(f"{name[0]}:{name[1]}", texts) or texts[-3:]
    hint = f"there are for example {', '.join(close)}" if close else "the trace holds no tasks"
    return InputError(
        f"no event names task {name[0]}:{name[1]}", id="trace.task", where=where,
        remedy=f"{hint}; sqemu trace summary lists the streams",
    )  # fmt: skip
