"""Public return codes of the host API: one row each, with the runtime's inner name and the source of the number.

A call that works returns 0. The *message class* is the vendor's id of the text that goes with the code (`EE1004` for a
null pointer, `device_semantics.md` 8.3); the last column of the second table marks the pairs that no source states.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

SUCCESS = 0
ACL_INVALID_PARAM = 100000
PARAM_INVALID = 107000
INVALID_DEVICE = 107001
CONTEXT_NULL = 107002
STREAM_CONTEXT = 107003
STREAM_MODEL = 107005
INVALID_HANDLE = 107017
DEVICE_ABORTED = 107023
MODEL_RUNNING = 107037
NOT_SUPPORTED = 207000
MEMORY_ALLOCATION = 207001
RESOURCE_ALLOCATION = 207005
NO_EVENT = 207007
NO_STREAM = 207008
NO_NOTIFY = 207009
NO_MODEL = 207010
INTERNAL = 507000
STREAM_FULL = 507002
EVENT_NOT_COMPLETE = 507006
MODEL_EXECUTE = 507011
KERNEL_LOOKUP = 507027
STREAM_SYNC_TIMEOUT = 507046
EVENT_SYNC_TIMEOUT = 507047

_TABLE = "reference/device_semantics.md 8.1"
_SECTION = "reference/device_semantics.md"
_MAP = "error map of the vendor's runtime (hicann/runtime: src/runtime/core/src/common)"
_HEADER = "vendor's acl/error_codes headers"


@dataclass(frozen=True)
class ApiCode:
    """One public code: its number, the runtime's name for the cause, what it means, and who says so."""

    value: int
    name: str
    meaning: str
    source: str


CODES: Mapping[int, ApiCode] = MappingProxyType(
    {
        row.value: row
        for row in (
            ApiCode(SUCCESS, "NONE", "success", _HEADER),
            ApiCode(ACL_INVALID_PARAM, "ACL_INVALID_PARAM", "the ACL layer refuses a parameter", _HEADER),
            ApiCode(PARAM_INVALID, "INVALID_VALUE", "invalid parameter", _TABLE),
            ApiCode(INVALID_DEVICE, "DEVICE_ID", "no such device", _HEADER),
            ApiCode(CONTEXT_NULL, "CONTEXT_NULL", "no context: no runtime was given", _TABLE),
            ApiCode(STREAM_CONTEXT, "STREAM_CONTEXT", "object of another device or context", _TABLE),
            ApiCode(STREAM_MODEL, "STREAM_MODEL", "stream and model do not belong together", _TABLE),
            ApiCode(INVALID_HANDLE, "INVALID_HANDLE", "handle of an object that does not live", _MAP),
            ApiCode(DEVICE_ABORTED, "DEVICE_TASK_ABORT", "aborted after an error in failure mode stop", _TABLE),
            ApiCode(MODEL_RUNNING, "MODEL_RUNNING", "model is running", _TABLE),
            ApiCode(NOT_SUPPORTED, "FEATURE_NOT_SUPPORT", "feature not supported", _TABLE),
            ApiCode(MEMORY_ALLOCATION, "MEMORY_ALLOCATION", "device memory used up", _TABLE),
            ApiCode(RESOURCE_ALLOCATION, "DRV_NO_RESOURCES", "resource used up", _TABLE),
            ApiCode(NO_EVENT, "DRV_NO_EVENT_RESOURCES", "no event id left", _TABLE),
            ApiCode(NO_STREAM, "DRV_NO_STREAM_RESOURCES", "no stream id left", _TABLE),
            ApiCode(NO_NOTIFY, "DRV_NO_NOTIFY_RESOURCES", "no notify id left", _TABLE),
            ApiCode(NO_MODEL, "DRV_NO_MODEL_RESOURCES", "no model id left", _TABLE),
            ApiCode(INTERNAL, "STREAM_INVALID, PROGRAM_SIZE", "internal error", _MAP),
            ApiCode(STREAM_FULL, "STREAM_FULL", "ring of the stream is full", _TABLE),
            ApiCode(EVENT_NOT_COMPLETE, "EVENT_NOT_COMPLETE", "event has not completed", _MAP),
            ApiCode(MODEL_EXECUTE, "MODEL_NOT_END, MODEL_EXE_FAILED", "model not built, or it failed", _MAP),
            ApiCode(KERNEL_LOOKUP, "KERNEL_LOOKUP", "kernel is not registered", _MAP),
            ApiCode(STREAM_SYNC_TIMEOUT, "STREAM_SYNC_TIMEOUT", "stream not done in time", _TABLE),
            ApiCode(EVENT_SYNC_TIMEOUT, "EVENT_SYNC_TIMEOUT", "event not done in time", _TABLE),
        )
    }
)
"""Every code that the host itself returns. Codes of device errors (507011, 507015 …) come from `emu_core.codes`."""


@dataclass(frozen=True)
class LimitCode:
    """What the public call answers when the device raised a limit: code, message class, source of the pair."""

    code: int
    message: str
    source: str


_INFERRED = "inferred: no source states the pair"

LIMIT_CODES: Mapping[str, LimitCode] = MappingProxyType(
    {
        "207000": LimitCode(NOT_SUPPORTED, "EE1005", f"{_SECTION} 2.5, S53"),
        "207007": LimitCode(NO_EVENT, "EE1023", f"{_SECTION} 3.2"),
        "207008": LimitCode(NO_STREAM, "EE1023", f"{_SECTION} 8.3"),
        "207009": LimitCode(NO_NOTIFY, "EE1023", f"{_SECTION} S59"),
        "207010": LimitCode(NO_MODEL, "EE1023", f"{_SECTION} 8.3"),
        "EE1019": LimitCode(STREAM_FULL, "EE1019", f"{_SECTION} 2.2"),
        "limit.sq-full": LimitCode(STREAM_FULL, "EE1019", _INFERRED),
        "limit.memory": LimitCode(MEMORY_ALLOCATION, "EE1023", _INFERRED),
        "limit.persistent-tasks": LimitCode(RESOURCE_ALLOCATION, "EE1023", _INFERRED),
    }
)
"""Limits of the device by the id of the `LimitError`."""
