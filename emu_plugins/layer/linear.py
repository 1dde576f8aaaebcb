"""GdnLinear: y = x weightᵀ, the projections into and out of the layer.

Products and sums are float32 over operands of the stored type, and y is rounded once. With fewer tokens than cores, as
in decoding, blocks share the columns of y in tiles of 16 instead of its rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core import CoreType, InputSpec, OutputSpec, TensorInfo
from emu_plugins.layer.launching import LayerOp
from emu_plugins.layer.shapes import STORED, UNKNOWN, axes_of, checked, one_dtype

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emu_core import TilingContext
    from emu_core.operators import AttrValue
    from emu_plugins.layer.launching import Plan, Share, Tensors

X, WEIGHT, Y = range(3)
COLUMN_TILE = 16


def infer(inputs: tuple[TensorInfo | None, ...], _attrs: Mapping[str, AttrValue]) -> tuple[TensorInfo, ...]:
    """`y` [T, N] for x [T, K] and weight [N, K]; raises `ShapeError`."""
    dtype = one_dtype(("x", "weight"), inputs)
    tokens, depth = checked("x", inputs[X], (UNKNOWN, UNKNOWN))
    columns, _ = checked("weight", inputs[WEIGHT], (UNKNOWN, depth))
    return (TensorInfo(dtype, (tokens, columns)),)


def count(context: TilingContext, cores: int) -> tuple[int, tuple[int, ...], float]:
    """Units are tokens, or tiles of columns where there are fewer tokens than cores."""
    tokens, depth = axes_of(context, X, 2)
    columns, _ = axes_of(context, WEIGHT, 2)
    by_columns = tokens < cores
    return -(-columns // COLUMN_TILE) if by_columns else tokens, (tokens, depth, columns, int(by_columns)), 0.0


def work(tensors: Tensors, share: Share) -> None:
    """Some rows of y, or some columns of all rows."""
    import numpy as np  # noqa: PLC0415 - kept off the plugin's import
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]  # noqa: PLC0415

    tokens, depth, columns, by_columns = share.plan.dims[:4]
    rows = (0, tokens) if by_columns else (share.start, share.end)
    left, right = (share.start * COLUMN_TILE, min(share.end * COLUMN_TILE, columns)) if by_columns else (0, columns)
    if rows[0] >= rows[1] or left >= right:
        return
    x = tensors.read(X, rows[0] * depth, (rows[1] - rows[0], depth))
    weight = tensors.read(WEIGHT, left * depth, (right - left, depth))
    with np.errstate(all="ignore"), threadpool_limits(1, user_api="blas"):
        y = np.matmul(x, weight.T)
    if not by_columns:
        tensors.write(Y, rows[0] * columns, y)
        return
    for row in range(tokens):
        tensors.write(Y, row * columns + left, y[row])


def work_of(plan: Plan) -> tuple[int, int]:
    """A multiply and an add per element of x and column; x, weight and y once."""
    tokens, depth, columns = plan.dims[:3]
    return 2 * tokens * depth * columns, tokens * depth + columns * depth + tokens * columns


OP = LayerOp(
    "GdnLinear", "gdn-linear", (InputSpec("x", STORED), InputSpec("weight", STORED)), (OutputSpec("y"),),
    infer, count, work, work_of, core_type=CoreType.AIC,
)  # fmt: skip
