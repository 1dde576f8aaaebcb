"""A peer of the kernel: the chunked form with whole-array numpy calls, as one would write it first.

All chunks of all heads at once where no chunk needs another, a loop over rows for the inverse, a loop over chunks for
the state (`reference/cgdr.md` 1.2). Nothing is preallocated, nothing is stacked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    F32 = NDArray[np.float32]

CHUNK = 64


def chunked(arrays: Mapping[str, NDArray[Any]], scale: float) -> F32:
    """`out` [T, Hv, Dv] of one sequence whose length is a multiple of 64."""
    value = _chunks(arrays["value"])
    ratio = arrays["value"].shape[1] // arrays["key"].shape[1]
    key, query = (_chunks(np.repeat(arrays[name], ratio, axis=1)) for name in ("key", "query"))
    query = query * np.float32(scale)
    beta, g = (_chunks(arrays[name][..., None]) for name in ("beta", "g"))
    total = np.cumsum(g, axis=2)
    lower = np.tril(np.ones((CHUNK, CHUNK), bool))
    none = np.float32(0)
    decay = np.where(lower, np.exp(np.where(lower, total - total.swapaxes(2, 3), none)), none)
    inverse = _inverse(cast("F32", -(key * beta) @ key.swapaxes(2, 3) * decay))
    corrected, read = inverse @ (value * beta), inverse @ (key * beta * np.exp(total))
    attention = query @ key.swapaxes(2, 3) * decay
    state = arrays["initial_state"][0].astype(np.float32).swapaxes(1, 2)
    out = np.empty_like(value)
    for c in range(value.shape[1]):
        last = total[:, c, -1:]
        fresh = corrected[:, c] - read[:, c] @ state
        out[:, c] = (query[:, c] * np.exp(total[:, c])) @ state + attention[:, c] @ fresh
        state = state * np.exp(last) + (key[:, c] * np.exp(last - total[:, c])).swapaxes(1, 2) @ fresh
    return out.reshape(value.shape[0], -1, value.shape[3]).swapaxes(0, 1)


def _chunks(rows: NDArray[Any]) -> F32:
    """[H, chunks, 64, width] float32 of [T, H, width]."""
    tokens, heads, width = rows.shape
    return rows.astype(np.float32).swapaxes(0, 1).reshape(heads, tokens // CHUNK, CHUNK, width)


def _inverse(matrices: F32) -> F32:
    """(I - A)^-1 of strictly lower A, row by row."""
    found = np.tril(matrices, -1)
    for i in range(1, CHUNK):
        row = found[..., i, :i].copy()
        found[..., i, :i] = row + (row[..., None] * found[..., :i, :i]).sum(-2)
    return found + np.eye(CHUNK, dtype=np.float32)
