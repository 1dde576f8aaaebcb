"""A launch of the float16 binary, block by block, as the device computes it.

Every range is opened in device memory before anything is computed, so bounds and life times are checked in the order
of the blocks: inputs, outputs, the float32 states between chunks, the staging slots of each block. Groups of items,
which may span blocks since no item sees another, then run on a small pool; they write disjoint ranges, so the bytes do
not depend on how many workers there are. Sequences that overlap, and output rows that spill (defect D4), run one after
the other in the order of the blocks.
"""

from __future__ import annotations

import functools
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from emu_plugins.cgdr.chunk_buffers import Columns
from emu_plugins.cgdr.constants import CHUNK_SIZE, FP16_BYTES, FP16_PER_BLOCK
from emu_plugins.cgdr.defects import defects_of
from emu_plugins.cgdr.fp32 import HEADS_PER_JOB, WORKERS, job_runner
from emu_plugins.cgdr.item_group import ItemGroup, Settings
from emu_plugins.cgdr.items import WorkItem, key_head, work_items
from emu_plugins.cgdr.launch import ARG_OUT, ARG_WORKSPACE
from emu_plugins.cgdr.numerics import Numerics
from emu_plugins.cgdr.paths import Geometry, full_chunk_steps
from emu_plugins.cgdr.rounding import LARGEST_HALF
from emu_plugins.cgdr.staging import Stager, slot_offset, staged_bytes, state_bytes
from emu_plugins.cgdr.tiling import ceil_align_u32
from emu_plugins.cgdr.ub_run import ARRAYS, run_in_ub

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from emu_core.kernels import KernelLaunch, PolicyLookup
    from emu_plugins.cgdr.codecs import F32
    from emu_plugins.cgdr.fp32 import SequenceArrays
    from emu_plugins.cgdr.items import LiveSequence
    from emu_plugins.cgdr.tiling_data import CgdrTilingData

    OpenSequence = Callable[[LiveSequence], AbstractContextManager[SequenceArrays]]

_INVERSE_BYTES = 4 * 32 * 32 * FP16_BYTES


def settings_of(data: CgdrTilingData, key: int, policies: PolicyLookup) -> Settings:
    """What the tiling data, the tiling key and the policies say together."""
    geometry = Geometry.of(data, key)
    return Settings(
        geometry,
        Numerics.of(policies),
        full_chunk_steps(geometry, policies["cgdr.fallback_inverse"]),
        defects_of(policies["cgdr.defects"]),
        policies["cgdr.padding"] == "nan",
    )


@dataclass(frozen=True)
class _Work:
    """Consecutive items of one sequence; they may belong to several blocks."""

    sequence: LiveSequence
    items: tuple[WorkItem, ...]


def run_faithful(
    launch: KernelLaunch,
    data: CgdrTilingData,
    sequences: Sequence[LiveSequence],
    lengths: Sequence[int],
    open_sequence: OpenSequence,
    workers: int = WORKERS,
) -> None:
    """Run all blocks of `launch`.

    Args:
        launch, data: the launch, which was checked.
        sequences: those with tokens, of `lengths`.
        open_sequence: the arrays of one sequence while the context is open.
        workers: threads.
    """
    run = _Run(launch, data, settings_of(data, launch.tiling_key, launch.policies))
    mode = launch.policies["cgdr.ub"]
    run_group = _run_group if mode == ARRAYS else functools.partial(run_in_ub, mode, launch.chip.ub_bytes)
    serial = run.spills or any(length < 0 for length in lengths) or mode != ARRAYS
    works = list(run.works(lengths, one_by_one=serial))
    with ExitStack() as stack, job_runner(1 if serial else workers) as run_jobs:
        arrays = {sequence.batch: stack.enter_context(open_sequence(sequence)) for sequence in sequences}
        states = {s.batch: run.states(stack, s) for s in sequences}
        leaving = {item.block: item for work in works for item in work.items if run.stages(item)}
        stagers = {item: run.stager(stack, block) for block, item in leaving.items()}
        run_jobs(
            functools.partial(
                run_group,
                run.settings,
                arrays[work.sequence.batch],
                [run.columns(item) for item in work.items],
                states[work.sequence.batch],
                [(i, stagers[item]) for i, item in enumerate(work.items) if item in stagers],
                functools.partial(run.store_row, work.sequence.start) if run.spills else None,
            )
            for work in works
        )


