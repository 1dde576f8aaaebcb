"""GdnGatedRmsNorm: each head of x is divided by its root mean square, weighted, and gated by z.

    y = weight x / sqrt(mean over the head of x² + eps) silu(z)

y is flat, [T, Hv Dv], as the output projection reads it. Everything is float32 and rounded once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core import AttrSpec, InputSpec, OutputSpec, TensorInfo
from emu_plugins.layer.conv import silu
from emu_plugins.layer.launching import LayerOp
from emu_plugins.layer.shapes import STORED, UNKNOWN, axes_of, checked, number_of, one_dtype

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emu_core import TilingContext
    from emu_core.operators import AttrValue
    from emu_plugins.layer.launching import Plan, Share, Tensors

X, Z, WEIGHT, Y = range(4)
EPS = 1e-6


def infer(inputs: tuple[TensorInfo | None, ...], _attrs: Mapping[str, AttrValue]) -> tuple[TensorInfo, ...]:
    """`y` [T, Hv * Dv]; raises `ShapeError`."""
    dtype = one_dtype(("x", "z", "weight"), inputs)
    shape = checked("x", inputs[X], (UNKNOWN, UNKNOWN, UNKNOWN))
    tokens, heads, width = checked("z", inputs[Z], shape)
    (width,) = checked("weight", inputs[WEIGHT], (width,))
    return (TensorInfo(dtype, (tokens, UNKNOWN if UNKNOWN in {heads, width} else heads * width)),)


def count(context: TilingContext, _cores: int) -> tuple[int, tuple[int, ...], float]:
    """Units are tokens."""
    tokens, heads, width = axes_of(context, X, 3)
    return tokens, (tokens, heads, width), number_of(context, 0, EPS)


def work(tensors: Tensors, share: Share) -> None:
    """The tokens of one block."""
    import numpy as np  # noqa: PLC0415 - kept off the plugin's import

    _, heads, width = share.plan.dims[:3]
    first, shape = share.start * heads * width, (share.end - share.start, heads, width)
    x, z = (tensors.read(argument, first, shape) for argument in (X, Z))
    weight = tensors.read(WEIGHT, 0, (width,))
    with np.errstate(all="ignore"):
        scale = np.float32(1) / np.sqrt(np.mean(x * x, axis=2, keepdims=True) + np.float32(share.plan.number))
        tensors.write(Y, first, weight * (x * scale) * silu(z))


def work_of(plan: Plan) -> tuple[int, int]:
    """About ten operations per element; x, z and y once."""
    tokens, heads, width = plan.dims[:3]
    return 10 * tokens * heads * width, 3 * tokens * heads * width + width


OP = LayerOp(
    "GdnGatedRmsNorm", "gdn-gated-norm", tuple(InputSpec(name, STORED) for name in ("x", "z", "weight")),
    (OutputSpec("y"),), infer, count, work, work_of, (AttrSpec("eps", "float", EPS),),
)  # fmt: skip
