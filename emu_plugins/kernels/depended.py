"""What the two sample operators share: reading a value-depended int32, and spreading blocks over cores."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from emu_core import ShapeError, TensorInfo, TilingError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emu_core import TilingContext

UNKNOWN = -1
UNKNOWN_RANK = (-2,)

# Both tiling structs keep the element count in 32 bits.
LARGEST_COUNT = (1 << 32) - 1


def depended_int32(context: TilingContext, index: int) -> int | None:
    """The value of int32[1] input `index`, or None when it is not at hand, as at compile time.

    Raises:
        TilingError: the value has fewer than four bytes.
    """
    data = context.input_data(index)
    if data is None:
        return None
    if len(data) < 4:
        raise TilingError(f"the value of input {index} has {len(data)} bytes, an int32 has 4", detail={"input": index})
    return int.from_bytes(data[:4], "little", signed=True)


def platform_cores(context: TilingContext) -> int:
    """Cores that blocks are spread over, at least 1.

    Raises:
        TilingError: there is no platform information.
    """
    platform = context.platform
    if platform is None:
        raise TilingError("the tiling context has no platform information")
    return max(platform.core_num_aiv or platform.core_num, 1)


def element_count(context: TilingContext, index: int) -> int:
    """Elements of input `index`.

    Raises:
        TilingError: no shape, an unknown dimension, or more than 2**32 - 1 elements.
    """
    shape = context.input_shape(index)
    if shape is None:
        raise TilingError(f"input {index} has no shape; it is required", detail={"input": index})
    count = math.prod(shape.storage)
    if min(shape.storage, default=0) < 0 or count > LARGEST_COUNT:
        raise TilingError(
            f"input {index} has shape {list(shape.storage)}; its elements must number from 0 to {LARGEST_COUNT}",
            detail={"input": index},
        )
    return count


def blocks_for(n: int, cores: int) -> int:
    """`n` blocks, but at least 1 and at most `cores`."""
    return min(max(n, 1), cores)


def ceil_slices(count: int, blocks: int) -> Iterator[tuple[int, int]]:
    """Start and end of each block's slice when `count` elements are cut into `blocks` pieces, rounded up.

    Every block has a slice; the last ones may be short or empty.
    """
    width = -(-count // blocks)
    return ((min(b * width, count), min((b + 1) * width, count)) for b in range(blocks))


def check_vector(name: str, info: TensorInfo | None, dtypes: tuple[str, ...]) -> TensorInfo:
    """`info` if it is a vector of one of `dtypes`, its length known or not.

    Raises:
        ShapeError: missing, another element type or rank, or a length below 1.
    """
    if info is None:
        raise ShapeError("the input is missing", input=name, remedy="connect it")
    if info.dtype not in dtypes:
        raise ShapeError(f"element type {info.dtype}", input=name, remedy=f"use {' or '.join(dtypes)}")
    if info.shape == UNKNOWN_RANK:
        return TensorInfo(info.dtype, (UNKNOWN,))
    if len(info.shape) != 1 or not (info.shape[0] == UNKNOWN or 0 < info.shape[0] <= LARGEST_COUNT):
        raise ShapeError(
            f"shape {list(info.shape)}", input=name, remedy=f"use one axis of 1 to {LARGEST_COUNT} elements"
        )
    return info


def check_n(info: TensorInfo | None) -> None:
    """Check that `info` is the int32[1] whose value the tiling reads; raises `ShapeError`."""
    found = check_vector("n", info, ("int32",))
    if found.shape[0] not in {1, UNKNOWN}:
        raise ShapeError(f"n has {found.shape[0]} elements", input="n", remedy="use exactly one")
