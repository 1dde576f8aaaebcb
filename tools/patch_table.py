"""Patches of submitted SQEs as a table: program counter as one value, block dim, by whom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tools.show import table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from emu_core.journal import JournalEntry
    from emu_core.model import Result

COLUMNS = ("run", "at µs", "operator", "SQE", "field", "before", "after", "by")
PLACEHOLDER = 0xFFFF


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
        sqe = f"stream {entry.stream} task {entry.task}"
        yield (str(result.run), at, entry.node, sqe, change.field, change.before, change.after, by)


def _changes(entries: Iterable[JournalEntry]) -> Iterator[_Change]:
    low: JournalEntry | None = None
    for entry in entries:
        if entry.target != "sqe":
            continue
        if entry.field == "pc_addr_low":
            low = entry
        elif entry.field == "pc_addr_high" and low is not None:
            before, after = (high << 32 | part for high, part in ((entry.before, low.before), (entry.after, low.after)))
            key = "" if entry.tiling_key is None else f" (key {entry.tiling_key})"
            yield _Change(entry, "pc_addr", f"{before:#x}", f"{after:#x}{key}")
            low = None
        else:
            yield _Change(entry, entry.field, _number(entry.before), _number(entry.after))


def _number(value: int) -> str:
    return f"{value:#x}" if value >= PLACEHOLDER else str(value)
