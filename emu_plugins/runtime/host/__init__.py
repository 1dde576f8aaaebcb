"""The host API: `Runtime` has the calls of a host program; `c_api` has the same as functions that return codes."""

from __future__ import annotations

from emu_plugins.runtime.host import c_api
from emu_plugins.runtime.host.capability import STUB_DEVICE, TILING_KEY_SINK, Capability, Feature, Firmware, Module
from emu_plugins.runtime.host.codes import CODES, LIMIT_CODES, SUCCESS, ApiCode
from emu_plugins.runtime.host.errors import DeviceError, ResourceError, RuntimeApiError
from emu_plugins.runtime.host.handles import (
    DEFAULT_FLAG,
    HEAD_STREAM,
    NOT_MIX,
    EventHandle,
    EventStyle,
    Function,
    ModelHandle,
    NotifyHandle,
    Program,
    StreamHandle,
)
from emu_plugins.runtime.host.launch import LaunchConfig
from emu_plugins.runtime.host.runtime import Runtime
from emu_plugins.runtime.host.task_update import AI_CORE_TASK, RANDOM_TASK, ModelTaskUpdate, TaskUpdateInfo
from emu_plugins.runtime.sqes_v200 import RecordMode, WaitMode

__all__ = [
    "AI_CORE_TASK",
    "CODES",
    "DEFAULT_FLAG",
    "HEAD_STREAM",
    "LIMIT_CODES",
    "NOT_MIX",
    "RANDOM_TASK",
    "STUB_DEVICE",
    "SUCCESS",
    "TILING_KEY_SINK",
    "ApiCode",
    "Capability",
    "DeviceError",
    "EventHandle",
    "EventStyle",
    "Feature",
    "Firmware",
    "Function",
    "LaunchConfig",
    "ModelHandle",
    "ModelTaskUpdate",
    "Module",
    "NotifyHandle",
    "Program",
    "RecordMode",
    "ResourceError",
    "Runtime",
    "RuntimeApiError",
    "StreamHandle",
    "TaskUpdateInfo",
    "WaitMode",
    "c_api",
]
