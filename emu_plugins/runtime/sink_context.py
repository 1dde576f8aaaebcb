"""The sink buffer of an operator on the device, and what tasks find out about each other.

Mirrors the two extended attributes of an operator: `_tiling_context_addr`, written when the tiling task is set up, and
`_tiling_sink_task_info`, written when the kernel is distributed (seed 3.2). Neither is in a blob.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from emu_core.memory import Space
from emu_plugins.tiling.build import build_sink_buffer, platform_block, shape_of
from emu_plugins.tiling.layout import ALIGN, offsets

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emu_core.device import Device
    from emu_plugins.tiling.build import Addresses
    from emu_plugins.tiling.request import TilingRequest


@dataclass(frozen=True)
class TilingSinkTaskInfo:
    """The kernel that an update will patch: task id, stream id, FFTS+ handle (None for a plain kernel)."""

    task_id: int
    stream_id: int
    ffts_task_handle: int | None = None


@dataclass(frozen=True)
class TilingContextAddr:
    """Device addresses of the parts of the tiling context (seed 3.2), and the size of the whole buffer."""

    op_type: int
    tiling_context: int
    tiling_data: int
    tiling_key: int
    block_dim: int
    buffer: int
    buffer_bytes: int


def place_platform(device: Device) -> int:
    """The platform block in TS memory; returns its address."""
    raw = platform_block(device.chip)
    found = device.memory.allocate(len(raw), label="platform block", space=Space.TS)
    device.memory.write(found.address, raw)
    return found.address


def place_sink_buffer(
    device: Device, request: TilingRequest, *, platform: int, depended: Mapping[int, int], index: int = 0
) -> TilingContextAddr:
    """Build the sink buffer of an operator, copy it in one piece, and protect its key and block-dim cells.

    With policy `args_exception_dump` the last 8 bytes of the tiling data, rounded up to 8, hold `index`: which record
    the arguments have in a dump after an exception.
    """
    order = device.policies["sink_buffer_order"]
    shape = shape_of(request, depended)
    size = max(offsets(shape, order).total, shape.total)
    found = device.memory.allocate(size, label=f"sink buffer of {request.op_name}", space=Space.TS, align=ALIGN)
    built = build_sink_buffer(request, found.address, platform=platform, depended=depended, order=order)
    device.memory.write(found.address, built.image)
    if device.policies["args_exception_dump"] == "on":
        device.memory.write(found.address + built.offsets.workspaces - 8, index.to_bytes(8, "little"))
    at: Addresses = built.addresses
    device.memory.protect(at.tiling_key, 8, f"tiling key of {request.op_name}")
    device.memory.protect(at.block_dim, 4, f"block dim of {request.op_name}")
    return TilingContextAddr(
        at.op_type, at.tiling_context, at.tiling_data, at.tiling_key, at.block_dim, found.address, size
    )
