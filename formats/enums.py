"""Names of numbers, as tables; used only when a value is shown (`reference/sqe_formats.md` 2.3, 4, 8, 11).

A table maps a number to a name. The tables in `FLAGS` name bits: a value is shown as the names of
the bits that are set.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

SQE_TYPES_V100 = {
    0: "AI_CORE", 1: "AICPU", 3: "PLACE_HOLDER", 4: "EVENT_RECORD", 5: "EVENT_WAIT", 6: "NOTIFY_RECORD",
    7: "NOTIFY_WAIT", 8: "WRITE_VALUE", 11: "SDMA", 12: "VPC", 13: "JPEGE", 14: "JPEGD", 15: "DSA", 16: "ROCCE",
    17: "PCIE_DMA", 18: "RESERVED", 19: "CDQM", 20: "CONDITION", 21: "END", 63: "INVALID",
}  # fmt: skip
SQE_TYPES_V200 = {
    0: "AI_CORE", 1: "AI_VECTOR", 2: "FUSION", 3: "PLACE_HOLDER", 4: "HOST_AICPU", 5: "DEVICE_AICPU",
    6: "NOTIFY_RECORD", 7: "NOTIFY_WAIT", 8: "WRITE_VALUE", 9: "UB_DMA", 10: "ASYNC_DMA", 11: "SDMA", 12: "VPC",
    13: "JPEGE", 14: "JPEGD", 15: "CMO", 16: "CCU", 18: "NSC", 19: "DSS", 20: "CONDITION", 21: "END", 63: "INVALID",
}  # fmt: skip
SQE_TYPES_ARCH5162 = {
    0: "AI_CORE", 1: "AICPU", 2: "AI_VECTOR", 3: "PLACE_HOLDER", 4: "EVENT_RECORD", 5: "EVENT_WAIT",
    6: "NOTIFY_RECORD", 7: "NOTIFY_WAIT", 8: "NOTIFY_SEND", 9: "WRITE_VALUE", 10: "LOW_POWER_AI_CORE", 63: "INVALID",
}  # fmt: skip
TASK_TYPES = {
    0: "KERNEL_AICORE", 1: "KERNEL_AICPU", 2: "EVENT_RECORD", 3: "STREAM_WAIT_EVENT", 4: "FUSION_ISSUE", 5: "MEMCPY",
    6: "MAINTENANCE", 7: "CREATE_STREAM", 8: "DATA_DUMP", 9: "REMOTE_EVENT_WAIT", 10: "PCTRACE_ENABLE",
    11: "CREATE_L2_ADDR", 12: "MODEL_MAINTAINCE", 13: "MODEL_EXECUTE", 14: "NOTIFY_WAIT", 15: "NOTIFY_RECORD",
    16: "RDMA_SEND", 17: "L2_SDMA_TASK_MEMCPY", 18: "STREAM_SWITCH", 19: "STREAM_ACTIVE", 20: "LABEL_SET",
    21: "LABEL_SWITCH", 22: "LABEL_GOTO", 23: "PROFILER_TRACE", 24: "EVENT_RESET", 25: "RDMA_DB_SEND",
    26: "PROFILER_TRACE_EX", 27: "PROFILER_DYNAMIC_ENABLE", 28: "PROFILER_DYNAMIC_DISABLE", 29: "ALLOC_DSA_ADDR",
    30: "CCU_LAUNCH", 31: "MEM_WAIT_PROF", 32: "MEMSET", 50: "STARS_COMMON", 51: "FFTS", 52: "FFTS_PLUS", 53: "CMO",
    54: "BARRIER", 55: "WRITE_VALUE", 56: "MULTIPLE_TASK", 57: "TASK_SQE_UPDATE", 64: "PROFILING_ENABLE",
    65: "PROFILING_DISABLE", 66: "KERNEL_AIVEC", 67: "MODEL_END_GRAPH", 68: "MODEL_TO_AICPU",
    69: "ACTIVE_AICPU_STREAM", 70: "DATADUMP_LOADINFO", 71: "STREAM_SWITCH_N", 72: "HOSTFUNC_CALLBACK",
    73: "ONLINEPROF_START", 74: "ONLINEPROF_STOP", 75: "STREAM_LABEL_SWITCH_BY_INDEX", 77: "STREAM_LABEL_GOTO",
    78: "DEBUG_REGISTER", 79: "DEBUG_UNREGISTER", 80: "FUSIONDUMP_ADDR_SET", 81: "MODEL_EXIT_GRAPH", 82: "ADCPROF",
    83: "DEVICE_RINGBUFFER_CONTROL", 84: "DEBUG_REGISTER_FOR_STREAM", 85: "DEBUG_UNREGISTER_FOR_STREAM",
    86: "TASK_TIMEOUT_SET", 87: "GET_DEVICE_MSG", 88: "NPU_GET_FLOAT_STATUS", 89: "NPU_CLEAR_FLOAT_STATUS",
    90: "MEMCPY_ASYNC_WITHOUT_SDMA", 91: "SET_OVERFLOW_SWITCH", 92: "REDUCE_ASYNC_V2", 93: "SET_STREAM_GE_OP_TAG",
    94: "SET_STREAM_MODE", 95: "IPCINT_NOTICE", 96: "MODEL_LOAD", 97: "GET_STARS_VERSION", 98: "FLIP",
    99: "SET_SQ_LOCK_UNLOCK", 100: "UPDATE_ADDRESS", 101: "MODEL_TASK_UPDATE", 102: "AICPU_INFO_LOAD", 103: "NOP",
    104: "COMMON_CMD", 105: "UB_DB_SEND", 106: "DIRECT_SEND", 107: "FUSION_KERNEL", 108: "KERNEL_MIX_AIC",
    109: "KERNEL_MIX_AIV", 110: "DAVID_EVENT_RECORD", 111: "DAVID_EVENT_WAIT", 112: "DAVID_EVENT_RESET",
    113: "MEM_WRITE_VALUE", 114: "MEM_WAIT_VALUE", 115: "RDMA_PI_VALUE_MODIFY", 116: "DQS_ENQUEUE",
    117: "DQS_DEQUEUE", 118: "DQS_PREPARE", 119: "DQS_ZERO_COPY", 120: "DQS_SCHED_END", 121: "DQS_MBUF_FREE",
    122: "DQS_INTER_CHIP_PREPROC", 123: "DQS_INTER_CHIP_POSTPROC", 124: "DQS_ADSPC", 125: "TSFW_AICPU_MSG_VERSION",
    126: "CAPTURE_RECORD", 127: "CAPTURE_WAIT", 128: "DQS_BATCH_DEQUEUE", 129: "IPC_RECORD", 130: "IPC_WAIT",
    131: "DQS_CONDITION_COPY", 132: "DQS_FRAME_ALIGN", 133: "CAPTURE_CONDITION", 134: "CAPTURE_RECORD_EXTERNAL",
    135: "CAPTURE_WAIT_EXTERNAL", 136: "MODEL_SERIAL_SCHED_PREPROC", 137: "MODEL_SERIAL_SCHED_NOTIFY_WAIT",
    138: "MODEL_SERIAL_SCHED_POSTPROC", 139: "RESERVED",
}  # fmt: skip
CONDITION_TYPES = {
    1: "MODEL_EXECUTE", 2: "RDMA_SINK_PART_1", 3: "RDMA_SINK_PART_2", 4: "STREAM_SWITCH", 5: "STREAM_SWITCH_EX",
    6: "STREAM_ACTIVE", 7: "LABEL_SWITCH_BY_INDEX", 8: "GET_FLOAT_STATUS", 9: "MEM_WAIT_VALUE",
    10: "RDMA_PI_VALUE_MODIFY", 11: "DQS_ENQUEUE", 12: "DQS_DEQUEUE", 13: "DQS_PREPARE", 14: "DQS_ZERO_COPY_IN",
    15: "DQS_SCHED_END", 16: "DQS_MBUF_FREE", 17: "DQS_INTER_CHIP_PREPROC", 18: "DQS_INTER_CHIP_POSTPROC",
    19: "DQS_ADSPC", 20: "DQS_BATCH_DEQUEUE", 21: "DQS_CONDITION_COPY", 22: "DQS_FRAME_ALIGN",
    23: "DQS_ZERO_COPY_OUT", 24: "CAPTURE_CONDITION", 25: "CAPTURE_CONDITION_JUMP_BACK",
}  # fmt: skip
KERNEL_TYPES = {
    0: "CCE", 1: "FRAMEWORK", 2: "AICPU", 3: "DATA_DUMP", 4: "CUSTOM_AICPU", 5: "KFC", 6: "CUSTOM_KFC", 127: "NONE",
}  # fmt: skip
TOPIC_TYPES = {
    0: "DEVICE_AICPU", 1: "DEVICE_FIRST", 2: "HOST", 3: "HOST_FIRST", 4: "HOST_CONTROL_CPU", 5: "DATA_CPU",
    6: "DEVICE_CONTROL_CPU", 7: "TS_CPU", 8: "DVPP_CPU", 9: "CONTROL_CPU", 10: "DEVICE_AICPU_WITH_PID",
}  # fmt: skip
FFTS_TYPES = {0: "AI_CORE", 1: "AI_VECTOR", 2: "THREAD_MODE_2", 3: "THREAD_MODE_3", 4: "FFTS_PLUS", 5: "MIX_CAPABLE"}
PAUSES = {0: "NONE", 1: "TS_CPU", 2: "CONTROL_CPU", 3: "HOST"}
SCHEDULES = {0: "NORMAL", 1: "BATCH"}
WRITE_SIZES = {0: "8_BIT", 1: "16_BIT", 2: "32_BIT", 3: "64_BIT", 4: "128_BIT", 5: "256_BIT"}
WRITE_VALUE_USES = {0: "PLAIN", 1: "EVENT_RESET", 2: "RDMA_DOORBELL", 3: "IPC_NOTIFY", 4: "IPC_NOTIFY_PCIE"}
MIX_TYPES = {0: "NONE", 1: "MIX_AIC", 2: "MIX_AIV", 3: "AIC_MAIN", 4: "AIV_MAIN"}
CORE_TYPES = {0: "AIC", 1: "AIV", 2: "MIX"}
ERROR_BITS = {
    0: "EXCEPTION", 1: "TRAP", 2: "TIMEOUT", 3: "SQE_ERROR", 4: "RESOURCE_CONFLICT", 5: "SOFTWARE_STATUS", 6: "WARNING",
}  # fmt: skip
BIZ_BITS = {0: "DATA_DUMP", 1: "BIU_PROFILING", 2: "L2_CACHE_PROFILING"}

ERROR_BITS_V200 = {**ERROR_BITS, 1: "BUS_ERROR"}
FEATURE_BITS = {**BIZ_BITS, 3: "DATA_CACHE_LOCK"}
FUSION_BITS = {0: "HOST_COMMUNICATION_CPU", 1: "AICPU", 2: "AI_CORE", 3: "CCU_DIE_0", 4: "CCU_DIE_1"}
DSA_PARAMETER_BITS = {0: "RATIO", 1: "MIN", 2: "MAX", 3: "MEAN", 4: "STANDARD_DEVIATION", 5: "SEED", 6: "NUMBER"}
FFTS_SUB_TYPES = {6: "MIX_AIC", 7: "MIX_AIV", 0xA: "DATA_CACHE_LOCK", 0x5A: "HCCL", 0x5B: "HCCL"}
CONTEXT_TYPES = {
    0: "AI_CORE", 1: "AI_VECTOR", 3: "NOTIFY_WAIT", 4: "NOTIFY_RECORD", 5: "WRITE_VALUE", 6: "MIX_AIC", 7: "MIX_AIV",
    8: "SDMA", 9: "CACHE_FLUSH", 0xA: "CACHE_INVALIDATE", 0xB: "CACHE_WRITE_BACK", 0xC: "AICPU",
    0x10D: "CONDITION_SWITCH", 0x20D: "CASE_SWITCH", 0x300: "AT_START", 0x400: "AT_END", 0x500: "LABEL",
    0x600: "PERSISTENT_CACHE", 0x700: "DSA", 0x805: "RDMA_WRITE_VALUE",
}  # fmt: skip
COMPARISONS = {0: "EQUAL", 1: "NOT_EQUAL", 2: "GREATER", 3: "GREATER_OR_EQUAL", 4: "LESS", 5: "LESS_OR_EQUAL"}
WAIT_MODES = {0: "LESS", 1: "EQUAL", 2: "GREATER", 3: "GREATER_OR_EQUAL"}
RECORD_MODES = {0: "STORE", 1: "ADD", 2: "SET_BITS", 4: "CLEAR_BITS"}
NOTIFY_USES = {
    0: "NOTIFY_RECORD", 1: "NOTIFY_WAIT", 2: "COUNT_NOTIFY_RECORD", 3: "COUNT_NOTIFY_WAIT", 4: "EVENT_RECORD",
    5: "EVENT_WAIT", 6: "COUNT_EVENT_RECORD", 7: "COUNT_EVENT_WAIT", 8: "EVENT_RESET", 9: "COUNT_EVENT_RESET",
    10: "MODEL_SERIAL_WAIT",
}  # fmt: skip
CMO_TYPES = {0: "BARRIER", 1: "INVALIDATE", 2: "PREFETCH", 3: "WRITE_BACK"}
DSA_FUNCTIONS = {0: "DROP_OUT_BIT_MASK", 1: "UNIFORM", 2: "NORMAL", 3: "TRUNCATED_NORMAL"}
DSA_TYPES = {0: "INT32", 1: "INT64", 2: "UINT32", 3: "UINT64", 4: "BF16", 5: "FP16", 6: "FP32"}
STRIDES = {0: "LINEAR", 1: "STRIDED", 2: "TWO_DIMENSIONAL"}
MODEL_OPERATIONS = {
    0: "ADD_STREAM", 1: "DELETE_STREAM", 2: "LOAD_COMPLETE", 3: "DESTROY", 4: "PRE_PROCESS", 5: "STREAM_LOAD_COMPLETE",
    6: "ABORT",
}  # fmt: skip
EXECUTORS = {1: "TS", 2: "AICPU", 3: "RESERVED", 5: "CAPTURE"}
COMMON_COMMANDS = {0: "STREAM_CLEAR", 1: "NOTIFY_RESET"}
SUB_TYPES_ARCH5162 = {
    1: "MODEL_EXECUTE", 2: "STREAM_SWITCH_EX", 3: "STREAM_ACTIVE", 4: "LABEL_SWITCH", 5: "LABEL_SET",
    19: "UPDATE_ADDRESS", 20: "MEMCPY", 21: "MEMSET", 22: "AICPU", 23: "DUMP", 24: "CALLBACK", 25: "MODEL_MAINTENANCE",
    30: "MEMORY", 31: "NOTIFY_ID",
    40: "RESUME_OR_FAIL", 41: "RESUME_OR_FAIL", 42: "RESUME_OR_FAIL", 43: "RESUME_OR_FAIL",
    50: "PROFILING", 51: "PROFILING", 255: "NONE",
}  # fmt: skip
_SDMA_TYPES = {
    0: "INT8", 1: "INT16", 2: "INT32", 3: "UINT8", 4: "UINT16", 5: "UINT32", 6: "FP16", 7: "FP32", 8: "BF16",
}  # fmt: skip
_SDMA_OPERATIONS = {
    0: "COPY", 1: "ADD", 2: "MAX", 3: "MIN", 4: "EQUAL", 5: "MEMSET", 6: "CACHE_PREFETCH", 7: "CACHE_WRITE_BACK",
    8: "CACHE_INVALIDATE", 9: "CACHE_FLUSH",
}  # fmt: skip
SDMA_OPCODES = {
    kind << 4 | operation: name if operation in {0, *range(5, 10)} and not kind else f"{name}_{of}"
    for kind, of in _SDMA_TYPES.items()
    for operation, name in _SDMA_OPERATIONS.items()
}

ENUMS: Mapping[str, Mapping[int, str]] = MappingProxyType({
    "sqe_type_v100": SQE_TYPES_V100,
    "sqe_type_v200": SQE_TYPES_V200,
    "sqe_type_arch5162": SQE_TYPES_ARCH5162,
    "task_type": TASK_TYPES,
    "conds_sub_type": CONDITION_TYPES,
    "kernel_type": KERNEL_TYPES,
    "topic_type": TOPIC_TYPES,
    "ffts_type": FFTS_TYPES,
    "pause": PAUSES,
    "schem": SCHEDULES,
    "awsize": WRITE_SIZES,
    "write_value_use": WRITE_VALUE_USES,
    "mix_type": MIX_TYPES,
    "core_type": CORE_TYPES,
    "error_type": ERROR_BITS,
    "error_type_v200": ERROR_BITS_V200,
    "biz_flags": BIZ_BITS,
    "feature_flag": FEATURE_BITS,
    "fusion_parts": FUSION_BITS,
    "dsa_parameters": DSA_PARAMETER_BITS,
    "ffts_sub_type": FFTS_SUB_TYPES,
    "context_type": CONTEXT_TYPES,
    "condition": COMPARISONS,
    "wait_mode": WAIT_MODES,
    "record_mode": RECORD_MODES,
    "notify_use": NOTIFY_USES,
    "cmo_type": CMO_TYPES,
    "dsa_function": DSA_FUNCTIONS,
    "dsa_type": DSA_TYPES,
    "stride": STRIDES,
    "model_operation": MODEL_OPERATIONS,
    "executor": EXECUTORS,
    "common_cmd": COMMON_COMMANDS,
    "sub_type_arch5162": SUB_TYPES_ARCH5162,
    "sdma_opcode": SDMA_OPCODES,
})  # fmt: skip
"""Every table by name; `Field.enum` is one of these names."""

FLAGS = frozenset({"error_type", "error_type_v200", "biz_flags", "feature_flag", "fusion_parts", "dsa_parameters"})
"""Tables that name bits, not values."""

_BY_FIELD = {
    "task_type": "task_type",
    "conds_sub_type": "conds_sub_type",
    "kernel_type": "kernel_type",
    "topic_type": "topic_type",
    "ffts_type": "ffts_type",
    "pre_p": "pause",
    "post_p": "pause",
    "schem": "schem",
    "awsize": "awsize",
    "mix_type": "mix_type",
    "error_type": "error_type",
    "biz_flags": "biz_flags",
    "feature_flag": "feature_flag",
    "context_type": "context_type",
    "condition": "condition",
    "wait_mode_bit": "wait_mode",
    "record_mode_bit": "record_mode",
    "cmo_type": "cmo_type",
    "function_type": "dsa_function",
    "data_type": "dsa_type",
    "param_addr_val_bitmap": "dsa_parameters",
    "stride": "stride",
    "executor_flag": "executor",
    "opcode": "sdma_opcode",
    "sqe_sub_type": "sub_type_arch5162",
    "aw_size": "awsize",
    "ar_size": "awsize",
}
_BY_FIELD_V200 = {**_BY_FIELD, "error_type": "error_type_v200"}
_SQE_TYPE = {
    "v100": "sqe_type_v100",
    "v200": "sqe_type_v200",
    "v201": "sqe_type_v200",
    "arch9201": "sqe_type_v200",
    "arch5162": "sqe_type_arch5162",
}


def enum_of(family: str, field: str) -> str:
    """Name of the table of a field of that name in that family, or an empty string."""
    if family not in _SQE_TYPE:
        return ""
    if field in {"type", "sqe_type"}:
        return _SQE_TYPE[family]
    return (_BY_FIELD_V200 if _SQE_TYPE[family] == "sqe_type_v200" else _BY_FIELD).get(field, "")


def name_of(enum: str, value: int) -> str:
    """Name of `value` in table `enum`; bits joined by `|`; an empty string when the table has no name for it."""
    table = ENUMS.get(enum, {})
    if enum not in FLAGS:
        return table.get(value, "")
    return "|".join(table.get(bit, f"BIT_{bit}") for bit in range(value.bit_length()) if value >> bit & 1)
