"""The tiling function: context in, tiling key, block dim, workspace and tiling data out."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from emu_core.tiling import TilingError
from emu_plugins.cgdr.constants import (
    ATTR_SCALE,
    DEFAULT_SCALE,
    INPUT_GAMMA,
    INPUT_INITIAL_STATE,
    INPUT_QUERY,
    INPUT_VALUE,
)
from emu_plugins.cgdr.contracts import DEFAULT_MATMUL, StagePlan, matmul_of
from emu_plugins.cgdr.tiling import CgdrTiling, ShapeDims, state_workspace_bytes, tile

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emu_core.kernels import PolicyLookup
    from emu_core.tiling import PlatformInfo, TilingContext

DEBUG_VARIABLE = "CGDR_DEBUG_LOG"

# What the shape object answers for an axis it does not have: the smallest int64, which narrows to 0.
_NO_AXIS = -(1 << 63)


def debug_line_wanted(environ: Mapping[str, str]) -> bool:
    """Whether `CGDR_DEBUG_LOG` starts with the character 1 (`reference/cgdr.md` 3.8)."""
    return environ.get(DEBUG_VARIABLE, "").startswith("1")


def tile_context(context: TilingContext) -> CgdrTiling:
    """The tiling of `context`, nothing written; policy `cgdr.host_matmul` changes what it asks for staging (C1).

    Raises:
        TilingError: no platform, a shape is missing, or no V tile fits.
    """
    platform = _platform(context)
    tiling = tile(
        _dims(context),
        cores=platform.core_num_aiv or platform.core_num,
        ub_bytes=platform.ub_bytes,
        has_gamma=_has_gamma(context),
        scale_value=_scale(context),
    )
    return tiling if context.policies is None else _with_host_matmul(tiling, context.policies)


def _with_host_matmul(tiling: CgdrTiling, policies: PolicyLookup) -> CgdrTiling:
    """`tiling` with the workspace by the M, K and N of the policy; the device knows nothing of them."""
    matmul = policies["cgdr.host_matmul"]
    if matmul == DEFAULT_MATMUL:
        return tiling
    states = state_workspace_bytes(tiling.dims)
    plan = StagePlan(*matmul_of(matmul), int(policies["cgdr.stage_slots"]), states, tiling.block_dim)
    need = states + tiling.block_dim * plan.host_bytes
    return replace(tiling, workspace_need=need, workspace=plan.asked)


def cgdr_tiling_function(context: TilingContext) -> None:
    """Tile `context` and write the four results; the debug line goes to standard error when it is asked for.

    Raises:
        TilingError: as `tile_context`, or the tiling data does not fit its buffer.
    """
    tiling = tile_context(context)
    context.set_block_dim(tiling.block_dim)
    context.set_tiling_key(tiling.tiling_key)
    if debug_line_wanted(os.environ):
        sys.stderr.write(tiling.debug_line() + "\n")
    context.set_workspaces((tiling.workspace,))
    context.write_tiling_data(tiling.tiling_data())


def _platform(context: TilingContext) -> PlatformInfo:
    platform = context.platform
    if platform is None:
        raise TilingError("the tiling context has no platform information")
    return platform


def _dims(context: TilingContext) -> ShapeDims:
    query = _storage_shape(context, INPUT_QUERY, "query")
    value = _storage_shape(context, INPUT_VALUE, "value")
    state = _storage_shape(context, INPUT_INITIAL_STATE, "initial_state")
    return ShapeDims(
        t=_axis(query, 0),
        hqk=_axis(query, 1),
        dk=_axis(query, 2),
        hv=_axis(value, 1),
        dv=_axis(value, 2),
        batch=_axis(state, 0),
    )


def _storage_shape(context: TilingContext, index: int, name: str) -> tuple[int, ...]:
    shape = context.input_shape(index)
    if shape is None:
        raise TilingError(f"input {index} ({name}) has no shape; it is required", detail={"input": index})
    return shape.storage


def _axis(shape: tuple[int, ...], axis: int) -> int:
    return shape[axis] if axis < len(shape) else _NO_AXIS


def _has_gamma(context: TilingContext) -> bool:
    return (
        context.input_desc(INPUT_GAMMA) is not None
        and context.input_tensor(INPUT_GAMMA)
        and context.input_shape(INPUT_GAMMA) is not None
    )


def _scale(context: TilingContext) -> float:
    attrs = context.attrs
    if attrs is None or attrs.num == 0:
        return DEFAULT_SCALE
    value = attrs.get_float(ATTR_SCALE)
    return DEFAULT_SCALE if value is None else value
