"""Runtime V1: the host API, loading a task blob through it, and host scheduling of unknown-shape graphs.

A host program imports from here: `Runtime` and what its calls take (`docs/host_api.md`). The names are imported when
they are first asked for, so that listing plugins stays quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from emu_core.hookspecs import hookimpl
from emu_core.policies import PolicySpec, Scope
from emu_plugins.runtime.explanations import EXPLANATIONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from emu_core.device import Device
    from emu_core.model import Model
    from emu_plugins.runtime.host import (
        AI_CORE_TASK,
        CODES,
        DEFAULT_FLAG,
        HEAD_STREAM,
        LIMIT_CODES,
        NOT_MIX,
        RANDOM_TASK,
        STUB_DEVICE,
        SUCCESS,
        TILING_KEY_SINK,
        ApiCode,
        Capability,
        DeviceError,
        EventHandle,
        EventStyle,
        Feature,
        Firmware,
        Function,
        LaunchConfig,
        ModelHandle,
        ModelTaskUpdate,
        Module,
        NotifyHandle,
        Program,
        RecordMode,
        ResourceError,
        Runtime,
        RuntimeApiError,
        StreamHandle,
        TaskUpdateInfo,
        WaitMode,
        c_api,
    )
    from formats.blob import Blob

__all__ = [
    "AI_CORE_TASK",
    "CODES",
    "DEFAULT_FLAG",
    "HEAD_STREAM",
    "LIMIT_CODES",
    "NOT_MIX",
    "POLICIES",
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

POLICIES = (
    PolicySpec(
        "sink_buffer_order",
        Scope.LOAD,
        "seed",
        ("seed", "ge"),
        "order of the blocks in a tiling sink buffer: context before node info (seed), or after it",
    ),
    PolicySpec(
        "wait_reset",
        Scope.LOAD,
        "on",
        ("on", "off"),
        "each event wait is followed by a reset of the event, so that the next execution waits again",
    ),
    PolicySpec(
        "args_exception_dump",
        Scope.LOAD,
        "off",
        ("off", "on"),
        "arguments are dumped after an exception: the last 8 bytes of a sink's tiling data are its record's index",
    ),
)


@hookimpl
def sqemu_policies() -> Iterable[PolicySpec]:
    """Policies of the loader."""
    return POLICIES


@hookimpl
def sqemu_explanations() -> Mapping[str, str]:
    """What the ids of the host API mean."""
    return EXPLANATIONS


@hookimpl
def sqemu_load(*, device: Device, blob: Blob) -> Model:
    """Load `blob`: a static graph into model-bound rings, an unknown-shape graph for launches by the host."""
    from emu_plugins.runtime.loader import load  # noqa: PLC0415 - numpy stays off the import path of the plugin

    return load(device, blob)


def __getattr__(name: str) -> object:
    """Names of the host API, imported when first asked for."""
    if name in __all__:
        return getattr(import_module("emu_plugins.runtime.host"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
