"""A run record in `sqemu dump`: what ran, how it ended, and the rings of one execution."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tools.dump import items
from tools.dump.blob import summary
from tools.dump.known import known_names
from tools.dump.present import Part, Scene, present
from tools.dump.selection import slots
from tools.dump.views.table import Columns
from tools.record.reader import Record
from tools.show import cut, heading, json_line, lines, rows_as_text, safe, width

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emu_core.plugins import PluginHost
    from tools.dump.data import Data
    from tools.dump.items import Item
    from tools.dump.request import Request
    from tools.record.reader import Run
    from tools.record.shapes import Place


def dump_record(request: Request, data: Data, host: PluginHost) -> int:
    """Show a record, or with --sqes the entries that executed; returns the exit code."""
    record = Record(bytes(data.view), request.source)
    if request.sqes:
        _rings(request, record, host)
    elif request.as_json:
        _json(record)
    else:
        _text(request, record)
    return 0


def _json(record: Record) -> None:
    json_line({"section": "record", **record.manifest})
    for index in record.run_numbers:
        json_line({"section": "runs", "index": index, **record.run(index).report})


def _text(request: Request, record: Record) -> None:
    limit = width()
    about = record.about
    runs = [record.run(i) for i in record.run_numbers]
    files = [safe(each.file or "") for each in about.inputs]
    rows = [_row(record, run, files[run.index] if run.index < len(files) else "") for run in runs]
    click.echo(f"{request.source}: run record of sqemu {safe(about.sqemu)} on {safe(about.chip)}")
    click.echo(f"  program {safe(about.program.file)}")
    lines(cut(f"  {safe(line.strip())}", limit) for line in summary(record.blob, record.blob_bytes))
    heading("Executions")
    columns = ("#", "outcome", "µs", "updates", "hazards", "faults", "inputs")
    lines(rows_as_text(columns, rows, right=columns[:1] + columns[2:6], limit=limit))
    for run in runs:
        _reports(run)
    heading("Look further")
    click.echo("  --sqes shows what executed; --run N chooses the execution (the last one if not given)")


def _row(record: Record, run: Run, file: str) -> tuple[str, ...]:
    report = run.outcome
    outcome = "ok" if report.ok else "deadlock" if report.deadlock else "failed"
    writes = record.journal(run.index)
    updates = {(each.time, each.writer) for each in writes if each.tiling_key is not None}
    time = (report.ended - report.started) / 1000
    counts = (str(len(updates)), str(len(report.hazards)), str(len(report.faults)))
    return (str(run.index), outcome, f"{time:.1f}", *counts, file)


def _reports(run: Run) -> None:
    for hazard in run.outcome.hazards:
        click.echo(f"  execution {run.index}: {_place(hazard)}{safe(hazard.what)}; {safe(hazard.remedy)}")
    for fault in run.outcome.faults:
        click.echo(f"  execution {run.index}: fault {safe(fault.id)}: {_place(fault)}{safe(fault.what)}")
        for line in fault.consequences:
            click.echo(f"    then: {safe(line)}")


def _place(found: Place) -> str:
    return f"stream {found.stream} task {found.task}: " if found.stream >= 0 else ""


def _rings(request: Request, record: Record, host: PluginHost) -> None:
    run = record.run(record.run_numbers[-1] if request.run is None else request.run)
    chip = host.chip(record.about.chip)
    chosen = request.selection(lambda: known_names(host.registry, chip.family))
    rings = {
        sq: list(items.entries(host.registry, chip.family, ring["executed"], sq)) for sq, ring in run.rings.items()
    }
    longest = max(map(len, rings.values()), default=0)
    runs = slots(request.slots, longest)
    names = {s.id: s.name for s in record.blob.streams}
    parts = [
        Part(chosen.of(_shown(found, runs)), f"stream {sq} ({safe(names.get(sq, 'caller'))}), as executed")
        for sq, found in rings.items()
    ]
    if request.as_json:
        json_line(
            {"section": "rings", "family": chip.family, "chip": chip.name, "streams": len(parts), "run": run.index}
        )
    elif request.view in {"table", "compact", "fields", "summary"}:
        click.echo(f"{request.source}: execution {run.index} on {chip.name}, family {chip.family}, {len(parts)} rings")
    present(request, parts, Scene(chip.family, Columns.for_slots(longest), chip=chip))


def _shown(found: list[items.Entry], runs: list[tuple[int, int]]) -> Iterator[Item]:
    for first, end in runs:
        yield from found[first:end]
