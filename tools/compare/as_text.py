"""The comparison as tables: the timelines of the first execution, the parts of the time, the totals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tools.compare.spent import Part, spent
from tools.executions import Execution
from tools.fitted import fitted
from tools.show import heading
from tools.side_by_side import US, streams_as_they_ran
from tools.stacked import paragraph

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tools.compare.run import Way

_TITLES = {"sink": "Tiling on the device (sink)", "host": "Tiling on the host", "v2": "Runtime V2"}


def show(ways: Sequence[Way], same: Sequence[bool], rows: int) -> None:
    """Print the comparison."""
    sink = ways[0]
    chip = sink.model.device.chip
    round_trip = _us(chip.latencies.host_round_trip_ns)
    paragraph(f"{chip.name}; all times are virtual, a host round trip is modelled as {round_trip} µs.")
    if not sink.sunk:
        paragraph("No operator sinks its tiling: both ways are the same program. `sqemu compile --explain` says why.")
    for way in ways:
        told = [result for result in way.results if not result.ok or result.hazards]
        if not rows and not told:
            continue
        heading(f"{_TITLES[way.name]}{', execution 1' if len(way.results) > 1 else ''}")
        _timeline(way, rows)
        for result in told:
            Execution.of(way.model, result).show(quiet=False, as_json=False)
    heading("Where the time goes")
    _parts(ways)
    paragraph("A part has the time while it runs and none above it does.", indent="  ")
    click.echo(f"\n{_verdict(same, len(ways))}")


def _timeline(way: Way, rows: int) -> None:
    if not rows:
        return
    names = {s.id: s.name for s in (*way.model.streams, way.model.caller)}
    left = streams_as_they_ran(way.results[0], names, rows)
    if left:
        click.echo(f"  … {left} more rows; --rows {rows + left} shows all")


def _parts(ways: Sequence[Way]) -> None:
    body: list[tuple[str, str, list[int]]] = []
    for results in zip(*(way.results for way in ways), strict=True):
        found = [spent(r.trace, r.started, r.ended) for r in results]
        run = str(results[0].run) if len(ways[0].results) > 1 else ""
        body += [(run, part.text, [each[part] for each in found]) for part in Part if any(each[part] for each in found)]
        body.append((run, "total", [r.ended - r.started for r in results]))
    shown = [(run, part, *map(_us, times[:2]), _more(times), *map(_us, times[2:])) for run, part, times in body]
    columns = ("run", "part", "sink µs", "host µs", "host - sink", *(f"{way.name} µs" for way in ways[2:]))
    first = 0 if len(ways[0].results) > 1 else 1
    fitted("", columns[first:], [row[first:] for row in shown], right=("run", *columns[2:]))


def _more(times: Sequence[int]) -> str:
    """How much longer the host's way took than the sink."""
    return f"{(times[1] - times[0]) / US:+.1f}"


def _verdict(same: Sequence[bool], count: int) -> str:
    if all(same):
        return f"Outputs of {'both' if count == 2 else 'all'} ways are equal, byte for byte."
    wrong = ", ".join(str(run) for run, equal in enumerate(same, 1) if not equal)
    return f"Outputs DIFFER in execution {wrong}."


def _us(ns: int) -> str:
    return f"{ns / US:.1f}"
