"""The vendor's 910B operator: IR record, and the tiling function with all of its checks (`reference/cgdr.md` 17)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from emu_core.operators import AttrSpec
from emu_core.tiling import TilingError
from emu_plugins.cgdr.constants import ATTR_SCALE, INPUT_GAMMA
from emu_plugins.cgdr.infer import AXES
from emu_plugins.cgdr.kernel_910b import KERNEL_910B
from emu_plugins.cgdr.operator import BFLOAT16_OPERATOR
from emu_plugins.cgdr.tiling import ShapeDims
from emu_plugins.cgdr.tiling_910b import tile_910b

if TYPE_CHECKING:
    from emu_core.tiling import TilingContext

FRACTAL_NZ = 29
"""Format number of tensors in blocks of 16, which the operator refuses."""

TOLERANCE_910B = 5e-3
"""State and intermediates in bfloat16: the bound of low precision in the tests of section 19.1."""


def tiling_function_910b(context: TilingContext) -> None:
    """Check all inputs, tile, and write key, block dim, schedule mode, workspace and tiling data.

    Raises:
        TilingError: no platform, a missing or wrong shape, format or attribute, or a dimension outside the limits.
    """
    platform = context.platform
    if platform is None:
        raise TilingError("the tiling context has no platform information")
    has_gamma = _gamma(context)
    sizes = _sizes(context, has_gamma=has_gamma)
    dims = ShapeDims(*(sizes[axis] for axis in ("T", "Hqk", "Dk", "Hv", "Dv", "B")))
    tiling = tile_910b(dims, cores=platform.core_num_aic, has_gamma=has_gamma, scale_value=_scale(context))
    context.set_tiling_key(tiling.tiling_key)
    context.set_block_dim(tiling.block_dim)
    context.set_schedule_mode(tiling.schedule_mode)
    context.set_workspaces((tiling.workspace,))
    context.write_tiling_data(tiling.tiling_data())


def _gamma(context: TilingContext) -> bool:
    """Whether g is given: its descriptor, tensor and shape are all there, or none is."""
    parts = {
        "descriptor": context.input_desc(INPUT_GAMMA) is not None,
        "tensor": context.input_tensor(INPUT_GAMMA),
        "shape": context.input_shape(INPUT_GAMMA) is not None,
    }
    if any(parts.values()) and not all(parts.values()):
        missing = " and ".join(name for name, there in parts.items() if not there)
        raise TilingError(f"optional input g has no {missing}; give all of it or nothing")
    return all(parts.values())


def _sizes(context: TilingContext, *, has_gamma: bool) -> dict[str, int]:
    """Every axis by letter; all inputs must agree about it."""
    sizes: dict[str, int] = {}
    for index, (name, axes) in enumerate(AXES):
        if index == INPUT_GAMMA and not has_gamma:
            continue
        _check_format(context, index, name)
        shape = context.input_shape(index)
        if shape is None:
            raise TilingError(f"input {index} ({name}) has no shape; it is required", detail={"input": index})
        if len(shape.storage) != len(axes):
            raise TilingError(f"{name} has rank {len(shape.storage)}; it has the axes {', '.join(axes)}")
        for axis, size in zip(axes, shape.storage, strict=True):
            if sizes.setdefault(axis, size) != size:
                raise TilingError(f"{axis} of {name} is {size}; the inputs before it have {sizes[axis]}")
    return sizes


def _check_format(context: TilingContext, index: int, name: str) -> None:
    desc = context.input_desc(index)
    if desc is not None and desc.format == FRACTAL_NZ:
        raise TilingError(f"{name} has the format FRACTAL_NZ; the operator takes ND only", detail={"input": index})


def _scale(context: TilingContext) -> float:
    attrs = context.attrs
    value = attrs.get_float(ATTR_SCALE) if attrs is not None and attrs.num else None
    if value is None:
        raise TilingError("attribute scale_value is missing; the 910B operator has no default for it")
    return value


_NOTES = (
    "the type name is ours: the public operator has one name on every product",
    "the library's matmul tiling behind the first 108 bytes of tiling data is not modelled",
)

OPERATOR_910B = replace(
    BFLOAT16_OPERATOR,
    type=KERNEL_910B,
    tiling=tiling_function_910b,
    kernel=KERNEL_910B,
    attrs=(AttrSpec("scale_value", "float", None),),
    alias="cgdr-910b",
    tolerance=TOLERANCE_910B,
    notes=(*BFLOAT16_OPERATOR.notes[:1], *_NOTES),
)
