"""`sqemu trace events`: every declared event with its fields, from the declarations themselves."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from emu_core.errors import InputError
from emu_core.event_fields import common_fields, declaration, declared_events, line_schema
from tools.fitted import fitted
from tools.show import json_line
from tools.stacked import paragraph
from tools.suggest import nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from emu_core.event_fields import Declared, EventField

COLUMNS = ("field", "type", "unit", "meaning")


def show_events(names: Sequence[str], *, as_json: bool, schema: bool) -> None:
    """Print the events called `names`, or all; `schema`: as one JSON Schema of a line.

    Raises:
        InputError: `trace.event`: there is no event of this name.
    """
    if schema:
        click.echo(json.dumps(line_schema(), indent=1))
        return
    found = _chosen([declaration(kind) for kind in declared_events()], names)
    if as_json:
        for each in found:
            json_line(asdict(each))
        return
    if not names:
        paragraph("Fields of all events:")
        _fields(common_fields())
    for each in found:
        click.echo()
        click.echo(f"{click.style(each.name, bold=True)}  level {each.level}, declared in {each.module}")
        paragraph(each.meaning, indent="  ")
        _fields(each.fields)


def _chosen(declared: Sequence[Declared], names: Sequence[str]) -> list[Declared]:
    by_name = {each.name: each for each in declared}
    for name in names:
        if name not in by_name:
            raise InputError(
                f"there is no event {name!r}", id="trace.event",
                remedy=f"there are {', '.join(nearest(name, by_name) or by_name)}",
            )  # fmt: skip
    return [by_name[name] for name in names] if names else list(declared)


def _fields(fields: Iterable[EventField]) -> None:
    fitted("", COLUMNS, [(each.name, each.type, each.unit, each.meaning) for each in fields])
