"""The buffers of a group of work items, and the two loads that every path shares (`reference/cgdr.md` 9, steps 1 to 5).

Arrays are stacks over the items of the group. Rows are 64; a shorter chunk uses the first `n`. Columns past `dk` and
past the V tile are padding: zero before every product (contract C9).
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from emu_plugins.cgdr.constants import CHUNK_SIZE, FP32_BYTES
from emu_plugins.cgdr.inverse import keep_lower
from emu_plugins.cgdr.primitives import prefix_sum, slab_is_dma, widened_in_place
from emu_plugins.cgdr.rounding import Scratch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from emu_plugins.cgdr.codecs import F32, Array
    from emu_plugins.cgdr.fp32 import SequenceArrays
    from emu_plugins.cgdr.numerics import Numerics
    from emu_plugins.cgdr.paths import Geometry


class Columns(NamedTuple):
    """What one item of a group reads: value head, key head, first V column, V columns."""

    head: int
    key_head: int
    v_start: int
    v_width: int


class Run(NamedTuple):
    """Neighbouring items of a group with the same V columns: which items, their value heads, the columns."""

    items: slice
    heads: slice
    columns: slice

    @property
    def width(self) -> int:
        """V columns."""
        return int(self.columns.stop - self.columns.start)


def runs_of(items: Sequence[Columns]) -> tuple[Run, ...]:
    """The items in runs of neighbouring heads, each of which is read and written at once."""
    found: list[Run] = []
    for i, item in enumerate(items):
        columns = slice(item.v_start, item.v_start + item.v_width)
        last = found[-1] if found else None
        if last is not None and last.columns == columns and last.heads.stop == item.head:
            found[-1] = Run(slice(last.items.start, i + 1), slice(last.heads.start, item.head + 1), columns)
        else:
            found.append(Run(slice(i, i + 1), slice(item.head, item.head + 1), columns))
    return tuple(found)


@dataclass(frozen=True)
class ChunkBuffers:
    """Float32 stacks of one group, named as in the reference; K is `align_k`.

    Attributes:
        k, q: [G, 64, K] as loaded. k_t: [G, K, 64].
        values: [G, 64 + K, av], V times beta above the state; `v` and `state` are its parts.
        beta, g, exp_g: [G, 64]; g holds prefix sums.
        decay: [G, 64, 64]. scaled: [G, 128, K], beta K above scale Q.
        products: [G, 128, 64], first the raw scores, then P in its lower half. u: [G, 64, 64].
        w: [G, 64, K]. k_exp: [G, 64, K], beta exp(G) K. v_new, out: [G, 64, av].
    """

    k: F32
    q: F32
    k_t: F32
    values: F32
    beta: F32
    g: F32
    exp_g: F32
    decay: F32
    scaled: F32
    products: F32
    u: F32
    w: F32
    k_exp: F32
    v_new: F32
    out: F32

    @classmethod
    def make(cls, geometry: Geometry, group: int) -> ChunkBuffers:
        """Zeroed buffers for `group` items."""
        n, k, av = CHUNK_SIZE, geometry.align_k, geometry.av
        shapes = {
            "k": (n, k), "q": (n, k), "k_t": (k, n), "values": (n + k, av), "beta": (n,), "g": (n,), "exp_g": (n,),
            "decay": (n, n), "scaled": (2 * n, k), "products": (2 * n, n), "u": (n, n), "w": (n, k), "k_exp": (n, k),
            "v_new": (n, av), "out": (n, av),
        }  # fmt: skip
        return cls(**{name: np.zeros((group, *shape), np.float32) for name, shape in shapes.items()})

    @property
    def v(self) -> F32:
        """[G, 64, av]: V times beta."""
        return self.values[:, :CHUNK_SIZE]

    @property
    def state(self) -> F32:
        """[G, K, av]."""
        return self.values[:, CHUNK_SIZE:]

    def poison(self) -> None:
        """NaN in everything: whatever a chunk does not write itself shows in its result."""
        for field in fields(self):
            getattr(self, field.name).fill(np.nan)

    def padding_is_zero(self, geometry: Geometry, items: list[Columns], n: int) -> str | None:
        """The name of a buffer whose padding beside `n` rows is not exactly zero, or None (contract C9)."""
        dk = geometry.dk
        beside = (
            ("k", self.k[:, :n, dk:]), ("scaled", self.scaled[:, :n, dk:]), ("k_t", self.k_t[:, dk:, :n]),
            ("scaled", self.scaled[:, CHUNK_SIZE : CHUNK_SIZE + n, dk:]), ("state", self.state[:, dk:]),
            *(("v", self.v[i, :n, item.v_width :]) for i, item in enumerate(items)),
            *(("state", self.state[i, :, item.v_width :]) for i, item in enumerate(items)),
        )  # fmt: skip
        return next((name for name, padding in beside if padding.any()), None)


def group_scratch(geometry: Geometry, group: int) -> Scratch:
    """Scratch for the largest operand of a group."""
    n, k, av = CHUNK_SIZE, geometry.align_k, geometry.av
    return Scratch(group * max(2 * n * k, (n + k) * av, n * (n + k)))


class Loader:
    """Loads chunks of one group of items of one sequence."""

    def __init__(
        self, arrays: SequenceArrays, geometry: Geometry, items: list[Columns], defects: frozenset[str]
    ) -> None:
        self._arrays = arrays
        self._geometry = geometry
        self._heads = [item.head for item in items]
        self._key_heads = [item.key_head for item in items]
        self._runs = runs_of(items)
        self._defects = defects

    def load(self, buffers: ChunkBuffers, start: int, n: int, numerics: Numerics) -> None:
        """Steps 1 to 5: rows `start` to `start + n`, their prefix sums and decays."""
        rows = slice(start, start + n)
        self._tiles(buffers, rows, n)
        self._betas(buffers, rows, n)
        self._gates(buffers, rows, n)
        dk, scaled = self._geometry.dk, buffers.scaled
        self._zero_k_padding(scaled)
        np.multiply(buffers.k[:, :n, :dk], buffers.beta[:, :n, None], out=scaled[:, :n, :dk])
        queries = scaled[:, CHUNK_SIZE : CHUNK_SIZE + n, :dk]
        np.multiply(buffers.q[:, :n, :dk], np.float32(self._geometry.scale), out=queries)
        np.multiply(buffers.v[:, :n], buffers.beta[:, :n, None], out=buffers.v[:, :n])
        self._zero_v_padding(buffers.v[:, :n])
        decays(buffers, n, numerics)

    def _tiles(self, buffers: ChunkBuffers, rows: slice, n: int) -> None:
        arrays, dk = self._arrays, self._geometry.dk
        load = arrays.codec.load
        for source, tile in ((arrays.key, buffers.k), (arrays.query, buffers.q)):
            self._zero_k_padding(tile[:, :n])
            load(source[rows][:, self._key_heads].transpose(1, 0, 2), tile[:, :n, :dk])
        for run in self._runs:
            load(arrays.value[rows, run.heads, run.columns].transpose(1, 0, 2), buffers.v[run.items, :n, : run.width])
        np.copyto(buffers.k_t[:, :, :n], buffers.k[:, :n].transpose(0, 2, 1))

    def _zero_k_padding(self, tile: F32) -> None:
        tile[..., self._geometry.dk :] = 0

    def _zero_v_padding(self, tile: F32) -> None:
        for run in self._runs:
            tile[run.items, :, run.width :] = 0

    def _betas(self, buffers: ChunkBuffers, rows: slice, n: int) -> None:
        slab: Array = self._arrays.beta[rows]
        if "D1" in self._defects and slab_is_dma(n, slab.shape[1], slab.itemsize, self._geometry.av):
            slab = widened_in_place(slab)
        buffers.beta[:, :n] = slab[:, self._heads].T

    def _gates(self, buffers: ChunkBuffers, rows: slice, n: int) -> None:
        g = buffers.g[:, :n]
        if self._arrays.g is None:
            g[...] = 0
            return
        slab = self._arrays.g[rows]
        g[...] = slab[:, self._heads].T
        prefix_sum(g, doubling=slab_is_dma(n, slab.shape[1], FP32_BYTES, self._geometry.av))

    def load_state(self, buffers: ChunkBuffers, states: F32 | None) -> None:
        """Step 12: initial_state transposed, or `states` [Hv, dk, stride] of the workspace; padding zero."""
        dk = self._geometry.dk
        buffers.state[:, dk:] = 0
        for run in self._runs:
            tile = buffers.state[run.items, :dk, : run.width]
            if states is not None:
                np.copyto(tile, states[run.heads, :, run.columns])
            else:
                initial = self._arrays.initial_state[run.heads, run.columns]
                self._arrays.codec.load(initial.transpose(0, 2, 1), tile)
        self._zero_v_padding(buffers.state)


def decays(buffers: ChunkBuffers, n: int, numerics: Numerics) -> None:
    """exp(G), and D = exp(G_i - G_j), the exponent zero above the diagonal (step 4)."""
    g, d = buffers.g[:, :n], buffers.decay[:, :n, :n]
    np.copyto(buffers.exp_g[:, :n], g)
    numerics.exp(g, buffers.exp_g[:, :n])
    np.subtract(g[:, :, None], g[:, None, :], out=d)
    keep_lower(d)
    numerics.exp(d, d)
