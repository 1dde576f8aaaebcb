"""U = (I - A)^-1 of a chunk, as the device computes it (`reference/cgdr.md` 9.1 and 11).

`blocked_inverse` solves 16x16 blocks on the Vector unit and joins them with products of four terms; `row_inverse` is
the recurrence of the Vector path. Both take stacks [stack, n, n] of strictly lower A in place and leave a unit lower U.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from emu_plugins.cgdr.inverse import blocks_of, keep_lower

if TYPE_CHECKING:
    from emu_plugins.cgdr.codecs import F32
    from emu_plugins.cgdr.numerics import Numerics
    from emu_plugins.cgdr.rounding import Scratch

BLOCK = 16
SEGMENTS = 5
"""Areas of scratch that one level cuts from the V tile: two sources, two residuals, the product."""


class StageInverse(Protocol):
    """Told of each product: both sources, as they are before the split."""

    def __call__(self, left: F32, right: F32) -> None:
        """`left` and `right` [stack, pairs of blocks, size, size]."""


def row_inverse(matrices: F32, numerics: Numerics) -> None:
    """Row i gains `A[i, k]` times the finished row k, for k from 1 to i - 1 in order.

    All rows below k take their step k at once: step k changes columns left of k only, so `A[i, k]` is still the
    original one, and row k is finished when its turn comes.
    """
    n = matrices.shape[-1]
    for k in range(1, n - 1):
        below = matrices[:, k + 1 :, :k]
        numerics.axpy(below, matrices[:, k + 1 :, k, None], matrices[:, k, None, :k])
    unit_lower(matrices)


def blocked_inverse(
    matrices: F32, numerics: Numerics, scratch: Scratch, *, overlay: bool = False, stage: StageInverse | None = None
) -> None:
    """Diagonal blocks of 16, then pairs of 16 and the pair of 32. `n` is 64.

    `overlay`: defect D3, the last product also lies over rows 0 to 15 of the matrix.
    """
    _diagonal_blocks(matrices, numerics)
    for size in (BLOCK, 2 * BLOCK):
        _join(matrices, size, numerics, scratch, stage)
    if overlay:
        half = matrices.shape[-1] // 2
        rows = half * half // matrices.shape[-1]
        matrices[:, :rows] = matrices[:, half:, :half].reshape(matrices.shape[0], rows, -1)
    unit_lower(matrices)


def overlays(av: int) -> bool:
    """Whether the five segments of the last level pass the end of a V tile that is `av` wide (defect D3)."""
    return 64 * av < SEGMENTS * 32 * 32


def unit_lower(matrices: F32) -> None:
    """Zero above the diagonal, one on it."""
    n = matrices.shape[-1]
    keep_lower(matrices)
    matrices[:, range(n), range(n)] = 1


def _diagonal_blocks(matrices: F32, numerics: Numerics) -> None:
    stack, n, _ = matrices.shape
    count = n // BLOCK
    # Blocks on the last axis: every step runs over contiguous memory.
    blocks = matrices.reshape(stack, count, BLOCK, count, BLOCK)[:, range(count), :, range(count)]
    source = np.ascontiguousarray(blocks.transpose(2, 3, 0, 1))
    solved = np.zeros_like(source)
    solved[range(BLOCK), range(BLOCK)] = 1
    for k in range(BLOCK - 1):
        numerics.axpy(solved[k + 1 :, : k + 1], source[k + 1 :, k, None], solved[None, k, : k + 1])
    for block in range(count):
        at = slice(BLOCK * block, BLOCK * (block + 1))
        matrices[:, at, at] = solved[:, :, block].transpose(2, 0, 1)


def _join(matrices: F32, size: int, numerics: Numerics, scratch: Scratch, stage: StageInverse | None) -> None:
    """Lower left = U11 (A10 U00) of every pair of diagonal blocks of `size`, the right product first."""
    pitch = 2 * size
    upper, corner = blocks_of(matrices, size, 0, pitch), blocks_of(matrices, size, size, pitch)
    lower = blocks_of(matrices[:, size:, size:], size, 0, pitch, count=corner.shape[1])
    inner = _product(corner, upper, numerics, scratch, stage)
    corner[...] = _product(lower, inner, numerics, scratch, stage)


def _product(left: F32, right: F32, numerics: Numerics, scratch: Scratch, stage: StageInverse | None) -> F32:
    if stage is not None:
        stage(left, right)
    sources = np.stack((left, right))
    operands = np.empty_like(sources)
    numerics.inverse_operand(sources, operands, scratch)
    product = np.empty(left.shape, np.float32)
    numerics.multiply(operands[0], operands[1], product)
    return product
