"""One tiling question and its answer, as values; the binary context is built from the first."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emu_core.operators import AttrValue, TensorInfo


@dataclass(frozen=True)
class TilingRequest:
    """What a tiling context is built from.

    Attributes:
        op_type, op_name: operator type and name.
        inputs: per IR input its element type and shape, None for an absent optional input; a dynamic input has one
            for each of its tensors.
        outputs: per IR output its element type and shape.
        attrs: values in the order of the IR definition.
        data: bytes of value-depended inputs that are at hand, by their place in `inputs`.
        capacity: bytes of tiling data that may be written.
        deterministic, deterministic_level: the two flags of the context.
        counts: places in `inputs` per IR input; empty: one each.
    """

    op_type: str
    op_name: str
    inputs: tuple[TensorInfo | None, ...]
    outputs: tuple[TensorInfo, ...]
    attrs: tuple[AttrValue, ...] = ()
    data: Mapping[int, bytes] = field(default_factory=dict)
    capacity: int = 16384
    deterministic: int = 0
    deterministic_level: int = 0
    counts: tuple[int, ...] = ()

    @property
    def ir_inputs(self) -> int:
        """Number of IR inputs."""
        return len(self.counts or self.inputs)


@dataclass(frozen=True)
class TilingResult:
    """What the tiling function set, read back from the context's output cells."""

    tiling_key: int
    block_dim: int
    workspaces: tuple[int, ...]
    data: bytes
    schedule_mode: int = 0
