"""The three stages of the 910B operator on one unit each, with every rounding to bfloat16 (`reference/cgdr.md` 17).

The Cube takes bfloat16 operands as they are and sums in float32. What one unit hands to another, or to a later stage,
is bfloat16, rounded half to even; so is the state between chunks. Adding in device memory (the Cube's accumulating
store) rounds the product and then the sum, which no source states.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from emu_plugins.cgdr.codecs import bfloat16_to_float32, float32_to_bfloat16
from emu_plugins.cgdr.constants import CHUNK_SIZE
from emu_plugins.cgdr.inverse import keep_lower
from emu_plugins.cgdr.triangular import row_inverse

if TYPE_CHECKING:
    from emu_plugins.cgdr.codecs import F32
    from emu_plugins.cgdr.numerics import Numerics

HALF_CHUNK = CHUNK_SIZE // 2


def low(x: F32) -> F32:
    """`x` rounded to bfloat16, as float32."""
    return bfloat16_to_float32(float32_to_bfloat16(x))


def product(left: F32, right: F32) -> F32:
    """A product on the Cube, both operands bfloat16, handed on as bfloat16."""
    return low(np.matmul(np.ascontiguousarray(left), np.ascontiguousarray(right)))


class Unit(NamedTuple):
    """One chunk of one head as float32: q, k [n, Dk], v [n, Dv], beta, g [n]."""

    q: F32
    k: F32
    v: F32
    beta: F32
    g: F32


class Handed(NamedTuple):
    """What stage 1 hands on: prefix sums, -k_cumdecay and the rest, all but the first in bfloat16."""

    prefix: F32
    k_cumdecay: F32
    v_inner: F32
    queries: F32
    keys: F32
    qk: F32


def stage_1(unit: Unit, scale: np.float32, numerics: Numerics) -> Handed:
    """Products of keys and queries, the inverse, and the four tiles that later stages need."""
    g = np.cumsum(unit.g, dtype=np.float32)
    keys_t = unit.k.T
    kk, qk = product(unit.k, keys_t), product(unit.q, keys_t)
    a = np.negative(kk * unit.beta[:, None] * decays(g, numerics))
    keep_lower(a, -1)
    inverse = inverted(a, numerics)
    exp_g, to_end = _exp(g, numerics), _exp(g[-1] - g, numerics)
    return Handed(
        prefix=g,
        k_cumdecay=product(inverse, low(np.negative(unit.beta * exp_g)[:, None] * unit.k)),
        v_inner=product(inverse, low(unit.beta[:, None] * unit.v)),
        queries=low(unit.q * scale * exp_g[:, None]),
        keys=low(unit.k * to_end[:, None]),
        qk=qk,
    )


def stage_2(handed: Handed, state: F32, numerics: Numerics) -> tuple[F32, F32, F32]:
    """(V', what the output gets from the state, the state [Dv, Dk] after the chunk), from the `state` before it."""
    v_new = low(handed.v_inner + product(handed.k_cumdecay, state.T))
    inter = product(handed.queries, state.T)
    faded = low(state * _exp(handed.prefix[-1:], numerics))
    return v_new, inter, low(faded + product(v_new.T, handed.keys))


def stage_3(qk: F32, prefix: F32, v_new: F32, inter: F32, scale: np.float32, numerics: Numerics) -> F32:
    """Output rows as float32 with bfloat16 values."""
    weights = low(qk * scale * decays(prefix, numerics))
    return low(inter + np.matmul(weights, v_new))


def decays(prefix: F32, numerics: Numerics) -> F32:
    """Exp of the differences of prefix sums: masked before exp, and after it."""
    d = prefix[:, None] - prefix[None, :]
    keep_lower(d)
    d = _exp(d, numerics)
    keep_lower(d)
    return d


def inverted(a: F32, numerics: Numerics) -> F32:
    """(I - A)^-1 in bfloat16 of strictly lower `a` [n, n].

    Each of two Vector cores solves a diagonal block of 32 rows by row elimination; the Cube joins them.
    """
    n = a.shape[0]
    whole = np.zeros((CHUNK_SIZE, CHUNK_SIZE), np.float32)
    whole[:n, :n] = a
    upper, lower = slice(0, HALF_CHUNK), slice(HALF_CHUNK, CHUNK_SIZE)
    blocks = np.stack([whole[upper, upper], whole[lower, lower]])
    row_inverse(blocks, numerics)
    solved = low(blocks)
    corner = product(solved[1], product(low(whole[lower, upper]), solved[0]))
    whole[upper, upper], whole[lower, lower], whole[lower, upper] = solved[0], solved[1], corner
    return np.ascontiguousarray(whole[:n, :n])


def _exp(x: F32, numerics: Numerics) -> F32:
    found = np.array(x, np.float32)
    numerics.exp(found, found)
    return found
