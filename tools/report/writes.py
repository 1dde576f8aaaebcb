"""Writes to entries, contexts and tiling cells as data of the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tools.report.columns import exact

if TYPE_CHECKING:
    from tools.report.columns import Strings
    from tools.report.subject import Subject

TARGETS = ("sqe", "context", "cell")
COLUMNS = (
    "run", "time", "target", "stream", "slot", "task", "node", "struct", "field", "offset", "width", "before", "after",
    "by", "bystream", "bytask", "key", "row",
)  # fmt: skip
"""Columns of the rows. Values are texts: they may be wider than a number of the script."""


def write_table(subject: Subject, strings: Strings) -> dict[str, list[int]]:
    """A row per field that was written, in order; -1 stands for none."""
    number, source = strings.number, subject.recording.source
    rows = [
        (
            run.index, w.time, TARGETS.index(w.target), w.stream, w.slot, w.task, number(w.node), number(w.struct),
            number(w.field), w.bit_offset, w.bit_width, number(_value(w.before)), number(_value(w.after)),
            number(w.writer), w.by_stream, w.by_task, -1 if w.tiling_key is None else number(str(w.tiling_key)),
            -1 if w.table_row is None else exact(w.table_row, source),
        )
        for run in subject.runs
        for w in run.writes
    ]  # fmt: skip
    return {name: [row[at] for row in rows] for at, name in enumerate(COLUMNS)}


def _value(value: int) -> str:
    """Small numbers in decimal, all others in hexadecimal."""
    return str(value) if 0 <= value < 1 << 16 else f"{value:#x}"
