"""Tables whose cells are wrapped so that no line is wider than the text around them."""

from __future__ import annotations

import re
import textwrap
from itertools import zip_longest
from typing import TYPE_CHECKING

import click

from tools.show import cells, columns, lines
from tools.stacked import safe_words, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_GAP = 2
_BELOW = " " * 6
_LEAST = 6
"""Columns that a wrapped column has at least."""


def fitted(title: str, names: Sequence[str], rows: Iterable[Sequence[object]], *, right: Sequence[str] = ()) -> None:
    """Print a table that fits :func:`tools.show.columns`; columns in `right` are aligned so, and never wrapped."""
    if title:
        click.echo(click.style(title, bold=True))
    lines(fitted_lines(names, rows, columns(), right=right))


def fitted_lines(
    names: Sequence[str],
    rows: Iterable[Sequence[object]],
    limit: int,
    *,
    right: Sequence[str] = (),
    below: Sequence[str] = (),
) -> Iterator[str]:
    """The lines of a table: header, rule, rows; cells that `limit` has no room for go on below themselves.

    Words are broken only when nothing else helps, and no-break spaces keep words together. Columns in `right` keep
    their width, so that a table of nothing but numbers may be wider. `below` has a text per row that stands under it.
    """
    texts = [[safe_words(str(cell)) for cell in row] for row in rows]
    widths = _widths(names, texts, limit, right)
    aligned = [name in right for name in names]
    drawn = (list(names), ["-" * room for room in widths], *texts)
    for row, text in zip_longest(drawn, ("", "", *below), fillvalue=""):
        parts = [_wrapped(cell, room) for cell, room in zip(row, widths, strict=True)]
        for line in zip_longest(*parts, fillvalue=""):
            padded = [_padded(cell, w, to_the_right=r) for cell, w, r in zip(line, widths, aligned, strict=True)]
            yield "  " + (" " * _GAP).join(padded).rstrip().replace("\xa0", " ")
        if text:
            yield from wrapped(text, limit, first=_BELOW, others=_BELOW)


def _widths(names: Sequence[str], texts: Sequence[Sequence[str]], limit: int, right: Sequence[str]) -> list[int]:
    """Columns of each column: as its widest cell, the widest ones narrower until the table fits."""
    across = list(zip(names, *texts, strict=True))
    widths = [max(cells(cell) for cell in column) for column in across]
    words = [max(cells(word) for cell in column for word in cell.split(" ") or [""]) for column in across]
    for floors in (words, [_LEAST] * len(names)):
        while sum(widths) + _GAP * len(widths) > limit:
            open_ones = [k for k, name in enumerate(names) if name not in right and widths[k] > floors[k]]
            if not open_ones:
                break
            widths[max(open_ones, key=widths.__getitem__)] -= 1
    return widths


def _wrapped(cell: str, room: int) -> list[str]:
    if cells(cell) <= room:
        return [cell]
    words = (word if cells(word) <= room else _broken(word, room) for word in cell.split(" "))
    return textwrap.wrap(" ".join(words), room, break_on_hyphens=False)


def _broken(word: str, room: int) -> str:
    """A word that is too long, broken behind its underscores where it has any."""
    return " ".join(packed(re.findall(r"[^_]*_+|[^_]+", word), room, first="", others=""))


def _padded(text: str, room: int, *, to_the_right: bool) -> str:
    space = " " * (room - cells(text))
    return space + text if to_the_right else text + space


def packed(pieces: Iterable[str], limit: int, *, first: str, others: str) -> list[str]:
    """`pieces` directly behind each other, as many per line as `limit` has room for; a piece is never broken.

    Lines begin with `first`, all but the first one with `others`.
    """
    found, line = [], first
    for piece in pieces:
        if line.strip() and cells(line) + cells(piece) > limit and line not in (first, others):
            found.append(line.rstrip())
            line = others + piece.lstrip()
        else:
            line += piece
    return [*found, line.rstrip()]


def tokens(text: str) -> list[str]:
    """An args format in its `{token}`s; whatever else is in it stays whole."""
    return re.findall(r"\{[^{}]*\}|[^{}]+|[{}]", text)
