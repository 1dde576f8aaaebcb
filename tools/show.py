"""Printing: tables for people, JSON lines for programs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


def json_line(values: Mapping[str, object]) -> None:
    """One JSON object on standard output; integers stay integers."""
    click.echo(json.dumps(values, default=_plain))


def _plain(value: object) -> object:
    """Numpy numbers and other foreign values as plain ones."""
    item = getattr(value, "item", None)
    return item() if callable(item) else str(value)


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]], *, right: Sequence[str] = ()) -> None:
    """A table in plain text: columns as wide as their longest cell, `right` names those aligned to the right."""
    cells = [[str(cell) for cell in row] for row in rows]
    widths = [max(len(c), *(len(row[i]) for row in cells)) if cells else len(c) for i, c in enumerate(columns)]
    aligned = [c in right for c in columns]
    if title:
        click.echo(click.style(title, bold=True))
    for row in (list(columns), ["-" * w for w in widths], *cells):
        parts = [cell.rjust(w) if r else cell.ljust(w) for cell, w, r in zip(row, widths, aligned, strict=True)]
        click.echo("  " + "  ".join(parts).rstrip())


def heading(text: str) -> None:
    """A section heading."""
    click.echo("\n" + click.style(text, bold=True))
