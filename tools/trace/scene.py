"""A recorded run as a timeline: groups of tracks, slices that nest, instants, flows.

| group | tracks | slices |
|---|---|---|
| device | executions | one per execution |
| streams | one per stream | execution > graph node > wait, entry > time without a core |
| engines | one per engine, more where entries overlap | entries |
| AI CPU | as many as run at once | functions |
| cores | see `tools.trace.cores` | blocks of kernels |
| pipes | per core and pipe | what events with a field `pipe` say |

Patches, hazards and faults are instants on the stream of their entry, writes of cells on that of the writer. Flows lead
from who sets a flag to the wait that it ends, and from an update to the entry that it patched.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Any

from emu_core.trace import FaultRaised, HazardFound
from tools.trace.source import values_of
from tools.trace.tasks import Tasks
from tools.trace.writes import writes_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from tools.trace.source import RecordedRun, Recording
    from tools.trace.tasks import Task

NO_TASK = -1


@dataclass
class Slice:
    """A stretch of time on a track; `children` lie inside, in order. `task`, `slot`: of an entry, or -1.

    `flows_out`, `flows_in`: numbers of flows that begin and end here.
    """

    start: int
    end: int
    name: str
    task: int = NO_TASK
    slot: int = NO_TASK
    children: list[Slice] = field(default_factory=list)
    flows_out: list[int] = field(default_factory=list)
    flows_in: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Instant:
    """Something without duration; `about` is shown with it."""

    time: int
    name: str
    about: Mapping[str, int | str]


@dataclass
class Track:
    """A line of the timeline; its slices follow each other and do not overlap."""

    name: str
    slices: list[Slice] = field(default_factory=list)
    instants: list[Instant] = field(default_factory=list)


@dataclass
class Group:
    """Tracks that belong together."""

    name: str
    tracks: list[Track] = field(default_factory=list)

    def track(self, name: str) -> Track:
        """The track called `name`, made where it is missing."""
        found = next((track for track in self.tracks if track.name == name), None)
        if found is None:
            found = Track(name)
            self.tracks.append(found)
        return found


@dataclass(frozen=True)
class Scene:
    """A timeline: groups that have tracks, in order; `flows` is how many flows there are, numbered from 1."""

    groups: tuple[Group, ...]
    flows: int


def scene_of(
    recording: Recording,
    runs: Sequence[RecordedRun],
    cores_of: Callable[[Sequence[Task]], Iterable[tuple[str, Slice]]] | None = None,
) -> Scene:
    """The timeline of `runs`; `cores_of` gives blocks of kernels with the name of their core, if the chip is known."""
    maker = _Maker(recording)
    for run in runs:
        tasks = Tasks(run.events)
        maker.add(run, tasks)
        if cores_of is not None:
            for name, block in cores_of(tasks.all):
                maker.cores.track(name).slices.append(block)
    maker.cores.tracks.sort(key=lambda track: _numbered(track.name))
    groups = (maker.device, maker.streams, maker.engines, maker.ai_cpu, maker.cores, maker.pipes)
    return Scene(tuple(group for group in groups if group.tracks), maker.flows)


def _numbered(name: str) -> tuple[str, int]:
    """A name that ends in a number, ordered by that number."""
    head, _, tail = name.rpartition(" ")
    return (head, int(tail)) if tail.isdigit() else (name, -1)


def _by_core(name: str) -> tuple[int, str]:
    """Tracks of pipes in the order of their cores."""
    words = name.split(" ")
    return (int(words[1]), name) if len(words) > 2 and words[1].isdigit() else (-1, name)


class _Maker:
    def __init__(self, recording: Recording) -> None:
        record = recording.record
        self._names = {s.id: s.name for s in record.blob.streams} if record is not None else {}
        self.device, self.streams, self.engines = Group("device"), Group("streams"), Group("engines")
        self.ai_cpu, self.cores, self.pipes = Group("AI CPU"), Group("cores"), Group("pipes")
        self.flows = 0

    def _stream(self, stream: int) -> Track:
        name = self._names.get(stream)
        return self.streams.track(f"stream {stream}{f' ({name})' if name else ''}")

    def add(self, run: RecordedRun, tasks: Tasks) -> None:
        """Everything of one execution."""
        whole = f"execution {run.index}"
        self.device.track("executions").slices.append(Slice(run.started, run.ended, whole))
        entries: dict[int, Slice] = {}
        for stream in sorted(tasks.by_stream):
            inside = _stream_slices(tasks.by_stream[stream], run.ended, entries)
            start, end = inside[0].start, max(each.end for each in inside)
            self._stream(stream).slices.append(Slice(start, end, whole, children=inside))
        self._engines(tasks, run.ended)
        self._instants(run)
        self._flows(run, tasks, entries)
        self._pipes(run)

    def _engines(self, tasks: Tasks, until: int) -> None:
        by_engine: dict[str, list[Slice]] = {}
        for task in tasks.all:
            if task.started is not None and task.engine:
                start, end = _execution(task, until)
                by_engine.setdefault(task.engine, []).append(Slice(start, end, title(task), task.task, task.slot))
        for engine in sorted(by_engine):
            group, name = (self.ai_cpu, "AI CPU") if engine == "ai_cpu" else (self.engines, engine)
            for number, lane in enumerate(lanes(by_engine[engine])):
                group.track(name if not number else f"{name} {number + 1}").slices.extend(lane)

    def _instants(self, run: RecordedRun) -> None:
        for write in writes_of(run.events):
            stream = write.by_stream if write.target == "cell" else write.stream
            what = write.struct if write.target == "cell" else write.field
            about: dict[str, int | str] = {
                "entry": write.place, "struct": write.struct, "field": write.field, "before": write.before,
                "after": write.after, "writer": write.writer,
            }  # fmt: skip
            if write.tiling_key is not None and write.table_row is not None:
                about |= {"tiling_key": write.tiling_key, "table_row": write.table_row}
            if stream >= 0:
                verb = "write" if write.target == "cell" else "patch"
                self._stream(stream).instants.append(Instant(write.time, f"{verb} {what}", about))
        for event in run.events:
            if isinstance(event, (HazardFound, FaultRaised)) and event.stream >= 0:
                told: dict[str, int | str] = {"task": event.task, "what": event.what}
                self._stream(event.stream).instants.append(Instant(event.time, event.id, told))

    def _flows(self, run: RecordedRun, tasks: Tasks, entries: Mapping[int, Slice]) -> None:
        """From setters to waits, and from updates to the entries they patched."""
        for task in tasks.all:
            setting = tasks.setting(task) if task.started is not None and task.signal else None
            source = tasks.setter(*setting) if setting is not None else None
            if source is not None:
                self._flow(entries.get(id(source)), entries.get(id(task)))
        joined: set[tuple[int, int]] = set()
        for at, event in enumerate(run.events):
            for write in writes_of((event,)):
                by = tasks.running(at, (write.by_stream, write.by_task))
                target = tasks.next(at, (write.stream, write.task))
                if by is not None and target is not None and (id(by), id(target)) not in joined:
                    joined.add((id(by), id(target)))
                    self._flow(entries.get(id(by)), entries.get(id(target)))

    def _flow(self, source: Slice | None, target: Slice | None) -> None:
        if source is not None and target is not None and source is not target:
            self.flows += 1
            source.flows_out.append(self.flows)
            target.flows_in.append(self.flows)

    def _pipes(self, run: RecordedRun) -> None:
        by_track: dict[str, list[Slice]] = {}
        for event in run.events:
            values = values_of(event)
            if "pipe" in values:
                name, span = _pipe_span(values, event.time)
                by_track.setdefault(name, []).append(span)
        for name in sorted(by_track, key=_by_core):
            for number, lane in enumerate(lanes(by_track[name])):
                self.pipes.track(name if not number else f"{name} {number + 1}").slices.extend(lane)


def _pipe_span(values: Mapping[str, Any], time: int) -> tuple[str, Slice]:
    """Track and slice of an event that has a field `pipe`: from `started` to `ended`, on `core`, doing `what`.

    One of a plugin may lack any of the others: then it ends when it is told, and is called by its pipe.
    """
    pipe = str(values["pipe"])
    start, end = (values[name] if isinstance(values.get(name), int) else time for name in ("started", "ended"))
    core = f"core {values['core']} " if isinstance(values.get("core"), int) else ""
    task, slot = (values[name] if isinstance(values.get(name), int) else NO_TASK for name in ("task", "slot"))
    return f"{core}{pipe}", Slice(start, max(end, start), str(values.get("what") or pipe), task, slot)


def title(task: Task) -> str:
    """The name of an entry's slice."""
    return f"{task.kind} {task.detail}" if task.detail else task.kind


