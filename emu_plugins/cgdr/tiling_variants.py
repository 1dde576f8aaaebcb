"""The versions of the host tiling by name: one table, one way to call them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

from emu_plugins.cgdr.tiling import FINAL_BUCKETS, THREE_BUCKETS, Buckets, CgdrTiling, ShapeDims, tile
from emu_plugins.cgdr.tiling_910b import FP32_INTERMEDIATES, LOW_PRECISION, Cgdr910bTiling, Precision, tile_910b
from emu_plugins.cgdr.tiling_1108 import tile_1108
from emu_plugins.cgdr.tiling_first import tile_first

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Tiling: TypeAlias = CgdrTiling | Cgdr910bTiling


@dataclass(frozen=True)
class TilingRequest:
    """What a tiling is asked for: dimensions, optional g, the scale attribute (None: not given), and the platform.

    `cores` are those that the version spreads blocks over, `ub_bytes` is UB in bytes; `chunk_size` is an attribute of
    the first version only.
    """

    dims: ShapeDims
    has_gamma: bool
    scale_value: float | None
    cores: int
    ub_bytes: int
    chunk_size: int = 64

    @property
    def scale(self) -> float:
        """The scale, or the 310P operator's default."""
        return 1.0 if self.scale_value is None else self.scale_value


@dataclass(frozen=True)
class Variant:
    """A version of the host tiling.

    Attributes:
        title: one line for people.
        run: request -> numbers; raises `TilingError`.
        buckets: compiled widths; None where there are none.
        cube_cores: blocks are spread over Cube cores, not over what the vector core query says.
        chunk_attribute: the chunk size is an attribute.
        scale_required: the scale attribute has no default.
    """

    name: str
    title: str
    run: Callable[[TilingRequest], Tiling]
    buckets: Buckets | None = None
    cube_cores: bool = False
    chunk_attribute: bool = False
    scale_required: bool = False


def _bucketed(request: TilingRequest, buckets: Buckets) -> Tiling:
    r = request
    return tile(r.dims, cores=r.cores, ub_bytes=r.ub_bytes, has_gamma=r.has_gamma, scale_value=r.scale, buckets=buckets)


def _1108(request: TilingRequest) -> Tiling:
    r = request
    return tile_1108(r.dims, cores=r.cores, ub_bytes=r.ub_bytes, has_gamma=r.has_gamma, scale_value=r.scale)


def _first(request: TilingRequest) -> Tiling:
    r = request
    return tile_first(
        r.dims, cores=r.cores, ub_bytes=r.ub_bytes, has_gamma=r.has_gamma, scale_value=r.scale, chunk_size=r.chunk_size
    )


def _910b(request: TilingRequest, precision: Precision) -> Tiling:
    r = request
    return tile_910b(r.dims, cores=r.cores, has_gamma=r.has_gamma, scale_value=r.scale, precision=precision)


VARIANTS: Mapping[str, Variant] = MappingProxyType({
    variant.name: variant
    for variant in (
        Variant(
            "final", "310P, final version: buckets 64, 80, 96, 128", partial(_bucketed, buckets=FINAL_BUCKETS),
            buckets=FINAL_BUCKETS,
        ),
        Variant(
            "three-bucket", "310P, the stage before bucket 80: buckets 64, 96, 128",
            partial(_bucketed, buckets=THREE_BUCKETS), buckets=THREE_BUCKETS,
        ),
        Variant("1108", "310P, change !1108: vector only, no buckets", _1108),
        Variant("first", "310P, first public version: one sequence, chunk size an attribute", _first,
                chunk_attribute=True),
        Variant(
            "910b", "910B, the vendor's own operator, low-precision intermediates",
            partial(_910b, precision=LOW_PRECISION), cube_cores=True, scale_required=True,
        ),
        Variant(
            "910b-fp32", "910B, its earlier version, float32 intermediates",
            partial(_910b, precision=FP32_INTERMEDIATES), cube_cores=True, scale_required=True,
        ),
    )
})  # fmt: skip
"""Versions by name, the one in use first."""

ALIASES: Mapping[str, str] = MappingProxyType({"!1108": "1108", "910B": "910b"})
"""Other spellings of a name."""
