"""The entries of several streams as they ran, side by side in the order of time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core.trace import TaskDone
from tools.fitted import fitted
from tools.show import columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from emu_core.model import Result

US = 1000


_TIMES = ("from µs", "to µs")
_LANE = 18
"""Columns that a stream has at least; where there is no room for so many side by side, they share one column."""


def streams_as_they_ran(result: Result, names: Mapping[int, str], most: int | None = None) -> int:
    """Entries of the streams `names` in the order they started, one column per stream where they fit.

    Times are from the start of the execution. Prints at most `most` rows; returns how many rows were left out.
    """
    done = sorted((e for e in result.trace if isinstance(e, TaskDone) and e.stream in names), key=_order)
    beside = columns() >= 2 * 9 + len(names) * (_LANE + 2)
    rows = []
    for start, end, count, event in _nops_together(done):
        text = _label(event) + (f" x {count}" if count > 1 else "")
        lanes = [text if event.stream == stream else "" for stream in names]
        rows.append((_us(start, result), _us(end, result), *(lanes if beside else (names[event.stream], text))))
    shown = rows[:most]
    fitted("", (*_TIMES, *(names.values() if beside else ("stream", "entry"))), shown, right=_TIMES)
    return len(rows) - len(shown)


def _order(event: TaskDone) -> tuple[int, int, int]:
    return event.started, event.time, event.stream


def _us(time: int, result: Result) -> str:
    return f"{(time - result.started) / US:.1f}"


def _nops_together(done: Iterable[TaskDone]) -> list[tuple[int, int, int, TaskDone]]:
    """(start, end, count, event): NOPs of one stream that follow each other are one row."""
    rows: list[tuple[int, int, int, TaskDone]] = []
    last: dict[int, int] = {}
    for event in done:
        at = last.get(event.stream)
        if at is not None and event.kind == "nop" == rows[at][3].kind:
            rows[at] = (rows[at][0], event.time, rows[at][2] + 1, event)
        else:
            last[event.stream] = len(rows)
            rows.append((event.started, event.time, 1, event))
    return rows


def _label(event: TaskDone) -> str:
    """Kind and detail, without the word that both begin with: `event record 0` for `event_record` of `event 0`."""
    if event.kind in ("aicpu", "event_reset"):
        return event.detail
    kind = event.kind.replace("_", " ")
    return f"{kind} {event.detail.removeprefix(kind.split(' ')[0] + ' ')}".strip()
