"""Buffers and tiling cells by the names that users know."""

from __future__ import annotations

from difflib import get_close_matches
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from emu_core.errors import DeviceFault, InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emu_core.device import Device
    from emu_core.injection.plan import Cell, CorruptBuffer
    from emu_core.memory import Allocation

CELLS: Mapping[Cell, tuple[str, int]] = MappingProxyType(
    {"tiling_key": ("tiling key", 8), "block_dim": ("block dim", 4)}
)
"""How the memory calls the cells of an operator, and their bytes."""
CELL_ALIGN = 4


def address_of_cell(device: Device, node: str, cell: Cell) -> int | None:
    """Where the cell of operator `node` lies; None when it has none, because its tiling does not sink."""
    memory, wanted = device.memory, f"{CELLS[cell][0]} of {node}"
    for found in memory.allocations():
        if found.label == f"sink buffer of {node}":
            inside = range(found.address, found.end, CELL_ALIGN)
            return next((at for at in inside if memory.protected_as(at) == wanted), None)
    return None


def require_cell(device: Device, node: str, cell: Cell, where: str) -> None:
    """Nothing when operator `node` has the cell; `InputError` (`injection.target`) otherwise."""
    if address_of_cell(device, node, cell) is not None:
        return
    sinking = [a.label.removeprefix("sink buffer of ") for a in device.memory.allocations() if _sinks(a)]
    raise InputError(
        f"operator {node!r} has no {CELLS[cell][0]} in device memory",
        id="injection.target",
        where=where,
        remedy=f"operators whose tiling sinks to the device are {', '.join(sinking) or 'none'}",
    )


def _sinks(found: Allocation) -> bool:
    return found.label.startswith("sink buffer of ")


def buffer_of(device: Device, name: str) -> Allocation | None:
    """The first allocation that is called `name`, or holds the tensor of that name."""
    return next((a for a in device.memory.allocations() if a.label in (name, f"tensor {name}")), None)


def require_buffer(device: Device, injection: CorruptBuffer, where: str) -> None:
    """Nothing when the bytes lie in a buffer that may be changed.

    Raises:
        InputError: no such buffer (`injection.target`), too short, or written in another way (`injection.buffer`).
    """
    found = buffer_of(device, injection.buffer)
    if found is None:
        labels = sorted({a.label for a in device.memory.allocations()})
        near = get_close_matches(injection.buffer, [*labels, *(n.removeprefix("tensor ") for n in labels)], 3, 0.5)
        raise InputError(
            f"the device has no buffer {injection.buffer!r}",
            id="injection.target",
            where=where,
            remedy=f"there are {', '.join(near or labels)}",
        )
    if injection.offset + injection.size > found.size:
        raise InputError(
            f"bytes {injection.offset} to {injection.offset + injection.size - 1} go past the end of {found.label}",
            id="injection.buffer",
            where=where,
            remedy=f"it has {found.size} bytes",
        )
    try:
        device.memory.refuse_protected(found.address + injection.offset, injection.size)
    except DeviceFault:
        raise InputError(
            f"these bytes of {found.label} are no plain memory",
            id="injection.buffer",
            where=where,
            remedy="use flip-field for entries, flip-context for contexts, corrupt-cell for tiling cells",
        ) from None


def change_bytes(device: Device, injection: CorruptBuffer) -> str:
    """Change the bytes; what was done, empty when the buffer is not there or too short (now)."""
    found = buffer_of(device, injection.buffer)
    size = injection.size
    if found is None or injection.offset + size > found.size:
        return ""
    at = found.address + injection.offset
    view = device.memory.view(at, size, "write")
    before = view.tobytes()
    given = np.frombuffer(bytes.fromhex(injection.bytes or injection.xor or ""), np.uint8)
    view[:] = given if injection.bytes is not None else view ^ given
    if device.memory.on_write is not None:
        device.memory.on_write(at, size)
    first = injection.offset
    place = f"byte {first}" if size == 1 else f"bytes {first} to {first + size - 1}"
    return f"changed {place} of {found.label} ({_shown(before)} -> {_shown(view.tobytes())})"


def _shown(data: bytes) -> str:
    return data[:SHOWN].hex() + ("…" if len(data) > SHOWN else "")


SHOWN = 8
"""Bytes that a report shows."""
