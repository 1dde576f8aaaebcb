"""The steps of a full chunk on the Cube path, with every rounding in order (`reference/cgdr.md` 9).

A product takes its left operand as hi + lo and its right one as h, made anew wherever the device stages it. The pairs
of products that share an L0C tile are one GEMM, concatenated along K in the device's order:

| tile | left | right |
|---|---|---|
| V' | U, -W | h(beta V), h(S) |
| out | scale exp(G) Q, P | h(S), h(V') |

All right operands of a chunk lie in one array, h(beta V) above h(S) above h(V'), so that h(S) is staged once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from emu_plugins.cgdr.constants import CHUNK_SIZE

if TYPE_CHECKING:
    from emu_plugins.cgdr.chunk_buffers import ChunkBuffers
    from emu_plugins.cgdr.codecs import F32
    from emu_plugins.cgdr.numerics import Numerics
    from emu_plugins.cgdr.paths import Geometry
    from emu_plugins.cgdr.rounding import Scratch
    from emu_plugins.cgdr.staging import Stagers

N = CHUNK_SIZE


class CubeSteps:
    """Cube operands of one group, and the steps that use them. Each step fills the buffer it is named after."""

    def __init__(self, geometry: Geometry, buffers: ChunkBuffers, numerics: Numerics, scratch: Scratch) -> None:
        group, k, av = buffers.k.shape[0], geometry.align_k, geometry.av
        self._b = buffers
        self._numerics = numerics
        self._scratch = scratch
        self._scale = np.float32(geometry.scale)
        self._k = k

        # Left operands follow each other in one area, and so do the keys of W and what comes after: less cache is used.
        left = np.zeros((group, max(2 * N * k, N * (N + k))), np.float32)
        self._left_products, self._left_state = _cut(left, 2 * N, k), _cut(left, k, N)
        self._left_v, self._left_out = _cut(left, N, N + k), _cut(left, N, k + N)
        right = np.zeros((group, (N + k + N) * max(av, k)), np.float32)
        self._right, self._right_keys = _cut(right, N + k + N, av), _cut(right, N, k)
        self._out_sources = np.zeros((group, N, k + N), np.float32)
        self._weights = np.zeros((group, N), np.float32)
        self._keys, self._update = np.zeros((group, k, N), np.float32), np.zeros((group, k, av), np.float32)

    def attention(self, stagers: Stagers) -> None:
        """Step 6: (beta K) K^T above (scale Q) K^T; K^T is exact in float16."""
        b = self._b
        for i, stager in stagers:
            stager.attention(b.scaled[i, :N], b.k_t[i], b.scaled[i, N:])
        self._numerics.left(b.scaled, self._left_products, self._scratch)
        self._numerics.multiply(self._left_products, b.k_t, b.products)

    def w(self, stagers: Stagers) -> None:
        """Step 10: W = U (beta exp(G) K)."""
        b = self._b
        for i, stager in stagers:
            stager.w(b.u[i], b.k_exp[i])
        inverse = self._left_v[:, :, :N]
        self._numerics.left(b.u, inverse, self._scratch)
        self._numerics.right(b.k_exp, self._right_keys, self._scratch)
        self._numerics.multiply(inverse, self._right_keys, b.w)

    def v_new(self, stagers: Stagers) -> None:
        """Step 13: V' = U (beta V) - W S, the sign on W before it is split. U is staged by `w`, which runs before."""
        b, numerics, scratch, k = self._b, self._numerics, self._scratch, self._k
        np.negative(b.w, out=b.w)
        for i, stager in stagers:
            stager.large(b.u[i], b.v[i])
            stager.large(b.w[i], b.state[i])
        numerics.left(b.w, self._left_v[:, :, N:], scratch)
        numerics.right(b.values, self._right[:, : N + k], scratch)
        numerics.multiply(self._left_v, self._right[:, : N + k], b.v_new)

    def out(self, stagers: Stagers) -> None:
        """Step 14: O = (scale exp(G) Q) S + P V'; h(S) is the image of step 13."""
        b, numerics, scratch, k = self._b, self._numerics, self._scratch, self._k
        np.multiply(b.exp_g, self._scale, out=self._weights)
        queries, p = self._out_sources[:, :, :k], self._out_sources[:, :, k:]
        np.multiply(b.q, self._weights[:, :, None], out=queries)
        np.copyto(p, b.products[:, N:])
        for i, stager in stagers:
            stager.large(queries[i], b.state[i])
            stager.large(p[i], b.v_new[i])
        numerics.left(self._out_sources, self._left_out, scratch)
        numerics.right(b.v_new, self._right[:, N + k :], scratch)
        numerics.multiply(self._left_out, self._right[:, N:], b.out)

    def state(self, stagers: Stagers) -> None:
        """Step 16: S = exp(G_last) S + (exp(G_last - G) K)^T V'."""
        b, numerics, scratch, k = self._b, self._numerics, self._scratch, self._k
        np.subtract(b.g[:, -1:], b.g, out=self._weights)
        numerics.exp(self._weights, self._weights)
        weighted = self._keys
        np.multiply(b.k_t, self._weights[:, None, :], out=weighted)
        for i, stager in stagers:
            stager.large(weighted[i], b.v_new[i])
        numerics.left(weighted, self._left_state, scratch)
        numerics.multiply(self._left_state, self._right[:, N + k :], self._update)
        np.multiply(b.state, b.exp_g[:, -1:, None], out=b.state)
        np.add(b.state, self._update, out=b.state)


def _cut(area: F32, rows: int, columns: int) -> F32:
    """[G, rows, columns] at the start of each row of `area` [G, elements]."""
    return area[:, : rows * columns].reshape(area.shape[0], rows, columns)
