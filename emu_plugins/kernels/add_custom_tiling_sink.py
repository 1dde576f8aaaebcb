"""AddCustomTilingSink: z = x + y as a custom operator whose tiling depends on the value n.

| | from the value n | n not at hand (compile time) |
|---|---|---|
| block dim | min(max(n, 1), cores) | cores |
| tiling key | 0 for even n: tiles run forward from element 0; 1 for odd n: backward from element N | 0 |

Tile length (N over the planned blocks, rounded up) and origin (0 or N) are in the tiling data; key and block dim come
with the launch. Only when all four are of one tiling is z the sum. Otherwise it is visibly wrong:

| stale | effect on z |
|---|---|
| key | the tiles lie outside of z, which stays unwritten |
| block dim, too small | the elements of the missing blocks stay unwritten |
| block dim, too large | block e beyond the plan adds the tile of block e mod planned again: 2 (x + y), 3 (x + y) … |
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, NamedTuple

from emu_core import (
    Case,
    CoreType,
    Cost,
    DeviceFault,
    InputSpec,
    KernelSpec,
    OperatorSpec,
    OutputSpec,
    Placement,
    ShapeError,
    TensorInfo,
    TilingError,
)
from emu_plugins.kernels.depended import (
    UNKNOWN,
    blocks_for,
    check_n,
    check_vector,
    depended_int32,
    element_count,
    platform_cores,
)
from formats.dtypes import BY_CODE, BY_NAME

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import numpy as np
    import numpy.typing as npt

    from emu_core import Chip, KernelLaunch, TilingContext
    from emu_core.operators import Arrays, AttrValue

OP_TYPE = "AddCustomTilingSink"
INPUT_X, INPUT_N = 0, 2
ARG_X, ARG_Y, ARG_Z, ARG_TILING = 0, 1, 3, 5
FORWARD, BACKWARD = 0, 1
DTYPES = ("float16", "float32")
WORKSPACE_BYTES = 16384
AI_CORE_EXCEPTION = 0x26

_LAYOUT = struct.Struct("<IIIIiI")
_CODES = frozenset(BY_NAME[name].code for name in DTYPES)


class AddTilingData(NamedTuple):
    """24 bytes, little-endian, in this order; n is signed.

    Attributes:
        elements: N, elements of x.
        tile: elements of a tile.
        block_dim: blocks the tiling planned.
        origin: element at which the first tile starts (0) or ends (N).
        n: the value, 0 when it was not at hand.
        dtype: C API code of the element type.
    """

    elements: int
    tile: int
    block_dim: int
    origin: int
    n: int
    dtype: int

    def pack(self) -> bytes:
        """The 24 bytes."""
        return _LAYOUT.pack(*self)

    @classmethod
    def unpack(cls, data: bytes) -> AddTilingData:
        """The fields of the first 24 bytes of `data`."""
        return cls(*_LAYOUT.unpack(data[: _LAYOUT.size]))


def add_tiling(context: TilingContext) -> None:
    """Tile: reads shape and element type of x and, when it is at hand, the value of n.

    Raises:
        TilingError: no platform, or x has no usable shape or element type.
    """
    n, cores = depended_int32(context, INPUT_N), platform_cores(context)
    count = element_count(context, INPUT_X)
    block_dim = cores if n is None else blocks_for(n, cores)
    key = FORWARD if n is None else n % 2
    context.set_tiling_key(key)
    context.set_block_dim(block_dim)
    context.set_workspaces((WORKSPACE_BYTES,))
    origin = 0 if key == FORWARD else count
    data = AddTilingData(count, -(-count // block_dim), block_dim, origin, n or 0, _dtype_code(context))
    context.write_tiling_data(data.pack())


def run_add(launch: KernelLaunch) -> None:
    """Write z tile by tile; see the module. Raises `DeviceFault` for a launch that makes no sense at all."""
    data = _tiling_data(launch)
    if not _usable(data, launch):
        raise DeviceFault(
            f"AddCustomTilingSink cannot run with block dim {launch.block_dim}, tiling key {launch.tiling_key} and "
            f"tiling data {data._asdict()}",
            ts_code=AI_CORE_EXCEPTION,
            id="add.launch",
            remedy="launch with 1 or more blocks, key 0 or 1 and the tiling data of this tensor",
        )
    for block in range(min(data.block_dim, launch.block_dim)):
        start, end = _tile_bounds(data, launch.tiling_key, block)
        if start < end:
            shares = len(range(block, launch.block_dim, data.block_dim))
            _add(launch, data, start, end - start, shares)


def add_cost(launch: KernelLaunch) -> Cost:
    """One addition per element, three elements moved; nothing for tiling data that the kernel refuses."""
    data = _tiling_data(launch)
    if data.dtype not in _CODES:
        return Cost()
    return Cost(flops=data.elements, bytes=3 * data.elements * BY_CODE[data.dtype].size)


def reference(arrays: Arrays) -> dict[str, npt.NDArray[np.generic]]:
    """`z` = x + y, rounded once to their element type; independent of n."""
    x, y = arrays["x"], arrays["y"]
    return {"z": _rounded_sum(x, y, 1)}


def add_reference(arrays: Arrays, _attrs: Mapping[str, AttrValue], _chip: Chip) -> Arrays:
    """Expected z."""
    return reference(arrays)


def infer_add(inputs: tuple[TensorInfo | None, ...], attrs: Mapping[str, AttrValue]) -> tuple[TensorInfo, ...]:
    """`z` as x; raises `ShapeError` if x and y differ, or for another element type, rank or size."""
    del attrs
    x_info, y_info, n = (*inputs, None, None, None)[:3]
    check_n(n)
    x, y = check_vector("x", x_info, DTYPES), check_vector("y", y_info, DTYPES)
    if x.dtype != y.dtype:
        raise ShapeError(f"y is {y.dtype} and x is {x.dtype}", input="y", remedy="use one element type")
    if UNKNOWN not in (*x.shape, *y.shape) and x.shape != y.shape:
        raise ShapeError(f"y has {y.shape[0]} elements and x has {x.shape[0]}", input="y", remedy="use one length")
    return (TensorInfo(x.dtype, y.shape if x.shape == (UNKNOWN,) else x.shape),)


def add_case(arrays: Arrays) -> Case:
    """A case from arrays x, y and n; the reference is z if given, else the sum. `KeyError` names a missing array."""
    inputs = (arrays["x"], arrays["y"], arrays["n"])
    return Case(inputs, {}, {"z": arrays["z"]} if "z" in arrays else reference(arrays))


def _dtype_code(context: TilingContext) -> int:
    desc = context.input_desc(INPUT_X)
    if desc is None or desc.dtype not in _CODES:
        found = "no descriptor" if desc is None else f"element type code {desc.dtype}"
        raise TilingError(f"input {INPUT_X} (x) has {found}; use {' or '.join(DTYPES)}")
    return desc.dtype


def _tiling_data(launch: KernelLaunch) -> AddTilingData:
    return AddTilingData.unpack(launch.memory.read(launch.arg(ARG_TILING), _LAYOUT.size))


def _usable(data: AddTilingData, launch: KernelLaunch) -> bool:
    return (
        launch.block_dim >= 1
        and launch.tiling_key in {FORWARD, BACKWARD}
        and data.dtype in _CODES
        and data.block_dim >= 1
        and data.elements * BY_CODE[data.dtype].size <= launch.chip.memory_bytes
    )


def _tile_bounds(data: AddTilingData, key: int, block: int) -> tuple[int, int]:
    """First and one past the last element of a block's tile, cut to the tensor."""
    start = data.origin + block * data.tile if key == FORWARD else data.origin - (block + 1) * data.tile
    return max(start, 0), min(max(start + data.tile, 0), data.elements)


