"""The AI Core kernel: arguments by position, shapes from the 64 bytes of tiling data, results to device memory.

| argument | meaning |
|---|---|
| 0-6 | query, key, value, beta, initial_state, actual_seq_lengths, g (0 when absent) |
| 7, 8 | out, final_state |
| 9, 10 | workspace, tiling data |

Nothing else is known here: rank, sequences and widths are those of the tiling data. What a launch may change:

* `block_dim` decides which block owns an item (`items.py`), never whether it runs, and items write disjoint slices:
  any block dim the chip can start gives the same results, whatever the tiling asked for;
* the tiling key selects the compiled width. Where that is below `dk` the device leaves the Cube path; where it is
  larger than planned its buffers may not fit, which is a fault.

`cgdr.product` = `fp32` walks all sequences in item order in plain float32, where the V tiles of a head run as one and
the key changes nothing; so does the bfloat16 binary. Every other product is the faithful path of `faithful.py`.
"""

from __future__ import annotations

import math
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from emu_core.errors import DeviceFault
from emu_core.kernels import CoreType, Cost, KernelSpec, PipeUse
from emu_plugins.cgdr.constants import (
    CHUNK_SIZE,
    INPUT_GAMMA,
    INPUT_INITIAL_STATE,
    INPUT_SEQ_LENGTHS,
    OP_TYPE,
    WIDTH_OF_KEY,
)
from emu_plugins.cgdr.contracts import launch_breaks
from emu_plugins.cgdr.items import LiveSequence, live_sequences, tiles_per_head, work_items
from emu_plugins.cgdr.launch import (
    ARG_FINAL_STATE,
    ARG_OUT,
    LaunchProblem,
    launch_problem,
    read_tiling_data,
    tensor_bytes,
)
from emu_plugins.cgdr.paths import Geometry, full_chunk_steps, path_facts
from emu_plugins.cgdr.pipes import launch_cycles, launch_slices

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from emu_core.kernels import KernelLaunch
    from emu_plugins.cgdr.fp32 import SequenceArrays
    from emu_plugins.cgdr.tiling_data import CgdrTilingData

# AI Core exception of the task scheduler (`reference/sqe_formats.md` 12).
AI_CORE_EXCEPTION = 0x26

FLOAT16_KERNEL = OP_TYPE
BFLOAT16_KERNEL = OP_TYPE + "Bf16"


