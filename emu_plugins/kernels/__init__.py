"""Plugin: sample operators whose tiling depends on a value, made so that a stale update shows in their output."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from emu_core import hookimpl
from emu_plugins.kernels import add_custom_tiling_sink, list_probe, mix_probe, tiling_probe

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emu_core import KernelSpec, OperatorSpec

EXPLANATIONS: Mapping[str, str] = MappingProxyType({
    "probe.launch": "TilingProbe, MixProbe or ListProbe was launched without a block, with a tiling key it has no "
    "entry for, or with tiling data of more elements than the chip has memory for.\n"
    "do: Look for hazard.stale-prefetch, or for an entry that was patched or built by hand.",
    "add.launch": "AddCustomTilingSink was launched without a block, with a tiling key other than 0 and 1, or with "
    "tiling data that no tiling of it writes.\n"
    "do: Look for hazard.stale-prefetch, or for an entry that was patched or built by hand.",
})  # fmt: skip


@hookimpl
def sqemu_operators() -> tuple[OperatorSpec, ...]:
    """TilingProbe, MixProbe, ListProbe and AddCustomTilingSink."""
    return (tiling_probe.OPERATOR, mix_probe.OPERATOR, list_probe.OPERATOR, add_custom_tiling_sink.OPERATOR)


@hookimpl
def sqemu_kernels() -> tuple[KernelSpec, ...]:
    """Their kernels."""
    return (tiling_probe.KERNEL, mix_probe.KERNEL, list_probe.KERNEL, add_custom_tiling_sink.KERNEL)


@hookimpl
def sqemu_explanations() -> Mapping[str, str]:
    """What the ids of this plugin's faults mean."""
    return EXPLANATIONS
