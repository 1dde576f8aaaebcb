"""Shape inference with every check that the operator itself leaves out (`reference/cgdr.md` 2.1, 2.4)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from emu_core.operators import ShapeError, TensorInfo
from emu_plugins.cgdr.items import key_head

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from emu_core.operators import AttrValue

UNKNOWN_RANK = (-2,)
UNKNOWN = -1

# A dimension is narrowed to 32 bits by the tiling; more elements than this fit no device.
LARGEST_DIM = (1 << 31) - 1
LARGEST_TENSOR = 1 << 40

# The axes of each input by letter; one letter is one number throughout.
AXES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("query", ("T", "Hqk", "Dk")),
    ("key", ("T", "Hqk", "Dk")),
    ("value", ("T", "Hv", "Dv")),
    ("beta", ("T", "Hv")),
    ("initial_state", ("B", "Hv", "Dv", "Dk")),
    ("actual_seq_lengths", ("B",)),
    ("g", ("T", "Hv")),
)


def infer_cgdr(inputs: tuple[TensorInfo | None, ...], attrs: Mapping[str, AttrValue]) -> tuple[TensorInfo, ...]:
    """Element types and shapes of `out` [T, Hv, Dv] and `final_state` [B, Hv, Dv, Dk].

    Raises:
        ShapeError: a required input is missing, has the wrong rank or element type, a dimension is 0 or absurd, two
            inputs disagree about one, or a value head has no key head.
    """
    del attrs
    given = {axes[0]: info for axes, info in zip(AXES, (*inputs, *(None,) * len(AXES)), strict=False)}
    sizes = _sizes(given)
    _check_heads(sizes)
    query = given["query"]
    assert query is not None
    dtype = query.dtype
    _check_dtypes(given, dtype)
    return (
        TensorInfo(dtype, tuple(sizes.get(axis, UNKNOWN) for axis in ("T", "Hv", "Dv"))),
        TensorInfo(dtype, tuple(sizes.get(axis, UNKNOWN) for axis in ("B", "Hv", "Dv", "Dk"))),
    )


def _sizes(given: Mapping[str, TensorInfo | None]) -> dict[str, int]:
    """The known axes; the first input that knows one decides, later ones must agree."""
    sizes: dict[str, int] = {}
    origin: dict[str, str] = {}
    for name, axis, size in _known_axes(given):
        if sizes.setdefault(axis, size) != size:
            raise ShapeError(
                f"{axis} is {size} here and {sizes[axis]} in {origin[axis]}",
                input=name,
                remedy=f"give both the same {axis}",
            )
        origin.setdefault(axis, name)
    return sizes


def _known_axes(given: Mapping[str, TensorInfo | None]) -> Iterator[tuple[str, str, int]]:
    for name, axes in AXES:
        info = given[name]
        if info is None:
            if name == "g":
                continue
            raise ShapeError("the input is missing", input=name, remedy="connect it; only g is optional")
        if info.shape == UNKNOWN_RANK:
            continue
        _check_shape(name, axes, info.shape)
        yield from ((name, axis, size) for axis, size in zip(axes, info.shape, strict=True) if size != UNKNOWN)


def _check_shape(name: str, axes: Sequence[str], shape: tuple[int, ...]) -> None:
    wanted = f"[{', '.join(axes)}]"
    if len(shape) != len(axes):
        raise ShapeError(f"shape {list(shape)} has rank {len(shape)}", input=name, remedy=f"the shape is {wanted}")
    for axis, size in zip(axes, shape, strict=True):
        if size != UNKNOWN and not 0 < size <= LARGEST_DIM:
            raise ShapeError(
                f"{axis} is {size} in shape {list(shape)}", input=name, remedy=f"{axis} must be from 1 to {LARGEST_DIM}"
            )
    if math.prod(abs(size) for size in shape) > LARGEST_TENSOR:
        raise ShapeError(
            f"shape {list(shape)} has more than 2**40 elements", input=name, remedy="no device holds such a tensor"
        )


def _check_heads(sizes: Mapping[str, int]) -> None:
    if "Hqk" not in sizes or "Hv" not in sizes:
        return
    hqk, hv = sizes["Hqk"], sizes["Hv"]
    last = key_head(hv - 1, hv, hqk)
    if last >= hqk:
        raise ShapeError(
            f"with Hqk {hqk} and Hv {hv}, value head {hv - 1} reads key head {last}",
            input="value",
            remedy="make Hv a multiple of Hqk",
        )


def _check_dtypes(given: Mapping[str, TensorInfo | None], dtype: str) -> None:
    wanted = {name: dtype for name, _ in AXES} | {"actual_seq_lengths": "int32", "g": "float32"}
    for name, info in given.items():
        if info is not None and info.dtype != wanted[name]:
            raise ShapeError(f"element type {info.dtype}", input=name, remedy=f"use {wanted[name]}")
