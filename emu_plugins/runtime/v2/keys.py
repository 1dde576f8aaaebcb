"""Where a launch of runtime V2 has its tiling from, and which nodes find the kernel's entry (seed 5.7).

| the operator | tiling key, block dim and data from |
|---|---|
| its tiling reads a value that no constant holds | `Tiling`, at each execution |
| has a tensor of unknown shape | likewise |
| of static shape, its binary is reused (a dynamic-shape binary) | `RunInfo`, stored by the compiler |
| of static shape, its binary is its own | `Tiling`, once at load |

| its kernel | binary | entry |
|---|---|---|
| mix, on a chip with FFTS+ | SinkFFTSAICoreNodeBin | GetFFTSAICorePcAndPref: binary, non-tail key, tail key |
| mix, on another chip with cube and vector cores apart | SinkMixNodeBin | GetMixAddrAndPrefCnt: the same |
| any other | SinkNodeBin | GetKernelEntry: binary, key |

Contexts here have one thread, so tail and non-tail have the same key. Whether the binary is reused is read off
`compile_info`: only a dynamic-shape binary has some.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from emu_core.errors import InputError
from emu_plugins.compiler.ffts_plus import has_ffts_plus
from emu_plugins.runtime.v2.execution_graph import Kind
from formats.blob import TensorRole

if TYPE_CHECKING:
    from emu_core.chips import Chip
    from emu_core.plugins import PluginHost
    from formats.blob import Blob, BlobKernel


class TilingSource(StrEnum):
    """Where the tiling of a launch comes from; the value says why, for people."""

    VALUE = "from the tiling output: the tiling reads a value that only the device has"
    SHAPE = "from the tiling output: a shape is known at run time only"
    STORED = "from the stored run info: static shape and reused binary"
    AT_LOAD = "from the tiling output, once: static shape and a binary of its own"

    @property
    def each_run(self) -> bool:
        """The operator is tiled at every execution."""
        return self in (TilingSource.VALUE, TilingSource.SHAPE)


@dataclass(frozen=True)
class Resolver:
    """The nodes that find a kernel's entry; `context`: a launch has a mix context to update."""

    binary: Kind
    entry: Kind
    keys: tuple[str, ...]
    context: bool = False


_TWO = ("non_tail_key", "tail_key")
_PLAIN = Resolver(Kind.SINK_BIN, Kind.GET_ENTRY, ("key",))


def tiling_source(blob: Blob, op: int) -> TilingSource:
    """Where operator `op` has its tiling from."""
    described = blob.ops[op]
    depended = (described.inputs[i] for i in described.depends)
    if any(tensor is not None and blob.tensors[tensor].role is not TensorRole.CONSTANT for tensor in depended):
        return TilingSource.VALUE
    if unknown_shape(blob, op):
        return TilingSource.SHAPE
    return TilingSource.STORED if described.compile_info else TilingSource.AT_LOAD


def unknown_shape(blob: Blob, op: int) -> bool:
    """Whether operator `op` has a tensor whose shape is known at run time only."""
    tensors = (*blob.ops[op].inputs, *blob.ops[op].outputs)
    return any(min(blob.tensors[tensor].shape, default=0) < 0 for tensor in tensors if tensor is not None)


def resolver(kernel: BlobKernel, chip: Chip, host: PluginHost) -> Resolver:
    """The nodes for `kernel` on `chip`.

    Raises:
        InputError: no plugin supplies the kernel (`kernel.missing`).
    """
    spec = host.kernels.get(kernel.name)
    if spec is None:
        raise InputError(
            f"the blob needs the kernel {kernel.name!r}, which no plugin supplies",
            id="kernel.missing",
            remedy="load its plugin",
        )
    if chip.fused_cores or not any(spec.mix_at(key) for key in kernel.tiling_keys):
        return _PLAIN
    if has_ffts_plus(chip):
        return Resolver(Kind.SINK_FFTS_BIN, Kind.GET_FFTS_ENTRY, _TWO, context=True)
    return Resolver(Kind.SINK_MIX_BIN, Kind.GET_MIX_ENTRY, _TWO, context=chip.family == "v100")
