"""Shapes and attributes: what shape inference and tiling functions of the layer's operators check."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from emu_core import ShapeError, TensorInfo, TilingError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emu_core import TilingContext
    from emu_core.operators import AttrValue

UNKNOWN = -1
UNKNOWN_RANK = (-2,)
LARGEST = (1 << 31) - 1
STORED = ("float16", "bfloat16")
"""Element types of activations and weights; arithmetic is float32."""


class Heads(NamedTuple):
    """Key heads, value heads, and their widths; value heads are a multiple of key heads."""

    key_heads: int
    value_heads: int
    key_width: int
    value_width: int

    @property
    def keys(self) -> int:
        """Elements of all key heads of a token."""
        return self.key_heads * self.key_width

    @property
    def values(self) -> int:
        """Elements of all value heads of a token."""
        return self.value_heads * self.value_width

    @property
    def mixed(self) -> int:
        """Channels of the convolution: query, key, value."""
        return 2 * self.keys + self.values

    @property
    def usable(self) -> bool:
        """Whether such heads exist."""
        return min(self) >= 1 and max(self) <= LARGEST and self.value_heads % self.key_heads == 0


def heads_of(attrs: Mapping[str, AttrValue]) -> Heads:
    """The heads that `attrs` describe; raises `ShapeError` for heads that cannot be."""
    heads = Heads(*(int(attrs[name]) for name in Heads._fields))  # type: ignore[arg-type]
    if not heads.usable:
        raise ShapeError(
            f"attributes {heads._asdict()}", remedy="use 1 or more of each, and a multiple of key_heads as value_heads"
        )
    return heads


def checked(
    name: str, info: TensorInfo | None, axes: tuple[int, ...], dtypes: tuple[str, ...] = STORED
) -> tuple[int, ...]:
    """The shape of input `name`, which must have one axis for each of `axes`; `UNKNOWN` there is any length from 1.

    Raises:
        ShapeError: missing, another element type or rank, or an axis of another length.
    """
    if info is None:
        raise ShapeError("the input is missing", input=name, remedy="connect it")
    if info.dtype not in dtypes:
        raise ShapeError(f"element type {info.dtype}", input=name, remedy=f"use {' or '.join(dtypes)}")
    shape = tuple(UNKNOWN for _ in axes) if info.shape == UNKNOWN_RANK else info.shape
    if len(shape) != len(axes) or not all(_fits(found, axis) for found, axis in zip(shape, axes, strict=True)):
        some = "1 or more" if 0 in shape else "any"
        wanted = ", ".join(some if axis == UNKNOWN else str(axis) for axis in axes)
        raise ShapeError(f"shape {list(shape)}", input=name, remedy=f"use [{wanted}]")
    return tuple(axis if found == UNKNOWN else found for found, axis in zip(shape, axes, strict=True))


def _fits(found: int, axis: int) -> bool:
    return found == UNKNOWN or (1 <= found <= LARGEST and axis in {UNKNOWN, found})


def one_dtype(names: tuple[str, ...], infos: tuple[TensorInfo | None, ...]) -> str:
    """The element type that the first inputs of `infos` share; raises `ShapeError` for the first that differs."""
    first = infos[0]
    for name, info in zip(names, infos, strict=False):
        if first is not None and info is not None and info.dtype != first.dtype:
            raise ShapeError(f"{name} is {info.dtype} and {names[0]} is {first.dtype}", input=name, remedy="use one")
    return first.dtype if first is not None else ""


def axes_of(context: TilingContext, index: int, rank: int) -> tuple[int, ...]:
    """The axes of input `index`.

    Raises:
        TilingError: no shape, another rank, or an axis below 1.
    """
    shape = context.input_shape(index)
    axes = shape.storage if shape is not None else ()
    if len(axes) != rank or min(axes, default=0) < 1 or max(axes, default=0) > LARGEST:
        raise TilingError(f"input {index} has shape {list(axes)}; {rank} axes of 1 or more are needed")
    return axes


def heads_of_context(context: TilingContext) -> Heads:
    """The heads in the first four attributes.

    Raises:
        TilingError: the attributes are missing, or no such heads can be.
    """
    attrs = context.attrs
    numbers = [] if attrs is None or attrs.num < len(Heads._fields) else [attrs.get_int(i) or 0 for i in range(4)]
    if len(numbers) != len(Heads._fields) or not Heads(*numbers).usable:
        raise TilingError(f"attributes {numbers} describe no heads")
    return Heads(*numbers)


def number_of(context: TilingContext, index: int, default: float) -> float:
    """Float attribute `index`, or `default`."""
    attrs = context.attrs
    found = attrs.get_float(index) if attrs is not None and index < attrs.num else None
    return default if found is None else found
