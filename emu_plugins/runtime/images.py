"""Kernel binaries and tiling tables in device memory.

| object | space | layout |
|---|---|---|
| kernel image | HBM | one 64-byte descriptor per entry, then the kernel's name |
| tiling table | TS | one row per tiling key, ascending, unique (`device_semantics.md` 5.4); a copy per update |

A tiling key has one entry, or two where a block uses both kinds of cores: that of the cube cores, then that of the
vector cores. Rows have 32 bytes on v100; on v200 8 more, for memory and kind of vector functions, which no kernel here
has.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

from emu_core.errors import InputError
from emu_core.kernels import CoreType, MixType
from emu_core.memory import Space
from formats.runtime import KERNEL_MAGIC, KernelDescriptor

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emu_core.device import Device
    from emu_core.kernels import Mix
    from formats.blob import BlobKernel


ROWS: Mapping[str, str] = MappingProxyType({"v100": "TilingTabl", "v200": "TilingTablForDavid"})
"""Layout of a row by family."""


@dataclass(frozen=True)
class KernelImage:
    """A loaded kernel.

    Attributes:
        entries: program counter by tiling key. seconds: that of the vector cores, where there are two.
        mixes: how a block uses cube and vector cores, by tiling key; empty unless it may use both.
    """

    name: str
    core_type: CoreType
    entries: Mapping[int, int]
    seconds: Mapping[int, int] = field(default_factory=dict)
    mixes: Mapping[int, Mix] = field(default_factory=dict)

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
    found = {} if device.chip.fused_cores else {key: spec.mix_at(key) for key in keys}
    mixes = {key: mix for key, mix in found.items() if mix is not None}
    two = [key for key, mix in mixes.items() if mix.type.both]
    count = len(keys) + len(two)
    image = device.memory.allocate(KernelDescriptor.size * count + len(name), label=f"kernel {kernel.name}", align=256)
    name_at = image.address + KernelDescriptor.size * count
    entries = {key: image.address + KernelDescriptor.size * i for i, key in enumerate(keys)}
    seconds = {key: image.address + KernelDescriptor.size * i for i, key in enumerate(two, len(keys))}
    for key, pc in (*entries.items(), *seconds.items()):
        descriptor = {
            "magic": KERNEL_MAGIC,
            "kernel_key": spec.key,
            "core_type": int(_core(spec.core_type, mixes.get(key), second=pc in seconds.values())),
            "tiling_key": key,
            "name_addr": name_at,
        }
        device.memory.write(pc, KernelDescriptor.build(descriptor))
    device.memory.write(name_at, name)
    return KernelImage(kernel.name, spec.core_type, entries, seconds, mixes)


def _core(core_type: CoreType, mix: Mix | None, *, second: bool) -> CoreType:
    """The cores that an entry of a kernel runs on."""
    if mix is None:
        return core_type
    return CoreType.AIV if second or mix.type is MixType.AIV_ONLY else CoreType.AIC


def _row(image: KernelImage, key: int) -> dict[str, int]:
    """Fields of the row of `key`."""
    mix = image.mixes.get(key)
    return {
        "tiling_key": key,
        "pc_addr0": image.entries[key],
        "pc_addr1": image.seconds.get(key, 0),
        "task_ratio": mix.secondary if mix else 0,
        "mix_type": int(mix.type) if mix else 0,
    }


def write_tiling_table(device: Device, image: KernelImage, op: str) -> tuple[int, int]:
    """A tiling table of `image` in TS memory for the update of `op`; returns (address, rows)."""
    row = device.layout(ROWS[device.chip.family])
    rows = [row.build(_row(image, key)) for key in sorted(image.entries)]
    table = device.memory.allocate(row.size * len(rows), label=f"tiling table of {op}", space=Space.TS)
    device.memory.write(table.address, b"".join(rows))
    return table.address, len(rows)
