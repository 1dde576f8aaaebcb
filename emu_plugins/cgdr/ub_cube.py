"""The Cube steps of a chunk in UB: which buffer lends itself to residuals, images and copies (`reference/cgdr.md` 7).

An operand leaves UB through the out queue as float16, high part and low part; what comes back from L0C lands in UB in
blocks of 16 x 16, column blocks outermost, before a copy brings it into rows (`reference/cgdr.md` 14).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from emu_plugins.cgdr.constants import CHUNK_SIZE, FP32_BYTES
from emu_plugins.cgdr.inverse import keep_lower
from emu_plugins.cgdr.numerics import PLAIN_FP16, TWO_TERM
from emu_plugins.cgdr.rounding import half_bits, round_half
from emu_plugins.cgdr.triangular import BLOCK, overlays
from emu_plugins.cgdr.ub_layout import ATTN_OUT, CHUNK_K, CHUNK_V, DELTA, DOT, K_CUMDECAY, QUEUE

if TYPE_CHECKING:
    from emu_plugins.cgdr.codecs import F32
    from emu_plugins.cgdr.ub_item import UbItem
    from emu_plugins.cgdr.ub_memory import Tenant

N = CHUNK_SIZE
BITS = "<u2"
_WIDEST_WHOLE_UPDATE = 96


class UbCube:
    """The steps of `item` on the Cube. Operands that a later step uses again stay here, as they do in device memory."""

    def __init__(self, item: UbItem) -> None:
        self._item = item
        self._inverse_left = self._values_right = self._state_right = self._v_right = np.zeros((0, 0), np.float32)

    def _queued(self, values: F32) -> F32:
        """`values`, which float16 can hold, after their way through the out queue."""
        queue = self._item.at(QUEUE, "operand", values.shape, BITS)
        queue.put(half_bits(values))
        return queue.read().view(np.float16).astype(np.float32)

    def _split(self, source: F32, residual: Tenant) -> F32:
        """High plus low part of `source`; the residual is kept in UB between them."""
        high, low = np.empty_like(source), np.empty_like(source)
        round_half(np.ascontiguousarray(source), high, np.empty_like(source))
        image = self._queued(high)
        if self._item.numerics.product == PLAIN_FP16:
            return image
        residual.put(source - high)
        rest = np.ascontiguousarray(residual.read())
        round_half(rest, low, np.empty_like(source))
        return image + self._queued(low)

    def _left(self, source: F32, buffer: str) -> F32:
        return self._split(source, self._item.at(buffer, "residual", source.shape))

    def _right(self, source: F32) -> F32:
        """Once rounded; policy `four_term` splits it too, which no device does, so its residual has no place in UB."""
        source = np.ascontiguousarray(source)
        high, low = np.empty_like(source), np.empty_like(source)
        round_half(source, high, np.empty_like(source))
        image = self._queued(high)
        if self._item.numerics.product in (TWO_TERM, PLAIN_FP16):
            return image
        round_half(source - high, low, np.empty_like(source))
        return image + self._queued(low)

    def _multiply(self, left: F32, right: F32) -> F32:
        product = np.empty((left.shape[0], right.shape[1]), np.float32)
        self._item.numerics.multiply(np.ascontiguousarray(left), np.ascontiguousarray(right), product)
        return product

    def _fetched(self, product: F32, buffer: str, skip: int = 0) -> F32:
        """`product` after its way from L0C: raw blocks in `buffer`, then rows."""
        rows, columns = product.shape
        shape = (columns // BLOCK, rows // BLOCK, BLOCK, BLOCK)
        image = self._item.at(buffer, "L0C image", shape, skip=skip)
        image.put(product.reshape(rows // BLOCK, BLOCK, columns // BLOCK, BLOCK).transpose(2, 0, 1, 3))
        return image.read().transpose(1, 2, 0, 3).reshape(rows, columns)

    def attention(self) -> None:
        """The matrix to invert, and P over D."""
        item = self._item
        turned = item.at(CHUNK_V, "K^T as float16", (item.k, N), BITS)
        turned.put(half_bits(np.ascontiguousarray(item.keys.read().T)))
        keys_t = turned.read().view(np.float16).astype(np.float32)
        for stager in item.stagers:
            stager.attention(item.beta_k.read(), keys_t, item.cached_queries.read())
        keys = self._left(item.beta_k.read(), CHUNK_V)
        queries = self._left(item.cached_queries.read(), CHUNK_V)
        products = self._multiply(np.concatenate([keys, queries]), keys_t)
        decay = item.decay
        scores = np.negative(self._fetched(products[:N], CHUNK_V) * decay.read())
        keep_lower(scores, -1)
        item.scores.put(scores)
        raw = item.at(ATTN_OUT, "raw Q K^T", (N, N))
        raw.put(self._fetched(products[N:], CHUNK_V))
        p = raw.read() * decay.read()
        keep_lower(p)
        item.p.put(p)

    def inverse(self) -> None:
        """U in place: blocks of 16, then pairs, with scratch cut from chunkV."""
        scores = self._item.scores
        for start in range(0, N, BLOCK):
            self._diagonal(start)
        for start, size in ((0, BLOCK), (2 * BLOCK, BLOCK), (0, 2 * BLOCK)):
            self._join(start, size)
        u = scores.read().copy()
        keep_lower(u)
        np.fill_diagonal(u, 1)
        scores.put(u)

    def _diagonal(self, start: int) -> None:
        item, block = self._item, slice(start, start + BLOCK)
        solved = item.at(CHUNK_V, "solved block", (BLOCK, BLOCK))
        offsets, column = item.at(DOT, "offsets", (BLOCK,), "<u4"), item.row(DELTA, "column", BLOCK)
        solved.put(np.eye(BLOCK, dtype=np.float32))
        for k in range(BLOCK - 1):
            offsets.put(np.arange(BLOCK, dtype=np.uint32) * np.uint32(N * FP32_BYTES))
            rows = offsets.read() // (N * FP32_BYTES) + start
            column.put(item.scores.read((rows, start + k)))
            for r in range(k + 1, BLOCK):
                item.numerics.axpy(solved.edit((r, slice(0, k + 1))), column.read(r), solved.read((k, slice(0, k + 1))))
        item.scores.write((block, block), solved.read())

    def _join(self, start: int, size: int) -> None:
        scores, middle = self._item.scores, start + size
        upper, lower = slice(start, middle), slice(middle, middle + size)
        inner = self._four_terms(scores.read((lower, upper)), scores.read((upper, upper)))
        corner = self._four_terms(scores.read((lower, lower)), inner)
        scores.write((lower, upper), corner)

    def _four_terms(self, left: F32, right: F32) -> F32:
        """Both operands split. The fifth segment is past the end of a chunkV 64 wide: defect D3, else in attnOut."""
        item, size = self._item, left.shape[0]
        for stager in item.stagers:
            stager.inverse(left, right)
        one = size * size * FP32_BYTES
        segments = [item.at(CHUNK_V, f"inverse segment {i}", left.shape, skip=i * one) for i in range(4)]
        segments[0].put(left)
        segments[1].put(right)
        operands = [self._split(segments[i].read(), segments[i + 2]) for i in (0, 1)]
        fetched = self._fetched(self._multiply(*operands), CHUNK_V, skip=2 * one)
        moved = overlays(item.av) and "D3" not in item.settings.defects
        buffer, skip = (ATTN_OUT, 0) if moved else (CHUNK_V, 4 * one)
        product = item.at(buffer, "inverse product", left.shape, skip=skip)
        product.put(fetched)
        return product.read()

    def _lower_u(self, buffer: str) -> F32:
        copy = self._item.at(buffer, "U", (N, N))
        copy.put(self._item.scores.read())
        return copy.read()

    def make_w(self) -> None:
        """W over K."""
        item = self._item
        u, keys = self._lower_u(ATTN_OUT), item.beta_k.read()
        for stager in item.stagers:
            stager.w(u, keys)
        left, right = self._left(u, CHUNK_V), self._right(keys)
        item.w.put(self._fetched(self._multiply(left, right), CHUNK_V))

    def value_new(self) -> None:
        """U and beta V leave for device memory; their product waits for that of the state."""
        item = self._item
        u = self._lower_u(K_CUMDECAY)
        for stager in item.stagers:
            stager.large(u, item.v.read())
        self._inverse_left = self._left(u, ATTN_OUT)
        self._values_right = self._right(item.v.read())

    def v_new(self) -> None:
        """V' over beta V."""
        item = self._item
        w = item.w.edit()
        np.negative(w, out=w)
        for stager in item.stagers:
            stager.large(w, item.state.read())
        left = self._left(item.w.read(), K_CUMDECAY)
        self._state_right = self._right(item.state.read())
        product = self._multiply(
            np.concatenate([self._inverse_left, left], 1), np.concatenate([self._values_right, self._state_right])
        )
        item.v.put(self._fetched(product, CHUNK_K))

    def make_out(self) -> None:
        """O in attnOut."""
        item = self._item
        queries = item.at(K_CUMDECAY, "Q", (N, item.k))
        item.load_rows(item.queries, CHUNK_K, queries)
        weights = item.row(DELTA, "scale exp(G)", N)
        weights.put(item.exp_g.read() * np.float32(item.geometry.scale))
        rows = queries.edit()
        np.multiply(rows, weights.read()[:, None], out=rows)
        for stager in item.stagers:
            stager.large(rows, item.state.read())
        left = self._left(queries.read(), ATTN_OUT)
        copy = item.at(K_CUMDECAY, "P", (N, N))
        copy.put(item.p.read())
        for stager in item.stagers:
            stager.large(copy.read(), item.v.read())
        more = self._left(copy.read(), ATTN_OUT)
        self._v_right = self._right(item.v.read())
        product = self._multiply(np.concatenate([left, more], 1), np.concatenate([self._state_right, self._v_right]))
        item.out.put(self._fetched(product, K_CUMDECAY))

    def update_state(self) -> None:
        """S := exp(G_last) S + (exp(G_last - G) K)^T V'."""
        item = self._item
        keys = item.at(ATTN_OUT, "K, weighted", (N, item.k))
        item.load_rows(item.all_keys, CHUNK_K, keys)
        weights, g = item.row(DELTA, "exp(G_last - G)", N), item.prefix.read()
        exponents = g[-1] - g
        item.numerics.exp(exponents, exponents)
        weights.put(exponents)
        rows = keys.edit()
        np.multiply(rows, weights.read()[:, None], out=rows)
        for stager in item.stagers:
            stager.large(np.ascontiguousarray(rows.T), item.v.read())
        left = self._turned(keys)
        state = item.state.edit()
        np.multiply(state, item.exp_g.read(-1), out=state)
        product = self._multiply(left, self._v_right)
        # Images up to 96 wide lie at the start of the big buffer whole, wider ones half by half.
        halves = (product,) if item.k <= _WIDEST_WHOLE_UPDATE else np.split(product, 2)
        update = np.concatenate([self._fetched(half, CHUNK_K) for half in halves])
        np.add(item.state.edit(), update, out=item.state.edit())

    def _turned(self, keys: Tenant) -> F32:
        """[K, 64]: the left operand of the state update, transposed as float16 in kCumdecay."""
        item = self._item
        source = np.ascontiguousarray(keys.read())
        turned = item.at(K_CUMDECAY, "K^T as float16", (item.k, N), BITS)
        high, low = np.empty_like(source), np.empty_like(source)
        round_half(source, high, np.empty_like(source))
        turned.put(half_bits(high).T)
        operand = turned.read().view(np.float16).astype(np.float32)
        if item.numerics.product == PLAIN_FP16:
            return operand
        residual = item.at(CHUNK_K, "residual", source.shape)
        residual.put(source - high)
        round_half(np.ascontiguousarray(residual.read()), low, np.empty_like(source))
        turned.put(half_bits(low).T)
        return operand + turned.read().view(np.float16).astype(np.float32)
