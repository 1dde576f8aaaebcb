"""Widths of a launch, and which unit computes each step of a chunk (`reference/cgdr.md` 6 and 8). Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from emu_plugins.cgdr.constants import CHUNK_SIZE, FP32_PER_BLOCK, WIDTH_OF_KEY
from emu_plugins.cgdr.tiling import ceil_align_u32
from emu_plugins.cgdr.tiling_contracts import device_align_k

if TYPE_CHECKING:
    from collections.abc import Sequence

    from emu_plugins.cgdr.items import LiveSequence
    from emu_plugins.cgdr.tiling_data import CgdrTilingData

VECTOR_INVERSE = "vector"
BLOCKED_INVERSE = "blocked"


@dataclass(frozen=True)
class Geometry:
    """What the device rebuilds from the tiling data and its key; widths are elements.

    Attributes:
        width: the compiled width B_. align_k: row width of K tiles. av: row width of V tiles.
        dk, dv, hv: of the tensors. v_step: V columns of an item.
        scale: float32 value.
    """

    width: int
    align_k: int
    av: int
    dk: int
    dv: int
    hv: int
    v_step: int
    scale: float

    @classmethod
    def of(cls, data: CgdrTilingData, key: int) -> Geometry:
        """The widths of the instance for `key`, which exists."""
        width = WIDTH_OF_KEY[key]
        align_k = device_align_k(data.dk, width)
        av = ceil_align_u32(data.v_step, FP32_PER_BLOCK)
        return cls(width, align_k, av, data.dk, data.dv, data.hv, data.v_step, data.scale_value)

    @property
    def state_stride(self) -> int:
        """Elements of a row of the float32 states in the workspace."""
        return ceil_align_u32(self.dv, FP32_PER_BLOCK)


class Steps(NamedTuple):
    """The steps of a chunk that run on the Cube; the others run on the Vector unit.

    `fast` governs V', the output and the state update.
    """

    attention: bool = False
    inverse: bool = False
    w: bool = False
    fast: bool = False

    @property
    def name(self) -> str:
        """`cube`, `vector`, or the steps that are on the Cube."""
        on_cube = [name for name, cube in zip(self._fields, self, strict=True) if cube]
        if len(on_cube) == len(self):
            return "cube"
        return "vector" + (f", {' and '.join(on_cube)} on cube" if on_cube else "")


VECTOR_STEPS = Steps()
"""A chunk of fewer than 64 rows, whatever the widths are."""


def full_chunk_steps(geometry: Geometry, fallback_inverse: str = VECTOR_INVERSE) -> Steps:
    """The steps of a chunk of 64 rows.

    `fallback_inverse`: the shipped test for the blocked inverse does not look at `dk`; `vector` adds that it must not
    exceed the compiled width, `blocked` is the test as shipped.
    """
    fits, wide = geometry.dk <= geometry.width, geometry.av >= geometry.width
    return Steps(
        attention=fits and wide and geometry.align_k <= geometry.av,
        inverse=wide and (fits or fallback_inverse == BLOCKED_INVERSE),
        w=fits and wide,
        fast=fits and geometry.av == geometry.width,
    )


class PathFacts(NamedTuple):
    """How many chunks of a launch took which path, counted per value head and V tile."""

    full: int
    tails: int
    full_path: str

    def text(self) -> str:
        """For example `12 chunks cube, 2 tails vector`."""
        parts = ([f"{self.full} chunks {self.full_path}"] if self.full else []) + (
            [f"{self.tails} tails {VECTOR_STEPS.name}"] if self.tails else []
        )
        return ", ".join(parts) or "no chunk"


def path_facts(
    geometry: Geometry, sequences: Sequence[LiveSequence], tiles: int, fallback_inverse: str = VECTOR_INVERSE
) -> PathFacts:
    """The paths of a launch over `sequences` with `tiles` V tiles per head."""
    items = geometry.hv * tiles
    full = sum(sequence.length // CHUNK_SIZE for sequence in sequences) * items
    tails = sum(sequence.length % CHUNK_SIZE > 0 for sequence in sequences) * items
    return PathFacts(full, tails, full_chunk_steps(geometry, fallback_inverse).name)
