"""EduStripe: y = x + step * stripe, where the value of n says how many stripes x is cut into.

| value of n | stripes | tiling key |
|---|---|---|
| 1 or more | n, at most one per core | 0: stripe b gets b |
| 0 or less | 1 - n, at most one per core | 1: mirrored, the last stripe gets 0 |
| not at hand (compile time) | one per core | 0 |

One block does one stripe, so a launch with a stale block count or key shows in y.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

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
    ShapeError,
    TilingError,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emu_core import Arrays, AttrValue, Chip, KernelLaunch, TensorInfo, TilingContext

X, N = 0, 1
ARG_X, ARG_Y, ARG_TILING = 0, 2, 4
PLAIN, MIRRORED = 0, 1
TILING_DATA = struct.Struct("<IIf")
"""Elements of x, stripes planned, step."""


def stripes_of(n: int, cores: int) -> tuple[int, int]:
    """Stripes and tiling key for the value n."""
    return (min(n, cores), PLAIN) if n > 0 else (min(1 - n, cores), MIRRORED)


def infer(inputs: tuple[TensorInfo | None, ...], attrs: Mapping[str, AttrValue]) -> tuple[TensorInfo, ...]:
    """Output y is like x, one axis of any length."""
    del attrs
    x, n = inputs
    if x is None or len(x.shape) != 1 or x.shape[0] < 1:
        raise ShapeError(f"x is {x}", input="x", remedy="use one axis of 1 or more elements")
    if n is None or n.shape != (1,):
        raise ShapeError(f"n is {n}", input="n", remedy="use shape [1]")
    return (x,)


def tiling(context: TilingContext) -> None:
    """The tiling function: at compile time on the host, before each launch on the device."""
    shape, platform, attrs, value = context.input_shape(X), context.platform, context.attrs, context.input_data(N)
    if shape is None or platform is None:
        raise TilingError("x or the platform is missing")
    cores = platform.core_num
    given = None if value is None else int.from_bytes(value[:4], "little", signed=True)
    stripes, key = (cores, PLAIN) if given is None else stripes_of(given, cores)
    step = attrs.get_float(0) if attrs is not None else None
    context.set_tiling_key(key)
    context.set_block_dim(stripes)
    context.set_workspaces((64,))
    context.write_tiling_data(TILING_DATA.pack(shape.storage[0], stripes, 1.0 if step is None else step))


def run(launch: KernelLaunch) -> None:
    """All blocks of one launch; with too few blocks the stripes that nobody does stay unwritten."""
    elements, planned, step = _plan(launch)
    if launch.tiling_key not in (PLAIN, MIRRORED) or not planned:
        raise DeviceFault(
            f"EduStripe cannot run with tiling key {launch.tiling_key} and {planned} stripes",
            ts_code=0x26,
            id="edu.launch",
            remedy="compile and load the graph again",
        )
    width = -(-elements // planned)
    for block in range(min(launch.block_dim, planned)):
        start, end = min(block * width, elements), min((block + 1) * width, elements)
        stripe = block if launch.tiling_key == PLAIN else planned - 1 - block
        if start < end:
            x: Any = launch.memory.array(launch.arg(ARG_X) + 4 * start, "<f4", (end - start,))
            y: Any
            with launch.memory.out_array(launch.arg(ARG_Y) + 4 * start, "<f4", (end - start,)) as y:
                y[...] = x + step * stripe


def cost(launch: KernelLaunch) -> Cost:
    """One operation per element; each is read and written once."""
    elements, _, _ = _plan(launch)
    return Cost(flops=elements, bytes=8 * elements)


def _plan(launch: KernelLaunch) -> tuple[Any, ...]:
    return TILING_DATA.unpack(launch.memory.read(launch.arg(ARG_TILING), TILING_DATA.size))


def case(arrays: Arrays) -> Case:
    """For `sqemu op edu_stripe`: arrays x and n."""
    return Case((arrays["x"], arrays["n"]), {}, {})


def reference(arrays: Arrays, attrs: Mapping[str, AttrValue], chip: Chip) -> Arrays:
    """Expected y in float64, cut as a fresh tiling on `chip` cuts it."""
    x, n, step = arrays["x"], int(arrays["n"].reshape(-1)[0]), attrs.get("step", 1.0)
    stripes, key = stripes_of(n, chip.core_num)
    y: Any = x.astype("f8")
    width = -(-x.size // stripes)
    for block in range(stripes):
        y[block * width : (block + 1) * width] += step * (block if key == PLAIN else stripes - 1 - block)
    return {"y": y}


KERNEL = KernelSpec("EduStripe", CoreType.AIV, (PLAIN, MIRRORED), run, cost)

OPERATOR = OperatorSpec(
    type="EduStripe",
    inputs=(InputSpec("x", ("float32",)), InputSpec("n", ("int32",))),
    outputs=(OutputSpec("y"),),
    attrs=(AttrSpec("step", "float", 1.0),),
    infer=infer,
    tiling=tiling,
    kernel="EduStripe",
    depends=(N,),
    placements=Placement.HOST | Placement.AICPU,
    alias="edu_stripe",
    case=case,
    reference=reference,
    tolerance=1e-6,
)
