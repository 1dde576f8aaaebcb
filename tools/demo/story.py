"""Tables of the demo: task list, streams as they ran, patches, checks, host tiling against sink."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core.trace import TaskDone
from formats.blob import BLOCK_DIM_PLACEHOLDER, TaskType
from tools.show import table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from emu_core.model import Result
    from formats.blob import Blob, BlobTask
    from tools.verify import Check

US = 1000


def task_list(blob: Blob) -> None:
    """What the compiler wrote, runs of NOPs on one line."""
    names = {s.id: s.name for s in blob.streams}
    rows: list[tuple[str, ...]] = []
    for first, last, task in _grouped(blob.tasks):
        index = str(first) if first == last else f"{first}-{last}"
        op = "" if task.op is None else blob.ops[task.op].name
        event = "" if task.event_id is None else str(task.event_id)
        count = f" x {last - first + 1}" if last > first else ""
        rows.append((index, TaskType(task.type).name + count, names[task.stream_id], op, event, _block_dim(task)))
    table("", ("#", "task", "stream", "operator", "event", "block dim"), rows, right=("#", "event"))


def _grouped(tasks: Sequence[BlobTask]) -> list[tuple[int, int, BlobTask]]:
    """(first, last, task): each task, with runs of NOPs put together."""
    groups: list[tuple[int, int, BlobTask]] = []
    for index, task in enumerate(tasks):
        if groups and task.type == TaskType.NOP == groups[-1][2].type:
            groups[-1] = (groups[-1][0], index, task)
        else:
            groups.append((index, index, task))
    return groups


def _block_dim(task: BlobTask) -> str:
    if task.type not in (TaskType.KERNEL, TaskType.ALL_KERNEL):
        return ""
    return "0xFFFFFFFF (later)" if task.block_dim == BLOCK_DIM_PLACEHOLDER else str(task.block_dim)


def streams_as_they_ran(result: Result, names: dict[int, str]) -> None:
    """Entries of the model's streams in the order they started, one column per stream."""
    done = sorted((e for e in result.trace if isinstance(e, TaskDone) and e.stream in names), key=_order)
    rows = []
    for start, end, count, event in _nops_together(done):
        text = _label(event) + (f" x {count}" if count > 1 else "")
        cells = [text if event.stream == stream else "" for stream in names]
        rows.append((f"{_us(start, result)}", f"{_us(end, result)}", *cells))
    table("", ("from µs", "to µs", *names.values()), rows, right=("from µs", "to µs"))


def _order(event: TaskDone) -> tuple[int, int, int]:
    return event.started, event.time, event.stream


def _us(time: int, result: Result) -> str:
    return f"{(time - result.started) / US:.1f}"


def _nops_together(done: Iterable[TaskDone]) -> list[tuple[int, int, int, TaskDone]]:
    """(start, end, count, event): NOPs of one stream that follow each other are one row."""
    rows: list[tuple[int, int, int, TaskDone]] = []
    for event in done:
        last = next((r for r in reversed(rows) if r[3].stream == event.stream), None)
        if last and event.kind == "nop" == last[3].kind:
            rows[rows.index(last)] = (last[0], event.time, last[2] + 1, event)
        else:
            rows.append((event.started, event.time, 1, event))
    return rows


def _label(event: TaskDone) -> str:
    kind = event.kind.replace("_", " ")
    return f"{kind} {event.detail}".strip() if event.kind not in ("aicpu", "event_reset") else event.detail


def checks(found: Sequence[tuple[int, str, Check]]) -> None:
    """Outputs of each execution against their references."""
    rows = [(str(run), op, check.output, check.verdict(), "ok" if check.ok else "FAILED") for run, op, check in found]
    table("", ("run", "operator", "output", "error against float64 (normalised RMS)", ""), rows, right=("run",))


def comparison(sink: Sequence[Result], host: Sequence[Result], host_tilings: int, round_trip_ns: int) -> None:
    """Virtual time of each execution with tiling on the device and on the host."""
    rows = []
    for s, h in zip(sink, host, strict=True):
        a, b = s.ended - s.started, h.ended - h.started
        waits = host_tilings * round_trip_ns / US
        rows.append((str(s.run), f"{a / US:.1f}", f"{b / US:.1f}", f"{waits:.1f}", f"{(b - a) / US:.1f}"))
    columns = ("run", "sink µs", "host tiling µs", "of that round trips", "saved µs")
    table("", columns, rows, right=columns)
