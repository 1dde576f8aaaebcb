"""Printing: tables for people, JSON lines for programs."""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
from itertools import islice
from typing import TYPE_CHECKING
from unicodedata import east_asian_width

import click

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

_AT_ONCE = 64
"""Lines per write: few writes for long dumps, and a reader still sees the first ones at once."""
PAPER = 80
"""Columns of running text that goes to a file or a pipe."""
_NARROWEST = 16
"""Columns that a wrapped column has at least."""


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


def columns() -> int:
    """Columns that text for people may take: those of the terminal, 80 where standard output is none.

    Tables of facts, a line each, are as wide as they are where :func:`width` is None: other programs take their lines.
    """
    return width() or PAPER


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
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    right: Sequence[str] = (),
    limit: int | None = None,
    wrap: bool = False,
) -> Iterator[str]:
    """The lines of a table: header, rule, rows.

    No line is wider than `limit` columns: with `wrap` the last column goes on below itself, without it lines are cut.
    """
    texts = [[safe(str(cell)) for cell in row] for row in rows]
    widths = [max(cells(c), *(cells(row[i]) for row in texts)) if texts else cells(c) for i, c in enumerate(columns)]
    if wrap and limit is not None:
        widths[-1] = min(widths[-1], max(limit - sum(widths[:-1]) - 2 * len(widths), _NARROWEST))
    aligned = [c in right for c in columns]
    for row in (list(columns), ["-" * w for w in widths], *texts):
        for part in _wrapped(row, widths[-1]) if wrap else (row,):
            padded = [_padded(cell, w, right=r) for cell, w, r in zip(part, widths, aligned, strict=True)]
            yield cut("  " + "  ".join(padded).rstrip(), limit)


def _wrapped(row: Sequence[str], room: int) -> Iterator[Sequence[str]]:
    """A row as several, the last cell broken into lines of at most `room` columns."""
    for k, line in enumerate(textwrap.wrap(row[-1], room, break_on_hyphens=False) or [""]):
        yield [*([""] * (len(row) - 1) if k else row[:-1]), line]


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
    wrap: bool = False,
) -> None:
    """A table in plain text: columns as wide as their longest cell, `right` names those aligned to the right.

    On a terminal, `fit` cuts lines at its right edge and `wrap` wraps the last column there.
    """
    if title:
        click.echo(click.style(title, bold=True))
    lines(rows_as_text(columns, rows, right=right, limit=width() if fit or wrap else None, wrap=wrap))


def lines(texts: Iterable[str]) -> None:
    """Lines on standard output, several per write."""
    left = iter(texts)
    while chunk := list(islice(left, _AT_ONCE)):
        click.echo("\n".join(chunk))


def heading(text: str) -> None:
    """A section heading."""
    click.echo("\n" + click.style(text, bold=True))
