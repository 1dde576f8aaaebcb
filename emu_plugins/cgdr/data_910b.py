"""What a launch of the 910B operator reads: tiling data, and where the stages keep what they hand on. Pure."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

from emu_plugins.cgdr.constants import CHUNK_SIZE, INPUT_COUNT
from emu_plugins.cgdr.tiling import ShapeDims
from emu_plugins.cgdr.tiling_910b import LOW_PRECISION, SYSTEM_WORKSPACE, inter_terms

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from emu_plugins.cgdr.items import LiveSequence

_LAYOUT = struct.Struct("<13qf")
DATA_BYTES = _LAYOUT.size
"""Bytes of tiling data that the kernel reads; the library's matmul tiling behind them is not modelled."""

ARG_WORKSPACE = INPUT_COUNT + 2
ARG_TILING = INPUT_COUNT + 3

AREAS = ("G", "k_cumdecay", "v_inner", "q'", "inter-chunk output", "kg", "QK^T", "states", "masks")
"""Areas between the stages in memory order: those of `inter_terms` by position. The first holds prefix sums of g."""


@dataclass(frozen=True)
class Data910b:
    """The tiling data in memory order; names as in `DATA_NAMES`, `group` is maxGroupLength in tokens."""

    cores: int
    t: int
    nk: int
    dk: int
    nv: int
    dv: int
    batch: int
    has_gamma: int
    chunk_size: int
    group: int
    inter_bytes: int
    stage_bytes: int
    parallel: int
    scale: float

    @classmethod
    def unpack(cls, data: bytes) -> Data910b:
        """The fields of the first 108 bytes of `data`."""
        return cls(*_LAYOUT.unpack(data[:DATA_BYTES]))

    @property
    def dims(self) -> ShapeDims:
        """Tokens, heads, widths, sequences."""
        return ShapeDims(self.t, self.nk, self.dk, self.nv, self.dv, self.batch)

    def areas(self) -> Mapping[str, int]:
        """Offset of each area in the workspace, behind what the system keeps."""
        offset, found = SYSTEM_WORKSPACE, {}
        terms = inter_terms(self.dims, self.group, self.cores, LOW_PRECISION.element_bytes)
        for name, term in zip(AREAS, terms, strict=True):
            found[name] = offset
            offset += term.bytes
        return found


@dataclass(frozen=True)
class Group:
    """Chunks of one sequence that all cores work on together: tokens `start` to `start + length` of the batch."""

    sequence: LiveSequence
    start: int
    length: int

    @property
    def first(self) -> bool:
        """Whether the sequence begins here."""
        return self.start == self.sequence.start

    @property
    def last(self) -> bool:
        """Whether it ends here."""
        return self.start + self.length == self.sequence.start + self.sequence.length

    def chunks(self) -> tuple[tuple[int, int], ...]:
        """(first row in the group, rows) of each chunk."""
        return tuple((at, min(CHUNK_SIZE, self.length - at)) for at in range(0, self.length, CHUNK_SIZE))


def groups_of(sequence: LiveSequence, most: int) -> Iterator[Group]:
    """The groups of a sequence, at most `most` tokens each, one after the other."""
    for at in range(0, sequence.length, most):
        yield Group(sequence, sequence.start + at, min(most, sequence.length - at))


def stage_1_units(chunks: int, nv: int, cores: int) -> tuple[tuple[tuple[int, int], ...], ...]:
    """(chunk, head) of each core in stage 1: unit chunk * Nv + head, the first cores take one more."""
    units = [divmod(unit, nv) for unit in range(chunks * nv)]
    return _shared(units, cores)


def stage_2_heads(nv: int, cores: int) -> tuple[tuple[int, ...], ...]:
    """Heads of each core in stage 2: ceil(Nv / cores) in a row, so the last cores may have none."""
    each = -(-nv // cores)
    return tuple(tuple(range(min(core * each, nv), min((core + 1) * each, nv))) for core in range(cores))


def stage_3_units(chunks: int, nv: int, cores: int) -> tuple[tuple[tuple[int, int], ...], ...]:
    """(chunk, head) of each core in stage 3, head by head."""
    return _shared([(chunk, head) for head in range(nv) for chunk in range(chunks)], cores)


def _shared(units: list[tuple[int, int]], cores: int) -> tuple[tuple[tuple[int, int], ...], ...]:
    each, more = divmod(len(units), cores)
    ends = [core * each + min(core, more) for core in range(cores + 1)]
    return tuple(tuple(units[ends[core] : ends[core + 1]]) for core in range(cores))
