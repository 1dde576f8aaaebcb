"""What `sqemu dump` does, once its options are read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from emu_core.errors import InputError, OptionError
from emu_core.plugins import PluginHost
from formats import SQE_SIZE, FormatError
from formats.blob import decode
from formats.blob import sections as file_sections
from tools.dump import rings, sqes
from tools.dump.blob import SECTIONS, header, summary
from tools.dump.source import Family, check_sqes, guess_family, is_blob
from tools.files import STDIN, read_bytes
from tools.options import pairs, split_policies
from tools.show import cut, heading, json_line, lines, rows_as_text, safe, width

if TYPE_CHECKING:
    from collections.abc import Iterable

    from formats.blob import Blob
    from tools.dump.sqes import Entry, Names

SKIPPED = 1


@dataclass(frozen=True)
class Request:
    """The command line: file, options, output form."""

    file: str
    sqes: bool = False
    family: str | None = None
    chip: str | None = None
    policies: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    as_json: bool = False

    @property
    def source(self) -> str:
        """The file as messages name it."""
        return "standard input" if self.file == STDIN else safe(self.file)


def dump(request: Request) -> int:
    """Show the file; returns the exit code.

    Raises:
        InputError: not readable, empty, of another kind (`dump.unknown`), or a blob for another chip (`blob.chip`).
        OptionError: options that do not belong together, or wrong policies. FormatError: a damaged blob.
    """
    data = read_bytes(request.file)
    _check_options(request, blob=is_blob(data))
    if not is_blob(data):
        return _raw(request, data, PluginHost(without=request.without))
    blob = _decoded(request, data)
    if request.sqes:
        _rings(request, blob, PluginHost(without=request.without))
    else:
        _blob(request, blob, data)
    return 0


def _check_options(request: Request, *, blob: bool) -> None:
    tests = (
        (request.family and request.chip, "--family and --chip", "a chip has one family; give one of them"),
        (blob and request.family, "--family with a task blob", "a blob says its chip; drop --family"),
        (not blob and request.sqes, "--sqes with a raw file", "raw files are shown as SQEs anyway; drop --sqes"),
        (request.policies and not request.sqes, "--policy without --sqes", "policies count when a blob is loaded"),
    )
    for failed, what, remedy in tests:
        if failed:
            raise OptionError(
                f"{what} makes no sense", id="dump.options", where=f"dump {request.source}", remedy=remedy
            )


# ---- task blobs --------------------------------------------------------------------------------------------------


def _decoded(request: Request, data: bytes) -> Blob:
    try:
        blob = decode(data)
    except FormatError as error:
        where = f"{request.source}: {error.where}"
        raise FormatError(error.what, id=error.id, where=where, remedy=error.remedy, offset=error.offset) from None
    if request.chip and request.chip.lower() != blob.chip:
        raise InputError(
            f"the blob was compiled for {blob.chip}, not for {request.chip}",
            id="blob.chip",
            where=request.source,
            remedy="drop --chip",
        )
    return blob


def _blob(request: Request, blob: Blob, data: bytes) -> None:
    if request.as_json:
        json_line(header(blob, data))
        for info in file_sections(data):
            places = {"name": info.name, "offset": info.offset, "size": info.size, "count": info.count}
            json_line({"section": "file", **places})
        for section in SECTIONS:
            for record in section.records(blob):
                json_line(record)
        return
    limit = width()
    lines(cut(safe(line), limit) for line in summary(blob, data))
    for section in SECTIONS:
        rows = list(section.rows(blob))
        if rows:
            heading(section.title)
            lines(rows_as_text(section.columns, rows, right=section.right, limit=limit))


def _rings(request: Request, blob: Blob, host: PluginHost) -> None:
    compile_time, rest = split_policies(host, pairs(request.policies, "--policy"))
    if compile_time:
        raise OptionError(
            f"{', '.join(compile_time)} was decided when the graph was compiled",
            id="option.compiled",
            where="--policy",
            remedy="give it to `sqemu compile`",
        )
    model = rings.load(blob, rest, host)
    family = model.device.chip.family
    names = rings.names_of(model.device)
    if not request.as_json:
        click.echo(f"{safe(blob.name)} loaded into {blob.chip}: family {family}, {len(model.streams)} rings")
        if not model.streams:
            click.echo("  the host launches this graph; nothing is in a ring before it runs")
    for stream in model.streams:
        found = list(sqes.entries(host.registry, family, stream.queue.contents(), stream.id))
        if not request.as_json:
            heading(f"stream {stream.id} ({safe(stream.name)}): {len(found)} entries, head 0, tail {len(found)}")
        _show(request, found, names)


# ---- raw SQEs ----------------------------------------------------------------------------------------------------


def _raw(request: Request, data: bytes, host: PluginHost) -> int:
    check_sqes(data, request.source)
    family = _family(request, data, host)
    whole, left = divmod(len(data), SQE_SIZE)
    found = sqes.entries(host.registry, family.name, data)
    if request.as_json:
        json_line(
            {"section": "file", "family": family.name, "reason": family.reason, "entries": whole, "skipped": left}
        )
    else:
        click.echo(f"{request.source}: {whole} SQEs, family {family.name} ({family.reason})\n")
    _show(request, found)
    if left:
        at = whole * SQE_SIZE
        click.echo(f"skipped {left} bytes at {at:#x}: less than an SQE of {SQE_SIZE} bytes", err=True)
        return SKIPPED
    return 0


def _family(request: Request, data: bytes, host: PluginHost) -> Family:
    if request.chip:
        return Family(host.chip(request.chip).family, f"of {request.chip.lower()}")
    if request.family:
        host.registry.sqe_unit(request.family)
        return Family(request.family, "given")
    return guess_family(host.registry, data)


def _show(request: Request, found: Iterable[Entry], names: Names | None = None) -> None:
    if request.as_json:
        for entry in found:
            json_line(sqes.record(entry))
    else:
        lines(sqes.as_text(found, width(), names))
