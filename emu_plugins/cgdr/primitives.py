"""The small primitives of the kernel (`reference/cgdr.md` 12). Arrays are stacks [.., n] or [.., n, width]."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from emu_plugins.cgdr.constants import CHUNK_SIZE

if TYPE_CHECKING:
    import numpy.typing as npt

    from emu_plugins.cgdr.codecs import F32

REDUCED_AT_ONCE = 64
EXP_TERMS = 12
# Halving any finite float32 this often leaves at most 1.
_MOST_HALVINGS = 128
_DMA_BLOCK = 32


def slab_is_dma(rows: int, heads: int, element_bytes: int, av: int) -> bool:
    """Whether the block of `rows` tokens and all `heads` is loaded by DMA; otherwise element by element."""
    return rows * heads <= CHUNK_SIZE * av and rows * heads * element_bytes % _DMA_BLOCK == 0


def prefix_sum(g: F32, *, doubling: bool) -> None:
    """Inclusive sums along the last axis, in place: by doubled distances (DMA path), or one after the other."""
    n = g.shape[-1]
    if not doubling:
        for i in range(1, n):
            np.add(g[..., i - 1], g[..., i], out=g[..., i])
        return
    offset = 1
    while offset < n:
        old = g.copy()
        np.add(old[..., offset:], old[..., : n - offset], out=g[..., offset:])
        offset *= 2


def scalar_exp(x: F32) -> F32:
    """Exp by halving the argument, 12 terms of the series, and squaring; beyond float32's range exactly 0 or infinite.

    An infinite argument, which the device would halve for ever, is halved 128 times and stays infinite.
    """
    a = np.abs(x)
    halvings = np.zeros(x.shape, np.int32)
    for _ in range(_MOST_HALVINGS):
        large = a > 1
        if not large.any():
            break
        np.multiply(a, np.float32(0.5), out=a, where=large)
        halvings += large
    total, term = np.ones_like(x), np.ones_like(x)
    for i in range(1, EXP_TERMS + 1):
        np.multiply(term, a / np.float32(i), out=term)
        np.add(total, term, out=total)
    for k in range(int(halvings.max(initial=0))):
        np.multiply(total, total, out=total, where=halvings > k)
    return np.where(x < 0, np.float32(1) / total, total).astype(np.float32)


def dot_rows(left: F32, right: F32) -> F32:
    """[.., n, m]: the dot product of each row of `left` [.., n, d] with each row of `right` [.., m, d].

    Every full group of 64 products is reduced at once, the partial sums are added in order, then the rest one by one.
    """
    # Depth first: each addition then runs over all pairs, which lie next to each other.
    columns, others = (np.ascontiguousarray(np.moveaxis(rows, -1, 0)) for rows in (left, right))
    products = columns[..., :, None] * others[..., None, :]
    depth = products.shape[0]
    total = np.zeros(products.shape[1:], np.float32)
    whole = depth - depth % REDUCED_AT_ONCE
    for start in range(0, whole, REDUCED_AT_ONCE):
        total += reduced(products[start : start + REDUCED_AT_ONCE])
    for i in range(whole, depth):
        total += products[i]
    return total


def reduced(group: F32) -> F32:
    """The sum over the first axis, a power of two, as a tree of halves. The hardware's own order is not known."""
    while group.shape[0] > 1:
        half = group.shape[0] // 2
        group = group[:half] + group[half:]
    return np.asarray(group[0])


def widened_in_place(slab: npt.NDArray[np.float16]) -> F32:
    """Defect D1: float16 values cast to float32 over themselves, 64 at a time, the later ones read after the damage."""
    count = slab.size
    memory = np.zeros(count * 4 + 2 * REDUCED_AT_ONCE * 4, np.uint8)
    memory[: 2 * count] = np.ascontiguousarray(slab).reshape(-1).view(np.uint8)
    for at in range(0, count, REDUCED_AT_ONCE):
        taken = memory[2 * at : 2 * (at + REDUCED_AT_ONCE)].view(np.float16).astype(np.float32)
        memory[4 * at : 4 * (at + REDUCED_AT_ONCE)] = taken.view(np.uint8)
    return memory[: 4 * count].view(np.float32).reshape(slab.shape)
