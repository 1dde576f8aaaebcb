"""Model tasks of a blob: names of all type numbers (`reference/om_format.md` 7), and what a task does in words."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from formats.blob import BLOCK_DIM_PLACEHOLDER, KernelType, TaskType

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from formats.blob import Blob, BlobTask

TASK_NAMES: Mapping[int, str] = MappingProxyType(dict(enumerate((
    "KERNEL", "EVENT_RECORD", "EVENT_WAIT", "FUSION_START", "FUSION_END", "KERNEL_EX", "HCCL", "STREAM_SWITCH",
    "STREAM_ACTIVE", "LABEL_SET", "LABEL_SWITCH", "LABEL_GOTO", "PROFILER_TRACE", "MEMCPY_ASYNC", "NOTIFY_RECORD",
    "NOTIFY_WAIT", "REDUCE_ASYNC", "RDMA_SEND", "EVENT_RESET", "MODEL_END_GRAPH", "STREAM_SWITCH_N", "RDMA_DB_SEND",
    "MEMCPY_ADDR_ASYNC", "STREAM_LABEL_SWITCH_BY_INDEX", "STREAM_LABEL_GOTO", "MODEL_EXIT", "ALL_KERNEL",
    "PROFILER_TRACE_EX", "FFTS_TASK", "FFTS_PLUS_TASK", "DSA_TASK", "CMO", "BARRIER", "NPU_GET_FLOAT_STATUS",
    "NPU_CLEAR_FLOAT_STATUS", "DVPP", "NPU_GET_DEBUG_FLOAT_STATUS", "NPU_CLEAR_DEBUG_FLOAT_STATUS", "CMO_ADDR",
    "VECTOR_KERNEL", "VECTOR_ALL_KERNEL", "UPDATE", "NOP", "PREPROCESS_KERNEL", "SUPER_KERNEL", "MEM_EVENT_RECORD",
    "MEM_EVENT_WAIT", "FUSION_KERNEL", "KERNEL_LAUNCH_V2", "CCU_KERNEL", "CUSTOM_KERNEL",
))))  # fmt: skip
"""Every task type number with its name."""


def task_name(number: int) -> str:
    """Name of a task type, or `TYPE_n` for a number without one."""
    return TASK_NAMES.get(number, f"TYPE_{number}")


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
        TaskType.VECTOR_ALL_KERNEL: _kernel,
        TaskType.EVENT_RECORD: lambda _blob, task: f"set event {task.event_id}",
        TaskType.EVENT_WAIT: lambda _blob, task: f"wait for event {task.event_id}",
        TaskType.MODEL_END_GRAPH: lambda _blob, _task: "tell the caller that the model has ended",
        TaskType.UPDATE: _update,
        TaskType.NOP: lambda _blob, _task: "fill a slot ahead of the kernel",
        TaskType.PREPROCESS_KERNEL: _preprocess,
        TaskType.SUPER_KERNEL: lambda _blob, task: f"run the super kernel {task.node}",
    }
)