def _execution(task: Task, until: int) -> tuple[int, int]:
    """When it executed; what did not end goes on to the end of the execution."""
    start = task.started or 0
    end = task.ended if task.ended is not None else task.failed
    return start, until if end is None else end


def _stream_slices(queue: Sequence[Task], until: int, entries: dict[int, Slice]) -> list[Slice]:
    """Slices of one stream in one execution; `entries` gets the slice of each task."""
    found: list[Slice] = []
    for node, tasks in groupby(queue, key=lambda task: task.node):
        inside = [part for task in tasks for part in _parts(task, until, entries)]
        if not node:
            found += inside
        else:
            found.append(Slice(inside[0].start, max(part.end for part in inside), node, children=inside))
    return found


def _parts(task: Task, until: int, entries: dict[int, Slice]) -> list[Slice]:
    """The wait of a task, if it waited, and its execution, if it started."""
    parts = []
    if task.waits_since is not None:
        end = until if task.started is None else task.started
        parts.append(Slice(task.waits_since, end, f"waits for {task.signal}", task.task, task.slot))
    if task.started is not None:
        start, end = _execution(task, until)
        made = Slice(start, end, title(task), task.task, task.slot)
        if task.coreless:
            made.children.append(Slice(start, min(start + task.coreless, end), "without a core"))
        entries[id(task)] = made
        parts.append(made)
    return parts


def lanes(slices: Iterable[Slice]) -> list[list[Slice]]:
    """`slices` spread over as few tracks as hold them without an overlap; each goes to the first that is free."""
    found: list[list[Slice]] = []
    for each in sorted(slices, key=lambda one: (one.start, one.end)):
        lane = next((lane for lane in found if lane[-1].end <= each.start), None)
        if lane is None:
            found.append([each])
        else:
            lane.append(each)
    return found
