"""A tiling context whose value may be missing, a chip, and launches over real device memory."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pytest

from emu_core.chips import Chip
from emu_core.kernels import KernelLaunch
from emu_core.memory import DeviceMemory, TaskMemory
from emu_core.tiling import PlatformInfo, StorageShape, TensorDesc

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

PLATFORM = PlatformInfo("Ascend310P3", 32, 8, 8, 262144, 1 << 20, 1 << 16, 1 << 16, 1 << 18, 1 << 24)


@dataclass
class _ValueContext:
    """Input shapes and element types by index, and the bytes of inputs whose value is at hand."""

    shapes: Mapping[int, tuple[int, ...]]
    data: Mapping[int, bytes] = field(default_factory=dict)
    dtypes: Mapping[int, int] = field(default_factory=dict)
    ints: tuple[int, ...] = ()
    platform: PlatformInfo | None = PLATFORM
    op_type: str = "op"
    op_name: str = "op"
    result: dict[str, object] = field(default_factory=dict)

    @property
    def attrs(self):
        return self if self.ints else None

    @property
    def num(self):
        return len(self.ints)

    def get_int(self, index):
        return self.ints[index]

    def get_float(self, index):
        return float(self.ints[index])

    def input_shape(self, index):
        return StorageShape(self.shapes[index], self.shapes[index]) if index in self.shapes else None

    def input_desc(self, index):
        return TensorDesc(self.dtypes[index]) if index in self.dtypes else None

    def input_tensor(self, index):
        return index in self.shapes

    def input_data(self, index):
        return self.data.get(index)

    def output_shape(self, index):
        return None

    def set_tiling_key(self, key):
        self.result["key"] = key

    def set_block_dim(self, block_dim):
        self.result["block_dim"] = block_dim

    def set_workspaces(self, sizes):
        self.result["workspaces"] = tuple(sizes)

    def set_schedule_mode(self, mode):
        self.result["mode"] = mode

    def write_tiling_data(self, data):
        self.result["data"] = data


@pytest.fixture
def context() -> type[_ValueContext]:
    """The context class."""
    return _ValueContext


@pytest.fixture
def chip() -> Chip:
    """Numbers like those of a 310P3."""
    return Chip(
        name="ascend310p3", product="310P", family="v100", arch=2002, core_num=8, core_num_aic=8, core_num_aiv=8,
        tiling_cores=8, fused_cores=True, ai_cpus=4, ub_bytes=262144, l1_bytes=1 << 20, l0a_bytes=1 << 16,
        l0b_bytes=1 << 16, l0c_bytes=1 << 18, l2_bytes=1 << 24, memory_bytes=1 << 30, cube_mhz=1080,
        cube_flops_per_cycle=8192, ddr_bytes_per_cycle=17, prefetch_num=5, platform_prefetch_num=10, prefetch_depth=5,
        platform_prefetch_depth=10, model_task_update=True, sq_depth=1024, usable_tasks=1000, max_streams=8,
        max_events=8, max_notifies=8, persistent_tasks=8, cqe_bytes=12,
    )  # fmt: skip


class _Bench:
    """One launch: arrays in, an output of given bytes, tiling data; `result` reads the output back."""

    def __init__(self, chip: Chip, inputs: list[np.ndarray], output: np.ndarray, tiling_data: bytes) -> None:
        self.memory = DeviceMemory(1 << 24)
        self.chip, self.output = chip, output
        words = [self._place(array.tobytes()) for array in inputs]
        self.out_address = self.memory.allocate(max(output.nbytes, 1), label="out").address
        words += [self.out_address, 0, self._place(tiling_data)]
        self.args = self._place(struct.pack(f"<{len(words)}Q", *words))

    def _place(self, data: bytes) -> int:
        address = self.memory.allocate(max(len(data), 1), label="input").address
        self.memory.write(address, data)
        return address

    def launch(self, *, block_dim: int, key: int) -> KernelLaunch:
        task = TaskMemory(self.memory, lambda _a, _n, _label: None)
        return KernelLaunch(task, self.args, block_dim, key, self.chip, {})

    def result(self) -> np.ndarray:
        return np.frombuffer(self.memory.read(self.out_address, self.output.nbytes), self.output.dtype)

    def written(self, element: int) -> bool:
        """Whether one element of the output was written."""
        size = self.output.itemsize
        return self.memory.unwritten(self.out_address + element * size, size) is None


@pytest.fixture
def bench(chip: Chip) -> Callable[..., _Bench]:
    """Launches over real device memory."""
    return lambda inputs, output, tiling_data: _Bench(chip, inputs, output, tiling_data)
