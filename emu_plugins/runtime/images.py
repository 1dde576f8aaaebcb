"""Kernel binaries and tiling tables in device memory.

| object | space | layout |
|---|---|---|
| kernel image | HBM | one 64-byte descriptor per tiling key, then the kernel's name |
| tiling table | TS | one 32-byte row per tiling key, ascending, unique (`device_semantics.md` 5.4); a copy per update |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from emu_core.errors import InputError
from emu_core.memory import Space
from formats.runtime import KERNEL_MAGIC, KernelDescriptor

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emu_core.device import Device
    from emu_core.kernels import CoreType
    from formats.blob import BlobKernel


@dataclass(frozen=True)
class KernelImage:
    """A loaded kernel: `entries` maps tiling key to program counter."""

    name: str
    core_type: CoreType
    entries: Mapping[int, int]

    def pc(self, key: int, op: str) -> int:
        """The entry for `key`; `InputError` when the binary has none."""
        if key not in self.entries:
            raise InputError(
                f"kernel {self.name} has no entry for the tiling key {key} (keys {sorted(self.entries)[:8]})",
                id="kernel.no-entry",
                where=f"operator {op}",
                remedy="compile the graph again with the same plugins",
            )
        return self.entries[key]


def load_kernel(device: Device, kernel: BlobKernel) -> KernelImage:
    """Write the image of `kernel`; `InputError` when no plugin supplies it or not for this product."""
    spec = device.host.kernels.get(kernel.name)
    if spec is None:
        known = ", ".join(sorted(device.host.kernels)) or "none"
        raise InputError(
            f"the blob needs the kernel {kernel.name!r}, which no plugin supplies",
            id="kernel.missing",
            remedy=f"load its plugin; kernels here: {known}",
        )
    if spec.products and device.chip.product not in spec.products:
        raise InputError(
            f"kernel {kernel.name} has no binary for {device.chip.name}",
            id="kernel.product",
            remedy=f"it has binaries for {', '.join(spec.products)}",
        )
    name = kernel.name.encode() + b"\0"
    keys = sorted(set(kernel.tiling_keys))
    image = device.memory.allocate(
        KernelDescriptor.size * len(keys) + len(name), label=f"kernel {kernel.name}", align=256
    )
    name_at = image.address + KernelDescriptor.size * len(keys)
    entries = {key: image.address + KernelDescriptor.size * i for i, key in enumerate(keys)}
    for key, pc in entries.items():
        descriptor = {
            "magic": KERNEL_MAGIC,
            "kernel_key": spec.key,
            "core_type": int(spec.core_type),
            "tiling_key": key,
            "name_addr": name_at,
        }
        device.memory.write(pc, KernelDescriptor.build(descriptor))
    device.memory.write(name_at, name)
    return KernelImage(kernel.name, spec.core_type, entries)


def write_tiling_table(device: Device, image: KernelImage, op: str) -> tuple[int, int]:
    """A tiling table of `image` in TS memory for the update of `op`; returns (address, rows)."""
    row = device.layout("TilingTabl")
    rows = [row.build({"tiling_key": key, "pc_addr0": image.entries[key]}) for key in sorted(image.entries)]
    table = device.memory.allocate(row.size * len(rows), label=f"tiling table of {op}", space=Space.TS)
    device.memory.write(table.address, b"".join(rows))
    return table.address, len(rows)
