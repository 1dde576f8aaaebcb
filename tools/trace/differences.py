"""`sqemu trace diff`: where two recordings part, stream by stream; times count from the start of each execution."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

import click

from emu_core.trace import FaultRaised, HazardFound
from tools.show import json_line
from tools.stacked import paragraph
from tools.trace.tasks import Tasks
from tools.trace.writes import writes_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tools.trace.source import RecordedRun, Recording
    from tools.trace.tasks import Task
    from tools.trace.writes import Write

NOTHING = "nothing"


@dataclass(frozen=True)
class Difference:
    """A difference: execution from 0, what it is about, where, and what A and B have there."""

    run: int
    about: str
    where: str
    a: str
    b: str


def differences(
    a: Sequence[RecordedRun], b: Sequence[RecordedRun], *, times: bool = True
) -> Iterator[Difference]:  # fmt: skip
    """Every difference of two lists of executions; `times`: whether times count."""
    if len(a) != len(b):
        yield Difference(-1, "executions", "", str(len(a)), str(len(b)))
    for number, (left, right) in enumerate(zip(a, b, strict=False)):
        yield from _of_run(number, left, right, times=times)


def _of_run(number: int, a: RecordedRun, b: RecordedRun, *, times: bool) -> Iterator[Difference]:
    outcomes = _outcomes(a, b)
    if outcomes[0] != outcomes[1]:
        yield Difference(number, "outcome", "", *outcomes)
    lengths = a.ended - a.started, b.ended - b.started
    if times and lengths[0] != lengths[1]:
        yield Difference(number, "time", "", f"{lengths[0]} ns", f"{lengths[1]} ns")
    left, right = Tasks(a.events).by_stream, Tasks(b.events).by_stream
    for stream in sorted({*left, *right}):
        found = _first(
            [_told(task) for task in left.get(stream, ())], [_told(task) for task in right.get(stream, ())]
        )  # fmt: skip
        if found is None and times:
            found = _first(
                [_timed(task, a.started) for task in left.get(stream, ())],
                [_timed(task, b.started) for task in right.get(stream, ())],
            )
        if found is not None:
            yield Difference(number, "task", f"stream {stream}, entry {found[0]} that ran", *found[1:])
    patches = _first([_patch(w) for w in writes_of(a.events)], [_patch(w) for w in writes_of(b.events)])
    if patches is not None:
        yield Difference(number, "patch", f"write {patches[0]}", *patches[1:])
    for about, kind in (("hazard", HazardFound), ("fault", FaultRaised)):
        found = _first(_reports(a, kind), _reports(b, kind))
        if found is not None:
            yield Difference(number, about, f"{about} {found[0]}", *found[1:])


def _first(a: Sequence[str], b: Sequence[str]) -> tuple[int, str, str] | None:
    """The first place at which two lists differ, from 0, and what they have there."""
    for k, (left, right) in enumerate(zip_longest(a, b, fillvalue=NOTHING)):
        if left != right:
            return k, left, right
    return None


def _outcomes(a: RecordedRun, b: RecordedRun) -> tuple[str, str]:
    """How two executions ended: as their reports say, or where one has none, by their events."""
    if a.report and b.report:
        return _reported(a), _reported(b)
    return _seen(a), _seen(b)


def _reported(run: RecordedRun) -> str:
    return "ok" if run.report.get("ok") else "deadlock" if run.report.get("deadlock") else "failed"


def _seen(run: RecordedRun) -> str:
    return "failed" if any(isinstance(e, FaultRaised) for e in run.events) else "no fault"


def _told(task: Task) -> str:
    """What a task was, without times."""
    end = f"failed: {task.fault}" if task.fault else "" if task.ended is not None else "did not end"
    wait = f"waited for {task.signal}" if task.signal else ""
    stale = "a stale copy" if task.fetched_copy else ""
    more = ", ".join(part for part in (task.detail, wait, stale, end) if part)
    return task.place + (f": {more}" if more else "")


def _timed(task: Task, origin: int) -> str:
    """A task with its times from the start of the execution."""
    times = ("-" if time is None else str(time - origin) for time in (task.started, task.ended))
    return f"{task.place}: {' to '.join(times)} ns"


def _patch(w: Write) -> str:
    key = "" if w.tiling_key is None else f", key {w.tiling_key} row {w.table_row}"
    what = w.struct if w.target == "cell" else f"{w.place} {w.field}"
    return f"{what}: {w.before:#x} -> {w.after:#x}{key} by {w.writer}"


def _reports(run: RecordedRun, kind: type[HazardFound | FaultRaised]) -> list[str]:
    return [f"{e.id} at {e.stream}:{e.task}" for e in run.events if isinstance(e, kind)]


def show_differences(a: Recording, b: Recording, run: int | None, *, times: bool, as_json: bool) -> int:
    """Print the differences of two recordings, or of execution `run` of both; 1 if there are any, else 0."""
    chosen = [recording.runs if run is None else (recording.run(run),) for recording in (a, b)]
    found = list(differences(*chosen, times=times))
    if as_json:
        for each in found:
            json_line(asdict(each))
    elif not found:
        count = len(chosen[0])
        click.echo(f"equal: {count} execution{'' if count == 1 else 's'}{'' if times else ', times left out'}")
    else:
        for each in found:
            place = "" if each.run < 0 else f"execution {each.run if run is None else run}: "
            click.echo(f"{place}{each.about}{f', {each.where}' if each.where else ''}")
            paragraph(f"A: {each.a}", indent="  ", others="     ")
            paragraph(f"B: {each.b}", indent="  ", others="     ")
    return int(bool(found))
