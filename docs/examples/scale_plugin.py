"""A plugin in one file: operator Scale, y = x * scale, cut into as many blocks as the value of n says."""  # noqa: INP001 - loaded by path

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

from emu_core import (
    AttrSpec,
    Case,
    CoreType,
    Cost,
    InputSpec,
    KernelSpec,
    OperatorSpec,
    OutputSpec,
    Placement,
    ShapeError,
    TilingError,
    hookimpl,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emu_core import KernelLaunch, TensorInfo, TilingContext

X, N = 0, 1  # IR inputs
ARG_X, ARG_Y, ARG_TILING = 0, 2, 4  # argument words: x, n, y, workspace 0, address of the tiling data
TILING_DATA = struct.Struct("<IIf")  # elements of x, blocks planned, scale


def infer(inputs: tuple[TensorInfo | None, ...], _attrs: Mapping[str, object]) -> tuple[TensorInfo, ...]:
    """One TensorInfo per output: y is like x."""
    x, n = inputs
    if x is None or len(x.shape) != 1 or x.shape[0] < 1:
        raise ShapeError(f"x is {x}", input="x", remedy="use one axis of 1 or more elements")
    if n is None or n.shape != (1,):
        raise ShapeError(f"n is {n}", input="n", remedy="use shape [1]")
    return (x,)


def tiling(context: TilingContext) -> None:
    """Runs at compile time without the value of n, and before every launch with it: same function, same context."""
    shape, platform, attrs, value = context.input_shape(X), context.platform, context.attrs, context.input_data(N)
    if shape is None or platform is None:
        raise TilingError("x or the platform is missing")
    cores = platform.core_num_aiv or platform.core_num
    blocks = cores if value is None else max(1, min(int.from_bytes(value[:4], "little", signed=True), cores))
    scale = attrs.get_float(0) if attrs is not None else None
    context.set_tiling_key(0)
    context.set_block_dim(blocks)
    context.set_workspaces((4096,))  # at least one, or the operator cannot sink
    context.write_tiling_data(TILING_DATA.pack(shape.storage[0], blocks, 1.0 if scale is None else scale))


def run(launch: KernelLaunch) -> None:
    """All blocks of one launch; block b owns slice b of the plan, so with too few blocks y stays partly unwritten."""
    elements, planned, scale = read_tiling_data(launch)
    width = -(-elements // max(planned, 1))
    for block in range(launch.block_dim):
        start, end = min(block * width, elements), min((block + 1) * width, elements)
        if start < end:
            x: Any = launch.memory.array(launch.arg(ARG_X) + 4 * start, "<f4", (end - start,))
            with launch.memory.out_array(launch.arg(ARG_Y) + 4 * start, "<f4", (end - start,)) as y:
                y[...] = x * scale


def cost(launch: KernelLaunch) -> Cost:
    """One operation per element, each read and written once."""
    elements, _, _ = read_tiling_data(launch)
    return Cost(flops=elements, bytes=8 * elements)


def read_tiling_data(launch: KernelLaunch) -> tuple[Any, ...]:
    """Elements, planned blocks, scale."""
    return TILING_DATA.unpack(launch.memory.read(launch.arg(ARG_TILING), TILING_DATA.size))


def case(arrays: Mapping[str, Any]) -> Case:
    """For `sqemu op scale`: arrays x and n, and factor for the attribute."""
    return Case((arrays["x"], arrays["n"]), {"scale": float(arrays["factor"])} if "factor" in arrays else {}, {})


def reference(arrays: Mapping[str, Any], attrs: Mapping[str, Any], _chip: object) -> Mapping[str, Any]:
    """For `sqemu op scale --verify`: the expected outputs."""
    return {"y": arrays["x"].astype("f8") * attrs.get("scale", 1.0)}


OPERATOR = OperatorSpec(
    type="Scale",
    inputs=(InputSpec("x", ("float32",)), InputSpec("n", ("int32",))),
    outputs=(OutputSpec("y"),),
    attrs=(AttrSpec("scale", "float", 1.0),),
    infer=infer,
    tiling=tiling,
    kernel="Scale",
    depends=(N,),
    placements=Placement.HOST | Placement.AICPU,
    alias="scale",
    case=case,
    reference=reference,
    tolerance=1e-6,
)


@hookimpl
def sqemu_operators() -> tuple[OperatorSpec, ...]:
    """What the compiler, the loader and the tiling server know about the operator."""
    return (OPERATOR,)


@hookimpl
def sqemu_kernels() -> tuple[KernelSpec, ...]:
    """What the AI Core engine calls, found by the name that the operator gives."""
    return (KernelSpec("Scale", CoreType.AIV, (0,), run, cost),)
