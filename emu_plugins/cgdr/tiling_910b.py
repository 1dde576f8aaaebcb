"""Host tiling of the vendor's 910B operator (`reference/cgdr.md` 17): another operator of the same name.

It plans no UB and no V step. It refuses what lies outside its limits, takes all Cube cores, and sizes a workspace for
one group of chunks that all cores work on in three stages. Its tiling data goes on with a matmul tiling of the vendor's
library, which is not modelled; the bytes before that are.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

from emu_core.tiling import TilingError
from emu_plugins.cgdr.constants import CHUNK_SIZE
from emu_plugins.cgdr.tiling_budget import Term
from emu_plugins.cgdr.tiling_data import to_float32

if TYPE_CHECKING:
    from emu_plugins.cgdr.tiling import ShapeDims

MOST_HEADS = 64
WIDEST_HEAD = 128
CHUNKS_PER_CORE = 2
MASKS_PER_CORE = 4
SYSTEM_WORKSPACE = 16 * 1024 * 1024
SCHEDULE_BATCH = 1

_DATA = struct.Struct("<13qf")
DATA_NAMES = (
    "aiCoreNum", "t", "nk", "dk", "nv", "dv", "b", "hasGamma", "chunkSize", "maxGroupLength", "interWorkspaceSz",
    "stageWorkspaceSz", "stageOneParaNum", "scale",
)  # fmt: skip
"""Public names of the fields before the library's part: 13 of eight bytes and a float."""


@dataclass(frozen=True)
class Precision:
    """What the stages hand to each other: bytes of an element, and tasks of stage 1 that a core has in flight."""

    element_bytes: int
    parallel: int


LOW_PRECISION = Precision(element_bytes=2, parallel=4)
"""The current version: intermediates in the input's element type."""
FP32_INTERMEDIATES = Precision(element_bytes=4, parallel=2)
"""The earlier version."""


@dataclass(frozen=True)
class Cgdr910bTiling:
    """Every number the 910B tiling derives.

    Attributes:
        dims: tokens, heads, widths, sequences.
        has_gamma: the log decay is given. `scale_value`: rounded to float32.
        cores: Cube cores, which is also the block dim.
        max_group_length: tokens of one group of chunks.
        parallel: tasks of stage 1 in flight per core.
        inter, stage: the workspace between the stages, and of stage 1.
        tiling_key, schedule_mode: 0, and 1 (all blocks start together).
        num_chunks, pad_size: as for the 310P; informational, the operator does not derive them.
    """

    dims: ShapeDims
    has_gamma: bool
    scale_value: float
    cores: int
    max_group_length: int
    parallel: int
    inter: tuple[Term, ...]
    stage: Term
    tiling_key: int = 0
    schedule_mode: int = SCHEDULE_BATCH

    @property
    def block_dim(self) -> int:
        """All Cube cores."""
        return self.cores

    @property
    def inter_bytes(self) -> int:
        """Workspace between the stages."""
        return sum(term.bytes for term in self.inter)

    @property
    def workspace_need(self) -> int:
        """Workspace of the operator itself."""
        return self.inter_bytes + self.stage.bytes

    @property
    def workspace(self) -> int:
        """What is asked for: 16 MiB for the system on top."""
        return SYSTEM_WORKSPACE + self.workspace_need

    def named_data(self) -> tuple[tuple[str, int | float], ...]:
        """The fields before the library's part, in memory order."""
        d = self.dims
        values = (
            self.cores, d.t, d.hqk, d.dk, d.hv, d.dv, d.batch, int(self.has_gamma), CHUNK_SIZE, self.max_group_length,
            self.inter_bytes, self.stage.bytes, self.parallel, self.scale_value,
        )  # fmt: skip
        return tuple(zip(DATA_NAMES, values, strict=True))

    def tiling_data(self) -> bytes:
        """The 108 bytes before the library's part."""
        return _DATA.pack(*(value for _, value in self.named_data()))


def tile_910b(
    dims: ShapeDims, *, cores: int, has_gamma: bool, scale_value: float, precision: Precision = LOW_PRECISION
) -> Cgdr910bTiling:
    """The whole host tiling.

    Args:
        dims: the dimensions, 64 bits each.
        cores: Cube cores.
        has_gamma: optional input g is given.
        scale_value: the attribute, which is required here.
        precision: element type between the stages.

    Raises:
        TilingError: a dimension lies outside the operator's limits.
    """
    _check(dims, cores)
    group = CHUNKS_PER_CORE * cores * CHUNK_SIZE
    return Cgdr910bTiling(
        dims=dims,
        has_gamma=has_gamma,
        scale_value=to_float32(scale_value),
        cores=cores,
        max_group_length=group,
        parallel=precision.parallel,
        inter=inter_terms(dims, group, cores, precision.element_bytes),
        stage=stage_term(dims, cores, precision),
    )


def inter_terms(dims: ShapeDims, group: int, cores: int, low: int) -> tuple[Term, ...]:
    """The workspace between the stages, for a group of `group` tokens; `low` is the bytes of an intermediate."""
    rows, high, c = dims.hv * group, 4, CHUNK_SIZE
    return (
        Term("exp of g prefix sums", high * rows),
        Term("k_cumdecay", low * rows * dims.dk),
        Term("v_inner", low * rows * dims.dv),
        Term("q'", low * rows * dims.dk),
        Term("inter-chunk output", low * rows * dims.dv),
        Term("kg", low * rows * dims.dk),
        Term("QK^T", low * rows * c),
        Term("states", high * dims.batch * dims.hv * dims.dv * dims.dk),
        Term("masks", high * c * c * cores * MASKS_PER_CORE),
    )


def stage_term(dims: ShapeDims, cores: int, precision: Precision) -> Term:
    """The scratch of stage 1: two squares, three tiles of K and one of V, per task in flight and core."""
    columns = 2 * CHUNK_SIZE + 3 * dims.dk + dims.dv
    return Term("stage 1", precision.element_bytes * CHUNK_SIZE * columns * precision.parallel * cores)


def _check(dims: ShapeDims, cores: int) -> None:
    if cores <= 0:
        raise TilingError(f"the platform reports {cores} Cube cores", detail={"cores": cores})
    sizes = {"T": dims.t, "B": dims.batch, "Nk": dims.hqk, "Dk": dims.dk, "Nv": dims.hv, "Dv": dims.dv}
    for name, size in sizes.items():
        if size <= 0:
            raise TilingError(f"{name} is {size}; every dimension must be above 0", detail={name: size})
    for name, most in (("Nk", MOST_HEADS), ("Nv", MOST_HEADS), ("Dk", WIDEST_HEAD), ("Dv", WIDEST_HEAD)):
        if sizes[name] > most:
            over = sizes[name] - most
            raise TilingError(
                f"{name} is {sizes[name]}, {over} more than the {most} that the 910B operator takes",
                detail={name: sizes[name], "limit": most, "over": over},
            )
    if dims.hv % dims.hqk:
        raise TilingError(f"Nv is {dims.hv}, no multiple of Nk = {dims.hqk}", detail={"Nv": dims.hv, "Nk": dims.hqk})
