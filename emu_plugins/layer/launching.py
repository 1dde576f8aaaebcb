"""How every operator of the layer is tiled and launched.

The tiling counts *units* of work (tokens, or tiles of columns) and plans min(units, cores) blocks. Block b owns slice b
of the units, rounded up, as planned: blocks that are not launched leave their part unwritten. The tiling key is the
element type of the tensors, 0 float16 and 1 bfloat16.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from emu_core import Case, CoreType, Cost, DeviceFault, KernelSpec, OperatorSpec, TilingError
from formats.dtypes import BY_NAME

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    import numpy.typing as npt

    from emu_core import AttrSpec, InputSpec, KernelLaunch, OutputSpec, TilingContext
    from emu_core.operators import Arrays, Infer
    from emu_plugins.cgdr.codecs import Codec

    F32 = npt.NDArray[np.float32]

AI_CORE_EXCEPTION = 0x26
WORKSPACE_BYTES = 4096
KEY_OF_DTYPE = {"float16": 0, "bfloat16": 1}
_DTYPE_OF_KEY = {key: name for name, key in KEY_OF_DTYPE.items()}
_DTYPE_OF_CODE = {BY_NAME[name].code: name for name in KEY_OF_DTYPE}
_DIMS = 8
_LAYOUT = struct.Struct(f"<II{_DIMS}If")


class Plan(NamedTuple):
    """44 bytes of tiling data, little-endian, in this order.

    Attributes:
        units: units of work. blocks: blocks that the tiling planned.
        dims: eight numbers, with a meaning of their own in each operator; unused ones are 0.
        number: a float attribute, or 0.
    """

    units: int
    blocks: int
    dims: tuple[int, ...]
    number: float

    def pack(self) -> bytes:
        """The 44 bytes."""
        return _LAYOUT.pack(self.units, self.blocks, *self.dims, *(0,) * (_DIMS - len(self.dims)), self.number)

    @classmethod
    def unpack(cls, data: bytes) -> Plan:
        """The plan in the first 44 bytes of `data`."""
        units, blocks, *dims, number = _LAYOUT.unpack(data[: _LAYOUT.size])
        return cls(units, blocks, tuple(dims), number)

    def slice_of(self, block: int) -> tuple[int, int]:
        """First and one past the last unit of `block`."""
        width = -(-self.units // max(self.blocks, 1))
        return min(block * width, self.units), min((block + 1) * width, self.units)


class Tensors:
    """Parts of the tensors of one launch as float32, by argument and element; every access is checked by the memory."""

    def __init__(self, launch: KernelLaunch, codec: Codec) -> None:
        self._launch = launch
        self._codec = codec

    def read(self, argument: int, first: int, shape: tuple[int, ...]) -> F32:
        """`shape` elements from element `first` on, widened; exact."""
        import numpy as np  # noqa: PLC0415 - kept off the plugin's import

        wide = np.empty(shape, np.float32)
        if wide.size:
            self._codec.load(self._stored(argument, first, shape, self._codec.carrier), wide)
        return wide

    def write(self, argument: int, first: int, values: F32) -> None:
        """Store `values` from element `first` on, rounded to nearest, ties to even; too large becomes infinite."""
        if values.size:
            with self._opened(argument, first, values.shape, self._codec.carrier) as target:
                self._codec.store(values, target)

    def read_float32(self, argument: int, shape: tuple[int, ...]) -> F32:
        """A float32 tensor from its beginning."""
        return self._stored(argument, 0, shape, "<f4")  # type: ignore[no-any-return]

    def write_float32(self, argument: int, first: int, values: F32) -> None:
        """Store `values` in a float32 tensor."""
        with self._opened(argument, first, values.shape, "<f4") as target:
            target[...] = values

    def lengths(self, argument: int, count: int) -> list[int]:
        """An int32 tensor of `count` elements."""
        return [int(n) for n in self._stored(argument, 0, (count,), "<i4")]

    def _stored(self, argument: int, first: int, shape: tuple[int, ...], carrier: str) -> Any:  # noqa: ANN401 - a device array
        return self._launch.memory.array(self._address(argument, first, carrier), carrier, shape)

    def _opened(self, argument: int, first: int, shape: tuple[int, ...], carrier: str) -> Any:  # noqa: ANN401 - as above
        return self._launch.memory.out_array(self._address(argument, first, carrier), carrier, shape)

    def _address(self, argument: int, first: int, carrier: str) -> int:
        return self._launch.arg(argument) + first * int(carrier[-1])


class Share(NamedTuple):
    """What one block does: units `start` to `end` of `plan`; `block` is its number."""

    plan: Plan
    block: int
    start: int
    end: int


@dataclass(frozen=True)
class LayerOp:
    """An operator of the layer, from which its `OperatorSpec` and `KernelSpec` are made.

    Attributes:
        type, alias: operator type, and the short name for `sqemu op`.
        inputs, outputs, attrs, infer: the IR definition. Input `typed` has the element type that selects the key.
        count: units, dims and the float of the plan, from the tiling context and the cores.
        work: the share of one block.
        work_of: operations and elements moved, from a plan.
        core_type: cores that the blocks run on.
    """

    type: str
    alias: str
    inputs: tuple[InputSpec, ...]
    outputs: tuple[OutputSpec, ...]
    infer: Infer
    count: Callable[[TilingContext, int], tuple[int, tuple[int, ...], float]]
    work: Callable[[Tensors, Share], None]
    work_of: Callable[[Plan], tuple[int, int]]
    attrs: tuple[AttrSpec, ...] = ()
    core_type: CoreType = CoreType.AIV

    @property
    def arguments(self) -> int:
        """Argument words before the workspace: inputs and outputs."""
        return len(self.inputs) + len(self.outputs)

    def tiling(self, context: TilingContext) -> None:
        """The tiling function; raises `TilingError` for a context without platform, usable shapes or element type."""
        platform, desc = context.platform, context.input_desc(0)
        if platform is None:
            raise TilingError("the tiling context has no platform information")
        if desc is None or desc.dtype not in _DTYPE_OF_CODE:
            found = "no descriptor" if desc is None else f"element type code {desc.dtype}"
            raise TilingError(f"input 0 ({self.inputs[0].name}) has {found}; use {' or '.join(KEY_OF_DTYPE)}")
        cores = max(platform.core_num_aiv or platform.core_num, 1)
        units, dims, number = self.count(context, cores)
        plan = Plan(units, min(units, cores), dims, number)
        context.set_tiling_key(KEY_OF_DTYPE[_DTYPE_OF_CODE[desc.dtype]])
        context.set_block_dim(plan.blocks)
        context.set_workspaces((WORKSPACE_BYTES,))
        context.write_tiling_data(plan.pack())

    def plan(self, launch: KernelLaunch) -> Plan:
        """The plan that the last argument word points at."""
        return Plan.unpack(launch.memory.read(launch.arg(self.arguments + 1), _LAYOUT.size))

    def run(self, launch: KernelLaunch) -> None:
        """All launched blocks; raises `DeviceFault` (`layer.launch`) for a launch that makes no sense."""
        from emu_plugins.cgdr.codecs import CODECS  # noqa: PLC0415 - numpy stays off the plugin's import

        plan = self.plan(launch)
        if launch.block_dim < 1 or launch.tiling_key not in _DTYPE_OF_KEY or not self._fits(plan, launch):
            raise DeviceFault(
                f"{self.type} cannot run with block dim {launch.block_dim}, tiling key {launch.tiling_key} and "
                f"tiling data {plan._asdict()}",
                ts_code=AI_CORE_EXCEPTION,
                id="layer.launch",
                remedy="launch with 1 or more blocks, key 0 or 1 and the tiling data of these tensors",
            )
        tensors = Tensors(launch, CODECS[_DTYPE_OF_KEY[launch.tiling_key]])
        for block in range(min(launch.block_dim, plan.blocks)):
            start, end = plan.slice_of(block)
            self.work(tensors, Share(plan, block, start, end))

    def _fits(self, plan: Plan, launch: KernelLaunch) -> bool:
        """Whether the plan describes tensors that the chip's memory can hold, and work for its blocks."""
        return plan.blocks >= 1 and self.work_of(plan)[1] <= launch.chip.memory_bytes

    def cost(self, launch: KernelLaunch) -> Cost:
        """Operations, and every tensor moved once."""
        flops, elements = self.work_of(self.plan(launch))
        return Cost(flops=flops, bytes=2 * elements)

    def case(self, arrays: Arrays) -> Case:
        """A case from arrays named as inputs, attributes and outputs; `KeyError` names what is missing."""
        given = {a.name: arrays[a.name].item() for a in self.attrs if a.default is None or a.name in arrays}
        references = {o.name: arrays[o.name] for o in self.outputs if o.name in arrays}
        return Case(tuple(arrays[i.name] for i in self.inputs), given, references)

    def operator(self) -> OperatorSpec:
        """The record of the operator."""
        return OperatorSpec(
            type=self.type, inputs=self.inputs, outputs=self.outputs, infer=self.infer, tiling=self.tiling,
            kernel=self.type, attrs=self.attrs, alias=self.alias, case=self.case, tolerance=TOLERANCE,
        )  # fmt: skip

    def kernel(self) -> KernelSpec:
        """The record of its kernel."""
        return KernelSpec(self.type, self.core_type, tuple(_DTYPE_OF_KEY), self.run, self.cost)


TOLERANCE = 3e-3
"""Normalised RMS of one rounding to bfloat16 is 1.7e-3, of one to float16 2.1e-4."""


def tokens_and_columns(plan: Plan, tensors: int) -> tuple[int, int]:
    """Cost of an operator that touches each element of `dims[0]` rows of `dims[1]` a few times."""
    elements = math.prod(plan.dims[:2])
    return 8 * elements, tensors * elements
