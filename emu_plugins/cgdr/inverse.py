"""Inverse of unit lower triangular matrices by blocked substitution.

Doubling `(I + A)(I + A^2)…` is not used: with nearly equal keys it loses every digit (`reference/performance.md` 10).
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np
from numpy.lib.stride_tricks import as_strided

if TYPE_CHECKING:
    import numpy.typing as npt

    from emu_plugins.cgdr.codecs import F32

BASE = 8


class UnitLowerInverse:
    """Turns stacks of strictly lower A [stack, n, n] into `(I - A)**-1`, in place; buffers are made once.

    `n` is 8, 16, 32 or 64. Diagonal 8x8 blocks are solved by substitution, then pairs of blocks are merged: the lower
    left block of a pair is `U11 @ A10 @ U00`. Whatever lies on or above the diagonal of A is overwritten.
    """

    def __init__(self, matrices: F32) -> None:
        stack, n, _ = matrices.shape
        self._matrices = matrices
        self._diagonal = blocks_of(matrices, BASE, 0, BASE)
        # The stack is the last axis, so that each step of the substitution runs over contiguous memory.
        self._base = np.empty((BASE, BASE, stack, n // BASE), np.float32)
        self._solved = np.empty_like(self._base)
        self._step = np.empty_like(self._base)
        self._merges = tuple(_Merge(matrices, size) for size in (8, 16, 32) if size < n)

    def run(self) -> None:
        """Invert what the matrices hold now."""
        keep_lower(self._matrices, -1)
        self._substitute()
        for merge in self._merges:
            merge.run()

    def _substitute(self) -> None:
        base, solved = self._base, self._solved
        np.copyto(base, self._diagonal.transpose(2, 3, 0, 1))
        solved[...] = 0
        solved[range(BASE), range(BASE)] = 1
        for k in range(BASE - 1):
            step = self._step[: BASE - 1 - k, : k + 1]
            np.multiply(base[k + 1 :, k, None], solved[None, k, : k + 1], out=step)
            below = solved[k + 1 :, : k + 1]
            np.add(below, step, out=below)
        np.copyto(self._diagonal, solved.transpose(2, 3, 0, 1))


class _Merge:
    """Joins inverted diagonal blocks of `size` into blocks of twice that."""

    def __init__(self, matrices: F32, size: int) -> None:
        self._upper = blocks_of(matrices, size, 0, 2 * size)
        self._lower_left = blocks_of(matrices, size, size, 2 * size)
        self._lower = blocks_of(matrices[:, size:, size:], size, 0, 2 * size, count=matrices.shape[1] // (2 * size))
        self._product = np.empty(self._upper.shape, np.float32)

    def run(self) -> None:
        np.matmul(self._lower_left, self._upper, out=self._product)
        np.matmul(self._lower, self._product, out=self._lower_left)


def blocks_of(matrices: F32, size: int, below: int, pitch: int, count: int = 0) -> F32:
    """View [stack, count, size, size] of the blocks that start `below` rows under every `pitch`-th diagonal place."""
    stack_stride, row, column = matrices.strides
    count = count or matrices.shape[1] // pitch
    return as_strided(
        matrices[:, below:],
        shape=(matrices.shape[0], count, size, size),
        strides=(stack_stride, pitch * (row + column), row, column),
    )


def keep_lower(matrices: F32, diagonal: int = 0) -> None:
    """Zero above `diagonal` (0: the main one, -1: the one below), whatever stood there, NaN included."""
    bits = matrices.view(np.uint32)
    np.bitwise_and(bits, _lower_bits(matrices.shape[-1], diagonal), out=bits)


@functools.cache
def _lower_bits(n: int, diagonal: int) -> npt.NDArray[np.uint32]:
    mask = np.tril(np.full((n, n), 0xFFFFFFFF, np.uint32), diagonal)
    mask.flags.writeable = False
    return mask
