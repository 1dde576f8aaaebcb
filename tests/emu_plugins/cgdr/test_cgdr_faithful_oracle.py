"""The kernel against a literal transcription: one item, one row, one instruction at a time, real float16 casts.

The transcription uses nothing of the kernel. It shares one decision with it, which no source settles: operands that
meet in one accumulator are multiplied by one float32 GEMM, hi + lo as one operand, in the order of the device.
"""

# ruff: noqa: N803, N806 - matrices have the names of the reference

from __future__ import annotations

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from emu_plugins.cgdr.kernel import run_float16

F32 = np.float32
SLOT = 65536


def half(x):
    """Float16 values as float32: nearest even, saturating, without negative zero."""
    return np.clip(x, F32(-65504), F32(65504)).astype(np.float16).astype(F32) + F32(0)


def stored(x):
    """A saturating cast."""
    return np.clip(x, F32(-65504), F32(65504)).astype(np.float16)


def high_low(x):
    """The two float16 parts of `x`."""
    high = half(x)
    return high, half(x - high)


def both(x):
    """Hi + lo."""
    high, low = high_low(x)
    return high + low


class Literal:
    """One launch; `out`, `final` and the bytes of the workspace are its results."""

    def __init__(self, arrays, tiling, *, four=False, plain=False, fma=False, blocked=False, d3=False, slots=2):
        self.a, self.t = arrays, tiling
        self.left = half if plain else both
        self.right = both if four else half
        self.inner = half if plain else both
        self.fma, self.blocked, self.d3, self.slots = fma, blocked, d3, slots
        self.dk, self.dv = arrays["query"].shape[2], arrays["value"].shape[2]
        self.hqk, self.hv = arrays["query"].shape[1], arrays["value"].shape[1]
        self.width = (64, 80, 96, 128)[tiling.tiling_key]
        self.K = self.width if self.dk <= self.width else -(-self.dk // 16) * 16
        self.av = -(-tiling.v_step // 8) * 8
        self.stride = -(-self.dv // 8) * 8
        batch = arrays["initial_state"].shape[0]
        self.states_end = batch * self.hv * self.dk * self.stride * 4
        self.out = np.zeros_like(arrays["value"])
        self.final = np.zeros_like(arrays["initial_state"])
        self.gm = np.zeros(self.states_end + tiling.block_dim * slots * SLOT, np.uint8)

    def run(self):
        """Every block walks the whole list and runs what it owns."""
        lengths = self.a["actual_seq_lengths"].tolist()
        tiles = -(-self.dv // self.t.v_step) if self.dv > self.t.v_step else 1
        total = sum(max(n, 0) for n in lengths) * self.hv * tiles
        average = -(-total // self.t.block_dim)
        with np.errstate(all="ignore"), threadpool_limits(1, user_api="blas"):
            for block in range(self.t.block_dim):
                load = owner = offset = 0
                for b, n in enumerate(lengths):
                    for h in range(self.hv if n > 0 else 0):
                        for v in range(tiles):
                            load += n
                            mine = block == owner
                            if load >= average:
                                load, owner = 0, owner + 1
                            if mine:
                                self.item(block, b, offset, n, h, v)
                    offset += n
        return self

    def item(self, block, b, offset, n, h, v):
        """All chunks of a sequence."""
        ratio = self.hv // self.hqk if self.hv >= self.hqk else 1
        v0 = v * self.t.v_step
        cur_v = min(self.t.v_step, self.dv - v0)
        for start in range(0, n, 64):
            rows = min(64, n - start)
            self.chunk(block, b, offset + start, rows, h, h // ratio, v0, cur_v, start == 0, start + rows == n)

    def stage(self, block, slot, *parts):
        """(offset in halves, values) into a slot."""
        base = self.states_end + (block * self.slots + min(slot, self.slots - 1)) * SLOT
        for at, values in parts:
            raw = values.astype(np.float16).reshape(-1).view(np.uint8)
            self.gm[base + 2 * at : base + 2 * at + raw.size] = raw

    def stage_left(self, block, x, low_at, slot=0):
        """Hi at 0 and lo at `low_at`."""
        high, low = high_low(x)
        self.stage(block, slot, (0, high), (low_at, low))

    def axpy(self, total, factor, row):
        """Total + factor * row."""
        if self.fma:
            return np.array([float_fma(factor, x, t) for x, t in zip(row, total, strict=True)], F32)
        return total + factor * row

    def gather(self, name, first, rows, head, width, columns=slice(None)):
        """`rows` rows of a head, widened and padded with zeros."""
        found = np.zeros((rows, width), F32)
        source = self.a[name][first : first + rows, head, columns]
        found[:, : source.shape[1]] = source
        return found

    def chunk(self, block, b, first, n, h, kh, v0, cur_v, is_first, is_last):
        """Steps 1 to 17."""
        dk, K, av, B = self.dk, self.K, self.av, self.width
        cube = n == 64 and dk <= B and av == B
        k, q = self.gather("key", first, n, kh, K), self.gather("query", first, n, kh, K)
        value = self.gather("value", first, n, h, av, slice(v0, v0 + cur_v))
        beta = self.a["beta"][first : first + n, h].astype(F32)
        G = self.prefix(self.a["g"][first : first + n, h], n) if "g" in self.a else np.zeros(n, F32)
        kb = np.stack([k[i] * beta[i] for i in range(n)])
        eg = np.exp(G)
        D = np.zeros((n, n), F32)
        for i in range(n):
            for j in range(i):
                D[i, j] = G[i] - G[j]
        D = np.exp(D)
        scale = F32(self.a["scale"])
        qs = q * scale
        if cube:
            self.stage_left(block, kb, 128 * B)
            self.stage(block, 0, (64 * B, np.ascontiguousarray(k.T)))
            self.stage_left(block, qs, 128 * B, slot=1)
            both_products = self.left(np.concatenate([kb, qs])) @ np.ascontiguousarray(k.T)
            c1, c2 = both_products[:64], both_products[64:]
        else:
            c1 = np.array([[self.dot(kb[i], k[j]) if j < i else 0 for j in range(n)] for i in range(n)], F32)
            c2 = np.array([[self.dot(qs[i], k[j]) if j <= i else 0 for j in range(n)] for i in range(n)], F32)
        A = np.tril(c1 * D * F32(-1), -1)
        P = np.tril(c2 * D)
        on_cube = n == 64 and av >= B and (dk <= B or self.blocked)
        U = self.blocked_inverse(block, A) if on_cube else self.row_inverse(A)
        U = np.tril(U, -1) + np.eye(n, dtype=F32)
        kbe = np.zeros((n, K), F32)
        for i in range(n):
            kbe[i, :dk] = kb[i, :dk] * eg[i]
        vb = np.stack([value[i] * beta[i] for i in range(n)])
        S = self.state_in(b, h, v0, cur_v, is_first)
        if cube:
            self.cube_rest(block, first, h, v0, cur_v, k, q, scale, G, eg, P, U, kbe, vb, S)
        else:
            self.vector_rest(first, n, h, v0, cur_v, k, qs, G, eg, P, U, kbe, vb, S)
        if is_last:
            self.final[b, h, v0 : v0 + cur_v] = stored(S[:dk, :cur_v]).T
        else:
            columns = -(-cur_v // 8) * 8
            for d in range(dk):
                at = ((b * self.hv + h) * dk + d) * self.stride + v0
                self.gm[4 * at : 4 * (at + columns)] = S[d, :columns].copy().view(np.uint8)

    def state_in(self, b, h, v0, cur_v, is_first):
        """Step 12."""
        S = np.zeros((self.K, self.av), F32)
        for d in range(self.dk):
            if is_first:
                S[d, :cur_v] = self.a["initial_state"][b, h, v0 : v0 + cur_v, d]
            else:
                at = ((b * self.hv + h) * self.dk + d) * self.stride + v0
                S[d, :cur_v] = self.gm[4 * at : 4 * (at + cur_v)].view(F32)
        return S

    def cube_rest(self, block, first, h, v0, cur_v, k, q, scale, G, eg, P, U, kbe, vb, S):
        """Steps 10 to 16 on the Cube."""
        B = self.width
        low = 64 * B + B * B
        self.stage_left(block, U, 64 * 64 + 64 * B)
        self.stage(block, 0, (64 * 64, half(kbe)))
        W = self.left(U) @ self.right(kbe)
        self.stage_left(block, U, low)
        self.stage(block, 0, (64 * B, half(vb)))
        self.stage_left(block, -W, low)
        self.stage(block, 0, (64 * B, half(S)))
        v_new = np.concatenate([self.left(U), self.left(-W)], 1) @ np.concatenate([self.right(vb), self.right(S)])
        qe = np.stack([q[i] * (scale * eg[i]) for i in range(64)])
        self.stage_left(block, qe, low)
        self.stage_left(block, P, low)
        self.stage(block, 0, (64 * B, half(v_new)))
        out = np.concatenate([self.left(qe), self.left(P)], 1) @ np.concatenate([self.right(S), self.right(v_new)])
        self.out[first : first + 64, h, v0 : v0 + cur_v] = stored(out)[:, :cur_v]
        w = np.exp(G[63] - G)
        kw = np.ascontiguousarray(np.stack([k[i] * w[i] for i in range(64)]).T)
        self.stage_left(block, kw, low)
        S[:] = S * eg[63] + self.left(kw) @ self.right(v_new)

    def vector_rest(self, first, n, h, v0, cur_v, k, qs, G, eg, P, U, kbe, vb, S):
        """Steps 10 to 16 on the Vector unit."""
        dk = self.dk
        v_new = np.zeros_like(vb)
        for i in range(n):
            w, own, from_state = np.zeros(self.K, F32), np.zeros(self.av, F32), np.zeros(self.av, F32)
            for j in range(i + 1):
                w = self.axpy(w, U[i, j], kbe[j])
                own = self.axpy(own, U[i, j], vb[j])
            for d in range(dk):
                from_state = self.axpy(from_state, w[d], S[d])
            v_new[i] = own + from_state * F32(-1)
        for i in range(n):
            row = np.zeros(self.av, F32)
            for d in range(dk):
                row = self.axpy(row, qs[i, d] * eg[i], S[d])
            for j in range(i + 1):
                row = self.axpy(row, P[i, j], v_new[j])
            self.out[first + i, h, v0 : v0 + cur_v] = stored(row[:cur_v])
        S *= eg[n - 1]
        for i in range(n):
            weight = scalar_exp(G[n - 1] - G[i])
            for d in range(dk):
                S[d] = self.axpy(S[d], k[i, d] * weight, v_new[i])

    def prefix(self, g, n):
        """Doubling where the block of all heads is a whole number of DMA blocks that fits the V tile."""
        total = g.copy()
        if n * self.hv > 64 * self.av or n * self.hv * 4 % 32:
            for i in range(1, n):
                total[i] = total[i - 1] + g[i]
            return total
        offset = 1
        while offset < n:
            total = np.concatenate([total[:offset], total[offset:] + total[:-offset]])
            offset *= 2
        return total

    def dot(self, x, y):
        """Groups of 64 by halves, the sums in order, the rest one by one; on the real columns."""
        products = (x * y)[: self.dk]
        whole = self.dk // 64 * 64
        total = F32(0)
        for start in range(0, whole, 64):
            group = products[start : start + 64]
            while group.size > 1:
                group = group[: group.size // 2] + group[group.size // 2 :]
            total = total + group[0]
        for rest in products[whole:]:
            total = total + rest
        return total

    def row_inverse(self, A):
        """Row by row, each with the finished rows above."""
        rows = A.copy()
        for i in range(1, len(A)):
            original = rows[i].copy()
            for k in range(1, i):
                rows[i, :k] = self.axpy(rows[i, :k], original[k], rows[k, :k])
        return rows

    def blocked_inverse(self, block, A):
        """16, 32, 64."""
        M = A.copy()
        for s in range(0, 64, 16):
            original, solved = M[s : s + 16, s : s + 16].copy(), np.eye(16, dtype=F32)
            for k in range(15):
                for r in range(k + 1, 16):
                    solved[r, : k + 1] = self.axpy(solved[r, : k + 1], original[r, k], solved[k, : k + 1])
            M[s : s + 16, s : s + 16] = solved
        for s, size in ((0, 16), (32, 16), (0, 32)):
            m = s + size
            inner = self.four(block, M[m : m + size, s:m], M[s:m, s:m])
            M[m : m + size, s:m] = self.four(block, M[m : m + size, m : m + size], inner)
        if self.d3:
            M[:16] = M[32:, :32].copy().reshape(16, 64)
        return M

    def four(self, block, x, y):
        """All four terms, staged as A_hi, B_hi, A_lo, B_lo."""
        (xh, xl), (yh, yl) = high_low(x), high_low(y)
        s = x.size
        self.stage(block, 0, (0, xh), (s, yh), (2 * s, xl), (3 * s, yl))
        return self.inner(x) @ self.inner(y)


def scalar_exp(x):
    """Halve, 12 terms, square."""
    a, k = abs(x), 0
    while a > 1:
        a, k = a * F32(0.5), k + 1
    total = term = F32(1)
    for i in range(1, 13):
        term = term * (a / F32(i))
        total = total + term
    for _ in range(k):
        total = total * total
    return F32(1) / total if x < 0 else total


def float_fma(a, b, c):
    """A * b + c rounded once, by exact integers."""
    from fractions import Fraction

    exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
    near = F32(float(exact))
    # float(exact) is correctly rounded to float64; the second rounding may miss, so its neighbours are compared.
    around = [np.nextafter(near, F32(-np.inf)), near, np.nextafter(near, F32(np.inf))]
    return min(around, key=lambda x: (abs(Fraction(float(x)) - exact), int(x.view(np.uint32)) & 1))


def random_arrays(lengths, hqk, hv, dk, dv, *, seed=0, g=True):
    """Inputs like those of the stored cases."""
    rng = np.random.default_rng(seed)
    t = sum(lengths)

    def unit(*shape):
        x = rng.standard_normal(shape)
        return (x / np.linalg.norm(x, axis=-1, keepdims=True)).astype(np.float16)

    found = {
        "query": unit(t, hqk, dk), "key": unit(t, hqk, dk),
        "value": rng.standard_normal((t, hv, dv)).astype(np.float16), "beta": rng.random((t, hv)).astype(np.float16),
        "initial_state": (0.3 * rng.standard_normal((len(lengths), hv, dv, dk))).astype(np.float16),
        "actual_seq_lengths": np.array(lengths, np.int32), "scale": F32(dk**-0.5),
    }  # fmt: skip
    return found | ({"g": -rng.random((t, hv), np.float32)} if g else {})


def assert_equal(made, literal, *, workspace=True):
    """The bits of both outputs (where tokens are) and of the whole workspace."""
    np.testing.assert_array_equal(made.out().view(np.uint16), literal.out.view(np.uint16))
    np.testing.assert_array_equal(made.final_state().view(np.uint16), literal.final.view(np.uint16))
    if workspace:
        found = np.frombuffer(made.board.memory.read(made.words[9], literal.gm.size), np.uint8)
        np.testing.assert_array_equal(found, literal.gm)


CASES = {
    "full chunk, odd widths": ([64], 1, 2, 63, 63),
    "three chunks of the 80 bucket, two key heads": ([192], 2, 4, 80, 80),
    "V tiles": ([128], 1, 1, 96, 160),
    "widest, tail of 9": ([137], 1, 2, 128, 128),
    "sequences of several lengths": ([64, 5, 0, 70], 1, 3, 64, 48),
    "more heads than a job holds": ([64], 3, 12, 32, 32),
    "no bucket": ([70], 1, 1, 144, 32),
    "heads of one": ([66], 1, 1, 1, 1),
}


@pytest.mark.parametrize("case", CASES)
def test_outputs_and_workspace_are_bit_equal(make_board, case):
    """Outputs, float32 states and staging slots equal the transcription's, byte for byte."""
    arrays = random_arrays(*CASES[case])
    made = make_board(arrays)
    run_float16(made.launch())
    assert_equal(made, Literal(arrays, made.tiling).run())


@pytest.mark.parametrize(
    ("policies", "choices"),
    [
        ({"cgdr.product": "four_term"}, {"four": True}),
        ({"cgdr.product": "plain_fp16"}, {"plain": True}),
        ({"cgdr.fma": "on"}, {"fma": True}),
        ({"cgdr.defects": "D3"}, {"d3": True}),
        ({"cgdr.padding": "nan"}, {}),
    ],
    ids=lambda value: ",".join(f"{n}={v}" for n, v in value.items()),
)
def test_policies_are_bit_equal(make_board, policies, choices):
    """Each choice of arithmetic, and the inverse as shipped, equals the transcription under the same choice."""
    arrays = random_arrays([64, 67], 1, 2, 48, 40, seed=3)
    made = make_board(arrays, policies)
    run_float16(made.launch())
    assert_equal(made, Literal(arrays, made.tiling, **choices).run(), workspace=not choices.keys() & {"four"})


def test_blocked_inverse_without_a_bucket(make_board):
    """With `cgdr.fallback_inverse=blocked` full chunks of wide heads invert on the Cube, as the shipped test has it."""
    arrays = random_arrays([64], 1, 1, 144, 112)
    made = make_board(arrays, {"cgdr.fallback_inverse": "blocked"})
    assert made.tiling.v_step >= 96
    run_float16(made.launch())
    assert_equal(made, Literal(arrays, made.tiling, blocked=True).run())


def test_without_a_log_decay(make_board):
    """An absent g is zero everywhere."""
    arrays = random_arrays([130], 1, 2, 16, 16, g=False)
    made = make_board(arrays)
    run_float16(made.launch())
    assert_equal(made, Literal(arrays, made.tiling).run())


def test_one_stage_slot(make_board):
    """With one slot the values are the same, and scale Q leaves its halves where the keys were."""
    arrays = random_arrays([128], 1, 2, 64, 64)
    made = make_board(arrays, {"cgdr.stage_slots": "1"})
    run_float16(made.launch())
    assert_equal(made, Literal(arrays, made.tiling, slots=1).run())


def test_a_core_that_reports_less_ub(make_board):
    """A V step below the bucket sends every chunk to the Vector path."""
    arrays = random_arrays([70], 1, 1, 40, 64)
    made = make_board(arrays, ub_bytes=107775)
    assert made.tiling.v_step == 48
    run_float16(made.launch())
    assert_equal(made, Literal(arrays, made.tiling).run())


def test_values_beyond_float16(make_board):
    """Operands, outputs and states above 65504 saturate, at every place where float16 is used."""
    arrays = random_arrays([128], 1, 1, 32, 32)
    arrays["value"] = np.clip(arrays["value"].astype(F32) * 60000, -65504, 65504).astype(np.float16)
    arrays["scale"] = F32(1000)
    made = make_board(arrays)
    run_float16(made.launch())
    literal = Literal(arrays, made.tiling).run()
    assert np.abs(literal.out).max() == 65504
    assert_equal(made, literal)
