"""Tiling on the host for a launch: values read back, the function run, workspaces that fit, data on the device."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from emu_core.errors import InputError
from emu_core.tiling import TilingError
from emu_plugins.tiling.host import tile_on_host

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from emu_core.device import Device
    from emu_plugins.runtime.operators import Operators
    from emu_plugins.runtime.placement import Placement
    from emu_plugins.tiling.request import TilingResult
    from formats.blob import Blob


@dataclass
class HostTiling:
    """The host's side of the tiling of one blob.

    Attributes:
        data: address of the tiling data of each operator, by its index.
    """

    device: Device
    blob: Blob
    placement: Placement
    operators: Operators
    data: list[int] = field(init=False)

    def __post_init__(self) -> None:
        memory = self.device.memory
        sizes = [max(op.tiling_capacity, len(op.tiling_data), 8) for op in self.blob.ops]
        self.data = [
            memory.allocate(size, label=f"tiling data of {op.name}").address
            for op, size in zip(self.blob.ops, sizes, strict=True)
        ]

    def values(self, index: int) -> dict[int, bytes]:
        """Depended values of operator `index` by their place among its inputs, read back from the device."""
        op = self.blob.ops[index]
        return {
            i: self.device.memory.read(self.placement.tensors[tensor], self.placement.blob.tensors[tensor].size)
            for i in op.depends
            for tensor in [op.inputs[i]]
            if tensor is not None
        }

    def tile(self, index: int, values: Mapping[int, bytes]) -> TilingResult:
        """Tile operator `index` for `values`.

        Raises:
            InputError: the operator cannot be tiled for them (`tiling.failed`).
            PluginError: the tiling function raised something else.
        """
        request = self.operators.request(index, values)
        try:
            return tile_on_host(self.operators.specs[index], request, self.device.chip, self.device.policies)
        except TilingError as error:
            raise InputError(
                f"host tiling failed: {error.what}",
                id="tiling.failed",
                where=f"operator {self.blob.ops[index].name}",
                remedy="check the values this tiling reads, and the shapes",
            ) from None

    def fit_workspaces(self, index: int, sizes: Sequence[int]) -> None:
        """Give operator `index` larger workspaces where it has not `sizes` bytes.

        One of unknown shape has exactly as many as this launch needs: its kernel is passed all of them.
        """
        placed = self.placement.workspaces[index]
        name = self.blob.ops[index].name
        for i, size in enumerate(sizes):
            if i < len(placed) and size <= placed[i].size:
                continue
            if i < len(placed):
                self.device.memory.free(placed[i].address)
                self.placement.scratch.remove(placed[i].address)
            placed[i : i + 1] = [self.device.memory.allocate(max(size, 1), label=f"workspace {i} of {name}")]
            self.placement.scratch.append(placed[i].address)
        for extra in placed[len(sizes) :] if self._unknown(index) else ():
            self.device.memory.free(extra.address)
            self.placement.scratch.remove(extra.address)
            placed.remove(extra)

    def _unknown(self, index: int) -> bool:
        """Some tensor of operator `index` has a shape that is known at run time only."""
        op = self.blob.ops[index]
        named = (tensor for tensor in (*op.inputs, *op.outputs) if tensor is not None)
        return any(min(self.blob.tensors[tensor].shape, default=0) < 0 for tensor in named)

    def place_data(self, index: int, data: bytes) -> int:
        """Copy tiling data to the device; returns its address."""
        if data:
            self.device.memory.write(self.data[index], data)
        return self.data[index]
