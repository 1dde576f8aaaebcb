"""Patches of submitted SQEs and their contexts as a table: program counters as one value, block dim, by whom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tools.show import table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from emu_core.journal import JournalEntry
    from emu_core.model import Result

COLUMNS = ("run", "µs of run", "operator", "SQE", "field", "before", "after", "by")
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


def show_patches(results: Sequence[Result], *, title: str = "") -> None:
    """Print the patches of `results`; times are from the start of each execution."""
    rows = [row for result in results for row in _rows(result)]
    if rows:
        table(title, COLUMNS, rows, right=COLUMNS[:2])


def _rows(result: Result) -> Iterator[tuple[str, ...]]:
    for change in _changes(result.patches):
        entry = change.entry
        writer = entry.writer
        by = (
            "the host"
            if writer.stream < 0
            else (f"{writer.engine.replace('_', ' ')} (stream {writer.stream} task {writer.task})")
        )
        at = f"{(entry.time - result.started) / 1000:.1f}"
        sqe = f"stream {entry.stream} task {entry.task}" + (" context" if entry.target == "context" else "")
        after = change.after + (" (unchanged)" if change.before == change.after.partition(" ")[0] else "")
        yield (str(result.run), at, entry.node, sqe, change.field, change.before, after, by)


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
    key = "" if high.tiling_key is None else f" (key {high.tiling_key})"
    return _Change(high, low.field.rpartition("_")[0], f"{before:#x}", f"{after:#x}{key}")


def _single(entry: JournalEntry) -> _Change:
    return _Change(entry, entry.field, _number(entry.before), _number(entry.after))


def _number(value: int) -> str:
    return f"{value:#x}" if value >= PLACEHOLDER else str(value)
