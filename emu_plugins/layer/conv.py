"""GdnCausalConv1d: each channel is convolved with its own K taps over the tokens of its sequence, then SiLU.

    y[t, c] = silu(sum over m of weight[c, m] x[t - (K - 1) + m, c])

Rows before the first of a sequence are the columns of its `conv_state` [B, C, K - 1], oldest first; `final_state` has
the last K - 1 rows, so that the next call goes on where this one ended. A sequence without tokens keeps its state.
Tokens past the last sequence stay unwritten. Taps are added in float32, the oldest first; y is rounded once.
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

from emu_core import AttrSpec, DeviceFault, InputSpec, OutputSpec, ShapeError, TensorInfo, TilingError
from emu_plugins.layer.launching import AI_CORE_EXCEPTION, LayerOp
from emu_plugins.layer.shapes import STORED, UNKNOWN, axes_of, checked, one_dtype

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    import numpy.typing as npt

    from emu_core import TilingContext
    from emu_core.operators import AttrValue
    from emu_plugins.layer.launching import Plan, Share, Tensors

    F32 = npt.NDArray[np.float32]

X, WEIGHT, STATE, LENGTHS, Y, FINAL = range(6)
FEWEST_TAPS = 2
STATE_RANK = 3


def infer(inputs: tuple[TensorInfo | None, ...], _attrs: Mapping[str, AttrValue]) -> tuple[TensorInfo, ...]:
    """`y` as x, `final_state` as conv_state; raises `ShapeError`, also for a state that no number of taps leaves."""
    dtype = one_dtype(("x", "weight", "conv_state"), inputs)
    tokens, channels = checked("x", inputs[X], (UNKNOWN, UNKNOWN))
    channels, taps = checked("weight", inputs[WEIGHT], (channels, UNKNOWN))
    if taps != UNKNOWN and taps < FEWEST_TAPS:
        raise ShapeError(f"{taps} tap", input="weight", remedy="use 2 or more; one tap needs no state")
    kept = UNKNOWN if taps == UNKNOWN else taps - 1
    state = inputs[STATE]
    if kept == UNKNOWN and state is not None and len(state.shape) == STATE_RANK and state.shape[-1] == 0:
        few = f"use 1 column or more: {FEWEST_TAPS} taps are the fewest, and a state has one column less than taps"
        raise ShapeError(f"shape {list(state.shape)} has no columns", input="conv_state", remedy=few)
    batch, channels, kept = checked("conv_state", inputs[STATE], (UNKNOWN, channels, kept))
    batch, *_ = checked("actual_seq_lengths", inputs[LENGTHS], (batch,), ("int32",))
    return TensorInfo(dtype, (tokens, channels)), TensorInfo(dtype, (batch, channels, kept))


def count(context: TilingContext, _cores: int) -> tuple[int, tuple[int, ...], float]:
    """Units are tokens; sequences are dealt out for their final state."""
    tokens, channels = axes_of(context, X, 2)
    _, taps = axes_of(context, WEIGHT, 2)
    batch, *_ = axes_of(context, STATE, 3)
    attrs = context.attrs
    silu = 1 if attrs is None or attrs.num == 0 else attrs.get_int(0) or 0
    if taps < FEWEST_TAPS:
        raise TilingError(f"weight has {taps} tap, 2 or more are needed")
    return tokens, (tokens, channels, taps, batch, silu), 0.0


def silu(x: F32) -> F32:
    """X * sigmoid(x); large negative x gives -0."""
    import numpy as np  # noqa: PLC0415 - kept off the plugin's import

    with np.errstate(all="ignore"):
        return np.divide(x, np.float32(1) + np.exp(-x), dtype=np.float32)


def work(tensors: Tensors, share: Share) -> None:
    """The tokens of one block, and the final state of every sequence that falls to it."""
    tokens, _, _, batch, _ = share.plan.dims[:5]
    lengths = tensors.lengths(LENGTHS, batch)
    if min(lengths, default=0) < 0 or sum(lengths) > tokens:
        raise DeviceFault(
            f"actual_seq_lengths {lengths} do not fit {tokens} tokens",
            ts_code=AI_CORE_EXCEPTION,
            id="layer.tokens",
            remedy="give lengths of 0 or more, not offsets, of at most T together",
        )
    for sequence, end in enumerate(accumulate(lengths)):
        first = end - lengths[sequence]
        low, high = max(share.start, first), min(share.end, end)
        if low < high:
            _convolve(tensors, share.plan, sequence, (first, low, high))
        if sequence % share.plan.blocks == share.block:
            _leave(tensors, share.plan, sequence, (first, end))


def _convolve(tensors: Tensors, plan: Plan, sequence: int, where: tuple[int, int, int]) -> None:
    """Tokens `low` to `high` of a sequence that begins at token `first`."""
    import numpy as np  # noqa: PLC0415 - kept off the plugin's import

    (first, low, high), (_, channels, taps, _, activated) = where, plan.dims[:5]
    rows = _rows(tensors, plan, sequence, (first, low - (taps - 1), high))
    weight = tensors.read(WEIGHT, 0, (channels, taps))
    total = np.zeros((high - low, channels), np.float32)
    with np.errstate(all="ignore"):
        for tap in range(taps):
            total += rows[tap : tap + high - low] * weight[:, tap]
    tensors.write(Y, low * channels, silu(total) if activated else total)


def _leave(tensors: Tensors, plan: Plan, sequence: int, where: tuple[int, int]) -> None:
    import numpy as np  # noqa: PLC0415 - kept off the plugin's import

    (first, end), (_, channels, taps) = where, plan.dims[:3]
    rows = _rows(tensors, plan, sequence, (first, end - (taps - 1), end))
    tensors.write(FINAL, sequence * channels * (taps - 1), np.ascontiguousarray(rows.T))


def _rows(tensors: Tensors, plan: Plan, sequence: int, where: tuple[int, int, int]) -> F32:
    """Rows `low` to `high`; those before `first` come from the state."""
    import numpy as np  # noqa: PLC0415 - kept off the plugin's import

    (first, low, high), (_, channels, taps) = where, plan.dims[:3]
    begin = max(low, first)
    own = tensors.read(X, begin * channels, (high - begin, channels))
    if begin == low:
        return own
    size = channels * (taps - 1)
    state = tensors.read(STATE, sequence * size, (channels, taps - 1)).T
    skipped = low - first + taps - 1
    return np.concatenate((state[skipped : skipped + begin - low], own))


def work_of(plan: Plan) -> tuple[int, int]:
    """A multiply and an add per tap, and the activation; x and y once, weight, both states."""
    tokens, channels, taps, batch = plan.dims[:4]
    elements = tokens * channels
    return (2 * taps + 4) * elements, 2 * elements + channels * (taps + 2 * batch * max(taps - 1, 0))


OP = LayerOp(
    "GdnCausalConv1d", "gdn-conv",
    (*(InputSpec(name, STORED) for name in ("x", "weight", "conv_state")), InputSpec("actual_seq_lengths", ("int32",))),
    (OutputSpec("y"), OutputSpec("final_state")), infer, count, work, work_of, (AttrSpec("silu", "int", 1),),
)  # fmt: skip
