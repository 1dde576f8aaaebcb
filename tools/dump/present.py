"""Entries to standard output in the view that was asked for, as text or as JSON lines."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING

import click

from tools.dump import follow, sqes
from tools.dump.items import Entry, Gap
from tools.dump.sqes import Names
from tools.dump.views import table
from tools.show import heading, json_line, lines, width

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from emu_core.chips import Chip
    from emu_core.extensions import DumpView
    from tools.dump.items import Item
    from tools.dump.request import Request
    from tools.dump.views.table import Columns


@dataclass(frozen=True)
class Part:
    """Entries that are shown together: a ring with its heading, or a file."""

    items: Iterable[Item]
    title: str = ""


@dataclass(frozen=True)
class Scene:
    """Everything a view needs beside the entries.

    Attributes:
        family: family of the layouts. size: bytes of one entry.
        section: name of the section of entries in JSON.
        trailing: bytes at the end that make no whole entry; `.asm` and JSON keep them.
    """

    family: str
    columns: Columns
    size: int = 64
    section: str = "sqes"
    names: Names = field(default_factory=Names)
    chip: Chip | None = None
    trailing: bytes = b""


def present(request: Request, parts: Sequence[Part], scene: Scene) -> None:
    """Show the entries of `parts`."""
    if request.foreign is not None:
        _foreign(request.foreign, chain.from_iterable(part.items for part in parts), scene, as_json=request.as_json)
    elif request.as_json:
        _json(request, chain.from_iterable(part.items for part in parts), scene)
    elif request.view in {"table", "compact", "fields"}:
        _parts(request, parts, scene)
    else:
        lines(_whole(request, chain.from_iterable(part.items for part in parts), scene))


def _foreign(view: DumpView, items: Iterable[Item], scene: Scene, *, as_json: bool) -> None:
    from tools.dump import foreign  # noqa: PLC0415 - a view is loaded when it is shown

    if as_json:
        foreign.records(view, items, scene.family)
    else:
        lines(foreign.lines(view, items, scene.family))


def _parts(request: Request, parts: Sequence[Part], scene: Scene) -> None:
    limit = width()
    for part in parts:
        items = iter(part.items)
        first = next(items, None)
        if first is None and request.first_choice and part.title:
            continue  # nothing of this ring was chosen
        shown = items if first is None else chain([first], items)
        if part.title:
            heading(part.title)
        if request.view == "table":
            lines([click.style(table.title(scene.columns), bold=True)])
            lines(table.lines(shown, scene.columns, limit, scene.names))
        elif request.view == "compact":
            lines(sqes.as_text(shown, limit, scene.names))
        else:
            from tools.dump.views import fields  # noqa: PLC0415 - a view is loaded when it is shown

            lines(fields.lines(shown, limit, scene.names))


def _whole(request: Request, items: Iterable[Item], scene: Scene) -> Iterator[str]:
    """The views that show all entries of all rings as one."""
    from tools.dump.views import cinit, query, summary  # noqa: PLC0415 - a view is loaded when it is shown

    if request.view == "query":
        return query.lines(items, request.query or "", scene.columns, width(), changes=request.changes)
    if request.view == "c":
        return cinit.lines(items, scene.family)
    if request.view == "asm":
        from tools.asm import writer  # noqa: PLC0415 - for this view only

        tail = writer.byte_lines(scene.trailing, "no whole entry")
        return chain(writer.lines(items, scene.family, scene.size), tail)
    return summary.lines(summary.summarise(items), scene.chip)


def _json(request: Request, items: Iterable[Item], scene: Scene) -> None:
    from tools.dump.views import query, summary  # noqa: PLC0415 - a view is loaded when it is shown

    if request.view == "summary":
        json_line(summary.record(summary.summarise(items), scene.chip))
        return
    if request.view == "query":
        for record in query.records(items, request.query or "", changes=request.changes):
            json_line(record)
        return
    for item in items:
        _item(item, scene)
    if scene.trailing:
        json_line({"section": "bytes", "hex": scene.trailing.hex()})


def _item(item: Item, scene: Scene) -> None:
    if isinstance(item, Gap):
        json_line(sqes.gap_record(item, scene.size))
        return
    assert isinstance(item, Entry)
    json_line({**sqes.record(item), "section": scene.section})
    for found in scene.names.follow(item):
        json_line(follow.record(found, item))
