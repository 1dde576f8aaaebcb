"""The float32 chunked form (policy `cgdr.product` = `fp32`; `reference/cgdr.md` 1.2).

One job is up to eight value heads of one sequence, walked chunk by chunk with four stacked GEMMs each:
`[k; q] @ k^T`, `U @ [..]`, `[w; q exp(G)] @ S` and `[p; k^T decay] @ v_new`. Every buffer is made once per job.
The split into jobs depends on shapes alone and each matrix product is a BLAS call of its own, so the bytes are the
same with any number of workers.
"""

from __future__ import annotations

import functools
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

from emu_plugins.cgdr.constants import CHUNK_SIZE
from emu_plugins.cgdr.inverse import BASE, UnitLowerInverse, keep_lower
from emu_plugins.cgdr.items import key_head

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from emu_plugins.cgdr.codecs import F32, Array, Codec

Job: TypeAlias = "Callable[[], None]"
JobRunner: TypeAlias = "Callable[[Iterable[Job]], None]"

HEADS_PER_JOB = 8
WORKERS = 2


@dataclass(frozen=True)
class SequenceArrays:
    """One sequence of n tokens, in the carrier of `codec` except g (float32). `out` and `final_state` are written.

    Attributes:
        query, key: [n, Hqk, Dk].
        value: [n, Hv, Dv].
        beta: [n, Hv].
        g: [n, Hv] float32, or None for no decay.
        initial_state: [Hv, Dv, Dk].
        out: [n, Hv, Dv], in the carrier of `out_codec`.
        final_state: [Hv, Dv, Dk], likewise.
    """

    query: Array
    key: Array
    value: Array
    beta: Array
    g: F32 | None
    initial_state: Array
    out: Array
    final_state: Array
    scale: float
    codec: Codec
    out_codec: Codec

    @property
    def value_heads(self) -> int:
        """Hv."""
        return int(self.value.shape[1])


@dataclass(frozen=True)
class _Span:
    """Rows of one chunk within its sequence: `rows` real ones, the buffers are padded with zeros."""

    start: int
    rows: int

    @property
    def tokens(self) -> slice:
        return slice(self.start, self.start + self.rows)


@contextmanager
def job_runner(workers: int = WORKERS) -> Iterator[JobRunner]:
    """A function that runs jobs and waits for all of them, on `workers` threads with single-threaded BLAS.

    Spinning BLAS threads beside a pool cost up to a hundred times the work (`reference/performance.md` 10); the limit
    holds for the process while the context is open.
    """
    with _blas().limit(limits=1, user_api="blas"):
        if workers <= 1:
            yield _run_inline
            return
        with ThreadPoolExecutor(workers) as pool:
            yield lambda jobs: _wait(pool, jobs)


