"""The definition in float64, token by token (`reference/cgdr.md` 1.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from emu_plugins.cgdr.constants import DEFAULT_SCALE
from emu_plugins.cgdr.items import key_head, live_sequences

if TYPE_CHECKING:
    import numpy.typing as npt

    from emu_core.operators import Arrays

    F64 = npt.NDArray[np.float64]


def reference(arrays: Arrays, scale: float = DEFAULT_SCALE) -> dict[str, F64]:
    """`out` [T, Hv, Dv] and `final_state` [B, Hv, Dv, Dk] in float64.

    Args:
        arrays: query, key, value, beta, initial_state, actual_seq_lengths and, if present, g, by these names.
        scale: attribute `scale_value`.

    Rows and slices that the operator does not write are zero.
    """
    value, state = arrays["value"], arrays["initial_state"]
    out, final = np.zeros(value.shape), np.zeros(state.shape)
    with np.errstate(all="ignore"):
        for sequence in live_sequences([int(n) for n in arrays["actual_seq_lengths"]]):
            rows = slice(sequence.start, sequence.start + sequence.length)
            final[sequence.batch] = _recur(arrays, rows, _f64(state[sequence.batch]), scale, out)
    return {"out": out, "final_state": final}


def _recur(arrays: Arrays, rows: slice, state: F64, scale: float, out: F64) -> F64:
    """Run one sequence from `state` [Hv, Dv, Dk]; fills `out[rows]` and returns the state after it."""
    hqk, hv = arrays["query"].shape[1], arrays["value"].shape[1]
    heads = [key_head(h, hv, hqk) for h in range(hv)]
    query, key = _f64(arrays["query"][rows][:, heads]) * scale, _f64(arrays["key"][rows][:, heads])
    value, beta = _f64(arrays["value"][rows]), _f64(arrays["beta"][rows])
    alpha = np.exp(_f64(arrays["g"][rows])) if "g" in arrays else np.ones_like(beta)
    for t in range(value.shape[0]):
        state = state * alpha[t, :, None, None]
        delta = beta[t, :, None] * (value[t] - np.einsum("hvk,hk->hv", state, key[t]))
        state = state + delta[:, :, None] * key[t, :, None, :]
        out[rows.start + t] = np.einsum("hvk,hk->hv", state, query[t])
    return state


def _f64(array: npt.NDArray[Any]) -> F64:
    return array.astype(np.float64)
