"""GdnSplit: the two input projections are taken apart.

A row of qkvz has one group per key head: its query, its key, the values and the gates z of the value heads that it
serves. A row of ba has one group per key head: their b, their a. The output `mixed` has all queries, all keys, all
values, which is the order of the convolution's channels. Nothing is computed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core import AttrSpec, InputSpec, OutputSpec, TensorInfo
from emu_plugins.layer.launching import LayerOp
from emu_plugins.layer.shapes import STORED, UNKNOWN, Heads, axes_of, checked, heads_of, heads_of_context, one_dtype

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emu_core import TilingContext
    from emu_core.operators import AttrValue
    from emu_plugins.layer.launching import Plan, Share, Tensors

QKVZ, BA, MIXED, Z, B, A = range(6)
HEAD_ATTRS = tuple(AttrSpec(name, "int", None) for name in Heads._fields)


def infer(inputs: tuple[TensorInfo | None, ...], attrs: Mapping[str, AttrValue]) -> tuple[TensorInfo, ...]:
    """`mixed`, `z`, `b`, `a` for the heads of `attrs`; raises `ShapeError`."""
    heads, dtype = heads_of(attrs), one_dtype(("qkvz", "ba"), inputs)
    tokens, _ = checked("qkvz", inputs[QKVZ], (UNKNOWN, 2 * (heads.keys + heads.values)))
    tokens, _ = checked("ba", inputs[BA], (tokens, 2 * heads.value_heads))
    shapes = ((heads.mixed,), (heads.value_heads, heads.value_width), (heads.value_heads,), (heads.value_heads,))
    return tuple(TensorInfo(dtype, (tokens, *shape)) for shape in shapes)


def count(context: TilingContext, _cores: int) -> tuple[int, tuple[int, ...], float]:
    """Units are tokens."""
    tokens, _ = axes_of(context, QKVZ, 2)
    heads = heads_of_context(context)
    return tokens, (tokens, 2 * (heads.keys + heads.values + heads.value_heads), *heads), 0.0


def work(tensors: Tensors, share: Share) -> None:
    """The tokens of one block."""
    import numpy as np  # noqa: PLC0415 - kept off the plugin's import

    heads, first, n = Heads(*share.plan.dims[2:6]), share.start, share.end - share.start
    ratio, dk, dv = heads.value_heads // heads.key_heads, heads.key_width, heads.value_width
    width, pairs = 2 * (heads.keys + heads.values), 2 * heads.value_heads
    groups = tensors.read(QKVZ, first * width, (n, heads.key_heads, 2 * (dk + ratio * dv)))
    query, key, value, z = np.split(groups, (dk, 2 * dk, 2 * dk + ratio * dv), axis=2)
    b, a = np.split(tensors.read(BA, first * pairs, (n, heads.key_heads, 2 * ratio)), 2, axis=2)
    if not n:  # more blocks than tokens
        return
    mixed = np.concatenate([part.reshape(n, -1) for part in (query, key, value)], axis=1)
    for argument, values in ((MIXED, mixed), (Z, z), (B, b), (A, a)):
        rows = np.ascontiguousarray(values).reshape(n, -1)
        tensors.write(argument, first * rows.shape[1], rows)


def work_of(plan: Plan) -> tuple[int, int]:
    """No operation; every element is read and written."""
    return 0, 2 * plan.dims[0] * plan.dims[1]


OP = LayerOp(
    "GdnSplit", "gdn-split", (InputSpec("qkvz", STORED), InputSpec("ba", STORED)),
    tuple(OutputSpec(name) for name in ("mixed", "z", "b", "a")), infer, count, work, work_of, HEAD_ATTRS,
)  # fmt: skip
