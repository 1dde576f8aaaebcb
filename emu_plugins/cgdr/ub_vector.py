"""The Vector steps of a chunk in UB, one instruction at a time (`reference/cgdr.md` 9.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from emu_plugins.cgdr.constants import CHUNK_SIZE
from emu_plugins.cgdr.primitives import REDUCED_AT_ONCE, reduced, scalar_exp
from emu_plugins.cgdr.ub_layout import CHUNK_K, DELTA, DOT, K_CUMDECAY

if TYPE_CHECKING:
    from emu_plugins.cgdr.codecs import F32
    from emu_plugins.cgdr.ub_item import UbItem
    from emu_plugins.cgdr.ub_memory import Tenant

N = CHUNK_SIZE


class UbVector:
    """The steps of `item` on the Vector unit."""

    def __init__(self, item: UbItem) -> None:
        self._item = item

    def _dot(self, left: F32, right: F32) -> np.float32:
        """Products in dotProduct; full groups of 64 at once, then the rest one by one."""
        item = self._item
        products = item.row(DOT, "products", item.dk)
        products.put(left[: item.dk] * right[: item.dk])
        terms, total = products.read(), np.float32(0)
        whole = item.dk - item.dk % REDUCED_AT_ONCE
        for start in range(0, whole, REDUCED_AT_ONCE):
            total = np.float32(total + reduced(terms[start : start + REDUCED_AT_ONCE]))
        for term in terms[whole:]:
            total = np.float32(total + term)
        return total

    def attention(self) -> None:
        """The matrix to invert, and P over D, element by element."""
        item, n = self._item, self._item.chunk.rows
        item.scores.write((slice(0, n), slice(0, n)), 0)
        for i in range(n):
            for j in range(i):
                product = self._dot(item.beta_k.read(i), item.keys.read(j)) * item.decay.read((i, j))
                item.scores.write((i, j), -product)
            row = np.zeros(n, np.float32)
            for j in range(i + 1):
                row[j] = self._dot(item.scaled_query(i), item.keys.read(j)) * item.decay.read((i, j))
            item.p.write((i, slice(0, n)), row)

    def inverse(self) -> None:
        """Row i, copied to delta first, gains its factors times the finished rows."""
        item, n = self._item, self._item.chunk.rows
        scores, copy = item.scores, item.row(DELTA, "row of scores", N)
        for i in range(1, n):
            copy.write(slice(0, n), scores.read((i, slice(0, n))))
            for k in range(1, i):
                item.numerics.axpy(scores.edit((i, slice(0, k))), copy.read(k), scores.read((k, slice(0, k))))
        for i in range(n):
            scores.write((i, slice(i + 1, n)), 0)
            scores.write((i, i), 1)

    def _triangle_row(self, i: int, rows: Tenant, width: int) -> F32:
        """The sum over k up to i of U_ik times row k, built in delta."""
        item = self._item
        total = item.row(DELTA, "sum", width)
        total.put(0)
        for k in range(i + 1):
            item.numerics.axpy(total.edit(), item.scores.read((i, k)), rows.read(k))
        return total.read()

    def make_w(self) -> None:
        """W over K."""
        for i in range(self._item.chunk.rows):
            self._item.w.write(i, self._triangle_row(i, self._item.beta_k, self._item.k))

    def value_new(self) -> None:
        """U (beta V) in place, the last row first, since a row reads none below it."""
        for i in reversed(range(self._item.chunk.rows)):
            self._item.v.write(i, self._triangle_row(i, self._item.v, self._item.av))

    def _from_state(self, i: int, factors: F32) -> None:
        """Row i of attnOut: the sum over d of factor d times S_d."""
        item = self._item
        item.out.write(i, 0)
        for d in range(item.dk):
            item.numerics.axpy(item.out.edit(i), factors[d], item.state.read(d))

    def v_new(self) -> None:
        """V' over value_new."""
        item = self._item
        for i in range(item.chunk.rows):
            self._from_state(i, item.w.read(i))
            row = item.v.edit(i)
            np.add(row, np.negative(item.out.read(i)), out=row)

    def make_out(self) -> None:
        """O in attnOut; queries are loaded again."""
        item, n = self._item, self._item.chunk.rows
        queries = item.at(K_CUMDECAY, "Q", (N, item.k))
        item.load_rows(item.queries, CHUNK_K, queries, scale=np.float32(item.geometry.scale))
        for i in range(n):
            row = queries.edit(i)
            np.multiply(row, item.exp_g.read(i), out=row)
            self._from_state(i, queries.read(i))
            for j in range(i + 1):
                item.numerics.axpy(item.out.edit(i), item.p.read((i, j)), item.v.read(j))

    def update_state(self) -> None:
        """S decays, then gains k_i exp(G_last - G_i) times V'_i, row by row."""
        item, n = self._item, self._item.chunk.rows
        keys = item.at(K_CUMDECAY, "K", (N, item.k))
        item.load_rows(item.all_keys, CHUNK_K, keys)
        state = item.state.edit()
        np.multiply(state, item.exp_g.read(n - 1), out=state)
        g = item.prefix.read(slice(0, n))
        weights = scalar_exp(g[n - 1] - g)
        for i in range(n):
            factors = keys.read(i) * weights[i]
            for d in range(item.dk):
                item.numerics.axpy(item.state.edit(d), factors[d], item.v.read(i))
