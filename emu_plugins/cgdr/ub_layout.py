"""Where the device's buffers lie in UB, by the device's own rule (`reference/cgdr.md` 7). Pure.

Two allocations: the float16 out queue, and behind it the big buffer, which is cut in a fixed order. Scores and state
start at one place; the steps of a chunk never need both.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from emu_plugins.cgdr.constants import CHUNK_SIZE, FP32_BYTES
from emu_plugins.cgdr.tiling import out_queue_bytes
from emu_plugins.cgdr.ub_memory import Place

if TYPE_CHECKING:
    from collections.abc import Iterator

QUEUE = "outQueue"
CHUNK_K, K_CUMDECAY, DECAY_MASK, CHUNK_V = "chunkK", "kCumdecay", "decayMask", "chunkV"
SCORES, ATTN_OUT, G_CUMSUM, DELTA, DOT = "scores/state", "attnOut", "gCumsum", "delta", "dotProduct"
EXP_G, BETA = "expG", "beta"


@dataclass(frozen=True)
class UbLayout:
    """The buffers in memory order, the queue first. `end` is the byte after the last."""

    places: tuple[Place, ...]

    @classmethod
    def of(cls, align_k: int, av: int) -> UbLayout:
        """The device's layout for K rows of `align_k` and V rows of `av` elements."""
        n = CHUNK_SIZE
        elements = (
            (CHUNK_K, n * align_k), (K_CUMDECAY, n * align_k), (DECAY_MASK, n * n), (CHUNK_V, n * av),
            (SCORES, max(n * n, align_k * av)), (ATTN_OUT, n * av), (G_CUMSUM, n), (DELTA, max(align_k, n, av)),
            (DOT, max(align_k, n)), (EXP_G, n), (BETA, n),
        )  # fmt: skip
        places = [Place(QUEUE, 0, out_queue_bytes(av, align_k))]
        for name, count in elements:
            places.append(Place(name, places[-1].end, count * FP32_BYTES))
        return cls(tuple(places))

    @property
    def end(self) -> int:
        """Bytes of UB that the layout takes."""
        return max(place.end for place in self.places)

    def __getitem__(self, name: str) -> Place:
        """The buffer called `name`."""
        return next(place for place in self.places if place.name == name)

    def clashes(self, ub_bytes: int) -> Iterator[str]:
        """In words: buffers that share bytes, and those that pass the end of a UB of `ub_bytes`."""
        for one, other in combinations(self.places, 2):
            shared = min(one.end, other.end) - max(one.offset, other.offset)
            if shared > 0:
                yield f"{one.text()} and {other.text()} share {shared} bytes from {max(one.offset, other.offset)} on"
        for place in self.places:
            if place.end > ub_bytes:
                yield f"{place.text()} passes the end of UB at {ub_bytes} by {place.end - ub_bytes} bytes"
