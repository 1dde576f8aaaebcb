"""Everything that has run, as columns: for exporters and statistics, without an object per entry.

One row per entry that ended, in no particular order:

| column | type | meaning |
|---|---|---|
| `start`, `end` | int64 | when its engine took it, when it completed; virtual nanoseconds |
| `stream`, `slot`, `task` | int32, int32, uint32 | which entry |
| `run` | int32 | execution of the model, from 1 |
| `kind` | int32 | index into `Slices.kinds` |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from emu_core.spans import ENDS, Span
from emu_core.trace import TaskDone

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy.typing as npt

    from emu_core.trace import Event
    from emu_core.windows import Window

ROW = np.dtype(
    [
        ("start", "<i8"),
        ("end", "<i8"),
        ("stream", "<i4"),
        ("slot", "<i4"),
        ("task", "<u4"),
        ("run", "<i4"),
        ("kind", "<i4"),
    ]
)


@dataclass(frozen=True)
class Slices:
    """`rows` as in the module text; `kinds`: (engine, kind) by index."""

    rows: npt.NDArray[np.void]
    kinds: tuple[tuple[str, str], ...]


class _Kinds:
    """Numbers for (engine, kind), given out as they are asked for."""

    def __init__(self) -> None:
        self.numbers: dict[tuple[str, str], int] = {}

    def number(self, engine: str, kind: str) -> int:
        return self.numbers.setdefault((engine, kind), len(self.numbers))

    def of(self, window: Window) -> npt.NDArray[np.int32]:
        """Numbers by code of a window."""
        handlers = [kind and kind.handler for kind in window.kinds]
        return np.array([self.number(h.engine, h.kind) if h else -1 for h in handlers], np.int32)


def slices_of(records: Iterable[Event], log: Sequence[tuple[Any, ...]]) -> Slices:
    """The slices of events that were read before and of a log (`emu_core.spans`)."""
    kinds = _Kinds()
    spans: dict[int, list[Span]] = {}
    steps: dict[int, list[tuple[Any, ...]]] = {}
    rows = [_of_event(event, kinds) for event in records if isinstance(event, TaskDone)]
    for entry in log:
        thing = entry[2]
        if thing.__class__ is int:
            if thing in ENDS:
                key = id(entry[4])
                if key in steps:
                    steps[key].append(entry)
                else:
                    steps[key] = [entry]
        elif thing.__class__ is Span:
            key = id(thing.window)
            if key in spans:
                spans[key].append(thing)
            else:
                spans[key] = [thing]
        elif type(thing) is TaskDone:
            rows.append(_of_event(thing, kinds))
    parts = [np.array(rows, ROW)]
    parts += [_of_spans(found, kinds) for found in spans.values()]
    parts += [_of_steps(found, kinds) for found in steps.values()]
    return Slices(np.concatenate(parts), tuple(kinds.numbers))


def _of_event(event: TaskDone, kinds: _Kinds) -> tuple[int, ...]:
    kind = kinds.number(event.engine, event.kind)
    return event.started, event.time, event.stream, event.slot, event.task, event.run, kind


def _of_steps(steps: Sequence[tuple[Any, ...]], kinds: _Kinds) -> npt.NDArray[np.void]:
    """The stops of one window that ended."""
    time, _, _, lanes, windows, at, since, _ = zip(*steps, strict=True)
    rows = _rows(windows[0], lanes[0].sid, np.array(at, np.int64), kinds)
    rows["start"], rows["end"], rows["run"] = since, time, lanes[0].run
    return rows


def _rows(window: Window, stream: int, at: npt.NDArray[np.int64], kinds: _Kinds) -> npt.NDArray[np.void]:
    """Rows of these entries of a window, without times and run."""
    rows = np.empty(len(at), ROW)
    rows["stream"] = stream
    rows["slot"] = at + window.lo
    rows["task"] = (at + window.number) & window.submissions.last_id
    rows["kind"] = kinds.of(window).take(window.codes.take(at))
    return rows


def _of_spans(spans: Sequence[Span], kinds: _Kinds) -> npt.NDArray[np.void]:
    """The entries that ended in spans of one window."""
    window = spans[0].window
    table = np.array([(s.first, s.done, s.time, s.run) for s in spans], np.int64)
    counts = table[:, 1] - table[:, 0]
    ends = window.ends
    # Entry i of span k is at first[k] + i: counting through all of them, less what the spans before took.
    at = np.arange(counts.sum()) + np.repeat(table[:, 0] - np.cumsum(counts) + counts, counts)
    offset = np.repeat(table[:, 2] - ends.take(table[:, 0]), counts)
    rows = _rows(window, spans[0].stream, at, kinds)
    rows["start"] = ends.take(at) + offset
    rows["end"] = ends.take(at + 1) + offset
    rows["run"] = np.repeat(table[:, 3], counts)
    return rows
