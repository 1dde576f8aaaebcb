"""`sqemu trace why` and `critical-path`: the chain of causes in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from emu_core.trace import Doorbell, FaultRaised, HazardFound
from tools.fitted import fitted
from tools.show import json_line
from tools.stacked import paragraph
from tools.trace.causes import CORELESS, HOST, RAN, WAITED, Causes
from tools.trace.stuck import why_never
from tools.trace.tasks import unknown_task
from tools.trace.writes import writes_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tools.trace.causes import Link
    from tools.trace.source import RecordedRun, Recording
    from tools.trace.tasks import Name, Task

COLUMNS = ("from", "to", "ns", "what happened")
NUMBERS = COLUMNS[:3]
MOST_HOLDERS = 4


def show_why(recording: Recording, run: RecordedRun, name: Name, nth: int | None, *, as_json: bool) -> None:
    """Print why an entry started when it did, latest cause first, or why it never did.

    Raises:
        InputError: `trace.task`: the trace does not know it.
    """
    causes = Causes(run)
    task = causes.tasks.named(name, nth)
    if task is None and (nth is not None or not _submitted(run, name)):
        raise unknown_task(name, (t.name for t in causes.tasks.all), recording.source)
    if task is None or task.started is None:
        told = why_never(recording, run, causes.tasks, name)
        if as_json:
            json_line({"task": f"{name[0]}:{name[1]}", "started": None, "why": told})
        else:
            _sentences(told)
        return
    links = causes.chain(task)
    if as_json:
        json_line({"task": f"{name[0]}:{name[1]}", "started": task.started, "ended": task.ended})
        for link in links:
            json_line(link_values(link))
        return
    _about(run, causes, task)
    click.echo("because, latest cause first:")
    _links(causes, links)


def _submitted(run: RecordedRun, name: Name) -> bool:
    """Whether the queue of an entry was published up to it and beyond."""
    return any(isinstance(e, Doorbell) and e.stream == name[0] and e.tail > name[1] for e in run.events)


def _sentences(told: Sequence[str]) -> None:
    for k, sentence in enumerate(told):
        paragraph(sentence, indent="  " if k else "", others="    ")


def _about(run: RecordedRun, causes: Causes, task: Task) -> None:
    """What the task is, and what it found in its entry."""
    count = causes.tasks.count(task.name)
    which = f", execution {task.nth} of {count} of this entry" if count > 1 else ""
    failed = f" and failed at {task.failed} ns: {task.fault}" if task.fault else ""
    paragraph(f"{task.place}: started at {task.started} ns{failed} (execution {run.index}{which})", others="  ")
    if task.detail:
        paragraph(task.detail, indent="  ", others="    ")
    fields: dict[tuple[str, int], list[str]] = {}
    for each in writes_of(run.events[: task.started_at]):
        if (each.stream, each.task) == task.name:
            fields.setdefault((each.writer, each.time), []).append(f"{each.field} {each.before:#x} -> {each.after:#x}")
    for (writer, time), changes in fields.items():
        paragraph(f"patched before by {writer} at {time} ns: {', '.join(changes)}", indent="  ", others="    ")
    if task.fetched_copy:
        paragraph("what ran is a copy fetched before a patch: a stale launch", indent="  ", others="    ")
    for event in run.events:
        if isinstance(event, (HazardFound, FaultRaised)) and (event.stream, event.task) == task.name:
            paragraph(f"{event.id}: {event.what}", indent="  ", others="    ")
    if task.coreless:
        paragraph(f"no core was free for it for {task.coreless} ns; {_held_by(causes, task)}", indent="  ")


def _held_by(causes: Causes, task: Task) -> str:
    holders = [other.place for other in causes.holders(task)]
    more = f" and {len(holders) - MOST_HOLDERS} more" if len(holders) > MOST_HOLDERS else ""
    return f"held by {', '.join(holders[:MOST_HOLDERS])}{more}" if holders else "no event says who held them"


def show_path(recording: Recording, run: RecordedRun, *, as_json: bool) -> None:
    """Print what the time of an execution went for, from its first cause to what ended last."""
    causes = Causes(run)
    last = causes.last()
    if last is None:
        click.echo(f"execution {run.index} of {recording.source}: no task ended")
        return
    links = [link for link in causes.path(last) if link.until > link.since]
    if as_json:
        for link in links:
            json_line(link_values(link))
        return
    since, until = (links[0].since, links[-1].until) if links else (run.ended, run.ended)
    paragraph(f"critical path of execution {run.index}: {until - since} ns, from {since} to {until} ns", others="  ")
    _links(causes, links)
    _shares(links, until - since)


def _shares(links: Sequence[Link], total: int) -> None:
    """Time of the path by kind of entry."""
    by_kind: dict[str, int] = {}
    for link in links:
        name = link.task.kind if link.what == RAN and link.task else _PARTS[link.what]
        by_kind[name] = by_kind.get(name, 0) + link.until - link.since
    ordered = sorted(by_kind.items(), key=lambda item: -item[1])
    parts = ", ".join(f"{name}\xa0{100 * ns / total:.1f}\xa0%" for name, ns in ordered if total)
    paragraph(f"shares: {parts}" if parts else "it took no time", indent="  ", others="    ")


_PARTS = {CORELESS: "no core", "noticed": "flag noticed late", "held": "queue held", HOST: "host", WAITED: "wait"}


def link_values(link: Link) -> dict[str, object]:
    """A link as plain JSON values."""
    task = link.task
    about = {} if task is None else {"task": f"{task.stream}:{task.task}", "kind": task.kind, "node": task.node}
    return {"what": link.what, "from": link.since, "to": link.until, **about, "why": link.why}


def _links(causes: Causes, links: Sequence[Link]) -> None:
    fitted("", COLUMNS, list(_rows(causes, links)), right=NUMBERS)


def _rows(causes: Causes, links: Sequence[Link]) -> Iterator[tuple[object, ...]]:
    """A row per link; entries that ran one behind the other in their queue share one."""
    group: list[Link] = []
    for link in links:
        if group and not (_is_next(link) and _is_next(group[-1]) and _same_queue(group[-1], link)):
            yield _row(causes, group)
            group = []
        group.append(link)
    if group:
        yield _row(causes, group)


def _is_next(link: Link) -> bool:
    return link.what == RAN and link.why.startswith("was before it")


def _same_queue(a: Link, b: Link) -> bool:
    return a.task is not None and b.task is not None and a.task.stream == b.task.stream


def _row(causes: Causes, group: Sequence[Link]) -> tuple[object, ...]:
    since, until = min(link.since for link in group), max(link.until for link in group)
    return since, until, until - since, _text(causes, group)


def _text(causes: Causes, group: Sequence[Link]) -> str:
    first = group[0]
    if len(group) > 1:
        ends = sorted((link for link in group if link.task), key=lambda link: link.task.started_at if link.task else 0)
        return f"{_ends(ends)} ran before it in the queue"
    if first.task is None:
        return f"the host {first.why}"
    more = f"; {_held_by(causes, first.task)}" if first.what == CORELESS else ""
    return f"{first.task.place} {first.why}{more}"


def _ends(links: Sequence[Link]) -> str:
    """`0:1 to 0:6: event_reset, 5 nop`."""
    tasks = [link.task for link in links if link.task is not None]
    counts: dict[str, int] = {}
    for task in tasks:
        counts[task.kind] = counts.get(task.kind, 0) + 1
    kinds = ", ".join(f"{count} {kind}" if count > 1 else kind for kind, count in counts.items())
    return f"{tasks[0].stream}:{tasks[0].task} to {tasks[-1].stream}:{tasks[-1].task} ({kinds})"
