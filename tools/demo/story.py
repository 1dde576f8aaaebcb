"""Tables of the demo: task list, checks, host tiling against sink."""

from __future__ import annotations

from typing import TYPE_CHECKING

from formats.blob import BLOCK_DIM_PLACEHOLDER, TaskType
from tools.fitted import fitted
from tools.side_by_side import US

if TYPE_CHECKING:
    from collections.abc import Sequence

    from emu_core.model import Result
    from formats.blob import Blob, BlobTask
    from tools.verify import Check


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
    fitted("", ("#", "task", "stream", "operator", "event", "block dim"), rows, right=("#", "event"))


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
    if task.kernel is None:
        return ""
    return "0xFFFFFFFF (later)" if task.block_dim == BLOCK_DIM_PLACEHOLDER else str(task.block_dim)


def checks(found: Sequence[tuple[int, str, Check]]) -> None:
    """Outputs of each execution against their references."""
    rows = [(str(run), op, check.output, check.verdict(), "ok" if check.ok else "FAILED") for run, op, check in found]
    fitted("", ("run", "operator", "output", "error against float64 (normalised RMS)", ""), rows, right=("run",))


def comparison(sink: Sequence[Result], host: Sequence[Result], host_tilings: int, round_trip_ns: int) -> None:
    """Virtual time of each execution with tiling on the device and on the host."""
    rows = []
    for s, h in zip(sink, host, strict=True):
        a, b = s.ended - s.started, h.ended - h.started
        waits = host_tilings * round_trip_ns / US
        rows.append((str(s.run), f"{a / US:.1f}", f"{b / US:.1f}", f"{waits:.1f}", f"{(b - a) / US:.1f}"))
    columns = ("run", "sink µs", "host tiling µs", "of that round trips", "saved µs")
    fitted("", columns, rows, right=columns)
