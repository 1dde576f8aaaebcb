"""Which tasks of a loaded model may be distributed again, to recover it (`reference/device_semantics.md` S34).

| task | again? | because |
|---|---|---|
| kernel or super kernel with a tiling context | no | its update names the task id it has now |
| tiling task | no | its context, whose addresses others hold, would be another one |
| update, NOP, event, kernel without context, end of graph | yes | it needs nothing that is made while loading |

A model is recovered only when every task may be: one with tiling sink never is. That the tiling task is among
those that may not is our choice; no source states it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_plugins.compiler.args_format import parse_args_format
from formats.blob import TaskType

if TYPE_CHECKING:
    from collections.abc import Container

    from formats.blob import Blob, BlobTask

_LAUNCHES = frozenset({
    TaskType.KERNEL, TaskType.ALL_KERNEL, TaskType.FFTS_PLUS_TASK, TaskType.VECTOR_ALL_KERNEL, TaskType.SUPER_KERNEL,
})  # fmt: skip


def redistributable(task: BlobTask, contexts: Container[int]) -> bool:
    """Whether `task` may be distributed again; `contexts`: operators that have a tiling context."""
    if task.type == TaskType.PREPROCESS_KERNEL:
        return False
    if task.type == TaskType.SUPER_KERNEL:
        return not any(entry.sub in contexts for entry in parse_args_format(task.args_format) if entry.sub is not None)
    return task.type not in _LAUNCHES or task.op not in contexts


def recoverable(blob: Blob, contexts: Container[int]) -> bool:
    """Whether a loaded model may be recovered by distributing all of its tasks again."""
    return all(redistributable(task, contexts) for task in blob.tasks)
