"""GM staging of Cube operands: where a block's slots lie in the workspace, and their contents (`reference/cgdr.md` 13).

The Cube reads nothing that did not pass through device memory. Each product rewrites slot 0, so what a launch leaves
there is the last full chunk of each block; only that chunk is written, since nobody can look in between.

| product | slot 0, in halves of float16 |
|---|---|
| attention, keys | A_hi, B, A_lo, each 64 * B_ |
| inverse | A_hi, B_hi, A_lo, B_lo, each the square of the block |
| W | A_hi (64 * 64), B (64 * B_), A_lo |
| V', out | A_hi (64 * B_), B (B_ * B_), A_lo: the room of the larger of the two products that share it |
| state | as V', A transposed: [B_][64] |

Slot 1 takes hi and lo of scale * Q, its B part unused. With one slot they follow in slot 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from emu_plugins.cgdr.constants import (
    CHUNK_SIZE,
    DEVICE_STAGE_SLOT_BYTES,
    FP16_BYTES,
    FP32_BYTES,
)
from emu_plugins.cgdr.rounding import half_bits, halves, round_half

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from emu_plugins.cgdr.codecs import F32
    from emu_plugins.cgdr.paths import Geometry

    Halves = npt.NDArray[np.uint16]


def state_bytes(geometry: Geometry, batch: int) -> int:
    """Bytes of the float32 states at the start of the workspace."""
    return batch * geometry.hv * geometry.dk * geometry.state_stride * FP32_BYTES


def slot_offset(states: int, block: int, slot: int, slots: int) -> int:
    """Offset of a slot in the workspace, with the literals of the device: 64 KiB per slot, whatever is used of it."""
    return states + (block * slots + slot) * DEVICE_STAGE_SLOT_BYTES


def staged_bytes(width: int) -> int:
    """Bytes of a slot that the largest products of the instance `width` use: A_hi, B, A_lo."""
    return (2 * CHUNK_SIZE * width + width * width) * FP16_BYTES


Stagers: TypeAlias = "Sequence[tuple[int, Stager]]"
"""Places in a group of items, each with the stager of its block."""


class Stager:
    """Writes the operands of one chunk into the slots of its block.

    `slots` are the used parts of the one or two slots, as float16 bits; `width` is B_.
    """

    def __init__(self, slots: list[Halves], width: int) -> None:
        self._slots = slots
        self._width = width

    @property
    def _side(self) -> int:
        return CHUNK_SIZE * self._width

    def attention(self, keys: F32, keys_t: F32, queries: F32) -> None:
        """Beta * K, the transposed keys, and scale * Q; queries go to slot 1 if there is one."""
        self._left(self._slots[0], keys, 2 * self._side)
        self._exact(keys_t, self._side)
        self._left(self._slots[-1], queries, 2 * self._side)

    def inverse(self, left: F32, right: F32) -> None:
        """Both operands of a product inside the inverse."""
        size = left.size
        for at, source in ((0, left), (size, right)):
            high, low = halves(np.ascontiguousarray(source))
            self._put(self._slots[0], at, high)
            self._put(self._slots[0], at + 2 * size, low)

    def w(self, inverse: F32, keys: F32) -> None:
        """U, and beta * exp(G) * K."""
        self._left(self._slots[0], inverse, inverse.size + keys.size)
        self._rounded(keys, inverse.size)

    def large(self, left: F32, right: F32) -> None:
        """A product in the layout of V', out and the state update."""
        self._left(self._slots[0], left, self._side + self._width * self._width)
        self._rounded(right, self._side)

    def _left(self, slot: Halves, source: F32, low_at: int) -> None:
        high, low = halves(source)
        self._put(slot, 0, high)
        self._put(slot, low_at, low)

    def _rounded(self, source: F32, at: int) -> None:
        rounded = np.empty_like(source)
        round_half(source, rounded, np.empty_like(source))
        self._exact(rounded, at)

    def _exact(self, source: F32, at: int) -> None:
        self._put(self._slots[0], at, source)

    @staticmethod
    def _put(slot: Any, at: int, values: F32) -> None:  # noqa: ANN401 - a slice of device memory
        slot[at : at + values.size] = half_bits(values).reshape(-1)
