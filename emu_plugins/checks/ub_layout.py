"""Whether the buffers of ChunkGatedDeltaRule keep apart in UB: a note with the bytes, or an error with the overlap."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core.checks import Finding, Level
from emu_plugins.cgdr.constants import CHUNK_SIZE, OP_TYPE, WIDTH_OF_KEY
from emu_plugins.cgdr.tiling_data import TILING_DATA_BYTES, CgdrTilingData

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emu_core.chips import Chip
    from emu_core.plugins import PluginHost
    from emu_core.policies import PolicySet
    from formats.blob.model import Blob, BlobOp

_REMEDY = "compile the graph again for this chip; sqemu tiling cgdr --map draws the layout"
_LARGEST_TRIED = 1 << 20


def ub_layouts(blob: Blob, chip: Chip, policies: PolicySet, host: PluginHost) -> Iterator[Finding]:
    """One finding per operator whose compile-time tiling the program has, equal ones only once."""
    seen: set[tuple[bytes, int]] = set()
    if any(op.type == OP_TYPE for op in blob.ops) and OP_TYPE in host.operators:
        for op in blob.ops:
            tiled = (op.tiling_data[:TILING_DATA_BYTES], op.tiling_key)
            if op.type == OP_TYPE and tiled not in seen and _usable(op):
                seen.add(tiled)
                yield from _of_operator(op, chip, policies)


def _usable(op: BlobOp) -> bool:
    """Whether a kernel could start with this tiling; other checks and the kernel say why not."""
    if len(op.tiling_data) < TILING_DATA_BYTES or op.tiling_key not in WIDTH_OF_KEY:
        return False
    data = CgdrTilingData.unpack(op.tiling_data)
    sizes = (data.hqk, data.dk, data.hv, data.dv, data.v_step)
    return all(0 < size <= _LARGEST_TRIED for size in sizes) and data.chunk_size == CHUNK_SIZE


def _of_operator(op: BlobOp, chip: Chip, policies: PolicySet) -> Iterator[Finding]:
    from emu_plugins.cgdr.ub_probe import device_layout, layout_breaks  # noqa: PLC0415 - numpy only where it is needed

    data, where = CgdrTilingData.unpack(op.tiling_data), f"operator {op.name}"
    broken = list(layout_breaks(data, op.tiling_key, chip.ub_bytes, policies))
    for what in broken:
        yield Finding(Level.ERROR, "check.ub-overlap", where, f"UB layout: {what}", _REMEDY)
    if not broken:
        end = device_layout(data, op.tiling_key, policies).end
        yield Finding(Level.INFO, "check.ub-layout", where, f"UB layout holds: {end} of {chip.ub_bytes} bytes")
