"""What a tiling function sees, on the host and on the device: a context read from memory, nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from emu_core.kernels import PolicyLookup


class TilingError(Exception):
    """A tiling function cannot tile: the shape does not fit, or an input is not usable.

    `what` is the sentence for the user; `detail` maps names to numbers (for example which budget
    failed and by how many bytes).
    """

    def __init__(self, what: str, *, detail: dict[str, int] | None = None) -> None:
        self.what = what
        self.detail = dict(detail or {})
        super().__init__(what)


@dataclass(frozen=True)
class TensorDesc:
    """Element type of an input or output: C API dtype code (`formats.dtypes`) and format number (2 = ND)."""

    dtype: int
    format: int = 2


@dataclass(frozen=True)
class StorageShape:
    """A shape as the tensor object holds it: as the user wrote it, and as it lies in memory."""

    origin: tuple[int, ...]
    storage: tuple[int, ...]


@dataclass(frozen=True)
class PlatformInfo:
    """Platform numbers: core counts by query, sizes in bytes. `core_num` is `GetCoreNum`."""

    soc_name: str
    core_num: int
    core_num_aic: int
    core_num_aiv: int
    ub_bytes: int
    l1_bytes: int
    l0a_bytes: int
    l0b_bytes: int
    l0c_bytes: int
    l2_bytes: int


class TilingAttrs(Protocol):
    """Attributes by position, as the runtime attribute table holds them."""

    @property
    def num(self) -> int:
        """Number of attributes in the table; 0 when none was passed."""

    def get_float(self, index: int) -> float | None:
        """Attribute `index` rounded to float32, or `None` when absent."""

    def get_int(self, index: int) -> int | None:
        """Attribute `index` as a 64-bit integer, or `None` when absent."""


class TilingContext(Protocol):
    """The tiling context of one operator. Input and output indices are IR indices.

    `instance` numbers the tensors of a dynamic input; every other input has number 0 alone.
    """

    @property
    def op_type(self) -> str:
        """Operator type, from the context's memory."""

    @property
    def op_name(self) -> str:
        """Operator name, from the context's memory."""

    @property
    def platform(self) -> PlatformInfo | None:
        """Platform numbers, or `None` when the platform pointer is null."""

    @property
    def attrs(self) -> TilingAttrs | None:
        """Attribute table, or `None` when the pointer is null."""

    @property
    def policies(self) -> PolicyLookup | None:
        """Policies in force on the device that the launch is for; `None` at compile time, when there is none yet."""

    def input_shape(self, index: int, instance: int = 0) -> StorageShape | None:
        """Shape of input `index`, or `None` when the input is absent."""

    def input_desc(self, index: int, instance: int = 0) -> TensorDesc | None:
        """Element type of input `index`, or `None` when there is no descriptor."""

    def input_tensor(self, index: int, instance: int = 0) -> bool:
        """Whether a tensor object exists for input `index`."""

    def input_data(self, index: int, instance: int = 0) -> bytes | None:
        """Bytes of a value-depended input; `None` when no value is at hand (compile time, or not depended)."""

    def input_count(self, index: int) -> int:
        """Tensors of input `index`: 0 when it is absent, more than 1 for a dynamic one only."""

    def output_shape(self, index: int) -> StorageShape | None:
        """Shape of output `index`."""

    def set_tiling_key(self, key: int) -> None:
        """Output 0: the tiling key, 64 bit."""

    def set_block_dim(self, block_dim: int) -> None:
        """Output 1: the block dim, 32 bit."""

    def set_workspaces(self, sizes: Sequence[int]) -> None:
        """Output 4: workspace sizes in bytes."""

    def set_schedule_mode(self, mode: int) -> None:
        """Output 6: schedule mode; the model task update does not carry it."""

    def write_tiling_data(self, data: bytes) -> None:
        """Output 3: the tiling data. Larger than the capacity: `TilingError`, and nothing is written."""


TilingFunction: TypeAlias = "Callable[[TilingContext], None]"
