"""Tiling on the device beside tiling on the host: two records of one program, execution by execution.

A record holds neither the graph nor the input arrays, so the other way cannot be worked out from it: it is recorded
with `sqemu run GRAPH --tiling host --record HOST.sqr` and given beside it. Outputs are in no record;
`sqemu compare-tiling` compares them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core.errors import InputError
from tools.compare.spent import Part
from tools.executions import plural
from tools.report.markup import Html, el, join, table, us
from tools.report.summary import MOST_ROWS, bar, legend, parts_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tools.report.subject import Execution, Subject


def against(subject: Subject, host: Subject) -> Html:
    """Bars and times of both ways.

    Raises:
        InputError: `report.other`: the records are of different chips, outputs or numbers of executions.
    """
    _check(subject, host)
    pairs = list(zip(subject.runs, host.runs, strict=True))[:MOST_ROWS]
    longest = max((run.took for pair in pairs for run in pair), default=0)
    head = (
        ("Execution", ""),
        ("Tiling", ""),
        ("Took µs", "n"),
        ("Difference µs", "n"),
        ("Where the time went", "bars"),
    )
    rows = [row for sink, other in pairs for row in _rows(sink, other, longest)]
    names = (("Part", ""), ("Sink µs", "n"), ("Host µs", "n"), ("Host − sink µs", "n"))
    return join([
        el("p", _verdict(subject, host)),
        table(head, rows, caption="Tiling on the device and on the host"),
        legend(),
        el("h3", "All executions together"),
        table(names, _sums(pairs), caption="Where the time went, both ways"),
        el("p", _same(subject, host), class_="quiet"),
    ])  # fmt: skip


def _check(subject: Subject, host: Subject) -> None:
    for what, ours, theirs in (
        ("chip", subject.chip.name, host.chip.name),
        ("number of executions", len(subject.runs), len(host.runs)),
        ("outputs", _outputs(subject), _outputs(host)),
    ):
        if ours != theirs:
            raise InputError(
                f"has another {what} than {subject.recording.source}", id="report.other", where=host.recording.source,
                remedy="record one graph with the same inputs and chip twice, with --tiling sink and --tiling host",
            )  # fmt: skip


def _outputs(subject: Subject) -> list[str]:
    blob = subject.record.blob
    return [blob.tensors[index].name for index in blob.outputs]


def _rows(sink: Execution, host: Execution, longest: int) -> Iterator[tuple[str, ...]]:
    for name, run, number in (("sink", sink, str(sink.index)), ("host", host, "")):
        more = f"{'+' if run.took >= sink.took else '−'}{us(abs(run.took - sink.took))}" if run is host else ""
        yield number, name, us(run.took), more, bar(parts_of(run), longest)


def _sums(pairs: list[tuple[Execution, Execution]]) -> Iterator[tuple[str, ...]]:
    sums = [[sum(parts_of(run)[part] for run in way) for part in Part] for way in zip(*pairs, strict=True)]
    for part, sink, host in zip(Part, *sums, strict=True):
        yield part.text, us(sink), us(host), _signed(host - sink)
    sink, host = (sum(way) for way in sums)
    yield "total", us(sink), us(host), _signed(host - sink)


def _signed(ns: int) -> str:
    return f"{'−' if ns < 0 else '+'}{us(abs(ns))}"


def _verdict(subject: Subject, host: Subject) -> str:
    sunk, stayed = (sum(op.sink for op in each.record.blob.ops) for each in (subject, host))
    if sunk == stayed:
        return f"Both records have {plural(sunk, 'operator')} whose tiling sinks: they show the same way twice."
    return f"The tiling of {plural(sunk, 'operator')} sinks to the device in one record, of {stayed} in the other."


def _same(subject: Subject, host: Subject) -> str:
    ours, theirs = ([_hash(each) for each in one.values.get("inputs") or ()] for one in (subject, host))
    same = "the same input files" if ours == theirs and None not in ours else "inputs that are not known to be the same"
    return f"Recorded with {same}. Records hold no outputs: sqemu compare-tiling compares them byte for byte."


def _hash(given: object) -> str | None:
    """The hash of an input file; of an execution without one a text, so that both ways agree."""
    values = given if isinstance(given, dict) else {}
    return str(values.get("sha256") or ("none" if values.get("file") is None else "")) or None
