"""GdnGate: the log decay and the weight of the correction, from a and b.

    g    = - exp(a_log) softplus(a + dt_bias)      float32
    beta = sigmoid(b)                              rounded once

softplus(x) = log(1 + exp(x)), computed as max(x, 0) + log1p(exp(-|x|)).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core import InputSpec, OutputSpec, TensorInfo
from emu_plugins.layer.launching import LayerOp, tokens_and_columns
from emu_plugins.layer.shapes import STORED, UNKNOWN, axes_of, checked, one_dtype

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emu_core import TilingContext
    from emu_core.operators import AttrValue
    from emu_plugins.layer.launching import Share, Tensors

A, B, A_LOG, DT_BIAS, G, BETA = range(6)


def infer(inputs: tuple[TensorInfo | None, ...], _attrs: Mapping[str, AttrValue]) -> tuple[TensorInfo, ...]:
    """`g` float32 and `beta` as b, both [T, Hv]; raises `ShapeError`."""
    dtype = one_dtype(("a", "b"), inputs[:2])
    tokens, heads = checked("a", inputs[A], (UNKNOWN, UNKNOWN))
    tokens, heads = checked("b", inputs[B], (tokens, heads))
    (heads,) = checked("a_log", inputs[A_LOG], (heads,), ("float32",))
    (heads,) = checked("dt_bias", inputs[DT_BIAS], (heads,), ("float32",))
    return TensorInfo("float32", (tokens, heads)), TensorInfo(dtype, (tokens, heads))


def count(context: TilingContext, _cores: int) -> tuple[int, tuple[int, ...], float]:
    """Units are tokens."""
    tokens, heads = axes_of(context, A, 2)
    return tokens, (tokens, heads), 0.0


def work(tensors: Tensors, share: Share) -> None:
    """The tokens of one block."""
    import numpy as np  # noqa: PLC0415 - kept off the plugin's import

    heads, n = share.plan.dims[1], share.end - share.start
    first = share.start * heads
    a, b = (tensors.read(argument, first, (n, heads)) for argument in (A, B))
    a_log, dt_bias = (tensors.read_float32(argument, (heads,)) for argument in (A_LOG, DT_BIAS))
    with np.errstate(all="ignore"):
        x = a + dt_bias
        softplus = np.maximum(x, np.float32(0)) + np.log1p(np.exp(-np.abs(x)))
        g = -np.exp(a_log) * softplus
        beta = np.float32(1) / (np.float32(1) + np.exp(-b))
    if n:
        tensors.write_float32(G, first, g)
        tensors.write(BETA, first, beta)


OP = LayerOp(
    "GdnGate", "gdn-gate",
    (InputSpec("a", STORED), InputSpec("b", STORED), *(InputSpec(name, ("float32",)) for name in ("a_log", "dt_bias"))),
    (OutputSpec("g"), OutputSpec("beta")), infer, count, work, lambda plan: tokens_and_columns(plan, 5),
)  # fmt: skip
