"""Plugin: what a Qwen3-Next gated-delta-net layer needs around ChunkGatedDeltaRule. Importing it loads no numpy."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from emu_core import hookimpl
from emu_plugins.layer import conv, gate, gated_norm, linear, qkv_norm, split

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emu_core import KernelSpec, OperatorSpec

OPS = (linear.OP, split.OP, conv.OP, qkv_norm.OP, gate.OP, gated_norm.OP)

EXPLANATIONS: Mapping[str, str] = MappingProxyType({
    "layer.launch": "An operator of the gated-delta-net layer was launched without a block, with a tiling key other "
    "than 0 (float16) and 1 (bfloat16), or with tiling data of more elements than the chip has memory for.\n"
    "do: Look for an entry that was patched or built by hand.",
    "layer.tokens": "actual_seq_lengths of GdnCausalConv1d has a negative length, or more tokens than x.\n"
    "do: Give lengths, not offsets, and let them add up to at most T.",
})  # fmt: skip


@hookimpl
def sqemu_operators() -> tuple[OperatorSpec, ...]:
    """GdnLinear, GdnSplit, GdnCausalConv1d, GdnQkvNorm, GdnGate and GdnGatedRmsNorm."""
    return tuple(op.operator() for op in OPS)


@hookimpl
def sqemu_kernels() -> tuple[KernelSpec, ...]:
    """Their kernels."""
    return tuple(op.kernel() for op in OPS)


@hookimpl
def sqemu_explanations() -> Mapping[str, str]:
    """What the ids of this plugin's faults mean."""
    return EXPLANATIONS
