"""Listings for narrow terminals: a name on a line of its own, what belongs to it indented below."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import click

from tools.show import cells, columns, lines, rows_as_text, safe

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

Pair = tuple[str, str]
"""A label and its text; an empty label stands for running text."""

_INDENT = "    "
_ROOM = 20
"""Columns that text has at least, however narrow the terminal says it is."""


def paragraph(text: str, *, indent: str = "", others: str | None = None) -> None:
    """Print running text, wrapped to :func:`tools.show.columns`; lines but the first begin with `others`."""
    lines(wrapped(text, columns(), first=indent, others=indent if others is None else others))


def stacked(entries: Iterable[tuple[str, Sequence[str]]], limit: int) -> None:
    """Print each entry: its name, then its paragraphs, wrapped to `limit` columns and indented."""
    lines(stacked_lines(entries, limit))


def stacked_lines(entries: Iterable[tuple[str, Sequence[str]]], limit: int) -> Iterator[str]:
    """The lines of `stacked`: no text is left out, and words are broken only where they are too long for a line."""
    for name, paragraphs in entries:
        yield click.style(safe(name), bold=True)
        for paragraph in paragraphs:
            yield from wrapped(paragraph, limit, first=_INDENT, others=_INDENT)


def folded(
    names: Sequence[str], rows: Sequence[Sequence[object]], *, right: Sequence[str] = (), limit: int | None = None
) -> Iterator[str]:
    """The lines of a table; columns that `limit` has no room for stand below their row with their name, wrapped."""
    whole = list(rows_as_text(names, rows, right=right))
    if limit is None or max(map(cells, whole)) <= limit:
        yield from whole
        return
    kept = max(_fitting(names, rows, limit), 1)
    head, rule, *firsts = rows_as_text(names[:kept], [row[:kept] for row in rows], right=right, limit=limit)
    yield from (head, rule)
    for line, row in zip(firsts, rows, strict=True):
        yield line
        for name, cell in zip(names[kept:], row[kept:], strict=True):
            if str(cell):
                yield from wrapped(f"{name}: {cell}", limit, first=_INDENT * 2, others=_INDENT * 3)


def _fitting(names: Sequence[str], rows: Sequence[Sequence[object]], limit: int) -> int:
    """How many leading columns fit `limit`."""
    used = 0
    for k, name in enumerate(names):
        used += 2 + max(cells(name), *(cells(safe(str(row[k]))) for row in rows))
        if used > limit:
            return k
    return len(names)


def figures(pairs: Iterable[Pair]) -> str:
    """`label value` pairs as one paragraph, with no-break spaces inside a pair so that it stays on one line."""
    return "  ".join(f"{label} {text}".replace(" ", "\xa0") + "," for label, text in pairs).rstrip(",")


def wrapped(text: str, limit: int, *, first: str, others: str) -> list[str]:
    """`text` in lines of at most `limit` columns, the first behind `first`, the others behind `others`."""
    room = max(limit, len(others) + _ROOM)
    found = textwrap.wrap(
        safe_words(text), room, initial_indent=first, subsequent_indent=others, break_on_hyphens=False
    )
    return [line.replace("\xa0", " ") for line in found]


def safe_words(text: str) -> str:
    """`text` with control codes escaped; no-break spaces stay."""
    return "\xa0".join(safe(part) for part in text.split("\xa0"))
