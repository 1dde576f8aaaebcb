"""One line per entry: slot, stream, task, kind, the facts that matter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from tools.dump.items import Gap
from tools.dump.kinds import facts
from tools.dump.sqes import Names
from tools.show import cut, safe

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tools.dump.items import Entry, Item

KIND = 15
"""Columns of the kind; longer names push the facts to the right."""


@dataclass(frozen=True)
class Columns:
    """Widths of the number columns, the same for the whole table so that any part of it looks alike."""

    slot: int = 4
    stream: int = 6
    task: int = 6

    @classmethod
    def for_slots(cls, last: int, *, wide_tasks: bool = False) -> Columns:
        """Widths for slots up to `last`; `wide_tasks` for 32-bit task numbers."""
        return cls(slot=max(4, len(str(last))), task=10 if wide_tasks else 6)

    def head(self, slot: object, stream: object, task: object) -> str:
        """The three number columns, aligned to the right."""
        return f"{slot!s:>{self.slot}}  {stream!s:>{self.stream}}  {task!s:>{self.task}}"


def title(columns: Columns) -> str:
    """The heading line."""
    return f"{columns.head('slot', 'stream', 'task')}  {'kind':<{KIND}}  facts"


def lines(items: Iterable[Item], columns: Columns, limit: int | None, names: Names | None = None) -> Iterator[str]:
    """The lines of the table below its heading."""
    known = names or Names()
    for item in items:
        if isinstance(item, Gap):
            yield cut(gap_line(item, columns), limit)
        else:
            yield _line(item, columns, limit, known)


def gap_line(gap: Gap, columns: Columns) -> str:
    """Entries of zeros as one line."""
    more = f"{gap.count} entries to slot {gap.last}, all bytes are 0" if gap.count > 1 else "all bytes are 0"
    return f"{columns.head(gap.first, _id(gap.stream_id), '-')}  {'empty':<{KIND}}  {more}"


def _line(entry: Entry, columns: Columns, limit: int | None, names: Names) -> str:
    head = columns.head(entry.slot, _id(entry.stream_id), _id(entry.task_id))
    told = "  ".join(safe(text) for text in facts(entry.decoded, entry.kind, names.address, names.offset))
    text = f"{head}  {entry.kind.name:<{KIND}}  {told}".rstrip()
    notes = entry.decoded.notes
    if not notes:
        return cut(text, limit)
    first = notes[0] + (f" (and {len(notes) - 1} more)" if len(notes) > 1 else "")
    return click.style(cut(f"{text}  ! {first}", limit), fg="yellow")


def _id(value: int | None) -> str:
    return "-" if value is None else str(value)