def _run_group(*parts: Any) -> None:  # noqa: ANN401 - the arguments of `ItemGroup`
    """Make the buffers in the worker that uses them, so that memory does not grow with the number of groups."""
    ItemGroup(*parts).run()


class _Run:
    """Addresses and ranges of one launch."""

    def __init__(self, launch: KernelLaunch, data: CgdrTilingData, settings: Settings) -> None:
        self.settings = settings
        self._launch = launch
        self._data = data
        self._workspace = launch.arg(ARG_WORKSPACE)
        self._out = launch.arg(ARG_OUT)
        self._slots = int(launch.policies["cgdr.stage_slots"])

    @property
    def spills(self) -> bool:
        """Defect D4 is on, and rows are stored one by one in whole blocks: some width is no multiple of 16."""
        g = self.settings.geometry
        widths = (g.dv, g.hv * g.dv, g.av)
        return "D4" in self.settings.defects and any(width % FP16_PER_BLOCK for width in widths)

    def works(self, lengths: Sequence[int], *, one_by_one: bool) -> Iterator[_Work]:
        """Groups of items in the order of the blocks, small enough that two workers share a short sequence."""
        g = self.settings.geometry
        items = work_items(lengths, hv=g.hv, dv=g.dv, v_step=g.v_step, block_num=self._launch.block_dim)
        for _, found in groupby(items, lambda item: item.sequence.batch):
            together = list(found)
            most = 1 if one_by_one else min(HEADS_PER_JOB, -(-len(together) // 2))
            for at in range(0, len(together), most):
                yield _Work(together[at].sequence, tuple(together[at : at + most]))

    def columns(self, item: WorkItem) -> Columns:
        """What `item` reads."""
        return Columns(item.head, key_head(item.head, self._data.hv, self._data.hqk), item.v_start, item.v_width)

    def states(self, stack: ExitStack, sequence: LiveSequence) -> F32 | None:
        """The float32 states of a sequence of more than one chunk; others never touch them."""
        if sequence.length <= CHUNK_SIZE:
            return None
        g = self.settings.geometry
        address = self._workspace + sequence.batch * state_bytes(g, 1)
        array: Any = stack.enter_context(self._launch.memory.out_array(address, "<f4", (g.hv, g.dk, g.state_stride)))
        return array  # type: ignore[no-any-return]

    def stages(self, item: WorkItem) -> bool:
        """Whether any chunk of `item` uses the Cube; the last such item of a block leaves its operands behind."""
        return item.sequence.length >= CHUNK_SIZE and any(self.settings.full)

    def stager(self, stack: ExitStack, block: int) -> Stager:
        """The used part of the slots of `block`."""
        g, steps = self.settings.geometry, self.settings.full
        sizes = [staged_bytes(g.width) if steps.attention or steps.w or steps.fast else _INVERSE_BYTES]
        if steps.attention and self._slots > 1:
            sizes.append(3 * CHUNK_SIZE * g.width * FP16_BYTES)
        base = self._workspace + state_bytes(g, self._data.batch)
        return Stager([self._open(stack, base, block, slot, size) for slot, size in enumerate(sizes)], g.width)

    def _open(self, stack: ExitStack, states_end: int, block: int, slot: int, size: int) -> Any:  # noqa: ANN401
        address = slot_offset(states_end, block, slot, self._slots)
        return stack.enter_context(self._launch.memory.out_array(address, "<u2", (size // FP16_BYTES,)))

    def store_row(self, first: int, row: int, item: Columns, values: F32) -> None:
        """Defect D4: row `first` + `row` of `item` in whole blocks, zeros past its columns."""
        g = self.settings.geometry
        whole = ceil_align_u32(item.v_width, FP16_PER_BLOCK)
        stored = np.zeros(whole, np.float32)
        stored[: item.v_width] = values[: item.v_width]
        at = ((first + row) * g.hv + item.head) * g.dv + item.v_start
        bits = np.clip(stored, -LARGEST_HALF, LARGEST_HALF).astype("<f2")
        self._launch.memory.write(self._out + at * FP16_BYTES, bits.tobytes())
