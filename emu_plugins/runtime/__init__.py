"""Runtime V1: loading a task blob into a device, and host scheduling of unknown-shape graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core.hookspecs import hookimpl
from emu_core.policies import PolicySpec, Scope

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emu_core.device import Device
    from emu_core.model import Model
    from formats.blob import Blob

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
)


@hookimpl
def sqemu_policies() -> Iterable[PolicySpec]:
    """Policies of the loader."""
    return POLICIES


@hookimpl
def sqemu_load(*, device: Device, blob: Blob) -> Model:
    """Load `blob`: a static graph into model-bound rings, an unknown-shape graph for launches by the host."""
    from emu_plugins.runtime.loader import load  # noqa: PLC0415 - numpy stays off the import path of the plugin

    return load(device, blob)
