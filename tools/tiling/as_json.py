"""A tiling as JSON objects. The keys are fixed; what a version does not derive is null."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from emu_plugins.cgdr.tiling_layout import Region
    from emu_plugins.cgdr.tiling_variants import Tiling

KEYS = (
    "bucket", "align_k", "v_step", "v_tiles", "tiling_key", "block_dim", "out_queue", "tbuf", "rest_bytes",
    "workspace_need", "workspace", "tiling_data", "pad_size", "num_chunks", "path",
)  # fmt: skip
"""Keys of a tiling, in this order; `tiling_data` is hex, the others are numbers but `path`."""


def record(tiling: Tiling) -> dict[str, object]:
    """The one object of a tiling."""
    values = {key: getattr(tiling, key, None) for key in KEYS}
    return {**values, "tiling_data": tiling.tiling_data().hex()}


def region_record(space: str, region: Region) -> dict[str, object]:
    """A region of `space` (`ub` or `workspace`)."""
    return {
        "map": space, "region": region.name, "offset": region.offset, "size": region.size, "used": region.used,
    }  # fmt: skip
