"""The comparison as tables: both timelines of the first execution, the parts of the time, the totals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tools.compare.spent import Part, spent
from tools.executions import Execution
from tools.show import heading, table
from tools.side_by_side import US, streams_as_they_ran

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tools.compare.run import Way

_TITLES = {"sink": "Tiling on the device (sink)", "host": "Tiling on the host"}


def show(sink: Way, on_host: Way, same: Sequence[bool], rows: int) -> None:
    """Print the comparison."""
    chip = sink.model.device.chip
    round_trip = _us(chip.latencies.host_round_trip_ns)
    click.echo(f"{chip.name}; all times are virtual, a host round trip is modelled as {round_trip} µs.")
    if not sink.sunk:
        click.echo("No operator sinks its tiling: both ways are the same program. `sqemu compile --explain` says why.")
    for way in (sink, on_host):
        heading(f"{_TITLES[way.name]}{', execution 1' if len(way.results) > 1 else ''}")
        _timeline(way, rows)
        for result in way.results:
            if not result.ok or result.hazards:
                Execution.of(way.model, result).show(quiet=False, as_json=False)
    heading("Where the time goes")
    _parts(sink, on_host)
    click.echo("  A part has the time while it runs and none above it does.")
    click.echo(f"\n{_verdict(same)}")


def _timeline(way: Way, rows: int) -> None:
    if not rows:
        return
    names = {s.id: s.name for s in (*way.model.streams, way.model.caller)}
    left = streams_as_they_ran(way.results[0], names, rows)
    if left:
        click.echo(f"  … {left} more rows; --rows {rows + left} shows all")


def _parts(sink: Way, on_host: Way) -> None:
    body = []
    for s, h in zip(sink.results, on_host.results, strict=True):
        ours, theirs = spent(s.trace, s.started, s.ended), spent(h.trace, h.started, h.ended)
        run = str(s.run) if len(sink.results) > 1 else ""
        body += [(run, part.text, ours[part], theirs[part]) for part in Part if ours[part] or theirs[part]]
        body.append((run, "total", s.ended - s.started, h.ended - h.started))
    shown = [(run, part, _us(a), _us(b), f"{(b - a) / US:+.1f}") for run, part, a, b in body]
    columns = ("run", "part", "sink µs", "host µs", "host - sink")
    first = 0 if len(sink.results) > 1 else 1
    table("", columns[first:], [row[first:] for row in shown], right=("run", *columns[2:]))


def _verdict(same: Sequence[bool]) -> str:
    if all(same):
        return "Outputs of both ways are equal, byte for byte."
    wrong = ", ".join(str(run) for run, equal in enumerate(same, 1) if not equal)
    return f"Outputs DIFFER in execution {wrong}."


def _us(ns: int) -> str:
    return f"{ns / US:.1f}"
