"""Plugin: ChunkGatedDeltaRule - operator, host tiling, kernel and its policies. Importing it does not load numpy."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from emu_core.hookspecs import hookimpl
from emu_plugins.cgdr.kernel import KERNELS
from emu_plugins.cgdr.kernel_910b import SPEC_910B
from emu_plugins.cgdr.operator import OPERATORS
from emu_plugins.cgdr.operator_910b import OPERATOR_910B
from emu_plugins.cgdr.policies import POLICIES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emu_core.kernels import KernelSpec
    from emu_core.operators import OperatorSpec
    from emu_core.policies import PolicySpec

EXPLANATIONS: Mapping[str, str] = MappingProxyType({
    "cgdr.tiling-data": "ChunkGatedDeltaRule read tiling data that describe no possible launch: a width or head count "
    "is 0, the chunk size is not 64, or the tensors exceed device memory. Usually the tiling never wrote its 64 bytes, "
    "or the kernel got another address.\n"
    "do: Check that the tiling task ran without a fault and that the last argument is the address of the tiling data.",
    "cgdr.tiling-key": "ChunkGatedDeltaRule has one instance per tiling key 0 to 3 (widths 64, 80, 96, 128); "
    "the 910B operator has key 0 only.\n"
    "do: Compare the key with the table in docs/cgdr.md, and look for who patched the entry.",
    "cgdr.block-dim": "ChunkGatedDeltaRule was launched with no block or with more blocks than the chip has cores; "
    "the 910B operator, with another number than its tiling shared the work among.\n"
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
    "cgdr.stage": "Contract C1: the host asks for staging memory by a formula of M, K and N, the device strides "
    "literals of 64 KiB. With policy cgdr.host_matmul the two differ, and blocks overwrite each other or what "
    "lies behind the workspace.\n"
    "do: Use the repair of either side that the report names.",
    "cgdr.struct": "Contract C3: host and device keep a definition each of the 64 bytes of tiling data, and the two "
    "differ, so that every later field is read from the wrong place.\n"
    "do: Keep one definition, or compare size and offsets.",
    "cgdr.queue": "Contract C4: six steps on the Cube borrow the single out queue for a float16 image, and one of them "
    "is larger than the queue.\n"
    "do: Let vStep be at least the bucket, or size the queue by the widest image.",
    "cgdr.workspace": "Contract C6: ChunkGatedDeltaRule keeps float32 states and staging slots in its workspace, but "
    "the argument is 0. The device would write to address 0.\n"
    "do: Check that the tiling set a workspace size and that the launch passes its address.",
    "cgdr.counter": "Contract C7: the device counts the work of a launch in 32 bits, and this launch has more.\n"
    "do: Split the batch.",
    "cgdr.vector-cores": "The 910B kernel needs two vector cores beside each cube core: each inverts one half of a "
    "chunk's matrix. It was launched with another number.\n"
    "do: Launch it as a mix task of ratio 2; look for who patched the context.",
    "cgdr.ub-overlap": "With policy cgdr.ub=checked every buffer lies at its place in UB, and a step read bytes that "
    "another buffer had overwritten since. The message has both buffers, their byte ranges, and how many bytes.\n"
    "do: Compare K width and V step of host and device; sqemu tiling cgdr --map draws the layout. cgdr.ub=accurate "
    "computes on with the bytes that are there.",
    "cgdr.padding": "Contract C9: with policy cgdr.padding=nan every buffer is NaN before a chunk, and padding columns "
    "must be zero before the Cube reads them. They are not.\n"
    "do: This is an error of the kernel, not of the launch; report it.",
    "cgdr.state-shape": "Defect D6, turned on by policy cgdr.defects: shape inference reads the wrong input, and "
    "final_state is too small for what the kernel writes.\n"
    "do: Leave D6 out of cgdr.defects.",
})  # fmt: skip


@hookimpl
def sqemu_operators() -> tuple[OperatorSpec, ...]:
    """ChunkGatedDeltaRule for float16 and for bfloat16, and the vendor's 910B operator."""
    return (*OPERATORS, OPERATOR_910B)


@hookimpl
def sqemu_kernels() -> tuple[KernelSpec, ...]:
    """The float16 and the bfloat16 binary, and the 910B mix kernel."""
    return (*KERNELS, SPEC_910B)


@hookimpl
def sqemu_policies() -> tuple[PolicySpec, ...]:
    """The policies of `policies.py`, all named `cgdr.*`."""
    return POLICIES


@hookimpl
def sqemu_explanations() -> Mapping[str, str]:
    """What the ids of this plugin's faults mean."""
    return EXPLANATIONS
