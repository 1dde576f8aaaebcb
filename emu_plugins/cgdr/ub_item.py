"""One work item with every buffer at its place in UB (policy `cgdr.ub`; `reference/cgdr.md` 7 and 9).

The steps do what those of `item_group.py` do, one instruction at a time, on views of one byte array; a buffer that is
lent to a step as staging or scratch is a view of the lender's bytes. With a right layout all values are those of the
arrays, bit for bit. With a wrong one they are what the overlapping bytes give, and `UbMemory.overlaps` says why.

Where the reference names no place for a row of the Vector path, it is ours: sums of W and V' are built in delta, those
over the state in attnOut, and keys and queries are loaded again into kCumdecay.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from emu_plugins.cgdr.constants import CHUNK_SIZE, FP16_BYTES, FP32_BYTES, FP32_PER_BLOCK
from emu_plugins.cgdr.inverse import keep_lower
from emu_plugins.cgdr.item_group import chunks_of
from emu_plugins.cgdr.paths import VECTOR_STEPS
from emu_plugins.cgdr.primitives import slab_is_dma
from emu_plugins.cgdr.rounding import LARGEST_HALF
from emu_plugins.cgdr.tiling import ceil_align_u32
from emu_plugins.cgdr.ub_cube import UbCube
from emu_plugins.cgdr.ub_layout import (
    ATTN_OUT,
    BETA,
    CHUNK_K,
    CHUNK_V,
    DECAY_MASK,
    DELTA,
    DOT,
    EXP_G,
    G_CUMSUM,
    K_CUMDECAY,
    QUEUE,
    SCORES,
    UbLayout,
)
from emu_plugins.cgdr.ub_vector import UbVector

if TYPE_CHECKING:
    from collections.abc import Sequence

    from emu_plugins.cgdr.chunk_buffers import Columns
    from emu_plugins.cgdr.codecs import F32, Array
    from emu_plugins.cgdr.fp32 import SequenceArrays
    from emu_plugins.cgdr.item_group import Chunk, RowStore, Settings
    from emu_plugins.cgdr.paths import Steps
    from emu_plugins.cgdr.staging import Stagers
    from emu_plugins.cgdr.ub_memory import Tenant, UbMemory

N = CHUNK_SIZE
HALF = "<f2"
_LANES = 8
_GATHER = 64

STEPS = (
    "load_keys", "coefficients", "decays", "beta_keys", "query_cache", "attention", "inverse", "w", "values",
    "value_new", "load_state", "v_new", "out", "store_out", "state", "store_state",
)  # fmt: skip
"""The steps of a chunk in the device's order: the state is loaded when the scores are dead."""


