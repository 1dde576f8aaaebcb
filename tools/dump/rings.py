"""A task blob loaded into a device of its chip: the rings of the model, and what lies at the addresses in them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from emu_core.device import Device
from formats.runtime import KERNEL_MAGIC, SUPER_KERNEL_MAGIC
from tools.dump.follow import follow
from tools.dump.sqes import Names

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emu_core.memory import Allocation
    from emu_core.model import Model
    from emu_core.plugins import PluginHost
    from formats.blob import Blob

_TEXT_LABEL = "text "


def load(blob: Blob, policies: Mapping[str, str], host: PluginHost) -> Model:
    """`blob` loaded into a fresh device of its chip; errors as `Device.load`."""
    return Device(blob.chip, policies, host).load(blob)


def names_of(device: Device) -> Names:
    """Names of addresses and device offsets of `device` (v200: addresses, too), by the labels of its allocations."""
    at = device.memory.address_of_offset if device.chip.family == "v100" else int
    return Names(
        lambda address: _name(device, address),
        lambda offset: _name(device, at(offset)),
        partial(follow, device),
    )


def _name(device: Device, address: int) -> str:
    found = device.memory.find(address)
    if found is None:
        return ""
    room = found.end - address
    known = _kernel(device, address, room) or _text(device, found, address) or device.memory.protected_as(address)
    inside = address - found.address
    return known or (f"{found.label} +{inside:#x}" if inside else found.label)


def _kernel(device: Device, address: int, room: int) -> str:
    """Name and tiling key of the kernel whose descriptor lies at `address`, or an empty string."""
    layout = device.runtime_layout("KernelDescriptor")
    if room < layout.size:
        return ""
    entry = layout.parse(device.memory.read(address, layout.size))
    if entry["magic"] == SUPER_KERNEL_MAGIC:
        return f"super kernel {_zero_ended(device, entry['name_addr'])}, {entry['tiling_key']} sub kernels"
    if entry["magic"] != KERNEL_MAGIC:
        return ""
    names = {spec.key: spec.name for spec in device.host.kernels.values()}
    return f"{names.get(entry['kernel_key'], 'unknown kernel')}, key {entry['tiling_key']}"


def _zero_ended(device: Device, address: int) -> str:
    """The text at `address`, up to its zero; empty where no memory is."""
    found = device.memory.find(address)
    raw = device.memory.read(address, found.end - address) if found else b""
    return raw.split(b"\0")[0].decode("utf-8", "replace")


def _text(device: Device, found: Allocation, address: int) -> str:
    """The text that starts at `address`, the last part of a path; or an empty string."""
    if not found.label.startswith(_TEXT_LABEL):
        return ""
    raw = device.memory.read(address, found.end - address).split(b"\0")[0]
    return raw.decode("utf-8", "replace").rpartition("/")[2]
