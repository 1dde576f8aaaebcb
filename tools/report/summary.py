"""The head of the page: how the run ended, its executions, where the time went, policies, plugins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tools.compare.spent import Part, spent
from tools.executions import plural
from tools.report.markup import Html, el, join, table, us

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tools.report.subject import Execution, Subject

MOST_ROWS = 500
"""Executions that are listed; of a longer series the first ones."""
_WIDE, _HIGH = 1000, 12
_LOOK = {
    Part.KERNELS: "kernels",
    Part.TILING: "tiling",
    Part.UPDATES: "updates",
    Part.OTHER: "other",
    Part.HOST: "host",
}


def outcome(subject: Subject) -> str:
    """How the worst execution ended."""
    return next((bad for bad in ("deadlock", "failed") if any(run.outcome == bad for run in subject.runs)), "ok")


def figures(subject: Subject) -> Html:
    """The numbers that a reader looks for first."""
    runs = subject.runs
    hazards = sum(len(run.kept.outcome.hazards) for run in runs)
    faults = sum(len(run.kept.outcome.faults) for run in runs)
    shown = (
        ("Chip", subject.chip.name, ""),
        ("Executions", str(len(runs)), ""),
        ("Virtual time", us(sum(run.took for run in runs)), "µs"),
        ("Tasks", f"{sum(len(run.tasks.all) for run in runs):,}", ""),
        ("Task updates", f"{sum(run.updates for run in runs):,}", ""),
        ("Hazards", f"{hazards:,}", ""),
        ("Faults", f"{faults:,}", ""),
    )
    return el(
        "dl",
        *(
            el("div", el("dt", name), el("dd", value, el("small", f" {unit}") if unit else ""))
            for name, value, unit in shown
        ),
        class_="figures",
    )


def executions(subject: Subject) -> Html:
    """A row per execution, with a bar of where its time went."""
    head = (
        ("Execution", ""), ("Outcome", ""), ("Input", ""), ("Start µs", "n"), ("Took µs", "n"), ("Updates", "n"),
        ("Hazards", "n"), ("Faults", "n"), ("Where the time went", "bars"),
    )  # fmt: skip
    runs = subject.runs[:MOST_ROWS]
    longest = max((run.took for run in runs), default=0)
    left = len(subject.runs) - len(runs)
    return join([
        table(head, (_row(subject, run, longest) for run in runs), caption="Executions"),
        legend(),
        el("p", f"{left:,} more executions are in the record.", class_="quiet") if left else "",
    ])  # fmt: skip


def _row(subject: Subject, run: Execution, longest: int) -> Iterator[str]:
    report, inputs = run.kept.outcome, subject.record.about.inputs
    given = inputs[run.index].file if run.index < len(inputs) else None
    yield str(run.index)
    yield badge(run.outcome)
    yield given or "none"
    yield us(report.started)
    yield us(run.took)
    yield f"{run.updates:,}"
    yield f"{len(report.hazards):,}"
    yield f"{len(report.faults):,}"
    yield bar(parts_of(run), longest)


def parts_of(run: Execution) -> Mapping[Part, int]:
    """Nanoseconds of each part of an execution."""
    return spent(run.told.events, run.kept.outcome.started, run.kept.outcome.ended)


def badge(word: str) -> Html:
    """How something ended, in its colour."""
    return el("span", word, class_=f"badge {word}")


def bar(parts: Mapping[Part, int], longest: int) -> Html:
    """The parts side by side, to the scale of the longest execution."""
    scale = _WIDE / max(longest, 1)
    at, boxes = 0.0, []
    for part, time in parts.items():
        if time > 0:
            tip = el("title", f"{part.text}: {us(time)} µs")
            boxes.append(el("g", tip, el("rect", x=f"{at:.1f}", y="0", width=f"{time * scale:.1f}", height=_HIGH,
                                         class_=f"part-{_LOOK[part]}")))  # fmt: skip
            at += time * scale
    words = ", ".join(f"{part.text} {us(time)} µs" for part, time in parts.items() if time > 0) or "no time"
    return el(
        "svg", *boxes, class_="bar", viewBox=f"0 0 {_WIDE} {_HIGH}", preserveAspectRatio="none", role="img",
        aria_label=words,
    )  # fmt: skip


def legend() -> Html:
    """What the colours of bars mean; a part has the time while it runs and none before it does."""
    return el(
        "ul", *(el("li", el("span", class_=f"swatch part-{look}"), part.text) for part, look in _LOOK.items()),
        class_="legend",
    )  # fmt: skip


def facts(subject: Subject) -> Html:
    """Program, versions, policies, plugins."""
    manifest = subject.values
    program = _mapping(manifest.get("program"))
    blob = subject.record.blob
    streams = ", ".join(f"{s.id} {s.name}" for s in blob.streams)
    shown = (
        ("Program", subject.record.about.program.file or "not named"),
        ("SHA-256", str(program.get("sha256") or "not known")),
        (
            "Graph",
            f"{blob.name}: {plural(len(blob.ops), 'operator')}, {sum(o.sink for o in blob.ops)} tiled on the device",
        ),
        ("Task blob", f"{plural(len(blob.tasks), 'task')}, streams {streams or 'none'}"),
        ("Recorded by", f"sqemu {subject.record.about.sqemu}"),
        ("Plugins", ", ".join(_plugins(manifest)) or "none"),
    )
    return join([
        el("dl", *(el("div", el("dt", name), el("dd", value)) for name, value in shown), class_="facts"),
        _policies(subject, _mapping(manifest.get("policies"))),
    ])  # fmt: skip


def _plugins(manifest: Mapping[str, object]) -> Iterator[str]:
    listed = manifest.get("plugins")
    for each in listed if isinstance(listed, list) else []:
        yield str(_mapping(each).get("name", "without a name"))


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _policies(subject: Subject, policies: Mapping[str, object]) -> Html:
    """Those that are not at their default in sight, all of them folded."""
    specs = {spec.name: spec for spec in subject.host.policy_specs}
    changed = [name for name, value in policies.items() if name not in specs or specs[name].default != str(value)]
    rows: Sequence[tuple[str, str, str]] = [
        (name, str(value), specs[name].summary if name in specs else "of a plugin that is not loaded")
        for name, value in policies.items()
    ]
    own = [row for row in rows if row[0] in changed]
    head = (("Policy", "mono"), ("Value", "mono"), ("What it decides", ""))
    return join([
        el("h3", "Policies"),
        table(head, own, caption="Policies that were changed") if own else el("p", "All are at their default."),
        el("details", el("summary", f"All {len(rows)} policies"), table(head, rows, caption="All policies")),
    ])  # fmt: skip
