"""Runtimes V1 and V2: the host API, loading a task blob through it, host scheduling, and execution graphs.

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
    from emu_core.kernels import AicpuKernelSpec, KernelSpec
    from emu_core.model import Model
    from emu_plugins.runtime.host import *  # noqa: F403 - the names are listed there
    from formats.blob import Blob

HOST = "emu_plugins.runtime.host"
"""The module with the host API; its `__all__` is what is exported from here as well."""

POLICIES = (
    PolicySpec(
        "runtime",
        Scope.LOAD,
        "v1",
        ("v1", "v2"),
        "a static graph is a model that the device runs by itself (v1); the host runs an execution graph (v2)",
    ),
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
    PolicySpec(
        "stand_in_time",
        Scope.DEVICE,
        "bytes",
        ("bytes",),
        "how long a timed stand-in of an unknown kernel takes: its bytes at the memory rate of its cores, or a number "
        "of nanoseconds per block",
        number=True,
        largest=1_000_000_000,
    ),
)


@hookimpl
def sqemu_kernels() -> Iterable[KernelSpec]:
    """The timed stand-ins of unknown kernels."""
    from emu_plugins.runtime.stand_in import KERNELS  # noqa: PLC0415 - only where kernels are looked up

    return KERNELS


@hookimpl
def sqemu_aicpu_kernels() -> Iterable[AicpuKernelSpec]:
    """The timed stand-in of AI CPU functions."""
    from emu_plugins.runtime.stand_in import AICPU  # noqa: PLC0415 - only where functions are looked up

    return (AICPU,)


@hookimpl
def sqemu_policies() -> Iterable[PolicySpec]:
    """Policies of the loader and of timed stand-ins."""
    return POLICIES


@hookimpl
def sqemu_explanations() -> Mapping[str, str]:
    """What the ids of the host API mean."""
    return EXPLANATIONS


@hookimpl
def sqemu_load(*, device: Device, blob: Blob) -> Model:
    """Load `blob`: a static graph into model-bound rings, other graphs for launches by the host."""
    from emu_plugins.runtime.loader import load  # noqa: PLC0415 - numpy stays off the import path of the plugin

    return load(device, blob)


def __getattr__(name: str) -> object:
    """Names of the host API, and the list of them, imported when first asked for."""
    if name == "__all__":
        return [*import_module(HOST).__all__, "POLICIES"]
    if not name.startswith("_") and name in import_module(HOST).__all__:
        return getattr(import_module(HOST), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
