"""AI Core and AI CPU kernels as plugins supply them, and what a running one sees.

An AI Core kernel is called once per launch with everything the hardware would have: block dim and
program counter from the SQE, the argument block, device memory. It never sees an object of the
compiler or the loader.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from contextlib import AbstractContextManager

    import numpy as np
    import numpy.typing as npt

    from emu_core.chips import Chip


class CoreType(IntEnum):
    """Core an entry runs on; the number is kept in the kernel descriptor."""

    AIC = 0
    AIV = 1
    MIX = 2


class MixType(IntEnum):
    """How an entry of a mix kernel uses cube (AIC) and vector (AIV) cores (`device_semantics.md` 5.4)."""

    NONE = 0
    AIC_ONLY = 1
    AIV_ONLY = 2
    AIC_MAIN = 3
    AIV_MAIN = 4

    @property
    def main(self) -> CoreType:
        """The core a block is counted by."""
        return CoreType.AIV if self in (MixType.AIV_ONLY, MixType.AIV_MAIN) else CoreType.AIC

    @property
    def both(self) -> bool:
        """Whether a block has cores of both kinds."""
        return self in (MixType.AIC_MAIN, MixType.AIV_MAIN)


@dataclass(frozen=True)
class Mix:
    """Cores of one block of a mix kernel: a main core, and `ratio` cores of the other kind if `type` has both."""

    type: MixType = MixType.AIC_MAIN
    ratio: int = 2

    @property
    def secondary(self) -> int:
        """Secondary cores per main core; 0 when only one kind runs."""
        return self.ratio if self.type.both else 0


class MemoryAccess(Protocol):
    """Device memory by intent. Addresses are device addresses, sizes bytes.

    Each access is checked: out of bounds or freed memory raises `DeviceFault`; reading bytes that nobody wrote
    follows the policy `uninitialised_read`.
    """

    def read(self, address: int, size: int) -> bytes:
        """Copy of `size` bytes."""

    def write(self, address: int, data: bytes) -> None:
        """Write `data`; rings, contexts and tiling cells refuse it."""

    def u32(self, address: int) -> int:
        """Little-endian 32-bit word."""

    def u64(self, address: int) -> int:
        """Little-endian 64-bit word."""

    def c_string(self, address: int, limit: int = 4096) -> str:
        """Zero-terminated UTF-8 text."""

    def array(self, address: int, dtype: str, shape: tuple[int, ...]) -> npt.NDArray[np.generic]:
        """Read-only array over device memory; `dtype` is a numpy dtype string such as `<f2`."""

    def out_array(
        self, address: int, dtype: str, shape: tuple[int, ...]
    ) -> AbstractContextManager[npt.NDArray[np.generic]]:
        """Writable array; all its bytes count as written when the context closes."""

    def inout_array(
        self, address: int, dtype: str, shape: tuple[int, ...]
    ) -> AbstractContextManager[npt.NDArray[np.generic]]:
        """Writable array whose old contents are read as well."""


class PolicyLookup(Protocol):
    """Policy values by name."""

    def __getitem__(self, name: str) -> str:
        """The value in force."""


class ListedTensor(NamedTuple):
    """One tensor of a dynamic input: its address and its dims, in elements."""

    address: int
    shape: tuple[int, ...]


@dataclass(frozen=True)
class KernelLaunch:
    """One launch: what the AI Core reads from the entry, plus memory. `args` is the address of the argument block.

    `ratio`: secondary cores that each block of a mix kernel has beside its main core, by the FFTS+ context; 0 else.
    `first_block`, `blocks`: where a kernel is split over AI Cores and vector cores, the first block of this part, and
    the blocks of all parts; 0, 0 else.
    """

    memory: MemoryAccess
    args: int
    block_dim: int
    tiling_key: int
    chip: Chip
    policies: PolicyLookup
    ratio: int = 0
    first_block: int = 0
    blocks: int = 0

    @property
    def all_blocks(self) -> int:
        """Blocks of the operator: those of this launch, or of all its parts where a kernel is split."""
        return self.blocks or self.block_dim

    @property
    def own_blocks(self) -> range:
        """Numbers of the blocks of this launch among all of them."""
        return range(self.first_block, min(self.first_block + self.block_dim, self.all_blocks))

    def arg(self, index: int) -> int:
        """64-bit argument word `index`; 0 for an absent optional input."""
        return self.memory.u64(self.args + 8 * index)

    def tensors(self, index: int) -> tuple[ListedTensor, ...]:
        """The tensors of the dynamic input whose argument word is `index`, from its descriptor block.

        Source: `reference/tiling_sink_compiler.md` 11.4. Raises `DeviceFault` where the block is not in memory.
        """
        word, block = self.memory.u64, self.arg(index)
        first, at = block + word(block), block + 8
        shapes = []
        while at < first:
            count = word(at) & 0xFFFFFFFF
            shapes.append(tuple(word(at + 8 * k) for k in range(1, count + 1)))
            at += 8 * (1 + count)
        return tuple(ListedTensor(word(first + 8 * k), shape) for k, shape in enumerate(shapes))


@dataclass(frozen=True)
class Cost:
    """Work of one launch for the time model: FP16-equivalent operations and bytes moved."""

    flops: int = 0
    bytes: int = 0


@dataclass(frozen=True)
class PipeUse:
    """What one pipe of one core does during a launch: [start, end) in nanoseconds from the first block's start."""

    core: int
    pipe: str
    what: str
    start: int
    end: int


