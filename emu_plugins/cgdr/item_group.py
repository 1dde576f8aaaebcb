"""A group of work items of one sequence, walked chunk by chunk on the path each chunk takes (`reference/cgdr.md` 9).

The items of a group are stacked: every step computes them side by side, and no value of one depends on another.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from emu_core.errors import DeviceFault
from emu_plugins.cgdr.chunk_buffers import ChunkBuffers, Columns, Loader, group_scratch, runs_of
from emu_plugins.cgdr.constants import CHUNK_SIZE, FP32_PER_BLOCK
from emu_plugins.cgdr.cube_steps import CubeSteps
from emu_plugins.cgdr.inverse import keep_lower
from emu_plugins.cgdr.paths import VECTOR_STEPS, Steps
from emu_plugins.cgdr.rounding import LARGEST_HALF
from emu_plugins.cgdr.tiling import ceil_align_u32
from emu_plugins.cgdr.triangular import blocked_inverse, overlays, row_inverse
from emu_plugins.cgdr.vector_steps import VectorSteps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from emu_plugins.cgdr.codecs import F32, Array, Codec
    from emu_plugins.cgdr.fp32 import SequenceArrays
    from emu_plugins.cgdr.numerics import Numerics
    from emu_plugins.cgdr.paths import Geometry
    from emu_plugins.cgdr.staging import Stagers

    RowStore = Callable[[int, Columns, F32], None]
    Observer = Callable[[str, int, ChunkBuffers], None]

AI_CORE_EXCEPTION = 0x26


@dataclass(frozen=True)
class Settings:
    """What holds for every item of a launch.

    Attributes:
        geometry: widths. numerics: arithmetic. full: steps of a full chunk on the Cube.
        defects: ids that are on. poison: fill all buffers with NaN before each chunk, and check the padding.
    """

    geometry: Geometry
    numerics: Numerics
    full: Steps
    defects: frozenset[str] = frozenset()
    poison: bool = False


class Chunk(NamedTuple):
    """Rows `start` to `start + rows` of a sequence."""

    start: int
    rows: int
    last: bool

    @property
    def full(self) -> bool:
        """Whether it has all 64 rows; only then the Cube may run."""
        return self.rows == CHUNK_SIZE


def chunks_of(length: int) -> Iterable[Chunk]:
    """The chunks of a sequence of `length` tokens."""
    for start in range(0, length, CHUNK_SIZE):
        rows = min(CHUNK_SIZE, length - start)
        yield Chunk(start, rows, start + rows == length)


class ItemGroup:
    """Work items of one sequence.

    Args:
        arrays: the sequence. items: what each item reads.
        states: [Hv, dk, stride] float32 of this sequence in the workspace; None for a sequence of one chunk.
        stagers: item and stager, for the items whose last full chunk is what their block leaves in its slots.
        row_store: stores one output row instead of the array (defect D4).
        observe: called after each stage of a chunk with its name, the chunk's first row, and the buffers: stages
            `loaded`, `scores` (the matrix to invert, and P), `inverse`, `w`, `v_new`, `out`, `state`.
    """

    def __init__(
        self,
        settings: Settings,
        arrays: SequenceArrays,
        items: list[Columns],
        states: F32 | None = None,
        stagers: Stagers = (),
        row_store: RowStore | None = None,
        observe: Observer | None = None,
    ) -> None:
        self._settings = settings
        self._arrays = arrays
        self._items = items
        self._states = states
        self._stagers = stagers
        self._row_store = row_store
        self._observe = observe
        geometry = settings.geometry
        self._buffers = ChunkBuffers.make(geometry, len(items))
        self._scratch = group_scratch(geometry, len(items))
        self._loader = Loader(arrays, geometry, items, settings.defects)
        self._cube = CubeSteps(geometry, self._buffers, settings.numerics, self._scratch)
        self._vector = VectorSteps(geometry, self._buffers, settings.numerics)
        length = int(arrays.query.shape[0])
        self._length = length
        self._staged_start = length // CHUNK_SIZE * CHUNK_SIZE - CHUNK_SIZE

    def run(self) -> None:
        """All chunks in order, then the final state. Infinite and NaN inputs are data, and nobody is warned."""
        with np.errstate(all="ignore"):
            for chunk in chunks_of(self._length):
                self._chunk(chunk)

    def _chunk(self, chunk: Chunk) -> None:
        settings, n = self._settings, chunk.rows
        steps = settings.full if chunk.full else VECTOR_STEPS
        stagers = self._stagers if chunk.start == self._staged_start else ()
        self._load(chunk)
        if steps.attention:
            self._cube.attention(stagers)
        else:
            self._vector.attention(n)
        self._masks(n)
        self._tell("scores", chunk)
        self._inverse(steps, n, stagers)
        self._tell("inverse", chunk)
        self._keys(n)
        if steps.w:
            self._cube.w(stagers)
        else:
            self._vector.w(n)
        self._tell("w", chunk)
        self._values(steps, chunk, stagers)

    def _tell(self, stage: str, chunk: Chunk) -> None:
        if self._observe is not None:
            self._observe(stage, chunk.start, self._buffers)

    def _load(self, chunk: Chunk) -> None:
        """Steps 1 to 5 and 12; the order of the loads is not seen in any value."""
        settings, buffers = self._settings, self._buffers
        if settings.poison:
            buffers.poison()
        self._loader.load(buffers, chunk.start, chunk.rows, settings.numerics)
        self._loader.load_state(buffers, self._states if chunk.start else None)
        if settings.poison:
            self._check_padding(chunk)
        self._tell("loaded", chunk)

    def _values(self, steps: Steps, chunk: Chunk, stagers: Stagers) -> None:
        """V', out and the state; out and state are stored."""
        n = chunk.rows
        if steps.fast:
            self._cube.v_new(stagers)
        else:
            self._vector.v_new(n)
        self._tell("v_new", chunk)
        if steps.fast:
            self._cube.out(stagers)
        else:
            self._vector.out(n)
        self._tell("out", chunk)
        self._store_out(chunk)
        if steps.fast:
            self._cube.state(stagers)
        else:
            self._vector.state(n)
        self._tell("state", chunk)
        self._store_state(last=chunk.last)

    def _masks(self, n: int) -> None:
        """Step 7: the matrix to invert, and P, each with its triangle cut."""
        b = self._buffers
        u, decay, p = b.u[:, :n, :n], b.decay[:, :n, :n], b.products[:, CHUNK_SIZE : CHUNK_SIZE + n, :n]
        np.multiply(b.products[:, :n, :n], decay, out=u)
        np.negative(u, out=u)
        keep_lower(u, -1)
        np.multiply(p, decay, out=p)
        keep_lower(p)

    def _inverse(self, steps: Steps, n: int, stagers: Stagers) -> None:
        """Step 8."""
        settings = self._settings
        if not steps.inverse:
            row_inverse(self._buffers.u[:, :n, :n], settings.numerics)
            return
        blocked_inverse(
            self._buffers.u,
            settings.numerics,
            self._scratch,
            overlay="D3" in settings.defects and overlays(settings.geometry.av),
            stage=functools.partial(stage_inverse, stagers) if stagers else None,
        )

    def _keys(self, n: int) -> None:
        """Step 9: beta exp(G) K on the real columns."""
        b, dk = self._buffers, self._settings.geometry.dk
        np.multiply(b.scaled[:, :n, :dk], b.exp_g[:, :n, None], out=b.k_exp[:, :n, :dk])
        b.k_exp[:, :n, dk:] = 0

    def _store_out(self, chunk: Chunk) -> None:
        """Step 15: the real columns, or whole blocks row by row."""
        b, n, arrays = self._buffers, chunk.rows, self._arrays
        if self._row_store is not None:
            for i, item in enumerate(self._items):
                for row in range(n):
                    self._row_store(chunk.start + row, item, b.out[i, row])
            return
        for run in runs_of(self._items):
            target = arrays.out[chunk.start : chunk.start + n, run.heads, run.columns].transpose(1, 0, 2)
            store_saturated(arrays.out_codec, b.out[run.items, :n, : run.width], target)

    def _store_state(self, *, last: bool) -> None:
        """Step 17: float32 rows to the workspace, or the final state, transposed back."""
        dk, b = self._settings.geometry.dk, self._buffers
        for run in runs_of(self._items):
            if last:
                target = self._arrays.final_state[run.heads, run.columns].transpose(0, 2, 1)
                store_saturated(self._arrays.out_codec, b.state[run.items, :dk, : run.width], target)
            else:
                assert self._states is not None
                width = ceil_align_u32(run.width, FP32_PER_BLOCK)
                columns = slice(run.columns.start, run.columns.start + width)
                np.copyto(self._states[run.heads, :, columns], b.state[run.items, :dk, :width])

    def _check_padding(self, chunk: Chunk) -> None:
        wrong = self._buffers.padding_is_zero(self._settings.geometry, self._items, chunk.rows)
        if wrong is not None:
            raise DeviceFault(
                f"padding of buffer {wrong} is not zero before the products of row {chunk.start}",
                ts_code=AI_CORE_EXCEPTION,
                id="cgdr.padding",
                remedy="contract C9: a loader has to zero the columns past the head width",
            )


def stage_inverse(stagers: Stagers, left: F32, right: F32) -> None:
    """Stage both operands of a product inside the inverse, of the last pair of blocks."""
    for i, stager in stagers:
        stager.inverse(left[i, -1], right[i, -1])


def store_saturated(codec: Codec, values: F32, target: Array) -> None:
    """Store `values`; in float16 a magnitude above 65504 becomes 65504."""
    if codec.name == "float16" and not np.abs(values).max(initial=0) <= LARGEST_HALF:
        values = np.clip(values, -LARGEST_HALF, LARGEST_HALF)
    codec.store(values, target)
