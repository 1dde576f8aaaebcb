"""What a tiling function sees on this chip: a question that lies as JSON text in device memory."""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING, Any

from emu_core import PlatformInfo, StorageShape, TensorDesc, TilingError

from .layouts import EduPlan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from emu_core import AicpuLaunch

MOST_TEXT = 1 << 20
_SIZES = ("ub_bytes", "l1_bytes", "l0a_bytes", "l0b_bytes", "l0c_bytes", "l2_bytes")


class Attrs:
    """Attributes by position."""

    def __init__(self, values: list[Any]) -> None:
        self._values = values

    @property
    def num(self) -> int:
        """How many there are."""
        return len(self._values)

    def _scalar(self, index: int, kind: type) -> Any:
        value = self._values[index] if 0 <= index < self.num else None
        return value if type(value) is kind else None

    def get_float(self, index: int) -> float | None:
        """Attribute `index` rounded to float32; None when it is absent or of another kind."""
        value = self._scalar(index, float)
        return None if value is None else float(struct.unpack("<f", struct.pack("<f", value))[0])

    def get_int(self, index: int) -> int | None:
        """Attribute `index`; None when it is absent or of another kind."""
        value: int | None = self._scalar(index, int)
        return value


class Context:
    """A `TilingContext`; what the tiling function sets is written by `commit`, all or nothing."""

    def __init__(self, launch: AicpuLaunch) -> None:
        self._launch = launch
        self._asked: dict[str, Any] = json.loads(launch.memory.c_string(launch.args, MOST_TEXT))
        self._key = 0
        self._blocks = 0
        self._data = b""

    @property
    def op_type(self) -> str:
        """Operator type."""
        return str(self._asked["type"])

    @property
    def op_name(self) -> str:
        """Operator name."""
        return str(self._asked["name"])

    @property
    def platform(self) -> PlatformInfo:
        """Figures of the chip."""
        chip = self._launch.chip
        sizes = {name: int(getattr(chip, name)) for name in _SIZES}
        return PlatformInfo(chip.soc_name, chip.core_num, chip.core_num_aic, chip.core_num_aiv, **sizes)

    @property
    def attrs(self) -> Attrs:
        """Attributes of the operator."""
        return Attrs(self._asked["attrs"])

    @property
    def policies(self) -> Any:
        """Policies of the device."""
        return self._launch.policies

    def _tensor(self, kind: str, index: int, instance: int = 0) -> Any:
        listed = self._asked[kind]
        return listed[index] if 0 <= index < len(listed) and instance == 0 else None

    def input_shape(self, index: int, instance: int = 0) -> StorageShape | None:
        """Shape of an input; this chip has no dynamic ones, so `instance` is 0."""
        return _shape(self._tensor("inputs", index, instance))

    def input_desc(self, index: int, instance: int = 0) -> TensorDesc | None:
        """Element type of an input."""
        tensor = self._tensor("inputs", index, instance)
        return None if tensor is None else TensorDesc(tensor["dtype"])

    def input_tensor(self, index: int, instance: int = 0) -> bool:
        """Whether there is such an input."""
        return self._tensor("inputs", index, instance) is not None

    def input_count(self, index: int) -> int:
        """1, or 0 for an input that is not there."""
        return int(self.input_tensor(index))

    def input_data(self, index: int, instance: int = 0) -> bytes | None:
        """Value of an input that the operator depends on, as it is in memory now."""
        tensor = self._tensor("inputs", index, instance)
        if tensor is None or index not in self._asked["depends"]:
            return None
        return self._launch.memory.read(tensor["address"], tensor["size"])

    def output_shape(self, index: int) -> StorageShape | None:
        """Shape of an output."""
        return _shape(self._tensor("outputs", index))

    def set_tiling_key(self, key: int) -> None:
        """The key."""
        self._key = key

    def set_block_dim(self, block_dim: int) -> None:
        """The blocks."""
        self._blocks = block_dim

    def set_workspaces(self, sizes: Sequence[int]) -> None:
        """Refused when it is more than at compile time, which fixed the workspaces."""
        there = self._asked["workspaces"]
        if len(sizes) > len(there) or any(size > room for size, room in zip(sizes, there, strict=False)):
            raise TilingError(f"workspaces of {list(sizes)} bytes do not fit into {there}")

    def set_schedule_mode(self, mode: int) -> None:
        """This chip has one mode only."""

    def write_tiling_data(self, data: bytes) -> None:
        """The tiling data."""
        if len(data) > self._asked["capacity"]:
            raise TilingError(f"{len(data)} bytes of tiling data, at most {self._asked['capacity']} fit")
        self._data = data

    def commit(self) -> None:
        """Write tiling data and plan."""
        self._launch.memory.write(self._asked["data"], self._data)
        self._launch.poke(self._asked["plan"], EduPlan.build({"tiling_key": self._key, "blocks": self._blocks}))


def _shape(tensor: Any) -> StorageShape | None:
    return None if tensor is None else StorageShape(tuple(tensor["shape"]), tuple(tensor["shape"]))
