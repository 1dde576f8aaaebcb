"""`sqemu dump` of task blobs: whole ones, damaged ones, and the rings they become."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from emu_core.errors import InputError, OptionError
from formats import FormatError
from formats.blob import decode
from formats.blob import sections as file_sections
from tools.asm import writer
from tools.dump import items
from tools.dump.blob import SECTIONS, header, summary
from tools.dump.damaged import Damaged
from tools.dump.known import known_names
from tools.dump.present import Part, Scene, present
from tools.dump.request import SKIPPED, Request
from tools.dump.selection import slots
from tools.dump.views.table import Columns
from tools.options import pairs, split_policies
from tools.show import cut, heading, json_line, lines, safe, width
from tools.stacked import folded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from emu_core.plugins import PluginHost
    from formats.blob import Blob
    from tools.dump.data import Data
    from tools.dump.items import Item


def dump_blob(request: Request, data: Data, host: Callable[[], PluginHost]) -> int:
    """Show a blob, or what is left of it; returns the exit code.

    `host` gives the plugins, which are needed only for its rings.

    Raises:
        FormatError: a blob of which nothing can be shown, or a damaged one that should be loaded.
        InputError: a blob for another chip (`blob.chip`). OptionError: wrong policies.
    """
    try:
        blob = decode(data.view)
    except FormatError as error:
        located = _located(request, error)
        if request.sqes or request.view == "asm" or error.id == "blob.version":
            raise located from None
        return _damaged(request, data, located)
    if request.chip and request.chip.lower() != blob.chip:
        raise InputError(
            f"the blob was compiled for {blob.chip}, not for {request.chip}",
            id="blob.chip",
            where=request.source,
            remedy="drop --chip",
        )
    if request.sqes:
        _rings(request, blob, host())
    elif request.view == "asm":
        lines(writer.blob_lines(data.view, file_sections(data.view)))
    else:
        _whole(request, blob, bytes(data.view))
    return 0


def _located(request: Request, error: FormatError) -> FormatError:
    where = f"{request.source}: {error.where}"
    return FormatError(error.what, id=error.id, where=where, remedy=error.remedy, offset=error.offset)


def _whole(request: Request, blob: Blob, data: bytes) -> None:
    if request.as_json:
        json_line(header(blob, data))
        if request.view == "summary":
            return
        for info in file_sections(data):
            places = {"name": info.name, "offset": info.offset, "size": info.size, "count": info.count}
            json_line({"section": "file", **places})
        for section in SECTIONS:
            for record in section.records(blob):
                json_line(record)
        return
    limit = width()
    lines(cut(safe(line), limit) for line in summary(blob, data))
    for section in SECTIONS if request.view != "summary" else ():
        rows = list(section.rows(blob))
        if rows:
            heading(section.title)
            lines(folded(section.columns, rows, right=section.right, limit=limit))


# ---- damaged blobs -----------------------------------------------------------------------------------------------


def _damaged(request: Request, data: Data, error: FormatError) -> int:
    """Show sections and tasks of a blob that cannot be decoded; the reason goes to standard error."""
    found = Damaged(data.view)
    if request.as_json:
        for record in found.records():
            json_line(record)
        _say(error)
        return SKIPPED
    limit = width()
    name, chip = found.text(found.header["name"]), found.text(found.header["chip"])
    click.echo(f"{name}: damaged task blob for {chip}, {len(data)} of {found.header['file_size']} bytes")
    heading("Sections")
    columns = ("name", "offset", "bytes", "records", "state")
    rows = [(a.name, f"{a.offset:#x}", a.size, a.count, a.reason or "whole") for a in found.areas]
    lines(folded(columns, rows, right=columns[1:4], limit=limit))
    heading("Tasks")
    names = ("#", "at", "type", "stream", "op", "event", "kernel", "blocks", "arguments")
    lines(folded(names, list(found.task_rows()), right=("#", "at", "stream", "op", "event"), limit=limit))
    bad = sum(bool(a.reason) for a in found.areas)
    click.echo(f"error {error.id}: {error}", err=True)
    click.echo(f"skipped {found.lost_tasks} tasks; {bad} of {len(found.areas)} sections are not whole", err=True)
    return SKIPPED


def _say(error: FormatError) -> None:
    """The error as the one JSON object on standard error."""
    told = {"error": error.id, "what": error.what, "where": error.where, "remedy": error.remedy}
    click.echo(json.dumps({**told, "offset": error.offset}), err=True)


# ---- rings -------------------------------------------------------------------------------------------------------


def _rings(request: Request, blob: Blob, host: PluginHost) -> None:
    from tools.dump import rings  # noqa: PLC0415 - it takes the machine, which a blob alone does without

    compile_time, rest = split_policies(host, pairs(request.policies, "--policy"))
    if compile_time:
        raise OptionError(
            f"{', '.join(compile_time)} was decided when the graph was compiled",
            id="option.compiled",
            where="--policy",
            remedy="give it to `sqemu compile`",
        )
    model = rings.load(blob, rest, host)
    chip = model.device.chip
    chosen = request.selection(lambda: known_names(host.registry, chip.family))
    rows = [list(items.entries(host.registry, chip.family, s.queue.contents(), s.id)) for s in model.streams]
    longest = max(map(len, rows), default=0)
    runs = slots(request.slots, longest)
    parts = [
        Part(
            chosen.of(_shown(found, runs)),
            f"stream {stream.id} ({safe(stream.name)}): {len(found)} entries, head 0, tail {len(found)}",
        )
        for stream, found in zip(model.streams, rows, strict=True)
    ]
    _ring_head(request, blob, chip.family, len(model.streams))
    scene = Scene(chip.family, Columns.for_slots(longest), names=rings.names_of(model.device), chip=chip)
    present(request, parts, scene)


def _shown(found: list[items.Entry], runs: list[tuple[int, int]]) -> Iterator[Item]:
    for first, end in runs:
        yield from found[first:end]


def _ring_head(request: Request, blob: Blob, family: str, streams: int) -> None:
    if request.as_json:
        json_line({"section": "rings", "family": family, "chip": blob.chip, "streams": streams})
    elif request.view in {"table", "compact", "fields", "summary"}:
        click.echo(f"{safe(blob.name)} loaded into {blob.chip}: family {family}, {streams} rings")
        if not streams:
            click.echo("  the host launches this graph; nothing is in a ring before it runs")
