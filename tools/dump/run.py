"""What `sqemu dump` does, once its options are read: find out what the file is, and show it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

import click

from emu_plugins.om.magic import MAGIC_BYTES
from formats import SQE_SIZE
from tools.dump import cqes, items
from tools.dump.data import Data, opened
from tools.dump.known import known_names
from tools.dump.logs import GLANCE, captured, entries_of, is_folder, is_log, no_entries, tell
from tools.dump.present import Part, Scene, present
from tools.dump.request import SKIPPED, Request, check
from tools.dump.selection import slots
from tools.dump.source import Family, check_raw, doubt_about, guess_family, is_blob
from tools.dump.views.table import Columns
from tools.dump.ways import many_at_a_time, single_units
from tools.given_plugins import Layouts
from tools.show import json_line, lines, width
from tools.stacked import wrapped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from formats import Registry
    from tools.dump.items import Item
    from tools.dump.selection import Selection

__all__ = ["Request", "dump"]


def dump(request: Request) -> int:
    """Show the file; returns the exit code.

    Raises:
        InputError: not readable, empty, of another kind (`dump.unknown`), or a blob for another chip (`blob.chip`).
        OptionError: options that do not belong together, names that do not exist, wrong policies.
        FormatError: a blob of which nothing can be shown.
    """
    if is_folder(request.file):
        return _log(request, None)
    with opened(request.file) as data:
        head = bytes(data.view[:GLANCE])
        plain = not (request.hex_text or request.words is not None)
        if plain and not (request.cqes or request.struct) and is_log(head):
            return _log(request, data)
        if not plain or _is_hex(head):
            return _hex(request, data)
        return _binary(request, data)


def _log(request: Request, data: Data | None) -> int:
    """The entries in a log or a folder of logs; hex that is in no line of an entry is read as in other text."""
    capture = captured(request, data)
    raw = b"".join(sqe.raw for sqe in entries_of(capture))
    if not raw:
        if data is not None and _is_hex(bytes(data.view[:GLANCE])):
            return _hex(request, data)
        raise no_entries(request, capture.notes, folder=data is None)
    cut = tell(request, capture)
    family = None if request.chip else request.family or ("v200" if capture.dialect == "950" else None)
    code = _binary(replace(request, family=family), Data(raw))
    return SKIPPED if cut else code


def _is_hex(head: bytes) -> bool:
    if b"\0" in head:
        return False  # binary, at a glance
    from tools.dump.hextext import looks_like_hex  # noqa: PLC0415 - most binary files do without

    return looks_like_hex(head)


def _hex(request: Request, data: Data) -> int:
    from tools.dump.hexinput import hex_input  # noqa: PLC0415 - binary files do without

    order = False if request.words is None and (request.cqes or request.struct) else request.words
    found = hex_input(data.view, request.source, Layouts(request.without).registry, words=order)
    for note in (*found.notes, *(problem.text() for problem in found.text.problems)):
        click.echo(f"{request.source}: {note}", err=True)
    if found.text.bad:
        click.echo(f"skipped {found.text.bad} lines of hex text", err=True)
    code = _binary(request, Data(found.text.data))
    return SKIPPED if found.text.problems else code


def _binary(request: Request, data: Data) -> int:
    blob, record = is_blob(data.view), bytes(data.view[:2]) == b"PK" and _is_record(data)
    model = bytes(data.view[:4]) == MAGIC_BYTES and not (request.struct or request.cqes or request.family)
    check(request, blob=blob, record=record, model=model)
    host = Layouts(request.without)
    if model:
        from tools.dump.om import dump_om  # noqa: PLC0415 - raw files do without

        return dump_om(request, data, host.host)
    if blob:
        from tools.dump.blobs import dump_blob  # noqa: PLC0415 - raw files do without the device

        loaded = host.host if host.asked_for else None  # what was asked for is loaded, to say what is wrong with it
        return dump_blob(request, data, lambda: loaded or host.host)
    if record:
        from tools.dump.recorded import dump_record  # noqa: PLC0415 - raw files do without

        return dump_record(request, data, host.host)
    return _raw(request, data, host)


def _is_record(data: Data) -> bool:
    from tools.record.reader import is_record  # noqa: PLC0415 - only a zip is looked at

    return is_record(data.view)


# ---- raw records -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Records:
    """How the bytes of a raw file are read: bytes of one record, what they are called, and the walk over them."""

    size: int
    what: str
    section: str
    scan: Callable[[int, int], Iterator[Item]]
    family: Family
    wide_tasks: bool = False
    reader: items.Reader | None = None


def _raw(request: Request, data: Data, host: Layouts) -> int:
    forced = bool(request.family or request.chip or request.struct or request.cqes)
    check_raw(data.view, request.source, _smallest(request, host), text=forced)
    records = _records(request, data, host)
    if len(data) < records.size:
        check_raw(data.view, request.source, records.size, text=forced)
    whole, left = divmod(len(data), records.size)
    runs = slots(request.slots, whole)
    chosen = request.selection(lambda: known_names(host.registry, records.family.name))
    if doubt := doubt_about(records.family):
        click.echo(f"{request.source}: {doubt}", err=True)
    _file_line(request, records, whole, left)
    if chosen.everything and many_at_a_time(request, host.registry, records.family.name, records.section, whole):
        from tools.dump import fast  # noqa: PLC0415 - few entries do without numpy

        fast.write(host.registry, records.family.name, data, runs, request.view, whole)
    else:
        walk = _walk(records, chosen, data)
        found = chosen.of(chain.from_iterable(walk(first, end) for first, end in runs))
        trailing = bytes(data.view[whole * records.size :]) if left and request.slots is None else b""
        chip = host.chip(request.chip) if request.chip else None
        columns = Columns.for_slots(whole - 1, wide_tasks=records.wide_tasks)
        scene = Scene(records.family.name, columns, records.size, records.section, chip=chip, trailing=trailing)
        present(request, [Part(found)], scene)
    if left:
        at = whole * records.size
        click.echo(f"skipped {left} bytes at {at:#x}: less than {records.what} of {records.size} bytes", err=True)
        return SKIPPED
    return 0


def _walk(records: _Records, chosen: Selection, data: Data) -> Callable[[int, int], Iterator[Item]]:
    """The walk over the entries: one that decodes only entries of the chosen streams and tasks, where that can be."""
    reader = records.reader
    gaps_count = chosen.streams and not chosen.tasks and reader is not None and reader.zero_stream in chosen.streams
    if reader is None or gaps_count or not (chosen.streams or chosen.tasks):
        return records.scan
    return lambda first, end: items.picked(reader, data, first, end, chosen.streams, chosen.tasks)


def _smallest(request: Request, host: Layouts) -> int:
    """Bytes that a file must have at least to be looked at."""
    if request.cqes or request.struct or not request.family:
        return 1 if request.cqes or request.struct else 16
    host.registry.names(request.family)
    return SQE_SIZE


def _records(request: Request, data: Data, host: Layouts) -> _Records:
    registry = host.registry
    if request.struct:
        family = _named(request, host) or Family("v100", "the usual one")
        struct = registry.get(family.name, request.struct)
        return _Records(struct.size, "a record", "records", partial(items.records, struct, data), family)
    if request.cqes:
        family = _named(request, host) or Family("v100", "the usual one; --family decides")
        return _completions(family, data, registry)
    family = _named(request, host) or guess_family(registry, data)
    if _are_completions(request, family, data):
        return _completions(Family("v100", "guessed: completion entries; --family decides"), data, registry)
    reader = items.Reader(registry, family.name)
    wide = reader.zero_stream is None
    single = reader if single_units(registry, family.name) else None
    return _Records(SQE_SIZE, "an SQE", "sqes", partial(items.scan, reader, data), family, wide, single)


def _named(request: Request, host: Layouts) -> Family | None:
    """The family that the options name; `FormatError` for an unknown one, `InputError` for an unknown chip."""
    if request.chip:
        return Family(host.chip(request.chip).family, f"of {request.chip.lower()}")
    if request.family:
        host.registry.names(request.family)
        if not (request.struct or request.cqes):
            host.registry.generic(request.family)
        return Family(request.family, "given")
    return None


_SURE = 0.75


def _are_completions(request: Request, family: Family, data: Data) -> bool:
    """Whether a file that makes poor SQEs makes good completion entries."""
    if request.family or request.chip or (family.confidence >= _SURE and len(data) % SQE_SIZE == 0):
        return False
    return cqes.plausible("v100", data)


def _completions(family: Family, data: Data, registry: Registry) -> _Records:
    reader = cqes.Completions(family.name, registry)
    return _Records(reader.size, "a completion entry", "cqes", partial(reader.scan, data), family)


def _file_line(request: Request, records: _Records, whole: int, left: int) -> None:
    family = records.family
    if request.as_json:
        about = {"family": family.name, "reason": family.reason, "entries": whole, "skipped": left}
        json_line({"section": "file", "file": request.source, **about})
    elif request.view in {"table", "compact", "fields", "summary"}:
        counted = _counted(records.section, whole, request.struct)
        text = f"{request.source}: {counted}, family {family.name} ({family.reason})"
        limit = width()
        lines(wrapped(text, limit, first="", others="  ") if limit else [text])
        click.echo()


def _counted(section: str, count: int, struct: str | None) -> str:
    """The number of entries with what they are called."""
    one, many = {
        "sqes": ("SQE", "SQEs"),
        "cqes": ("completion entry", "completion entries"),
        "records": (f"record {struct}", f"records {struct}"),
    }[section]
    return f"{count} {one if count == 1 else many}"
