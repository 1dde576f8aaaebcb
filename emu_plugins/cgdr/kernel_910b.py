"""The vendor's 910B kernel: a mix task of three stages per group of chunks, handing on through its workspace.

| argument | meaning |
|---|---|
| 0-6 | query, key, value, beta, initial_state, actual_seq_lengths, g (0 when absent) |
| 7, 8 | out, final_state |
| 9, 10 | workspace, tiling data |

Groups of a sequence, and sequences, run one after the other. Every stage ends with a barrier of all cores, so which
core has a unit changes no value; `data_910b.py` says which one has it.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from emu_core.errors import DeviceFault
from emu_core.kernels import CoreType, Cost, KernelSpec, Mix, MixType
from emu_core.tiling import TilingError
from emu_plugins.cgdr.constants import CHUNK_SIZE, INPUT_GAMMA, INPUT_SEQ_LENGTHS, OP_TYPE
from emu_plugins.cgdr.data_910b import ARG_TILING, ARG_WORKSPACE, DATA_BYTES, Data910b, groups_of
from emu_plugins.cgdr.items import live_sequences
from emu_plugins.cgdr.launch import ARG_FINAL_STATE, LaunchProblem
from emu_plugins.cgdr.tiling_910b import tile_910b

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from emu_core.kernels import KernelLaunch
    from emu_plugins.cgdr.items import LiveSequence

AI_CORE_EXCEPTION = 0x26
KERNEL_910B = OP_TYPE + "910b"
VECTOR_CORES = 2
BF16_BYTES = 2


def cost_910b(launch: KernelLaunch) -> Cost:
    """Operations of the products, and bytes of tensors and of what the stages hand on, each written and read once."""
    data = read_data(launch)
    if _data_problem(data, launch) is not None:
        return Cost()
    c, chunks = CHUNK_SIZE, -(-data.t // CHUNK_SIZE)
    on_k = 3 * c * c * data.dk + 2 * (c // 2) ** 3
    on_v = 2 * c * c * data.dv + 3 * c * data.dk * data.dv
    per_token = 2 * data.nk * data.dk + 2 * data.nv * data.dv + data.nv
    handed = data.nv * (3 * data.dk + 2 * data.dv + c) * 2
    states = 2 * data.batch * data.nv * data.dv * data.dk
    return Cost(flops=2 * (on_k + on_v) * chunks * data.nv, bytes=BF16_BYTES * (data.t * (per_token + handed) + states))


def read_data(launch: KernelLaunch) -> Data910b:
    """The tiling data of `launch`, from the address in its last argument."""
    return Data910b.unpack(launch.memory.read(launch.arg(ARG_TILING), DATA_BYTES))


def run_910b(launch: KernelLaunch) -> None:
    """Run all blocks of a launch.

    Raises:
        DeviceFault: tiling data, tiling key, cores or lengths that no run could survive; also what the memory raises.
    """
    from emu_plugins.cgdr.walk_910b import Walk910b  # noqa: PLC0415 - numpy stays off the plugin's import

    data = read_data(launch)
    problem = _data_problem(data, launch)
    sequences = () if problem else live_sequences(_lengths(launch, data))
    problem = problem or _sequences_problem(sequences, data)
    if problem is not None:
        raise DeviceFault(problem.what, ts_code=AI_CORE_EXCEPTION, id=problem.id, remedy=problem.remedy)
    walk = Walk910b(launch, data)
    for sequence in sequences:
        with _final_state(launch, data, sequence) as final:
            for group in groups_of(sequence, data.group):
                walk.run(group, final)


@contextmanager
def _final_state(launch: KernelLaunch, data: Data910b, sequence: LiveSequence) -> Iterator[Any]:
    shape = (data.nv, data.dv, data.dk)
    offset = sequence.batch * data.nv * data.dv * data.dk * BF16_BYTES
    with launch.memory.out_array(launch.arg(ARG_FINAL_STATE) + offset, "<u2", shape) as final:
        yield final


def _lengths(launch: KernelLaunch, data: Data910b) -> list[int]:
    lengths: Any = launch.memory.array(launch.arg(INPUT_SEQ_LENGTHS), "<i4", (data.batch,))
    return [int(length) for length in lengths]


def _sequences_problem(sequences: Sequence[LiveSequence], data: Data910b) -> LaunchProblem | None:
    for sequence in sequences:
        end = sequence.start + sequence.length
        if sequence.start < 0 or end > data.t:
            what = f"sequence {sequence.batch} covers tokens [{sequence.start}, {end}), T = {data.t}"
            return LaunchProblem("cgdr.tokens", what, "actual_seq_lengths holds lengths that add up to at most T")
    return None


def _data_problem(data: Data910b, launch: KernelLaunch) -> LaunchProblem | None:
    return next((problem for check in _CHECKS if (problem := check(data, launch))), None)


def _check_data(data: Data910b, _launch: KernelLaunch) -> LaunchProblem | None:
    """The tiling data against what the tiling makes of the same dimensions."""
    try:
        tiling = tile_910b(data.dims, cores=data.cores, has_gamma=bool(data.has_gamma), scale_value=data.scale)
    except TilingError as error:
        return LaunchProblem("cgdr.tiling-data", f"the tiling data is not usable: {error.what}", "tile again")
    wanted = (CHUNK_SIZE, tiling.max_group_length, tiling.inter_bytes)
    if (data.chunk_size, data.group, data.inter_bytes) != wanted:
        what = (
            f"the tiling data is not usable: chunk size, group length and workspace are {data.chunk_size}, "
            f"{data.group}, {data.inter_bytes}, and its dimensions give {', '.join(map(str, wanted))}"
        )
        return LaunchProblem("cgdr.tiling-data", what, "check that the tiling ran and wrote its data")
    return None


def _check_key(_data: Data910b, launch: KernelLaunch) -> LaunchProblem | None:
    if launch.tiling_key == 0:
        return None
    return LaunchProblem("cgdr.tiling-key", f"there is no instance for tiling key {launch.tiling_key}", "use 0")


def _check_cores(data: Data910b, launch: KernelLaunch) -> LaunchProblem | None:
    if launch.block_dim == data.cores:
        return None
    what = f"block dim {launch.block_dim}, and the units are shared among {data.cores} cores that wait for each other"
    return LaunchProblem("cgdr.block-dim", what, "launch with the block dim that the tiling gave")


def _check_ratio(_data: Data910b, launch: KernelLaunch) -> LaunchProblem | None:
    if launch.ratio == VECTOR_CORES:
        return None
    what = f"a block has {launch.ratio} vector cores, and each of 2 inverts one half of a chunk's matrix"
    return LaunchProblem("cgdr.vector-cores", what, "launch it as a mix task of 1 cube and 2 vector cores")


def _check_arguments(data: Data910b, launch: KernelLaunch) -> LaunchProblem | None:
    if data.has_gamma and launch.arg(INPUT_GAMMA) == 0:
        return LaunchProblem("cgdr.gamma", "the tiling data says that g is given, but its argument is 0", "tile again")
    if launch.arg(ARG_WORKSPACE) == 0:
        what = "the workspace argument is 0, and the stages hand on through it"
        return LaunchProblem("cgdr.workspace", what, "let the tiling set its workspace size, and pass the address")
    return None


_CHECKS: tuple[Callable[[Data910b, KernelLaunch], LaunchProblem | None], ...] = (
    _check_data,
    _check_key,
    _check_cores,
    _check_ratio,
    _check_arguments,
)

SPEC_910B = KernelSpec(
    KERNEL_910B,
    CoreType.MIX,
    (0,),
    run_910b,
    cost_910b,
    products=("A2", "A3"),
    sync_all=True,
    mix=Mix(MixType.AIC_MAIN, VECTOR_CORES),
)