def sequence_jobs(arrays: SequenceArrays) -> list[Job]:
    """The independent jobs of one sequence: groups of value heads, few enough that two workers share small shapes."""
    heads = arrays.value_heads
    group = min(HEADS_PER_JOB, -(-heads // 2))
    starts = range(0, heads, group)
    return [functools.partial(_run_heads, arrays, range(h, min(h + group, heads))) for h in starts]


def _run_heads(arrays: SequenceArrays, heads: range) -> None:
    # Infinite and NaN inputs are data: they propagate as on the device, and nobody is warned.
    with np.errstate(all="ignore"):
        HeadGroup(arrays, heads).run()


class HeadGroup:
    """State and scratch of one job: value heads `heads` of one sequence."""

    def __init__(self, arrays: SequenceArrays, heads: range) -> None:
        length, hqk, dk = arrays.query.shape
        dv, group = arrays.value.shape[2], len(heads)
        n = _padded(min(length, CHUNK_SIZE))
        self._arrays = arrays
        self._heads = slice(heads.start, heads.stop)
        self._key_heads = _as_slice([key_head(h, arrays.value_heads, hqk) for h in heads])
        self._length, self._n = length, n
        self._scale = np.float32(arrays.scale)

        def scratch(*shape: int) -> F32:
            return np.zeros((group, *shape), np.float32)

        self._kq, self._k_t = scratch(2 * n, dk), scratch(dk, n)
        self._v, self._beta, self._g = scratch(n, dv), scratch(n), scratch(n)
        self._exp_g, self._decay_to_end = scratch(n), scratch(n)
        self._products, self._decay = scratch(2 * n, n), scratch(n, n)
        self._weights = scratch(n)
        self._u = scratch(n, n)
        self._wq, self._scaled_k = scratch(2 * n, dk), scratch(n, dk)
        self._u_v, self._from_state = scratch(n, dv), scratch(2 * n, dv)
        self._p_k, self._update = scratch(n + dk, n), scratch(n + dk, dv)
        self._state = scratch(dk, dv)
        self._inverse = UnitLowerInverse(self._u)

    def run(self) -> None:
        """All chunks in order, then the final state."""
        arrays = self._arrays
        state = np.empty((self._state.shape[0], self._state.shape[2], self._state.shape[1]), np.float32)
        arrays.codec.load(arrays.initial_state[self._heads], state)
        np.copyto(self._state, state.transpose(0, 2, 1))
        for start in range(0, self._length, CHUNK_SIZE):
            self._chunk(_Span(start, min(CHUNK_SIZE, self._length - start)))
        np.copyto(state, self._state.transpose(0, 2, 1))
        arrays.out_codec.store(state, arrays.final_state[self._heads])

    def _chunk(self, span: _Span) -> None:
        self._load(span)
        self._decays()
        self._attention()
        self._corrections()
        self._outputs(span)

    def _load(self, span: _Span) -> None:
        """Rows of this chunk as float32; rows past its end stay zero, which adds exactly nothing anywhere."""
        arrays, n, rows, at = self._arrays, self._n, span.rows, span.tokens
        load = arrays.codec.load
        if rows < n:
            for buffer in (self._kq, self._v, self._beta, self._g):
                buffer[...] = 0
        load(_heads_first(arrays.key[at], self._key_heads), self._kq[:, :rows])
        load(_heads_first(arrays.query[at], self._key_heads), self._kq[:, n : n + rows])
        load(_heads_first(arrays.value[at], self._heads), self._v[:, :rows])
        load(arrays.beta[at, self._heads].T, self._beta[:, :rows])
        if arrays.g is not None:
            self._g[:, :rows] = arrays.g[at, self._heads].T
        queries = self._kq[:, n:]
        np.multiply(queries, self._scale, out=queries)
        np.copyto(self._k_t, self._kq[:, :n].transpose(0, 2, 1))

    def _decays(self) -> None:
        """Prefix sums G of g, exp(G_i - G_j) below the diagonal, exp(G) and exp(G_last - G)."""
        g = self._g
        np.cumsum(g, axis=1, out=g)
        np.subtract(g[:, :, None], g[:, None, :], out=self._decay)
        np.exp(self._decay, out=self._decay)
        # Cut by its bits: above the diagonal there may be infinity, which a product with zero would turn into NaN.
        keep_lower(self._decay)
        np.exp(g, out=self._exp_g)
        np.subtract(g[:, -1:], g, out=self._decay_to_end)
        np.exp(self._decay_to_end, out=self._decay_to_end)

    def _attention(self) -> None:
        """U = (I - A)^-1 from the decayed key products, and the decayed query products P."""
        n = self._n
        np.matmul(self._kq, self._k_t, out=self._products)
        np.multiply(self._products[:, :n], self._decay, out=self._u)
        np.negative(self._beta, out=self._weights)
        np.multiply(self._u, self._weights[:, :, None], out=self._u)
        self._inverse.run()
        np.multiply(self._products[:, n:], self._decay, out=self._p_k[:, :n])

    def _corrections(self) -> None:
        """V' = U (beta V) - W S with W = U (beta exp(G) K); beside it the output that comes from the state."""
        n, wq = self._n, self._wq
        np.multiply(self._v, self._beta[:, :, None], out=self._v)
        np.multiply(self._beta, self._exp_g, out=self._weights)
        np.multiply(self._kq[:, :n], self._weights[:, :, None], out=self._scaled_k)
        np.matmul(self._u, self._scaled_k, out=wq[:, :n])
        np.multiply(self._kq[:, n:], self._exp_g[:, :, None], out=wq[:, n:])
        np.matmul(self._u, self._v, out=self._u_v)
        np.matmul(wq, self._state, out=self._from_state)
        np.subtract(self._u_v, self._from_state[:, :n], out=self._u_v)

    def _outputs(self, span: _Span) -> None:
        """O = (scale exp(G) Q) S + P V', and S <- exp(G_last) S + (exp(G_last - G) K)^T V'."""
        n, arrays = self._n, self._arrays
        np.multiply(self._k_t, self._decay_to_end[:, None, :], out=self._p_k[:, n:])
        np.matmul(self._p_k, self._u_v, out=self._update)
        out = self._from_state[:, n:]
        np.add(out, self._update[:, :n], out=out)
        np.multiply(self._state, self._exp_g[:, -1:, None], out=self._state)
        np.add(self._state, self._update[:, n:], out=self._state)
        arrays.out_codec.store(out[:, : span.rows], _heads_first(arrays.out[span.tokens], self._heads))


def _padded(rows: int) -> int:
    """Rows of the buffers: 8, 16, 32 or 64."""
    n = BASE
    while n < rows:
        n *= 2
    return n


def _as_slice(heads: list[int]) -> slice | list[int]:
    """A slice for neighbouring heads, which numpy reads without a copy; otherwise the list itself."""
    if heads == list(range(heads[0], heads[0] + len(heads))):
        return slice(heads[0], heads[0] + len(heads))
    return heads


def _heads_first(rows: Array, heads: slice | list[int]) -> Array:
    return rows[:, heads].transpose(1, 0, 2)


@functools.cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController()


def _run_inline(jobs: Iterable[Job]) -> None:
    for job in jobs:
        job()


def _wait(pool: ThreadPoolExecutor, jobs: Iterable[Job]) -> None:
    for future in [pool.submit(job) for job in jobs]:
        future.result()
