"""Vendor codes: task scheduler (TS) codes, ACL return codes, and how one leads to the other.

Sources: `reference/sqe_formats.md` 12 and 8.1, `reference/device_semantics.md` 8.1 and 8.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

ILLEGAL_PARAM = 0x4
AICORE_TIMEOUT = 0x25
AICORE_EXCEPTION = 0x26
AICORE_TRAP = 0x27
AICPU_TIMEOUT = 0x28
AICPU_EXCEPTION = 0x2A
ACTIVE_REPEATED = 0x2D
VECTOR_TIMEOUT = 0x30
VECTOR_EXCEPTION = 0x31
MODEL_STREAM_FAILED = 0x91
END_OF_SEQUENCE = 0x95
TASK_TYPE_NOT_SUPPORTED = 0x97
TRANS_SQE_FAILED = 0x98
TASK_EXCEPTION = 0x103
TASK_TIMEOUT = 0x105
SQE_ERROR = 0x106
MODEL_ABORTED = 0x10E
FFTS_EXCEPTION = 0x10F
FFTS_TIMEOUT = 0x111

TS_NAMES = MappingProxyType(
    {
        ILLEGAL_PARAM: "illegal parameter",
        AICORE_TIMEOUT: "AI Core timeout",
        AICORE_EXCEPTION: "AI Core exception",
        AICORE_TRAP: "AI Core trap",
        AICPU_TIMEOUT: "AI CPU timeout",
        AICPU_EXCEPTION: "AI CPU exception",
        ACTIVE_REPEATED: "active model stream repeated",
        0x2E: "notify wait repeated",
        VECTOR_TIMEOUT: "vector core timeout",
        VECTOR_EXCEPTION: "vector core exception",
        0x32: "vector core trap",
        0x57: "AI CPU information load failed",
        0x75: "debug: invalid task status",
        MODEL_STREAM_FAILED: "model stream execution failed",
        0x94: "SQ full",
        END_OF_SEQUENCE: "end of sequence",
        TASK_TYPE_NOT_SUPPORTED: "task type not supported",
        TRANS_SQE_FAILED: "translating an SQE failed",
        0x99: "model aborted",
        TASK_EXCEPTION: "task exception",
        0x104: "task trap",
        TASK_TIMEOUT: "task timeout",
        SQE_ERROR: "SQE error",
        0x109: "debug register conflict",
        MODEL_ABORTED: "model aborted",
        FFTS_EXCEPTION: "FFTS+ task exception",
        0x110: "FFTS+ task trap",
        FFTS_TIMEOUT: "FFTS+ task timeout",
        0x112: "task bus error",
        0x113: "task resource conflict",
        0x114: "task software status error",
        0x905: "stream not in model",
        0x90A: "feature not supported",
    }
)

ACL_NAMES = MappingProxyType(
    {
        107000: "invalid parameter",
        107002: "context missing",
        107003: "stream not in this context",
        107005: "stream not in model",
        107019: "wait timeout",
        107020: "task timeout",
        107022: "stream aborted",
        107023: "device aborted",
        107037: "model running",
        107040: "model update failed",
        207000: "feature not supported",
        207001: "memory allocation failed, or a null module object",
        207005: "resource allocation failed: no SQ or CQ left",
        207007: "no event id left",
        207008: "no stream id left",
        207009: "no notify id left",
        207010: "no model id left",
        507000: "internal error",
        507001: "task scheduler error",
        507002: "stream task queue full",
        507005: "end of sequence",
        507011: "model stream execution failed",
        507012: "report timeout",
        507014: "AI Core timeout",
        507015: "AI Core exception",
        507016: "AI Core trap",
        507017: "AI CPU timeout",
        507018: "AI CPU exception",
        507023: "model aborted",
        507034: "vector core timeout",
        507035: "vector core exception",
        507036: "vector core trap",
        507046: "stream synchronisation timeout",
        507047: "event synchronisation timeout",
        507048: "FFTS+ timeout",
        507049: "FFTS+ exception",
        507050: "FFTS+ trap",
        507899: "driver error, often a follow-on of an earlier device fault",
        507902: "AI CPU information load response error",
    }
)

MODEL_FAILED_ACL = 507011
"""What synchronising reports for any task error inside a sunk model."""

_ACL_OF_TS = MappingProxyType(
    {
        AICORE_TIMEOUT: 507014,
        AICORE_EXCEPTION: 507015,
        AICORE_TRAP: 507016,
        AICPU_TIMEOUT: 507017,
        AICPU_EXCEPTION: 507018,
        VECTOR_TIMEOUT: 507034,
        VECTOR_EXCEPTION: 507035,
        0x32: 507036,
        MODEL_STREAM_FAILED: MODEL_FAILED_ACL,
        END_OF_SEQUENCE: 507005,
        TASK_TIMEOUT: 107020,
        MODEL_ABORTED: 507023,
        FFTS_EXCEPTION: 507049,
        0x110: 507050,
        FFTS_TIMEOUT: 507048,
    }
)


@dataclass(frozen=True)
class ModelEnd:
    """How a model ends for who waits for it: `result`, four bits of the status word, and the TS code of the wait."""

    result: int
    ts_code: int


_FAILED = ModelEnd(1, MODEL_STREAM_FAILED)
_END_OF_CAUSE = MappingProxyType(
    {
        END_OF_SEQUENCE: ModelEnd(2, END_OF_SEQUENCE),
        MODEL_ABORTED: ModelEnd(3, MODEL_ABORTED),
        AICPU_TIMEOUT: ModelEnd(4, AICPU_TIMEOUT),
    }
)


def model_end(cause: int) -> ModelEnd:
    """The end of a model whose first fault has the TS code `cause`; any other cause is a failed stream."""
    return _END_OF_CAUSE.get(cause, _FAILED)


def acl_code(ts_code: int) -> int:
    """The ACL code a TS code surfaces as on a stream of no model; 507001 where none is documented."""
    return _ACL_OF_TS.get(ts_code, 507001)


def ts_name(ts_code: int) -> str:
    """What a TS code means, in words."""
    return TS_NAMES.get(ts_code, "not documented")