class UbItem:
    """A work item.

    Args:
        settings, arrays, states, stagers, row_store: as for `ItemGroup`. item: what it reads.
        ub: the core's UB. layout: where the buffers lie; by default as the widths of `settings` say.
        order: the steps of a chunk.
    """

    def __init__(
        self,
        settings: Settings,
        arrays: SequenceArrays,
        item: Columns,
        ub: UbMemory,
        states: F32 | None = None,
        stagers: Stagers = (),
        row_store: RowStore | None = None,
        layout: UbLayout | None = None,
        order: Sequence[str] = STEPS,
    ) -> None:
        g = settings.geometry
        self.settings, self.geometry, self.numerics = settings, g, settings.numerics
        self.layout = layout or UbLayout.of(g.align_k, g.av)
        self.k, self.av, self.dk = g.align_k, g.av, g.dk
        self.ub = ub
        self._arrays, self._item, self._states, self._row_store = arrays, item, states, row_store
        self._stagers = [stager for _, stager in stagers]
        self._order = order
        self._cube, self._vector = UbCube(self), UbVector(self)
        self.chunk: Chunk
        self.steps: Steps = VECTOR_STEPS

    def run(self) -> None:
        """All chunks in order, then the final state."""
        length = int(self._arrays.query.shape[0])
        self._staged_start = length // N * N - N
        with np.errstate(all="ignore"):
            for chunk in chunks_of(length):
                self.chunk = chunk
                self.steps = self.settings.full if chunk.full else VECTOR_STEPS
                self.ub.row = chunk.start
                for step in self._order:
                    self.ub.step = step
                    getattr(self, f"_{step}")()

    @property
    def stagers(self) -> list[Any]:
        """Who keeps the operands of this chunk for the workspace."""
        return self._stagers if self.chunk.start == self._staged_start else []

    def at(self, buffer: str, holds: str, shape: tuple[int, ...], dtype: str = "<f4", skip: int = 0) -> Tenant:
        """The view of `buffer` that holds `holds`, from byte `skip` of it on."""
        name = f"{buffer}: {holds}"
        return self.ub.tenant(name, self.layout[buffer].offset + skip, shape, dtype)

    def row(self, buffer: str, holds: str, count: int) -> Tenant:
        """A vector of `count` float32."""
        return self.at(buffer, holds, (count,))

    # The buffers under the names of what they hold for longer than a step.

    @property
    def exp_g(self) -> Tenant:
        """Exp of the prefix sums."""
        return self.row(EXP_G, "exp(G)", N)

    @property
    def prefix(self) -> Tenant:
        """Prefix sums G."""
        return self.row(G_CUMSUM, "G", N)

    @property
    def beta(self) -> Tenant:
        """Beta."""
        return self.row(BETA, "beta", N)

    @property
    def decay(self) -> Tenant:
        """D."""
        return self.at(DECAY_MASK, "D", (N, N))

    @property
    def p(self) -> Tenant:
        """P, which takes the place of D."""
        return self.at(DECAY_MASK, "P", (N, N))

    @property
    def scores(self) -> Tenant:
        """The matrix to invert, then U."""
        return self.at(SCORES, "scores", (N, N))

    @property
    def state(self) -> Tenant:
        """S."""
        return self.at(SCORES, "state", (self.k, self.av))

    @property
    def keys(self) -> Tenant:
        """K, as loaded first."""
        return self.at(CHUNK_K, "K", (N, self.k))

    @property
    def beta_k(self) -> Tenant:
        """Beta K, then beta exp(G) K."""
        return self.at(K_CUMDECAY, "beta K", (N, self.k))

    @property
    def w(self) -> Tenant:
        """W, which takes the place of K."""
        return self.at(CHUNK_K, "W", (N, self.k))

    @property
    def v(self) -> Tenant:
        """Beta V, then V'."""
        return self.at(CHUNK_V, "V", (N, self.av))

    @property
    def out(self) -> Tenant:
        """O."""
        return self.at(ATTN_OUT, "O", (N, self.av))

    @property
    def caches_queries(self) -> bool:
        """Whether scale Q fits attnOut."""
        return self.chunk.rows * self.k <= N * self.av

    def load_rows(self, source: Array, staging: str, target: Tenant, *, scale: np.float32 | None = None) -> None:
        """Rows of keys or queries: float16 with zeroed padding in `staging`, widened into `target`, scaled there."""
        n, rows = self.chunk.rows, self._rows
        staged = self.at(staging, "keys or queries as float16", (n, self.k), HALF)
        staged.put(0)
        staged.write((slice(None), slice(0, self.dk)), source[rows, self._item.key_head])
        target.write(slice(0, n), staged.read().astype(np.float32))
        if scale is not None:
            np.multiply(target.edit(slice(0, n)), scale, out=target.edit(slice(0, n)))

    @property
    def queries(self) -> Array:
        """Queries of the sequence."""
        return self._arrays.query

    @property
    def all_keys(self) -> Array:
        """Keys of the sequence."""
        return self._arrays.key

    @property
    def _rows(self) -> slice:
        return slice(self.chunk.start, self.chunk.start + self.chunk.rows)

    def _load_keys(self) -> None:
        wide = self.chunk.rows * self.k > 2 * N * self.av
        if wide:
            rows = np.zeros((self.chunk.rows, self.k), np.float32)
            rows[:, : self.dk] = self._arrays.key[self._rows, self._item.key_head]
            self.keys.write(slice(0, self.chunk.rows), rows)
        else:
            self.load_rows(self._arrays.key, CHUNK_V, self.keys)

    def _coefficients(self) -> None:
        """Beta and the prefix sums, each gathered from the block of all heads."""
        n, head = self.chunk.rows, self._item.head
        slab = self._arrays.beta[self._rows]
        if slab_is_dma(n, slab.shape[1], FP16_BYTES, self.av):
            self._widen(slab)
            self._gather(self.beta, slab.shape[1])
        else:
            self.beta.write(slice(0, n), slab[:, head].astype(np.float32))
        self._gates()

    def _widen(self, slab: Array) -> None:
        """A float16 block to float32 in chunkV, 64 at a time; defect D1 stages it where the result goes."""
        shipped = "D1" in self.settings.defects
        staged = self.at(CHUNK_V if shipped else ATTN_OUT, "beta as float16", (slab.size,), HALF)
        wide = self.row(CHUNK_V, "slab", slab.size)
        staged.put(slab.reshape(-1))
        for at in range(0, slab.size, _GATHER):
            part = slice(at, at + _GATHER)
            wide.write(part, staged.read(part).astype(np.float32))

    def _gather(self, target: Tenant, heads: int) -> None:
        """Column `head` of the block in chunkV, by byte offsets kept in dotProduct."""
        n = self.chunk.rows
        offsets = self.at(DOT, "offsets", (n,), "<u4")
        offsets.put(np.arange(n, dtype=np.uint32) * np.uint32(heads * FP32_BYTES))
        places = offsets.read() // FP32_BYTES + self._item.head
        slab = self.row(CHUNK_V, "slab", n * heads)
        target.write(slice(0, n), slab.read(places))

    def _gates(self) -> None:
        n, arrays = self.chunk.rows, self._arrays
        if arrays.g is None:
            self.prefix.write(slice(0, n), 0)
            return
        slab = arrays.g[self._rows]
        if not slab_is_dma(n, slab.shape[1], FP32_BYTES, self.av):
            total = slab[:, self._item.head].copy()
            for i in range(1, n):
                total[i] = total[i - 1] + total[i]
            self.prefix.write(slice(0, n), total)
            return
        self.row(CHUNK_V, "slab", slab.size).put(slab.reshape(-1))
        self._gather(self.prefix, slab.shape[1])
        old, offset = self.row(DELTA, "prefix sums of the round before", N), 1
        while offset < n:
            old.write(slice(0, n), self.prefix.read(slice(0, n)))
            self.prefix.write(slice(offset, n), old.read(slice(offset, n)) + old.read(slice(0, n - offset)))
            offset *= 2

    def _broadcast(self, buffer: str, source: Tenant) -> F32:
        """[n, 1]: each of the row scalars `source`, from its copies in a block of eight in `buffer`."""
        n = self.chunk.rows
        copies = self.at(buffer, "row scalars", (n, _LANES))
        copies.put(source.read(slice(0, n))[:, None])
        found: F32 = copies.read()[:, :1]
        return found

    def _decays(self) -> None:
        n = self.chunk.rows
        g = self.prefix.read(slice(0, n))
        d = np.negative(g)[None, :] + self._broadcast(CHUNK_V, self.prefix)
        keep_lower(d)
        self.numerics.exp(d, d)
        self.decay.write((slice(0, n), slice(0, n)), d)
        exp_g = g.copy()
        self.numerics.exp(exp_g, exp_g)
        self.exp_g.write(slice(0, n), exp_g)

    def _beta_keys(self) -> None:
        n = self.chunk.rows
        product = np.zeros((n, self.k), np.float32)
        np.multiply(
            self.keys.read(slice(0, n))[:, : self.dk], self._broadcast(CHUNK_V, self.beta), out=product[:, : self.dk]
        )
        self.beta_k.write(slice(0, n), product)

    @property
    def cached_queries(self) -> Tenant:
        """Scale Q."""
        return self.at(ATTN_OUT, "scale Q", (self.chunk.rows, self.k))

    def _query_cache(self) -> None:
        if self.caches_queries:
            self.load_rows(self._arrays.query, CHUNK_V, self.cached_queries, scale=np.float32(self.geometry.scale))

    def scaled_query(self, i: int) -> F32:
        """Row `i` of scale Q, from the cache or built in delta."""
        if self.caches_queries:
            found: F32 = self.cached_queries.read(i)
            return found
        row = self.row(DELTA, "row of scale Q", self.k)
        row.put(0)
        query = self._arrays.query[self.chunk.start + i, self._item.key_head].astype(np.float32)
        row.write(slice(0, self.dk), query * np.float32(self.geometry.scale))
        made: F32 = row.read()
        return made

    def _attention(self) -> None:
        (self._cube if self.steps.attention else self._vector).attention()

    def _inverse(self) -> None:
        (self._cube if self.steps.inverse else self._vector).inverse()

    def _w(self) -> None:
        n = self.chunk.rows
        real = self.beta_k.edit((slice(0, n), slice(0, self.dk)))
        np.multiply(real, self.exp_g.read(slice(0, n))[:, None], out=real)
        (self._cube if self.steps.w else self._vector).make_w()

    def _values(self) -> None:
        """Beta V: V as float16 in attnOut, widened into chunkV, then the row scalars in attnOut."""
        n, item = self.chunk.rows, self._item
        staged = self.at(ATTN_OUT, "V as float16", (n, self.av), HALF)
        staged.put(0)
        columns = slice(item.v_start, item.v_start + item.v_width)
        staged.write((slice(None), slice(0, item.v_width)), self._arrays.value[self._rows, item.head, columns])
        self.v.write(slice(0, n), staged.read().astype(np.float32))
        tile = self.v.edit(slice(0, n))
        np.multiply(tile, self._broadcast(ATTN_OUT, self.beta), out=tile)
        # A product with a negative beta turns padding into -0, and the kernel zeroes it.
        tile[:, item.v_width :] = 0

    def _value_new(self) -> None:
        (self._cube if self.steps.fast else self._vector).value_new()

    def _load_state(self) -> None:
        """Initial state through kCumdecay and, transposed, chunkV; later chunks from the workspace."""
        item, state = self._item, self.state
        if self.chunk.start and self._states is not None:
            state.put(0)
            columns = slice(item.v_start, item.v_start + item.v_width)
            state.write((slice(0, self.dk), slice(0, item.v_width)), self._states[item.head, :, columns])
            return
        initial = self._arrays.initial_state[item.head, item.v_start : item.v_start + item.v_width]
        if self._transposes:
            # The V rows that are not there read as zero.
            raw = self.at(K_CUMDECAY, "initial state as float16", (self.av, self.dk), HALF)
            raw.put(0)
            raw.write(slice(0, item.v_width), initial)
            turned = self.at(CHUNK_V, "initial state, transposed", (self.dk, self.av), HALF)
            turned.put(raw.read().T)
            state.put(0)
            state.write(slice(0, self.dk), turned.read().astype(np.float32))
        else:
            state.put(0)
            state.write((slice(0, self.dk), slice(0, item.v_width)), initial.T.astype(np.float32))

    @property
    def _transposes(self) -> bool:
        """Whether 16x16 transposes can be used; not on the Vector path, where chunkV holds terms of V' by then."""
        block = self.dk % 16 == 0 and self.av % 16 == 0
        return block and self.steps.fast and self.av * self.dk <= 2 * N * min(self.k, self.av)

    def _v_new(self) -> None:
        (self._cube if self.steps.fast else self._vector).v_new()

    def _out(self) -> None:
        (self._cube if self.steps.fast else self._vector).make_out()

    def _store_out(self) -> None:
        n, item = self.chunk.rows, self._item
        queue = self.at(QUEUE, "O as float16", (n, self.av), HALF)
        queue.put(saturated(self.out.read(slice(0, n))))
        stored = queue.read()
        if self._row_store is not None:
            for i in range(n):
                self._row_store(self.chunk.start + i, item, stored[i].astype(np.float32))
            return
        columns = slice(item.v_start, item.v_start + item.v_width)
        self._arrays.out[self._rows, item.head, columns] = stored[:, : item.v_width]

    def _state(self) -> None:
        (self._cube if self.steps.fast else self._vector).update_state()

    def _store_state(self) -> None:
        item, state = self._item, self.state
        columns = slice(item.v_start, item.v_start + item.v_width)
        if self.chunk.last:
            queue = self.at(QUEUE, "final state as float16", (self.dk, self.av), HALF)
            queue.put(saturated(state.read(slice(0, self.dk))))
            turned = self.at(K_CUMDECAY, "final state, transposed", (self.av, self.dk), HALF)
            if turned.place.size <= self.layout[K_CUMDECAY].size:
                turned.put(queue.read().T)
                self._arrays.final_state[item.head, columns] = turned.read(slice(0, item.v_width))
            else:
                self._arrays.final_state[item.head, columns] = queue.read()[:, : item.v_width].T
            return
        assert self._states is not None
        width = ceil_align_u32(item.v_width, FP32_PER_BLOCK)
        rows = state.read((slice(0, self.dk), slice(0, width)))
        self._states[item.head, :, item.v_start : item.v_start + width] = rows


def saturated(values: F32) -> Array:
    """Float16 values; a magnitude above 65504 becomes 65504."""
    return np.clip(values, -LARGEST_HALF, LARGEST_HALF).astype(np.float16)
