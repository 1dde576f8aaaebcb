"""`sqemu trace summary`: counts, times, busy shares and waits of an execution by stream, engine and kind."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import click

from tools.fitted import fitted
from tools.show import json_line
from tools.stacked import paragraph
from tools.trace.source import name_of
from tools.trace.tasks import Tasks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from tools.trace.source import RecordedRun, Recording
    from tools.trace.tasks import Task


@dataclass(frozen=True)
class Row:
    """What a stream, an engine or a kind did.

    Attributes:
        name: which. entries: that ended. busy: nanoseconds in which at least one of them executed.
        share: percent of the execution that is. longest: nanoseconds of the longest.
        waits, waited: entries that waited for a flag, and nanoseconds of all of them. failed: entries that failed.
    """

    name: str
    entries: int
    busy: int
    share: float
    longest: int
    waits: int
    waited: int
    failed: int


@dataclass(frozen=True)
class Summary:
    """An execution: number from 0, times in nanoseconds, events by name, rows by stream, engine and kind."""

    index: int
    started: int
    ended: int
    events: dict[str, int]
    streams: tuple[Row, ...]
    engines: tuple[Row, ...]
    kinds: tuple[Row, ...]


def summarise(run: RecordedRun) -> Summary:
    """The summary of an execution."""
    tasks, total = Tasks(run.events).all, run.ended - run.started
    return Summary(
        run.index, run.started, run.ended,
        dict(Counter(map(name_of, run.events))),
        _rows(tasks, lambda task: f"{task.stream:>9}", total),
        _rows(tasks, lambda task: task.engine or "(none)", total),
        _rows(tasks, lambda task: task.kind, total),
    )  # fmt: skip


def _rows(tasks: Iterable[Task], key: Callable[[Task], str], total: int) -> tuple[Row, ...]:
    groups: dict[str, list[Task]] = {}
    for task in tasks:
        groups.setdefault(key(task), []).append(task)
    return tuple(_row(name.strip(), groups[name], total) for name in sorted(groups))


def _row(name: str, tasks: Sequence[Task], total: int) -> Row:
    busy = covered((task.started or 0, task.ended) for task in tasks if task.ended is not None)
    return Row(
        name,
        sum(task.ended is not None for task in tasks),
        busy,
        round(100 * busy / total, 1) if total else 0.0,
        max((task.busy for task in tasks), default=0),
        sum(task.waits_since is not None for task in tasks),
        sum(task.waited for task in tasks),
        sum(bool(task.fault) for task in tasks),
    )


def covered(spans: Iterable[tuple[int, int]]) -> int:
    """Nanoseconds that lie in at least one of `spans`."""
    found, until = 0, None
    for start, end in sorted(spans):
        if until is None or start > until:
            found, until = found + end - start, end
        elif end > until:
            found, until = found + end - until, end
    return found


COLUMNS = ("entries", "busy ns", "busy %", "longest", "waits", "waited ns", "failed")


def show_summary(recording: Recording, runs: Sequence[RecordedRun], *, as_json: bool) -> None:
    """Print the summaries of `runs`; as JSON one object each."""
    for run in runs:
        found = summarise(run)
        if as_json:
            json_line(asdict(found))
            continue
        click.echo(
            f"execution {found.index} of {len(recording.runs)}: {found.started} to {found.ended} ns, "
            f"{(found.ended - found.started) / 1000:.1f} µs"
        )
        for title, rows in (("stream", found.streams), ("engine", found.engines), ("kind", found.kinds)):
            fitted("", (title, *COLUMNS), [_cells(row) for row in rows], right=COLUMNS)
        counts = ", ".join(f"{name}\xa0{count}" for name, count in sorted(found.events.items()))
        paragraph(f"events: {counts}", indent="  ", others="    ")


def _cells(row: Row) -> tuple[object, ...]:
    return (row.name, row.entries, row.busy, f"{row.share:.1f}", row.longest, row.waits, row.waited, row.failed)