def _add(launch: KernelLaunch, data: AddTilingData, start: int, count: int, shares: int) -> None:
    dtype = BY_CODE[data.dtype]
    offset = start * dtype.size
    x, y = _operands(launch, dtype.carrier, offset, count)
    z: Any
    with launch.memory.out_array(launch.arg(ARG_Z) + offset, dtype.carrier, (count,)) as z:
        z[...] = _rounded_sum(x, y, shares)


def _rounded_sum(x: Any, y: Any, shares: int) -> Any:  # noqa: ANN401 - arrays of either element type
    """`shares * (x + y)` rounded once; twice the digits of float32 make float64 sums safe to round again."""
    import numpy as np  # noqa: PLC0415 - kept off the plugin's import

    with np.errstate(all="ignore"):
        return ((x.astype("<f8") + y.astype("<f8")) * shares).astype(x.dtype)


def _operands(launch: KernelLaunch, carrier: str, offset: int, count: int) -> Iterator[Any]:
    return (launch.memory.array(launch.arg(argument) + offset, carrier, (count,)) for argument in (ARG_X, ARG_Y))


KERNEL = KernelSpec(OP_TYPE, CoreType.AIV, (FORWARD, BACKWARD), run_add, add_cost)

OPERATOR = OperatorSpec(
    type=OP_TYPE,
    inputs=(InputSpec("x", DTYPES), InputSpec("y", DTYPES), InputSpec("n", ("int32",))),
    outputs=(OutputSpec("z"),),
    infer=infer_add,
    tiling=add_tiling,
    kernel=OP_TYPE,
    depends=(INPUT_N,),
    placements=Placement.HOST | Placement.AICPU,
    custom=True,
    alias="add",
    case=add_case,
    reference=add_reference,
)
