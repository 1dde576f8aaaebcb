"""The steps of a chunk on the Vector path: float32, one multiply-add after the other (`reference/cgdr.md` 9.1).

Rows of a chunk are independent in each step, so a step does its k-th multiply-add for all of them at once; the order
within a row is the device's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from emu_plugins.cgdr.constants import CHUNK_SIZE
from emu_plugins.cgdr.primitives import dot_rows, scalar_exp

if TYPE_CHECKING:
    from emu_plugins.cgdr.chunk_buffers import ChunkBuffers
    from emu_plugins.cgdr.codecs import F32
    from emu_plugins.cgdr.numerics import Numerics
    from emu_plugins.cgdr.paths import Geometry

_BAND = 16


class VectorSteps:
    """The steps over the first `n` rows of a group's buffers. Each fills the buffer it is named after."""

    def __init__(self, geometry: Geometry, buffers: ChunkBuffers, numerics: Numerics) -> None:
        self._geometry = geometry
        self._b = buffers
        self._numerics = numerics

    def attention(self, n: int) -> None:
        """Dot products of beta K and of scale Q with K, over the real `dk` columns."""
        b, dk = self._b, self._geometry.dk
        for i in range(b.k.shape[0]):
            for start in range(0, n, _BAND):
                # Row j of a band looks at keys up to its own; what lies above the diagonal is masked later.
                end = min(start + _BAND, n)
                keys = b.k[i, :end, :dk]
                for first in (0, CHUNK_SIZE):
                    rows = slice(first + start, first + end)
                    b.products[i, rows, :end] = dot_rows(b.scaled[i, rows, :dk], keys)

    def w(self, n: int) -> None:
        """W_i: the sum over k up to i of U_ik times row k of beta exp(G) K."""
        self._triangle(self._b.u, self._b.k_exp, self._b.w, n)

    def _triangle(self, factors: F32, rows: F32, total: F32, n: int) -> None:
        total[:, :n] = 0
        for k in range(n):
            self._numerics.axpy(total[:, k:n], factors[:, k:n, k, None], rows[:, None, k])

    def v_new(self, n: int) -> None:
        """V'_i: the sum of U_ik (beta V)_k, minus the sum over d of W_id S_d, which is built apart."""
        b, geometry = self._b, self._geometry
        self._triangle(b.u, b.v, b.v_new, n)
        from_state = self._from_state(b.w[:, :n], geometry.dk)
        np.add(b.v_new[:, :n], np.negative(from_state), out=b.v_new[:, :n])

    def _from_state(self, rows: F32, depth: int) -> F32:
        b = self._b
        total = np.zeros((*rows.shape[:2], b.state.shape[-1]), np.float32)
        for d in range(depth):
            self._numerics.axpy(total, rows[:, :, d, None], b.state[:, None, d])
        return total

    def out(self, n: int) -> None:
        """O_i: scale q exp(G_i) times S over d, then P_ij V'_j for j up to i."""
        b, geometry = self._b, self._geometry
        queries = b.scaled[:, CHUNK_SIZE : CHUNK_SIZE + n] * b.exp_g[:, :n, None]
        b.out[:, :n] = self._from_state(queries, geometry.dk)
        weights = b.products[:, CHUNK_SIZE : CHUNK_SIZE + n]
        for j in range(n):
            self._numerics.axpy(b.out[:, j:n], weights[:, j:n, j, None], b.v_new[:, None, j])

    def state(self, n: int) -> None:
        """S decays, then gains k_i exp(G_last - G_i) times V'_i, row by row, with the scalar exponential."""
        b, dk = self._b, self._geometry.dk
        np.multiply(b.state, b.exp_g[:, n - 1, None, None], out=b.state)
        weights = scalar_exp(b.g[:, n - 1 : n] - b.g[:, :n])
        for i in range(n):
            factors = b.k[:, i, :dk] * weights[:, i, None]
            self._numerics.axpy(b.state[:, :dk], factors[:, :, None], b.v_new[:, None, i])
