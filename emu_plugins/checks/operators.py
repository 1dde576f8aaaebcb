"""The tasks of each operator of a program by what they are for, and how messages call them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from emu_plugins.compiler.args_format import parse_args_format
from formats.blob.model import BLOCK_DIM_PLACEHOLDER, TaskType
from formats.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from formats.blob.model import Blob

KERNELS = (TaskType.KERNEL, TaskType.ALL_KERNEL, TaskType.FFTS_PLUS_TASK, TaskType.VECTOR_KERNEL,
           TaskType.VECTOR_ALL_KERNEL)  # fmt: skip
RECORDS = (TaskType.EVENT_RECORD, TaskType.NOTIFY_RECORD)
WAITS = (TaskType.EVENT_WAIT, TaskType.NOTIFY_WAIT)
_ROLES = {
    TaskType.PREPROCESS_KERNEL: "tilings",
    **dict.fromkeys((*KERNELS, TaskType.SUPER_KERNEL), "kernels"),
    TaskType.UPDATE: "updates",
    TaskType.EVENT_RECORD: "records",
}


@dataclass(frozen=True)
class Tasks:
    """Indices of the tasks of one operator: tilings, kernels, updates and event records."""

    name: str
    tilings: tuple[int, ...] = ()
    kernels: tuple[int, ...] = ()
    updates: tuple[int, ...] = ()
    records: tuple[int, ...] = ()


def members(blob: Blob, index: int) -> tuple[int, ...]:
    """The operators that a task serves: its own, or those of a super kernel; none where the format is unreadable."""
    task = blob.tasks[index]
    if task.type != TaskType.SUPER_KERNEL:
        return () if task.op is None else (task.op,)
    try:
        subs = dict.fromkeys(entry.sub for entry in parse_args_format(task.args_format))
    except FormatError:
        return ()
    return tuple(sub for sub in subs if sub is not None and sub < len(blob.ops))


def tasks_of_operators(blob: Blob) -> Mapping[int, Tasks]:
    """The tasks of every operator that has any, by its index."""
    found: dict[int, dict[str, list[int]]] = {}
    for index, task in enumerate(blob.tasks):
        role = _ROLES.get(TaskType(task.type)) if task.type in _ROLES else None
        if role is None:
            continue
        for op in members(blob, index):
            found.setdefault(op, {}).setdefault(role, []).append(index)
    return {
        op: Tasks(blob.ops[op].name, **{role: tuple(indices) for role, indices in roles.items()})
        for op, roles in found.items()
    }


def sinking(blob: Blob) -> dict[int, Tasks]:
    """Operators with a tiling task, an update, or a kernel that starts with the placeholder block dim."""
    return {op: tasks for op, tasks in tasks_of_operators(blob).items() if _sinks(blob, tasks)}


def _sinks(blob: Blob, tasks: Tasks) -> bool:
    if any("event_addr" in blob.tasks[tiling].args_format for tiling in tasks.tilings):
        return False  # inside a super kernel, which polls the event word itself
    waiting = any(blob.tasks[kernel].block_dim == BLOCK_DIM_PLACEHOLDER for kernel in tasks.kernels)
    return bool(tasks.tilings or tasks.updates or waiting)


def place(blob: Blob, index: int) -> str:
    """A task as messages call it: its number in the task list (no task id), its type, and whose it is."""
    task = blob.tasks[index]
    known = {int(kind): kind.name for kind in TaskType}
    name = known.get(task.type, f"type {task.type}")
    return f"task #{index} ({name}{f' of {task.node}' if task.node else ''})"
