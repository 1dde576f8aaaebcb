"""Patches of submitted SQEs and their contexts as a table: program counters as one value, block dim, by whom.

Times are those of the trace: virtual nanoseconds since the device was made.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from tools.fitted import fitted
from tools.show import columns
from tools.stacked import wrapped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from emu_core.journal import JournalEntry
    from emu_core.model import Result

COLUMNS = ("run", "time ns", "node", "entry", "field", "before", "after", "by")
PLACEHOLDER = 0xFFFF
HALVES = {"_low": "_high", "_l": "_h"}
"""Ends of the names of low halves, and of the high halves that belong to them."""


@dataclass(frozen=True)
class _Change:
    """A change of one field, split addresses joined."""

    entry: JournalEntry
    field: str
    before: str
    after: str
    joined: bool = False


_LEGEND = "time ns as in a trace; entry, by: stream:task id; by: the update that patched"


def show_patches(results: Sequence[Result]) -> None:
    """Print the patches of `results` and what the columns mean; one execution has no column with its number."""
    rows = [row for result in results for row in _rows(result)]
    first = 0 if len(results) > 1 else 1
    if rows:
        fitted("", COLUMNS[first:], [row[first:] for row in rows], right=COLUMNS[:2])
        for line in wrapped(_LEGEND, columns(), first="  ", others="  "):
            click.echo(line)


def _rows(result: Result) -> Iterator[tuple[str, ...]]:
    for change in _changes(result.patches):
        entry = change.entry
        field = f"context {change.field}" if entry.target == "context" else change.field
        place = f"{entry.stream}:{entry.task}"
        yield (str(result.run), str(entry.time), entry.node, place, field, change.before, _after(change), _by(entry))


def _after(change: _Change) -> str:
    value = "unchanged" if change.before == change.after else change.after
    key = change.entry.tiling_key
    return f"{value} key\xa0{key}" if change.joined and key is not None else value


def _by(entry: JournalEntry) -> str:
    """Who patched: an update by its place only, any other engine by name and place."""
    writer = entry.writer
    if writer.stream < 0:
        return "the host"
    place = f"{writer.stream}:{writer.task}"
    return place if writer.engine == "task_update" else f"{writer.engine.replace('_', ' ')} {place}"


def _changes(entries: Iterable[JournalEntry]) -> Iterator[_Change]:
    """One change per field, the two halves of an address that follow each other as one."""
    low: JournalEntry | None = None
    for entry in entries:
        if entry.target == "cell":
            continue
        if low is not None and entry.field == _high_of(low.field):
            yield _joined(low, entry)
            low = None
            continue
        if low is not None:
            yield _single(low)
        low = entry if _high_of(entry.field) else None
        if low is None:
            yield _single(entry)
    if low is not None:
        yield _single(low)


def _high_of(field: str) -> str:
    """Name of the high half that belongs to a low half; empty for any other field."""
    stem, mark, end = field.rpartition("_")
    high = HALVES.get(mark + end)
    return f"{stem}{high}" if high else ""


def _joined(low: JournalEntry, high: JournalEntry) -> _Change:
    before, after = (first << 32 | second for first, second in ((high.before, low.before), (high.after, low.after)))
    return _Change(high, low.field.rpartition("_")[0], f"{before:#x}", f"{after:#x}", joined=True)


def _single(entry: JournalEntry) -> _Change:
    return _Change(entry, entry.field, _number(entry.before), _number(entry.after))


def _number(value: int) -> str:
    return f"{value:#x}" if value >= PLACEHOLDER else str(value)
