"""TilingProbe: an operator whose output shows which tiling key and block dim it was launched with.

| | from the value n | n not at hand (compile time) |
|---|---|---|
| block dim | min(max(n, 1), cores) | cores |
| tiling key | n mod 3, never negative: -1 gives 2 | 0 |

The kernel of key k cuts y into as many slices as blocks were *launched* (rounded up) and block b fills its slice with
`100 * k + b`, plus x where attribute `add_x` is 1. Up to 100 blocks, y tells key and block of every element apart.
The tiling data carries N, the planned block dim and n, so a stale launch beside fresh tiling data is visible.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, NamedTuple

from emu_core import (
    AttrSpec,
    Case,
    CoreType,
    Cost,
    DeviceFault,
    InputSpec,
    KernelSpec,
    OperatorSpec,
    OutputSpec,
    Placement,
    TensorInfo,
)
from emu_plugins.kernels.depended import (
    blocks_for,
    ceil_slices,
    check_n,
    check_vector,
    depended_int32,
    element_count,
    platform_cores,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    import numpy.typing as npt

    from emu_core import Chip, KernelLaunch, TilingContext
    from emu_core.operators import Arrays, AttrValue

OP_TYPE = "TilingProbe"
INPUT_X, INPUT_N = 0, 1
ARG_X, ARG_Y, ARG_TILING = 0, 2, 4
KEYS = (0, 1, 2)
KEY_WEIGHT = 100
WORKSPACE_BYTES = 4096
AI_CORE_EXCEPTION = 0x26

_LAYOUT = struct.Struct("<IIiHH")


class ProbeTilingData(NamedTuple):
    """16 bytes, little-endian, in this order; n is signed, the last two are 16-bit flags.

    Attributes:
        elements: N, elements of x.
        block_dim: blocks the tiling planned.
        n: the value, 0 when it was not at hand.
        n_known: 1 when the value was at hand.
        add_x: attribute of that name.
    """

    elements: int
    block_dim: int
    n: int
    n_known: int
    add_x: int

    def pack(self) -> bytes:
        """The 16 bytes."""
        return _LAYOUT.pack(*self)

    @classmethod
    def unpack(cls, data: bytes) -> ProbeTilingData:
        """The fields of the first 16 bytes of `data`."""
        return cls(*_LAYOUT.unpack(data[: _LAYOUT.size]))


def probe_tiling(context: TilingContext) -> None:
    """Tile: reads the shape of x and, when it is at hand, the value of n.

    Raises:
        TilingError: no platform, or x has no usable shape.
    """
    n, cores = depended_int32(context, INPUT_N), platform_cores(context)
    count = element_count(context, INPUT_X)
    block_dim = cores if n is None else blocks_for(n, cores)
    context.set_tiling_key(0 if n is None else n % len(KEYS))
    context.set_block_dim(block_dim)
    context.set_workspaces((WORKSPACE_BYTES,))
    data = ProbeTilingData(count, block_dim, n or 0, int(n is not None), int(add_x_of(context)))
    context.write_tiling_data(data.pack())


def run_probe(launch: KernelLaunch) -> None:
    """Fill y; see the module. Raises `DeviceFault` for a launch without blocks or an unknown key."""
    data = tiling_data_of(launch)
    if launch.block_dim < 1 or launch.tiling_key not in KEYS or data.elements * 4 > launch.chip.memory_bytes:
        raise DeviceFault(
            f"TilingProbe cannot run with block dim {launch.block_dim}, tiling key {launch.tiling_key} and "
            f"{data.elements} elements",
            ts_code=AI_CORE_EXCEPTION,
            id="probe.launch",
            remedy="launch with 1 or more blocks, a key from 0 to 2 and the tiling data of this tensor",
        )
    slices = tuple(ceil_slices(data.elements, launch.all_blocks))
    for block in launch.own_blocks:
        start, end = slices[block]
        if start < end:
            fill_slice(launch, data, start, end - start, float(KEY_WEIGHT * launch.tiling_key + block))


def probe_cost(launch: KernelLaunch) -> Cost:
    """One operation per element; x is read only with `add_x`."""
    data = tiling_data_of(launch)
    return Cost(flops=data.elements, bytes=4 * data.elements * (2 if data.add_x else 1))


def reference(arrays: Arrays, cores: int = 8, *, add_x: bool = False) -> dict[str, npt.NDArray[np.float32]]:
    """`y` as a fresh tiling on `cores` cores must give it, from arrays x and n."""
    import numpy as np  # noqa: PLC0415 - kept off the plugin's import

    n = int(arrays["n"].reshape(-1)[0])
    y = np.zeros(arrays["x"].shape, np.float32)
    for block, (start, end) in enumerate(ceil_slices(y.size, blocks_for(n, cores))):
        y[start:end] = KEY_WEIGHT * (n % len(KEYS)) + block
    return {"y": y + arrays["x"].astype(np.float32) if add_x else y}


def probe_reference(arrays: Arrays, attrs: Mapping[str, AttrValue], chip: Chip) -> Arrays:
    """Expected y on `chip`."""
    return reference(arrays, chip.tiling_cores, add_x=bool(attrs.get("add_x", 0)))


def infer_probe(inputs: tuple[TensorInfo | None, ...], attrs: Mapping[str, AttrValue]) -> tuple[TensorInfo, ...]:
    """`y` float32 of the length of x; raises `ShapeError` for another element type, rank or size."""
    del attrs
    x, n = (*inputs, None, None)[:2]
    check_n(n)
    return (check_vector("x", x, ("float32",)),)


def probe_case(arrays: Arrays) -> Case:
    """A case from arrays x and n, with y as reference if there is one; raises `KeyError` with the missing name."""
    references = {"y": arrays["y"]} if "y" in arrays else {}
    return Case((arrays["x"], arrays["n"]), {}, references)


def add_x_of(context: TilingContext) -> bool:
    """Attribute `add_x`."""
    attrs = context.attrs
    return attrs is not None and attrs.num > 0 and bool(attrs.get_int(0))


def tiling_data_of(launch: KernelLaunch) -> ProbeTilingData:
    """The tiling data that the arguments of `launch` point at."""
    return ProbeTilingData.unpack(launch.memory.read(launch.arg(ARG_TILING), _LAYOUT.size))


def fill_slice(launch: KernelLaunch, data: ProbeTilingData, start: int, count: int, value: float) -> None:
    """Fill `count` elements of y from `start` with `value`, plus x where the tiling data says so."""
    y: Any
    with launch.memory.out_array(launch.arg(ARG_Y) + 4 * start, "<f4", (count,)) as y:
        x: Any = launch.memory.array(launch.arg(ARG_X) + 4 * start, "<f4", (count,)) if data.add_x else 0
        y[...] = x + value


KERNEL = KernelSpec(OP_TYPE, CoreType.AIV, KEYS, run_probe, probe_cost, splits=True)

OPERATOR = OperatorSpec(
    type=OP_TYPE,
    inputs=(InputSpec("x", ("float32",)), InputSpec("n", ("int32",))),
    outputs=(OutputSpec("y"),),
    infer=infer_probe,
    tiling=probe_tiling,
    kernel=OP_TYPE,
    attrs=(AttrSpec("add_x", "int", 0),),
    depends=(INPUT_N,),
    placements=Placement.HOST | Placement.AICPU,
    alias="probe",
    case=probe_case,
    reference=probe_reference,
)
