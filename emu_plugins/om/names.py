"""Names of all model task types (`reference/om_format.md` 7)."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

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
