"""Tiling: the binary context, host tiling, and the AI CPU tiling server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core.hookspecs import hookimpl

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emu_core.kernels import AicpuKernelSpec
    from emu_core.plugins import PluginHost


@hookimpl
def sqemu_aicpu_kernels(*, host: PluginHost) -> Iterable[AicpuKernelSpec]:
    """The tiling server."""
    from emu_plugins.tiling.server import specs  # noqa: PLC0415 - only a device needs it

    return specs(host)
