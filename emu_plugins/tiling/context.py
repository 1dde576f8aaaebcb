"""The tiling context read from memory: the only thing a tiling function sees, on host and device alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from emu_core.tiling import PlatformInfo, StorageShape, TensorDesc, TilingError
from emu_plugins.tiling.attributes import AttributeTable
from emu_plugins.tiling.layout import DETERMINISTIC_INPUT, EXTRA_INPUTS, MOST_WORKSPACES, OUTPUTS, PLATFORM_INPUT
from formats.runtime import (
    CompileTimeTensor,
    NodeInfoHead,
    NodeInstance,
    PlatformBlock,
    RunContext,
    Tensor,
    TilingDataHeader,
    VectorHeader,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from emu_core.kernels import PolicyLookup

U32 = (1 << 32) - 1
U64 = (1 << 64) - 1
MOST_TENSORS = 4096
MOST_ATTR_BYTES = 1 << 20


class Reader(Protocol):
    """The part of a memory that reading a context needs."""

    def read(self, address: int, size: int) -> bytes:
        """Copy of `size` bytes."""

    def write(self, address: int, data: bytes) -> None:
        """Write `data`."""

    def u64(self, address: int) -> int:
        """Little-endian 64-bit word."""

    def c_string(self, address: int, limit: int = 4096) -> str:
        """Zero-terminated text."""


class MemoryTilingContext:
    """A tiling context at `address` in `memory`. Implements `emu_core.tiling.TilingContext`.

    What the function sets is kept here until `commit`, so that a function that fails writes nothing.
    `poke(address, data)` writes the two cells that a task update reads (tiling key and block dim). `policies` are
    those of the device, None when there is none yet.
    """

    def __init__(
        self,
        memory: Reader,
        address: int,
        poke: Callable[[int, bytes], None],
        policies: PolicyLookup | None = None,
    ) -> None:
        self._memory = memory
        self._poke = poke
        self.policies = policies
        head = RunContext.parse(memory.read(address, RunContext.size))
        self._inputs = int(head["input_count"])
        if not EXTRA_INPUTS <= self._inputs <= MOST_TENSORS or head["output_count"] != OUTPUTS:
            raise TilingError(f"no tiling context lies at {address:#x}")
        self._pointers = address + RunContext.size
        self._outputs_at = int(head["output_start"])
        self._node_at = int(head["node_info"])
        self._node = NodeInfoHead.parse(memory.read(self._node_at, NodeInfoHead.size))
        self.key: int | None = None
        self.block_dim: int | None = None
        self.workspaces: tuple[int, ...] | None = None
        self.schedule_mode: int | None = None
        self.data: bytes | None = None

    # ---- what is asked ---------------------------------------------------------------------------------------

    @property
    def op_type(self) -> str:
        """Operator type."""
        return self._memory.c_string(self._node["type"])

    @property
    def op_name(self) -> str:
        """Operator name."""
        return self._memory.c_string(self._node["name"])

    @property
    def attrs(self) -> AttributeTable | None:
        """Attribute table, or None when its pointer is null."""
        address, size = int(self._node["attrs"]), int(self._node["attrs_size"])
        if not address or size > MOST_ATTR_BYTES:
            return None
        return AttributeTable(self._memory.read(address, size), int(self._node["attr_count"]))

    @property
    def platform(self) -> PlatformInfo | None:
        """Platform numbers, or None when the pointer is null."""
        address = self._value(self._inputs - EXTRA_INPUTS + PLATFORM_INPUT)
        if not address:
            return None
        block = PlatformBlock.parse(self._memory.read(address, PlatformBlock.size))
        name = bytes(block["soc_name"]).split(b"\0")[0].decode("ascii", "replace")
        names = (
            "core_num",
            "core_num_aic",
            "core_num_aiv",
            "ub_bytes",
            "l1_bytes",
            "l0a_bytes",
            "l0b_bytes",
            "l0c_bytes",
            "l2_bytes",
        )
        return PlatformInfo(name, **{n: block[n] for n in names})

    @property
    def deterministic(self) -> int:
        """Whether results must not depend on the order of accumulation (`ge.deterministic`)."""
        return self._value(self._inputs - EXTRA_INPUTS + DETERMINISTIC_INPUT)

    @property
    def deterministic_level(self) -> int:
        """How strict that is (`ge.deterministicLevel`)."""
        return self._value(self._inputs - EXTRA_INPUTS + DETERMINISTIC_INPUT + 1)

    def input_shape(self, index: int, instance: int = 0) -> StorageShape | None:
        """Shape of IR input `index`, or None."""
        return _shape(self._input_object(index, instance))

    def input_desc(self, index: int, instance: int = 0) -> TensorDesc | None:
        """Element type of IR input `index`, or None."""
        position = self._instance(index, instance)
        if position is None:
            return None
        described = self._node_at + NodeInfoHead.size + NodeInstance.size * self._ir_count
        raw = self._memory.read(described + CompileTimeTensor.size * position, CompileTimeTensor.size)
        found = CompileTimeTensor.parse(raw)
        return TensorDesc(found["dtype"], found["storage_format"])

    def input_tensor(self, index: int, instance: int = 0) -> bool:
        """Whether a tensor object exists for IR input `index`."""
        return self._input_object(index, instance) is not None

    def input_count(self, index: int) -> int:
        """Tensors of IR input `index`; 0 when it is absent."""
        return self._instances(index)[1]

    def input_data(self, index: int, instance: int = 0) -> bytes | None:
        """Bytes of IR input `index` when its value is at hand, else None."""
        found = self._input_object(index, instance)
        if found is None or not found["data_addr"]:
            return None
        return self._memory.read(found["data_addr"], found["data_size"])

    def output_shape(self, index: int) -> StorageShape | None:
        """Shape of IR output `index`, or None."""
        if not 0 <= index < self._node["outputs"]:
            return None
        return _shape(self._object(int(self._node["inputs"]) + index))

    @property
    def _ir_count(self) -> int:
        return int(self._node["ir_inputs"]) + int(self._node["ir_outputs"])

    def _instances(self, ir_index: int) -> tuple[int, int]:
        """Position of the first tensor of an IR input among those that are there, and their number."""
        if not 0 <= ir_index < self._node["ir_inputs"]:
            return 0, 0
        at = self._node_at + NodeInfoHead.size + NodeInstance.size * ir_index
        found = NodeInstance.parse(self._memory.read(at, NodeInstance.size))
        return int(found["start"]), int(found["count"])

    def _instance(self, ir_index: int, instance: int) -> int | None:
        """Position among the inputs that are there, or None for an absent one."""
        start, count = self._instances(ir_index)
        return start + instance if 0 <= instance < count else None

    def _input_object(self, ir_index: int, instance: int) -> Mapping[str, Any] | None:
        position = self._instance(ir_index, instance)
        return None if position is None else self._object(position)

    def _object(self, position: int) -> Mapping[str, Any] | None:
        address = self._value(position)
        return Tensor.parse(self._memory.read(address, Tensor.size)) if address else None

    def _value(self, position: int) -> int:
        return self._memory.u64(self._memory.u64(self._pointers + 8 * position))

    def _output_cell(self, index: int) -> int:
        return self._memory.u64(self._outputs_at + 8 * index)

    # ---- what is answered ------------------------------------------------------------------------------------

    def set_tiling_key(self, key: int) -> None:
        """Output 0."""
        self.key = key & U64

    def set_block_dim(self, block_dim: int) -> None:
        """Output 1."""
        self.block_dim = block_dim & U32

    def set_workspaces(self, sizes: Sequence[int]) -> None:
        """Output 4; at most 16 sizes."""
        if len(sizes) > MOST_WORKSPACES or any(not 0 <= s <= U64 for s in sizes):
            raise TilingError(f"{len(sizes)} workspaces were set, at most {MOST_WORKSPACES} of 0 to 2^64 - 1 bytes fit")
        self.workspaces = tuple(sizes)

    def set_schedule_mode(self, mode: int) -> None:
        """Output 6."""
        self.schedule_mode = mode & U32

    def write_tiling_data(self, data: bytes) -> None:
        """Output 3; refused when it is larger than the capacity in the header."""
        header = TilingDataHeader.parse(
            self._memory.read(self._memory.u64(self._output_cell(3)), TilingDataHeader.size)
        )
        over = len(data) - header["capacity"]
        if over > 0:
            raise TilingError(
                f"{len(data)} bytes of tiling data do not fit the capacity of {header['capacity']} bytes",
                detail={"over": over},
            )
        self.data = bytes(data)

    def commit(self) -> None:
        """Write everything that was set to the output cells and what they point at."""
        if self.data is not None:
            at = self._memory.u64(self._output_cell(3))
            data_address = self._memory.u64(at + 16)
            self._memory.write(data_address, self.data)
            self._memory.write(at + 8, len(self.data).to_bytes(8, "little"))
        if self.workspaces is not None:
            raw = b"".join(s.to_bytes(8, "little") for s in self.workspaces)
            at = self._memory.u64(self._output_cell(4))
            self._memory.write(at + 8, len(self.workspaces).to_bytes(8, "little"))
            self._memory.write(at + VectorHeader.size - 8, raw)
        if self.schedule_mode is not None:
            self._memory.write(self._output_cell(6), self.schedule_mode.to_bytes(4, "little"))
        if self.key is not None:
            self._poke(self._output_cell(0), self.key.to_bytes(8, "little"))
        if self.block_dim is not None:
            self._poke(self._output_cell(1), self.block_dim.to_bytes(4, "little"))


def _shape(found: Mapping[str, Any] | None) -> StorageShape | None:
    if found is None:
        return None
    origin, storage = int(found["origin_dim_num"]), int(found["storage_dim_num"])
    return StorageShape(tuple(found["origin_dims"][:origin]), tuple(found["storage_dims"][:storage]))
