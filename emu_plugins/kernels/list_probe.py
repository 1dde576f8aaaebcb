"""ListProbe: as TilingProbe, but the value comes from one of a list of tensors, a dynamic input.

| IR input | |
|---|---|
| 0 `x` | its elements are those of y |
| 1 `mask`, optional | added to y |
| 2 `lens`, dynamic | one int32[1] or more; tiling reads the value of number `pick` (attribute) |

With n the value picked, block dim and tiling key are those of TilingProbe. The kernel finds the list by the descriptor
block that its argument points to, and fills slice b of y with `1000 * tensors + 100 * key + b`: the key tells which
tensor the tiling read, the thousands how many the kernel was passed. With attribute `add_lens` the sum of their values
is added, read from the addresses behind the descriptors.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, NamedTuple

from emu_core import (
    AttrSpec,
    CoreType,
    Cost,
    DeviceFault,
    InputSpec,
    KernelSpec,
    OperatorSpec,
    OutputSpec,
    Placement,
    ShapeError,
    TilingError,
)
from emu_plugins.kernels.depended import blocks_for, ceil_slices, check_vector, element_count, platform_cores

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emu_core import KernelLaunch, TensorInfo, TilingContext
    from emu_core.operators import AttrValue

OP_TYPE = "ListProbe"
INPUT_X, INPUT_MASK, INPUT_LENS = 0, 1, 2
ARG_MASK, ARG_LENS, ARG_Y, ARG_TILING = 1, 2, 3, 5
KEYS = (0, 1, 2)
KEY_WEIGHT, LIST_WEIGHT = 100, 1000
WORKSPACE_BYTES = 4096
AI_CORE_EXCEPTION = 0x26

_LAYOUT = struct.Struct("<II")


class ListTilingData(NamedTuple):
    """8 bytes, little-endian: elements of x, and 1 where the values of the list are added."""

    elements: int
    add_lens: int


def list_tiling(context: TilingContext) -> None:
    """Tile: reads the shape of x and, when it is at hand, the value of tensor `pick` of the list.

    Raises:
        TilingError: no platform, x has no usable shape, or there is no tensor of that number.
    """
    attrs = context.attrs
    pick, add_lens = ((attrs.get_int(k) or 0) if attrs is not None else 0 for k in (0, 1))
    count, cores = context.input_count(INPUT_LENS), platform_cores(context)
    if not 0 <= pick < count:
        raise TilingError(f"pick is {pick}, the list has {count} tensors", detail={"pick": pick, "tensors": count})
    data = context.input_data(INPUT_LENS, pick)
    n = None if data is None else int.from_bytes(data[:4], "little", signed=True)
    context.set_tiling_key(0 if n is None else n % len(KEYS))
    context.set_block_dim(cores if n is None else blocks_for(n, cores))
    context.set_workspaces((WORKSPACE_BYTES,))
    context.write_tiling_data(_LAYOUT.pack(element_count(context, INPUT_X), int(bool(add_lens))))


def run_list(launch: KernelLaunch) -> None:
    """Fill y; see the module. Raises `DeviceFault` for a launch without blocks or an unknown key."""
    data = _tiling_data(launch)
    if launch.block_dim < 1 or launch.tiling_key not in KEYS or data.elements * 4 > launch.chip.memory_bytes:
        raise DeviceFault(
            f"ListProbe cannot run with block dim {launch.block_dim}, tiling key {launch.tiling_key} and "
            f"{data.elements} elements",
            ts_code=AI_CORE_EXCEPTION,
            id="probe.launch",
            remedy="launch with 1 or more blocks, a key from 0 to 2 and the tiling data of this tensor",
        )
    tensors = launch.tensors(ARG_LENS)
    values = (launch.memory.array(each.address, "<i4", (1,)) for each in tensors) if data.add_lens else ()
    base = LIST_WEIGHT * len(tensors) + KEY_WEIGHT * launch.tiling_key + sum(int(each[0]) for each in values)
    mask = launch.arg(ARG_MASK)
    for block, (start, end) in enumerate(ceil_slices(data.elements, launch.block_dim)):
        if start < end:
            y: Any
            with launch.memory.out_array(launch.arg(ARG_Y) + 4 * start, "<f4", (end - start,)) as y:
                more: Any = launch.memory.array(mask + 4 * start, "<f4", (end - start,)) if mask else 0
                y[...] = more + float(base + block)


def list_cost(launch: KernelLaunch) -> Cost:
    """One operation per element of y, which is written once."""
    data = _tiling_data(launch)
    return Cost(flops=data.elements, bytes=4 * data.elements)


def infer_list(inputs: tuple[TensorInfo | None, ...], attrs: Mapping[str, AttrValue]) -> tuple[TensorInfo, ...]:
    """`y` float32 of the length of x; raises `ShapeError` for another element type, rank or size, or another mask."""
    del attrs
    x = check_vector("x", inputs[INPUT_X], ("float32",))
    mask = inputs[INPUT_MASK]
    if mask is not None and mask.shape != x.shape:
        raise ShapeError(f"shape {list(mask.shape)}", input="mask", remedy=f"use that of x, {list(x.shape)}")
    for number, info in enumerate(inputs[INPUT_LENS:]):
        found = check_vector(f"lens{number}", info, ("int32",))
        if found.shape[0] not in {1, -1}:
            raise ShapeError(f"{found.shape[0]} elements", input=f"lens{number}", remedy="use exactly one")
    return (x,)


def _tiling_data(launch: KernelLaunch) -> ListTilingData:
    return ListTilingData(*_LAYOUT.unpack(launch.memory.read(launch.arg(ARG_TILING), _LAYOUT.size)))


KERNEL = KernelSpec(OP_TYPE, CoreType.AIV, KEYS, run_list, list_cost)

OPERATOR = OperatorSpec(
    type=OP_TYPE,
    inputs=(
        InputSpec("x", ("float32",)),
        InputSpec("mask", ("float32",), optional=True),
        InputSpec("lens", ("int32",), dynamic=True),
    ),
    outputs=(OutputSpec("y"),),
    infer=infer_list,
    tiling=list_tiling,
    kernel=OP_TYPE,
    attrs=(AttrSpec("pick", "int", 0), AttrSpec("add_lens", "int", 0)),
    depends=(INPUT_LENS,),
    placements=Placement.HOST | Placement.AICPU,
)
