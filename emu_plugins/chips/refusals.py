"""What is refused before a loader starts: chips that nothing here can execute, and programs that do not fit.

| refusal | id | when |
|---|---|---|
| no engines | `chip.no-engines` (unsupported here) | no loaded plugin executes entries of the chip's family |
| a limit | `EE1019`, `207007`, `207008`, `207009`, `limit.…` | the program takes more than the chip has |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core.errors import InputError, Refusal
from emu_core.limits import require, uses, wait_entries

if TYPE_CHECKING:
    from emu_core.device import Device
    from formats.blob import Blob

_TYPES = range(64)


def refuse(device: Device, blob: Blob) -> None:
    """Nothing when loading `blob` into `device` may be tried.

    Raises:
        InputError: no engine for the family of the chip (`chip.no-engines`).
        LimitError: a limit is exceeded; the text names what takes how much of it.
    """
    if not executes(device):
        raise no_engines(device)
    if blob.chip == device.chip.name:
        found = uses(blob, device.chip, per_wait=wait_entries(device.policies))
        require(found, device.chip, where=f"graph {blob.name}")


def executes(device: Device) -> bool:
    """Whether any engine of the loaded plugins takes entries of this device."""
    return any(device.dispatch.find(bytes([kind]) + bytes(63)) for kind in _TYPES)


def no_engines(device: Device) -> InputError:
    """The refusal of a device without engines: it names the family that is missing."""
    chip = device.chip
    return InputError(
        f"no loaded plugin has engines for {chip.family} entries, which {chip.name} executes: programs for it can be "
        "compiled, checked and dumped, but not run",
        id="chip.no-engines",
        where=f"chip {chip.name}",
        remedy=f"load a plugin with engines and a loader for {chip.family}, or compile the graph for another chip",
        refusal=Refusal.UNSUPPORTED_HERE,
    )