@dataclass(frozen=True)
class KernelSpec:
    """An AI Core kernel: `run` does the work, `cost` is the time model; `key` is its identity in device memory.

    Attributes:
        name: unique name, the one an operator and the blob refer to.
        core_type: core the entries run on.
        tiling_keys: keys of the entries in the binary, ascending.
        run: executes all blocks of one launch.
        cost: work of the launch, from its arguments alone.
        products: chip products it runs on; empty means all.
        note: how it is labelled where it is not the vendor's own kernel for that product, by product.
        sync_all: its blocks wait for each other, so a block keeps its core until the last one has started.
        mix: with core type MIX, the cores of a block on chips whose cube and vector cores are apart.
        mix_of: tiling keys whose entries use the cores otherwise than `mix` says.
        splits: it can be launched in parts, and then does the blocks `KernelLaunch.own_blocks` alone.
        facts: what else traces and results say of a launch, from its arguments alone; called when it starts.
        spans: what its pipes did, from its arguments alone; called at its end, and only when somebody keeps `PipeUsed`.
    """

    name: str
    core_type: CoreType
    tiling_keys: tuple[int, ...]
    run: Callable[[KernelLaunch], None]
    cost: Callable[[KernelLaunch], Cost]
    products: tuple[str, ...] = ()
    note: tuple[tuple[str, str], ...] = ()
    sync_all: bool = False
    mix: Mix = Mix()
    mix_of: tuple[tuple[int, Mix], ...] = ()
    splits: bool = False
    facts: Callable[[KernelLaunch], Mapping[str, int | str]] | None = None
    spans: Callable[[KernelLaunch], Iterable[PipeUse]] | None = None

    def mix_at(self, tiling_key: int) -> Mix | None:
        """How the entry of `tiling_key` uses cube and vector cores; None unless the core type is MIX."""
        if self.core_type is not CoreType.MIX:
            return None
        return dict(self.mix_of).get(tiling_key, self.mix)

    @property
    def key(self) -> int:
        """32-bit kernel id stored in the descriptor at each entry: CRC-32 of the name."""
        return zlib.crc32(self.name.encode())


@dataclass(frozen=True)
class AicpuLaunch:
    """One AI CPU call: argument address and device memory, plus the latch for outputs that are cells."""

    memory: MemoryAccess
    args: int
    poke: Callable[[int, bytes], None]
    chip: Chip
    policies: PolicyLookup


@dataclass(frozen=True)
class AicpuKernelSpec:
    """An AI CPU function, found by library *and* name (names alone collide, `device_semantics.md` 6.2).

    Attributes:
        library: shell pattern of the shared object's file name, for example `*libopmaster.so`.
        function: exported name.
        run: does the work; raises `DeviceFault` on failure.
        time_ns: modelled duration, from the launch.
    """

    library: str
    function: str
    run: Callable[[AicpuLaunch], None]
    time_ns: Callable[[AicpuLaunch], int]
