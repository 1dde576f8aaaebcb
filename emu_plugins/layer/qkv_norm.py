"""GdnQkvNorm: the channels of the convolution become heads; query and key are normalised, value is only moved.

    query[t, h] = x / sqrt(sum over the head of x² + eps),  x the head's columns of mixed[t]

Sums are float32; each result is rounded once. The factor 1 / sqrt(Dk) is left to the operator that reads the query.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core import AttrSpec, InputSpec, OutputSpec, TensorInfo
from emu_plugins.layer.launching import LayerOp, tokens_and_columns
from emu_plugins.layer.shapes import (
    STORED,
    UNKNOWN,
    Heads,
    axes_of,
    checked,
    heads_of,
    heads_of_context,
    number_of,
)
from emu_plugins.layer.split import HEAD_ATTRS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emu_core import TilingContext
    from emu_core.operators import AttrValue
    from emu_plugins.layer.launching import Share, Tensors

MIXED, QUERY, KEY, VALUE = range(4)
EPS = 1e-6


def infer(inputs: tuple[TensorInfo | None, ...], attrs: Mapping[str, AttrValue]) -> tuple[TensorInfo, ...]:
    """`query` and `key` [T, Hk, Dk], `value` [T, Hv, Dv]; raises `ShapeError`."""
    heads, mixed = heads_of(attrs), inputs[MIXED]
    tokens, _ = checked("mixed", mixed, (UNKNOWN, heads.mixed))
    assert mixed is not None
    keys = TensorInfo(mixed.dtype, (tokens, heads.key_heads, heads.key_width))
    return keys, keys, TensorInfo(mixed.dtype, (tokens, heads.value_heads, heads.value_width))


def count(context: TilingContext, _cores: int) -> tuple[int, tuple[int, ...], float]:
    """Units are tokens."""
    tokens, columns = axes_of(context, MIXED, 2)
    return tokens, (tokens, columns, *heads_of_context(context)), number_of(context, len(HEAD_ATTRS), EPS)


def work(tensors: Tensors, share: Share) -> None:
    """The tokens of one block."""
    import numpy as np  # noqa: PLC0415 - kept off the plugin's import

    heads, first, n = Heads(*share.plan.dims[2:6]), share.start, share.end - share.start
    rows = tensors.read(MIXED, first * heads.mixed, (n, heads.mixed))
    query, key, value = np.split(rows, (heads.keys, 2 * heads.keys), axis=1)
    for argument, part in ((QUERY, query), (KEY, key)):
        x = part.reshape(n, heads.key_heads, heads.key_width)
        with np.errstate(all="ignore"):
            scale = np.float32(1) / np.sqrt(np.sum(x * x, axis=2, keepdims=True) + np.float32(share.plan.number))
            tensors.write(argument, first * heads.keys, x * scale)
    tensors.write(VALUE, first * heads.values, np.ascontiguousarray(value))


OP = LayerOp(
    "GdnQkvNorm", "gdn-qkv-norm", (InputSpec("mixed", STORED),),
    tuple(OutputSpec(name) for name in ("query", "key", "value")), infer, count, work,
    lambda plan: tokens_and_columns(plan, 2), (*HEAD_ATTRS, AttrSpec("eps", "float", EPS)),
)  # fmt: skip
