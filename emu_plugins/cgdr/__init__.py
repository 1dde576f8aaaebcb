"""Plugin: ChunkGatedDeltaRule - operator, host tiling, kernel and its policies. Importing it does not load numpy."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from emu_core.hookspecs import hookimpl
from emu_core.policies import PolicySpec, Scope
from emu_plugins.cgdr.kernel import KERNELS
from emu_plugins.cgdr.operator import OPERATORS, TILING_DEPEND_POLICY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emu_core.kernels import KernelSpec
    from emu_core.operators import OperatorSpec

POLICIES = (
    PolicySpec(
        "cgdr.product", Scope.OPERATOR, "fp32", ("fp32",),
        "arithmetic of the matrix products inside ChunkGatedDeltaRule: everything in float32",
    ),
    PolicySpec(
        TILING_DEPEND_POLICY, Scope.COMPILE, "actual_seq_lengths", ("actual_seq_lengths", "none"),
        "the input whose value the tiling of ChunkGatedDeltaRule is declared to read; none: no tiling sink for it",
    ),
)  # fmt: skip

EXPLANATIONS: Mapping[str, str] = MappingProxyType({
    "cgdr.tiling-data": "ChunkGatedDeltaRule read tiling data that describe no possible launch: a width or head count "
    "is 0, the chunk size is not 64, or the tensors exceed device memory. Usually the tiling never wrote its 64 bytes, "
    "or the kernel got another address.\n"
    "do: Check that the tiling task ran without a fault and that the last argument is the address of the tiling data.",
    "cgdr.tiling-key": "ChunkGatedDeltaRule has one instance per tiling key 0 to 3 (widths 64, 80, 96, 128).\n"
    "do: Compare the key with the table in docs/cgdr.md, and look for who patched the entry.",
    "cgdr.block-dim": "ChunkGatedDeltaRule was launched with no block or with more blocks than the chip has cores.\n"
    "do: Launch with the block dim that the tiling gave; look for hazard.stale-prefetch.",
    "cgdr.ub": "The instance that the tiling key selects needs more UB than the tiling data leaves: key and data come "
    "from different tilings, so one of them is stale.\n"
    "do: Look for hazard.stale-prefetch: the update has to reach the entry before it is fetched.",
    "cgdr.key-head": "Value head h reads key head h // (Hv // Hqk), and that lies past the last key head. The device "
    "would read the neighbouring token.\n"
    "do: Make Hv a multiple of Hqk.",
    "cgdr.tokens": "actual_seq_lengths describes tokens that do not exist. A sequence covers tokens [first, end), "
    "the end not included, and end may be at most T; a negative length moves the next sequence back.\n"
    "do: Give lengths, not offsets, and let them add up to at most T.",
    "cgdr.gamma": "The tiling data says that the log decay g is given, but its argument word is 0.\n"
    "do: Tile again after adding or removing g.",
})  # fmt: skip


@hookimpl
def sqemu_operators() -> tuple[OperatorSpec, ...]:
    """ChunkGatedDeltaRule for float16 and for bfloat16."""
    return OPERATORS


@hookimpl
def sqemu_kernels() -> tuple[KernelSpec, ...]:
    """The float16 and the bfloat16 binary."""
    return KERNELS


@hookimpl
def sqemu_policies() -> tuple[PolicySpec, ...]:
    """`cgdr.product` and `cgdr.tiling_depend`."""
    return POLICIES


@hookimpl
def sqemu_explanations() -> Mapping[str, str]:
    """What the ids of this plugin's faults mean."""
    return EXPLANATIONS
