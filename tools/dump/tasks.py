"""Model tasks of a blob: what a task does, in words; names of types are in `emu_plugins.om.names`."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from emu_plugins.om.names import TASK_NAMES, task_name
from formats.blob import BLOCK_DIM_PLACEHOLDER, KernelType, TaskType

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from formats.blob import Blob, BlobTask

__all__ = ["TASK_NAMES", "arguments", "blocks", "does", "op_name", "task_name"]


def blocks(task: BlobTask) -> str:
    """The block dim of a task: in hexadecimal when it is the placeholder, empty when the type has none."""
    if task.block_dim == BLOCK_DIM_PLACEHOLDER:
        return f"{task.block_dim:#X}".replace("X", "x")
    return str(task.block_dim) if task.block_dim or task.kernel is not None else ""


def op_name(blob: Blob, index: int | None) -> str | None:
    """Name of an operator by index."""
    return None if index is None else blob.ops[index].name


def does(blob: Blob, task: BlobTask) -> str:
    """What the task does, in a few words; empty when the type is only known by name."""
    tell = _DOES.get(task.type)
    return tell(blob, task) if tell else ""


def arguments(task: BlobTask) -> str:
    """What fills the argument slots, and the library of an AI CPU function without its path."""
    library = task.so_name.rpartition("/")[2]
    return f"{task.args_format}  of {library}" if library else task.args_format


def _kernel(blob: Blob, task: BlobTask) -> str:
    name = blob.kernels[task.kernel].name if task.kernel is not None else "no kernel"
    waiting = ", as the update says" if task.block_dim == BLOCK_DIM_PLACEHOLDER else ""
    return f"run {name}{waiting}"


def _preprocess(_blob: Blob, task: BlobTask) -> str:
    custom = " (custom)" if task.kernel_type == KernelType.CUST_AI_CPU else ""
    return f"tile on the AI CPU{custom} by {task.kernel_name}"


def _update(blob: Blob, task: BlobTask) -> str:
    return f"patch pc and blocks of {op_name(blob, task.op) or 'no operator'} in the ring"


_DOES: Mapping[int, Callable[[Blob, BlobTask], str]] = MappingProxyType(
    {
        TaskType.KERNEL: _kernel,
        TaskType.ALL_KERNEL: _kernel,
        TaskType.FFTS_PLUS_TASK: _kernel,
        TaskType.VECTOR_KERNEL: _kernel,
        TaskType.VECTOR_ALL_KERNEL: _kernel,
        TaskType.NOTIFY_RECORD: lambda _blob, task: f"set notify {task.event_id}",
        TaskType.NOTIFY_WAIT: lambda _blob, task: f"wait for notify {task.event_id}",
        TaskType.EVENT_RECORD: lambda _blob, task: f"set event {task.event_id}",
        TaskType.EVENT_WAIT: lambda _blob, task: f"wait for event {task.event_id}",
        TaskType.MODEL_END_GRAPH: lambda _blob, _task: "tell the caller that the model has ended",
        TaskType.UPDATE: _update,
        TaskType.NOP: lambda _blob, _task: "fill a slot ahead of the kernel",
        TaskType.PREPROCESS_KERNEL: _preprocess,
        TaskType.SUPER_KERNEL: lambda _blob, task: f"run the super kernel {task.node}",
    }
)
