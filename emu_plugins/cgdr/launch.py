"""What a launch asks for, and why it may be refused: the tiling data against the chip and against itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from emu_plugins.cgdr.constants import (
    CHUNK_SIZE,
    FP16_BYTES,
    FP32_BYTES,
    INPUT_COUNT,
    WIDTH_OF_KEY,
)
from emu_plugins.cgdr.items import key_head
from emu_plugins.cgdr.tiling import out_queue_bytes, tmp_buff_bytes
from emu_plugins.cgdr.tiling_contracts import device_align_k
from emu_plugins.cgdr.tiling_data import TILING_DATA_BYTES, CgdrTilingData

if TYPE_CHECKING:
    from collections.abc import Callable

    from emu_core.kernels import KernelLaunch

ARG_OUT = INPUT_COUNT
ARG_FINAL_STATE = INPUT_COUNT + 1
ARG_WORKSPACE = INPUT_COUNT + 2
ARG_TILING = INPUT_COUNT + 3


class LaunchProblem(NamedTuple):
    """Why a launch cannot run: stable id, what is wrong, what to do."""

    id: str
    what: str
    remedy: str


def read_tiling_data(launch: KernelLaunch) -> CgdrTilingData:
    """The tiling data of `launch`, from the address in its last argument."""
    return CgdrTilingData.unpack(launch.memory.read(launch.arg(ARG_TILING), TILING_DATA_BYTES))


def tensor_bytes(data: CgdrTilingData) -> int:
    """Bytes of all inputs and outputs together."""
    per_token = 2 * data.hqk * data.dk + 2 * data.hv * data.dv + data.hv
    state = data.batch * data.hv * data.dv * data.dk
    gamma = data.t * data.hv * FP32_BYTES if data.has_gamma else 0
    return (data.t * per_token + 2 * state) * FP16_BYTES + gamma + data.batch * FP32_BYTES


def launch_problem(data: CgdrTilingData, launch: KernelLaunch) -> LaunchProblem | None:
    """The first reason against running `launch` with `data`, or None."""
    return next((problem for check in _CHECKS if (problem := check(data, launch))), None)


def _check_fields(data: CgdrTilingData, _launch: KernelLaunch) -> LaunchProblem | None:
    zero = [name for name in ("hqk", "dk", "hv", "dv", "v_step") if getattr(data, name) == 0]
    wrong = [f"{name} is 0" for name in zero]
    if data.chunk_size != CHUNK_SIZE:
        wrong.append(f"chunkSize is {data.chunk_size}, the kernel is built for {CHUNK_SIZE}")
    if not wrong:
        return None
    remedy = "check that the tiling ran and wrote its 64 bytes where the kernel reads them"
    return LaunchProblem("cgdr.tiling-data", f"the tiling data is not usable: {', '.join(wrong)}", remedy)


def _check_key(_data: CgdrTilingData, launch: KernelLaunch) -> LaunchProblem | None:
    if launch.tiling_key in WIDTH_OF_KEY:
        return None
    return LaunchProblem("cgdr.tiling-key", f"there is no instance for tiling key {launch.tiling_key}", "use 0 to 3")


def _check_block_dim(_data: CgdrTilingData, launch: KernelLaunch) -> LaunchProblem | None:
    chip = launch.chip
    cores = max(chip.core_num, chip.core_num_aic, chip.core_num_aiv, chip.tiling_cores)
    if 1 <= launch.block_dim <= cores:
        return None
    what = f"block dim {launch.block_dim} is not between 1 and the {cores} cores of {chip.name}"
    return LaunchProblem("cgdr.block-dim", what, "launch with the block dim that the tiling gave")


def _check_memory(data: CgdrTilingData, launch: KernelLaunch) -> LaunchProblem | None:
    size, room = tensor_bytes(data), launch.chip.memory_bytes
    if size <= room:
        return None
    what = f"the tiling data describes {size} bytes of tensors, {launch.chip.name} has {room}"
    return LaunchProblem("cgdr.tiling-data", what, "check the shapes that the tiling saw")


def _check_ub(data: CgdrTilingData, launch: KernelLaunch) -> LaunchProblem | None:
    """The instance rebuilds its buffer plan; it must fit what the tiling left for it."""
    align_k = device_align_k(data.dk, WIDTH_OF_KEY[launch.tiling_key])
    budgets = (
        ("UB buffers", tmp_buff_bytes(data.v_step, align_k), data.rest_bytes),
        ("the UB out queue", out_queue_bytes(data.v_step, align_k), data.ub_bytes - data.rest_bytes),
    )
    for name, need, room in budgets:
        if need > room:
            what = (
                f"{name} of instance {launch.tiling_key} need {need} bytes (K width {align_k}, vStep {data.v_step}), "
                f"the tiling data leaves {room}"
            )
            return LaunchProblem("cgdr.ub", what, "tiling key and tiling data must come from one tiling")
    return None


def _check_key_heads(data: CgdrTilingData, _launch: KernelLaunch) -> LaunchProblem | None:
    last = key_head(data.hv - 1, data.hv, data.hqk)
    if last < data.hqk:
        return None
    what = f"value head {data.hv - 1} of {data.hv} reads key head {last}, and there are {data.hqk}"
    return LaunchProblem("cgdr.key-head", what, "make Hv a multiple of Hqk")


_CHECKS: tuple[Callable[[CgdrTilingData, KernelLaunch], LaunchProblem | None], ...] = (
    _check_fields,
    _check_key,
    _check_block_dim,
    _check_memory,
    _check_ub,
    _check_key_heads,
)
