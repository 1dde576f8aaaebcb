"""Hazards, faults and deadlocks, each with what `sqemu explain` says of its id."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from emu_core.wait_graph import WaitGraph
from formats import FormatError
from tools.explanations.catalog import Catalog
from tools.report.markup import Html, el, join, us
from tools.report.wait_picture import wait_picture

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tools.explanations.entry import Explanation
    from tools.report.subject import Execution, Subject

MOST = 200
"""Hazards and faults that are shown with all their words."""
_PARTS = (("Means", "meaning"), ("Cause", "cause"), ("Do", "action"), ("Also", "also"))


def problems(subject: Subject) -> Html:
    """Everything that went wrong or may have, in the order of time; a sentence when there is nothing."""
    found = [each for run in subject.runs for each in _of_run(run)]
    stuck = [_deadlock(subject, run) for run in subject.runs if run.kept.outcome.deadlock]
    if not found and not stuck:
        return el("p", "No fault, no hazard, no deadlock.", class_="well")
    left = len(found) - MOST
    more = f"{left:,} more are in the record; sqemu trace sql asks for them." if left > 0 else ""
    ids = list(
        dict.fromkeys([*(str(values.get("id", "")) for _, _, values in found), *(["deadlock"] if stuck else [])])
    )
    return join([
        *stuck,
        *(_card(*each) for each in found[:MOST]),
        el("p", more, class_="quiet") if more else "",
        el("h3", "What these ids mean"),
        *(_explained(each) for each in _explanations(subject, ids)),
    ])  # fmt: skip


def count(subject: Subject) -> int:
    """How many problems there are."""
    return sum(
        len(run.kept.outcome.hazards) + len(run.kept.outcome.faults) + bool(run.kept.outcome.deadlock)
        for run in subject.runs
    )


def _of_run(run: Execution) -> Iterator[tuple[Execution, str, Mapping[str, Any]]]:
    report = run.kept.report
    found = [(name, values) for name in ("hazard", "fault") for values in report[f"{name}s"]]
    for name, values in sorted(found, key=lambda each: _number(each[1], "time")):
        yield run, name, values


def _number(values: Mapping[str, Any], name: str) -> int:
    value = values.get(name)
    return value if isinstance(value, int) else -1


def _text(values: Mapping[str, Any], name: str) -> str:
    return str(values.get(name) or "")


def _card(run: Execution, name: str, values: Mapping[str, Any]) -> Html:
    """One hazard or fault: where, what, what followed, what to do."""
    stream, task, time = (_number(values, key) for key in ("stream", "task", "time"))
    kind = " of ".join(part for part in (_text(values, "kind"), _text(values, "node")) if part)
    place = f"stream {stream} task {task}{f', {kind}' if kind else ''}" if stream >= 0 else "no entry"
    followed = [str(each) for each in values.get("consequences") or ()]
    codes = [f"TS {_number(values, 'ts_code'):#x}", f"ACL {_number(values, 'acl_code')}"] if "ts_code" in values else []
    facts = " · ".join([f"execution {run.index}", place, f"{us(time)} µs" if time >= 0 else "no time", *codes])
    show = {"data_stream": stream, "data_task": task, "data_run": run.index}
    return el(
        "article",
        el("h3", el("span", name, class_=f"badge {name}"), " ", el("code", _text(values, "id"))),
        el("p", _text(values, "what"), class_="what"),
        el("ul", *(el("li", each) for each in followed), class_="followed") if followed else "",
        el("p", el("strong", "Do: "), _text(values, "remedy")) if _text(values, "remedy") else "",
        el("p", facts, " ", _button(show) if stream >= 0 else "", class_="quiet"),
        class_=f"problem {name}",
    )


def _button(show: Mapping[str, int]) -> Html:
    return el("button", "Show in the timeline", type="button", class_="link show", **show)


def _deadlock(subject: Subject, run: Execution) -> Html:
    """The sentence, the picture, and each cause with a way out."""
    told = run.kept.outcome.deadlock or {}
    blocked = told.get("blocked")
    names = [each for each in blocked if isinstance(each, dict)] if isinstance(blocked, list) else []
    graph = _graph(subject, run, told.get("graph"))
    time = _number(told, "time")
    many = "1 stream waits" if len(names) == 1 else f"{len(names)} streams wait"
    title = f"{f'At {us(time)} µs n' if time >= 0 else 'N'}o task can run and {many}."
    return el(
        "article",
        el("h3", el("span", "deadlock", class_="badge deadlock"), f" execution {run.index}"),
        el("p", title, class_="what"),
        wait_picture(graph) if graph else "",
        *(_way_out(what, remedy) for what, remedy in (_verdicts(graph) if graph else ())),
        class_="problem deadlock",
    )


def _verdicts(graph: WaitGraph) -> Sequence[tuple[str, str]]:
    return [(verdict.what, verdict.remedy) for verdict in graph.verdicts]


def _way_out(what: str, remedy: str) -> Html:
    return join([el("p", el("strong", "Because: "), what), el("p", el("strong", "Do: "), remedy)])


def _graph(subject: Subject, run: Execution, found: object) -> WaitGraph | None:
    if found is None:
        return None
    try:
        return msgspec.convert(found, WaitGraph)
    except msgspec.ValidationError as error:
        raise FormatError(
            f"does not hold what it should: {error}", id="record.damaged",
            where=f"{subject.recording.source}: runs/{run.index}/report.json",
            remedy="record the run again with sqemu run --record",
        ) from None  # fmt: skip


def _explanations(subject: Subject, ids: Sequence[str]) -> Iterator[Explanation]:
    catalog = Catalog(subject.host.each("sqemu_explanations"))
    for each in ids:
        yield from catalog.find(each)


def _explained(each: Explanation) -> Html:
    """What `sqemu explain` says."""
    parts = [(label, getattr(each, name)) for label, name in _PARTS]
    rows = (el("div", el("dt", label), el("dd", text)) for label, text in parts if text)
    name = f" {each.name}" if each.name else ""
    return el(
        "details", el("summary", el("code", each.code), f"{name} ({each.kind})"), el("dl", *rows, class_="facts"),
        open=True,
    )  # fmt: skip