def kernel_cost(launch: KernelLaunch) -> Cost:
    """Operations and bytes of one launch from its tiling data; nothing for a launch that is refused."""
    data = read_tiling_data(launch)
    if launch_problem(data, launch) is not None:
        return Cost()
    if launch.policies["cgdr.time"] == "pipes":
        return _cost_of_pipes(launch, data)
    c, tiles = CHUNK_SIZE, tiles_per_head(data.dv, data.v_step)
    # Multiply-adds per chunk and value head; every V tile of a head repeats the work on K.
    on_k = tiles * (3 * c * c * data.dk + c * c * c // 3)
    on_v = data.dv * (2 * c * c + 3 * c * data.dk)
    return Cost(flops=2 * (on_k + on_v) * data.num_chunks * data.hv, bytes=tensor_bytes(data))


FLOAT32_PATH = "float32, without the device's paths"


def float16_facts(launch: KernelLaunch) -> Mapping[str, str]:
    """`path`: chunks of the launch by what computes them; nothing for a launch that is refused."""
    data = read_tiling_data(launch)
    if launch_problem(data, launch) is not None:
        return {}
    if launch.policies["cgdr.product"] == "fp32":
        return {"path": FLOAT32_PATH}
    sequences = live_sequences(_lengths(launch, data))
    tiles = tiles_per_head(data.dv, data.v_step)
    geometry = Geometry.of(data, launch.tiling_key)
    return {"path": path_facts(geometry, sequences, tiles, launch.policies["cgdr.fallback_inverse"]).text()}


def bfloat16_facts(_launch: KernelLaunch) -> Mapping[str, str]:
    """`path` of the bfloat16 binary, which is the same for every launch."""
    return {"path": FLOAT32_PATH}


def float16_spans(launch: KernelLaunch) -> Iterator[PipeUse]:
    """What the pipes do under policy `cgdr.time=pipes`; nothing under any other, or for a launch that is refused."""
    data = read_tiling_data(launch)
    if launch.policies["cgdr.time"] != "pipes" or launch_problem(data, launch) is not None:
        return
    geometry, lengths = Geometry.of(data, launch.tiling_key), _lengths(launch, data)
    items = work_items(lengths, hv=data.hv, dv=data.dv, v_step=data.v_step, block_num=launch.block_dim)
    full = full_chunk_steps(geometry, launch.policies["cgdr.fallback_inverse"])
    slots = int(launch.policies["cgdr.stage_slots"])
    for piece in launch_slices(geometry, full, items, started=0, mhz=launch.chip.cube_mhz, slots=slots):
        what = f"{piece.what} slot {piece.slot} of batch {piece.batch} head {piece.head} row {piece.row}"
        yield PipeUse(piece.core, str(piece.pipe), what, int(piece.start), math.ceil(piece.end))


def _cost_of_pipes(launch: KernelLaunch, data: CgdrTilingData) -> Cost:
    """As many operations as take each block the time of the busiest core in the model of the pipes (`pipes.py`)."""
    geometry, lengths = Geometry.of(data, launch.tiling_key), _lengths(launch, data)
    items = list(work_items(lengths, hv=data.hv, dv=data.dv, v_step=data.v_step, block_num=launch.block_dim))
    full = full_chunk_steps(geometry, launch.policies["cgdr.fallback_inverse"])
    cycles = launch_cycles(geometry, full, items, slots=int(launch.policies["cgdr.stage_slots"]))
    return Cost(flops=cycles * launch.block_dim * launch.chip.cube_flops_per_cycle)


def run_float16(launch: KernelLaunch) -> None:
    """Run a launch of the float16 binary.

    Raises:
        DeviceFault: tiling key, block dim, tiling data or lengths that no device run could survive; also what the
            memory raises.
    """
    _run(launch, "float16")


def run_bfloat16(launch: KernelLaunch) -> None:
    """Run a launch of the bfloat16 binary; raises as `run_float16`."""
    _run(launch, "bfloat16")


def _run(launch: KernelLaunch, dtype: str) -> None:
    data = read_tiling_data(launch)
    problem = launch_problem(data, launch)
    lengths = [] if problem else _lengths(launch, data)
    sequences = live_sequences(lengths)
    problem = problem or _arguments_problem(sequences, data, launch)
    if problem is not None:
        raise DeviceFault(problem.what, ts_code=AI_CORE_EXCEPTION, id=problem.id, remedy=problem.remedy)
    if dtype == "float16" and launch.policies["cgdr.product"] != "fp32":
        _run_faithful(launch, data, sequences, lengths)
    else:
        _run_fp32(launch, data, sequences, dtype)


def _run_faithful(
    launch: KernelLaunch, data: CgdrTilingData, sequences: Sequence[LiveSequence], lengths: Sequence[int]
) -> None:
    from emu_plugins.cgdr.faithful import run_faithful  # noqa: PLC0415 - numpy stays off the plugin's import

    for broken in launch_breaks(launch, data, sequences):
        raise DeviceFault(broken.what, ts_code=AI_CORE_EXCEPTION, id=broken.id, remedy=broken.remedy)

    def open_sequence(sequence: LiveSequence) -> AbstractContextManager[SequenceArrays]:
        return _sequence_arrays(launch, data, sequence, "float16")

    run_faithful(launch, data, sequences, lengths, open_sequence)


def _lengths(launch: KernelLaunch, data: CgdrTilingData) -> list[int]:
    if data.batch == 0:
        return []
    lengths: Any = launch.memory.array(launch.arg(INPUT_SEQ_LENGTHS), "<i4", (data.batch,))
    return [int(length) for length in lengths]


def _arguments_problem(
    sequences: Sequence[LiveSequence], data: CgdrTilingData, launch: KernelLaunch
) -> LaunchProblem | None:
    if data.has_gamma and launch.arg(INPUT_GAMMA) == 0:
        what = "the tiling data says that g is given, but its argument is 0"
        return LaunchProblem("cgdr.gamma", what, "tile again after adding or removing g")
    for sequence in sequences:
        end = sequence.start + sequence.length
        if sequence.start < 0 or end > data.t:
            what = f"sequence {sequence.batch} covers tokens [{sequence.start}, {end}), T = {data.t}"
            remedy = "actual_seq_lengths holds lengths, not offsets; they must add up to at most T"
            return LaunchProblem("cgdr.tokens", what, remedy)
    return None


def _run_fp32(launch: KernelLaunch, data: CgdrTilingData, sequences: Sequence[LiveSequence], dtype: str) -> None:
    from emu_plugins.cgdr.fp32 import job_runner, sequence_jobs  # noqa: PLC0415 - numpy stays off the plugin's import

    with job_runner() as run_jobs:
        for sequence in sequences:
            with _sequence_arrays(launch, data, sequence, dtype) as arrays:
                run_jobs(sequence_jobs(arrays))


@contextmanager
def _sequence_arrays(
    launch: KernelLaunch, data: CgdrTilingData, sequence: LiveSequence, dtype: str
) -> Iterator[SequenceArrays]:
    """Exactly the rows of one sequence; only its rows of out and its slice of final_state become written."""
    from emu_plugins.cgdr.codecs import CODECS  # noqa: PLC0415 - as above
    from emu_plugins.cgdr.fp32 import SequenceArrays  # noqa: PLC0415

    memory, codec = launch.memory, CODECS[dtype]
    n, first, batch = sequence.length, sequence.start, sequence.batch
    keys, values, state = (data.hqk, data.dk), (data.hv, data.dv), (data.hv, data.dv, data.dk)

    def rows(argument: int, row: tuple[int, ...], carrier: str = codec.carrier) -> Any:  # noqa: ANN401 - device array
        return memory.array(launch.arg(argument) + first * _row_bytes(row, carrier), carrier, (n, *row))

    state_offset = batch * _row_bytes(state, codec.carrier)
    out_at = launch.arg(ARG_OUT) + first * _row_bytes(values, codec.carrier)
    final_at = launch.arg(ARG_FINAL_STATE) + state_offset
    initial: Any = memory.array(launch.arg(INPUT_INITIAL_STATE) + state_offset, codec.carrier, state)
    with (
        memory.out_array(out_at, codec.carrier, (n, *values)) as out,
        memory.out_array(final_at, codec.carrier, state) as final_state,
    ):
        yield SequenceArrays(
            query=rows(0, keys),
            key=rows(1, keys),
            value=rows(2, values),
            beta=rows(3, (data.hv,)),
            g=rows(INPUT_GAMMA, (data.hv,), "<f4") if data.has_gamma else None,
            initial_state=initial,
            out=out,
            final_state=final_state,
            scale=data.scale_value,
            codec=codec,
            out_codec=codec,
        )


def _row_bytes(row: tuple[int, ...], carrier: str) -> int:
    size = int(carrier[-1])
    for axis in row:
        size *= axis
    return size


_AS_PORTED = "as ported: the 310P tiling and work split, not the vendor's three-stage kernel of this product"
_TILING_KEYS = tuple(WIDTH_OF_KEY)

KERNELS = (
    KernelSpec(
        FLOAT16_KERNEL, CoreType.AIC, _TILING_KEYS, run_float16, kernel_cost, facts=float16_facts,
        spans=float16_spans,
        note=tuple((product, _AS_PORTED) for product in ("A2", "A3", "950")),
    ),
    KernelSpec(
        BFLOAT16_KERNEL, CoreType.AIC, _TILING_KEYS, run_bfloat16, kernel_cost, products=("A2", "A3", "950"),
        facts=bfloat16_facts,
        note=tuple((product, _AS_PORTED) for product in ("A2", "A3", "950")),
    ),
)  # fmt: skip
