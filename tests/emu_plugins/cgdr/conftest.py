"""A tiling context that is plain data, a chip of eight cores, and launches over real device memory."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from emu_core.chips import Chip
from emu_core.kernels import KernelLaunch
from emu_core.memory import DeviceMemory, TaskMemory
from emu_core.policies import PolicySet
from emu_core.tiling import PlatformInfo, StorageShape, TensorDesc, TilingError
from emu_plugins.cgdr.policies import POLICIES
from emu_plugins.cgdr.tiling import ShapeDims, tile

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

DATA = Path(__file__).parents[2] / "data" / "cgdr"
CASES = sorted(path.stem for path in DATA.glob("c*.npz"))

PLATFORM = PlatformInfo("Ascend310P3", 32, 8, 8, 262144, 1 << 20, 1 << 16, 1 << 16, 1 << 18, 1 << 24)


@dataclass
class _FakeAttrs:
    values: list[float | None] = field(default_factory=list)

    @property
    def num(self):
        return len(self.values)

    def get_float(self, index):
        return self.values[index] if index < self.num else None

    def get_int(self, index):
        value = self.get_float(index)
        return None if value is None else int(value)


@dataclass
class _FakeContext:
    """A context whose parts can be taken away one by one; what the tiling sets is kept in order in `calls`."""

    shapes: dict[int, tuple[int, ...]] = field(default_factory=dict)
    descs: set[int] = field(default_factory=set)
    tensors: set[int] = field(default_factory=set)
    attrs: _FakeAttrs | None = None
    platform: PlatformInfo | None = PLATFORM
    capacity: int = 16384
    op_type: str = "ChunkGatedDeltaRule"
    op_name: str = "cgdr"
    policies: dict[str, str] | None = None
    calls: list[tuple[str, object]] = field(default_factory=list)

    def input_shape(self, index):
        shape = self.shapes.get(index)
        # Origin differs on purpose: the tiling must look at the storage shape.
        return None if shape is None else StorageShape((7,) * len(shape), shape)

    def input_desc(self, index):
        return TensorDesc(0) if index in self.descs else None

    def input_tensor(self, index):
        return index in self.tensors

    def input_data(self, index):
        return None

    def output_shape(self, index):
        return None

    def set_tiling_key(self, key):
        self.calls.append(("key", key))

    def set_block_dim(self, block_dim):
        self.calls.append(("block_dim", block_dim))

    def set_workspaces(self, sizes: Sequence[int]):
        self.calls.append(("workspaces", tuple(sizes)))

    def set_schedule_mode(self, mode):
        self.calls.append(("mode", mode))

    def write_tiling_data(self, data):
        if len(data) > self.capacity:
            raise TilingError("too large")
        self.calls.append(("data", data))

    @property
    def result(self):
        return dict(self.calls)


class _Board:
    """Device memory with the arguments of one launch in it; `unwritten` lists reads of bytes nobody wrote."""

    def __init__(self, chip: Chip, policies: dict[str, str]) -> None:
        self.chip = chip
        self.memory = DeviceMemory(1 << 30)
        self.unwritten: list[str] = []
        self.task = TaskMemory(self.memory, lambda _a, _n, label: self.unwritten.append(label))
        self.policies = PolicySet(POLICIES, policies)

    def place(self, array: np.ndarray, label: str) -> int:
        address = self.memory.allocate(max(array.nbytes, 1), label=label).address
        if array.nbytes:
            self.memory.write(address, array.tobytes())
        return address

    def reserve(self, size: int, label: str) -> int:
        return self.memory.allocate(size, label=label).address

    def launch(self, words: Sequence[int], *, block_dim: int, key: int) -> KernelLaunch:
        block = struct.pack(f"<{len(words)}Q", *words)
        args = self.place(np.frombuffer(block, np.uint8), "args")
        return KernelLaunch(self.task, args, block_dim, key, self.chip, self.policies)


@dataclass
class _CgdrBoard:
    """A whole launch built from arrays by name; sizes and tiling come from them unless given."""

    board: _Board
    arrays: dict[str, np.ndarray]
    tiling: object
    words: list[int] = field(default_factory=list)

    def launch(self, *, block_dim: int | None = None, key: int | None = None) -> KernelLaunch:
        return self.board.launch(
            self.words,
            block_dim=self.tiling.block_dim if block_dim is None else block_dim,
            key=self.tiling.tiling_key if key is None else key,
        )

    def out(self):
        return self._result(7, "value")

    def final_state(self):
        return self._result(8, "initial_state")

    def _result(self, argument, like):
        want = self.arrays[like]
        return np.frombuffer(self.board.memory.read(self.words[argument], want.nbytes), want.dtype).reshape(want.shape)


@pytest.fixture
def chip() -> Chip:
    """Numbers like those of a 310P3."""
    return Chip(
        name="ascend310p3", product="310P", family="v100", arch=2002, core_num=8, core_num_aic=8, core_num_aiv=8,
        tiling_cores=8, fused_cores=True, ai_cpus=4, ub_bytes=262144, l1_bytes=1 << 20, l0a_bytes=1 << 16,
        l0b_bytes=1 << 16, l0c_bytes=1 << 18, l2_bytes=1 << 24, memory_bytes=24 << 30, cube_mhz=1080,
        cube_flops_per_cycle=8192, ddr_bytes_per_cycle=17, prefetch_num=5, platform_prefetch_num=10, prefetch_depth=5,
        platform_prefetch_depth=10, model_task_update=True, sq_depth=1024, usable_tasks=1000, max_streams=8,
        max_events=8, max_notifies=8, persistent_tasks=8, cqe_bytes=12,
    )  # fmt: skip


@pytest.fixture
def make_context() -> Callable[..., _FakeContext]:
    """Contexts with the shapes of T=192, B=1, Hqk=Hv=8, Dk=Dv=80 and every optional part absent."""

    def make(**changes: object) -> _FakeContext:
        shapes = {0: (192, 8, 80), 1: (192, 8, 80), 2: (192, 8, 80), 3: (192, 8), 4: (1, 8, 80, 80), 5: (1,)}
        return _FakeContext(**{"shapes": shapes, **changes})

    return make


@pytest.fixture
def fake_attrs() -> type[_FakeAttrs]:
    """The attribute table."""
    return _FakeAttrs


@pytest.fixture
def load_case() -> Callable[[str], dict[str, np.ndarray]]:
    """Arrays of a stored case by file name without its ending."""

    def load(name: str) -> dict[str, np.ndarray]:
        with np.load(DATA / f"{name}.npz") as found:
            return dict(found)

    return load


@pytest.fixture
def make_board(chip: Chip) -> Callable[..., _CgdrBoard]:
    """Launches of the kernel over real device memory; the workspace has the bytes that the kernel needs, no more."""

    def make(
        arrays: dict[str, np.ndarray], policies: dict[str, str] | None = None, workspace: int = 0, **tiled: int
    ) -> _CgdrBoard:
        board = _Board(chip, policies or {})
        t, hqk, dk = arrays["query"].shape
        batch, hv, dv, _ = arrays["initial_state"].shape
        given = {"cores": 8, "ub_bytes": 262144, "scale_value": float(arrays["scale"]), **tiled}
        tiling = tile(ShapeDims(t, hqk, dk, hv, dv, batch), has_gamma="g" in arrays, **given)
        names = ("query", "key", "value", "beta", "initial_state", "actual_seq_lengths", "g")
        words = [board.place(arrays[name], name) if name in arrays else 0 for name in names]
        words += [
            board.reserve(arrays[like].nbytes, label) for label, like in (("out", "value"), ("final", "initial_state"))
        ]
        words += [
            board.reserve(workspace or tiling.workspace_need, "workspace"),
            board.place(np.frombuffer(tiling.tiling_data(), np.uint8), "tiling data"),
        ]
        return _CgdrBoard(board, arrays, tiling, words)

    return make


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that takes `case_name` once per stored case."""
    if "case_name" in metafunc.fixturenames:
        metafunc.parametrize("case_name", CASES)
