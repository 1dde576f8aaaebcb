"""Printing: tables for people, JSON lines for programs."""

from __future__ import annotations

import json
import shutil
import sys
from itertools import islice
from typing import TYPE_CHECKING
from unicodedata import east_asian_width

import click

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

_AT_ONCE = 64
"""Lines per write: few writes for long dumps, and a reader still sees the first ones at once."""


def json_line(values: Mapping[str, object]) -> None:
    """One JSON object on standard output; integers stay integers."""
    click.echo(json.dumps(values, default=_plain))


def _plain(value: object) -> object:
    """Numpy numbers and other foreign values as plain ones."""
    item = getattr(value, "item", None)
    return item() if callable(item) else str(value)


def width() -> int | None:
    """Columns of the terminal; None when standard output is no terminal, and nothing need be cut."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def safe(text: str) -> str:
    """`text` with everything that cannot be printed (control codes, undecodable bytes) as backslash escapes."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def cells(text: str) -> int:
    """Terminal columns that `text` takes; wide East Asian characters take two."""
    return len(text) if text.isascii() else sum(2 if east_asian_width(c) in "WF" else 1 for c in text)


def cut(text: str, limit: int | None) -> str:
    """`text`, or as much of it as fits `limit` columns and an ellipsis."""
    if limit is None or cells(text) <= limit:
        return text
    kept, used = 0, 1
    for c in text:
        used += cells(c)
        if used > limit:
            break
        kept += 1
    return text[:kept].rstrip() + "…"


def rows_as_text(
    columns: Sequence[str], rows: Iterable[Sequence[object]], *, right: Sequence[str] = (), limit: int | None = None
) -> Iterator[str]:
    """The lines of a table: header, rule, rows; no line is wider than `limit` columns."""
    texts = [[safe(str(cell)) for cell in row] for row in rows]
    widths = [max(cells(c), *(cells(row[i]) for row in texts)) if texts else cells(c) for i, c in enumerate(columns)]
    aligned = [c in right for c in columns]
    for row in (list(columns), ["-" * w for w in widths], *texts):
        parts = [_padded(cell, w, right=r) for cell, w, r in zip(row, widths, aligned, strict=True)]
        yield cut("  " + "  ".join(parts).rstrip(), limit)


def _padded(text: str, columns: int, *, right: bool) -> str:
    space = " " * (columns - cells(text))
    return space + text if right else text + space


def table(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    right: Sequence[str] = (),
    fit: bool = False,
) -> None:
    """A table in plain text: columns as wide as their longest cell, `right` names those aligned to the right.

    With `fit`, lines end at the right edge of a terminal.
    """
    if title:
        click.echo(click.style(title, bold=True))
    lines(rows_as_text(columns, rows, right=right, limit=width() if fit else None))


def lines(texts: Iterable[str]) -> None:
    """Lines on standard output, several per write."""
    left = iter(texts)
    while chunk := list(islice(left, _AT_ONCE)):
        click.echo("\n".join(chunk))


def heading(text: str) -> None:
    """A section heading."""
    click.echo("\n" + click.style(text, bold=True))
