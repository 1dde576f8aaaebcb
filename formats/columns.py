"""Columns -> records: many records built at once with numpy, range checks included."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from formats.access import Piece, pieces
from formats.errors import FormatError
from formats.fields import Field, Joined

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import numpy.typing as npt

    from formats.cstruct import CStruct

_BLOCK = 8192
"""Records per block, so that scratch arrays stay in the cache."""


@dataclass(frozen=True)
class _Part:
    """One checked column (or one element of an array field) and a piece of it that lies in a word."""

    column: npt.NDArray[Any]
    piece: Piece
    whole: bool


def encode_columns(struct: CStruct, columns: Mapping[str, npt.ArrayLike], count: int) -> npt.NDArray[np.uint8]:
    """`count` records from columns; see :meth:`formats.cstruct.CStruct.encode_columns`."""
    if count < 0:
        raise FormatError(f"{count} records", id="format.index", where=struct.struct_name)
    out = np.zeros((count, struct.size), np.uint8)
    groups: dict[tuple[int, int], list[_Part]] = {}
    for name, column in columns.items():
        for part in _parts(struct, name, column, count, columns):
            groups.setdefault((part.piece.byte, part.piece.size), []).append(part)
    groups = dict(sorted(groups.items(), key=lambda item: not _zeroes_others(*item)))
    flat = out.reshape(-1)
    for lo in range(0, count, _BLOCK):
        hi = min(lo + _BLOCK, count)
        _encode_block(struct.size, groups, flat, lo, hi)
    return out


def _zeroes_others(place: tuple[int, int], parts: list[_Part]) -> bool:
    """Whether storing a group clears bits beside its field: such stores come first, before a neighbour is there."""
    return len(parts) == 1 and parts[0].whole and parts[0].piece.mask != (1 << 8 * place[1]) - 1


def _encode_block(
    step: int, groups: Mapping[tuple[int, int], list[_Part]], flat: npt.NDArray[np.uint8], lo: int, hi: int
) -> None:
    scratch = {size: np.empty((2, hi - lo), f"<u{size}") for size in {size for _, size in groups}}
    for (byte, size), parts in groups.items():
        word, moved = scratch[size]
        target: npt.NDArray[Any] = np.ndarray((hi - lo,), f"<u{size}", flat.data, lo * step + byte, (step,))
        if len(parts) == 1 and parts[0].whole:
            np.copyto(target, parts[0].column[lo:hi], casting="unsafe")
            continue
        np.copyto(word, target)
        for part in parts:
            _place(part, part.column[lo:hi], moved)
            np.bitwise_or(word, moved, out=word)
        np.copyto(target, word)


def _place(part: _Part, column: npt.NDArray[Any], moved: npt.NDArray[Any]) -> None:
    """The bits of one piece, where they belong in their word."""
    p = part.piece
    kind = moved.dtype.type
    if p.up:
        np.copyto(moved, column.astype(np.uint64) >> np.uint64(p.up), casting="unsafe")
    else:
        np.copyto(moved, column, casting="unsafe")
    if not part.whole:
        np.bitwise_and(moved, kind(p.mask), out=moved)
    if p.shift:
        np.left_shift(moved, kind(p.shift), out=moved)


def _parts(
    struct: CStruct, name: str, column: npt.ArrayLike, count: int, given: Mapping[str, npt.ArrayLike]
) -> Iterator[_Part]:
    field = struct.joined.get(name) or struct.by_name.get(name)
    if field is None or field.width > 64:
        struct.field(name)  # names the field that does not exist
        raise FormatError("is too wide for a column", id="format.unknown-field", where=f"{struct.struct_name}.{name}")
    if isinstance(field, Joined) and (field.low.name in given or field.high.name in given):
        raise FormatError(
            f"is given beside {field.low.name} or {field.high.name}",
            id="format.unknown-field",
            where=f"{struct.struct_name}.{name}",
            remedy="give the joined value or the halves",
        )
    elements = field.count if isinstance(field, Field) else None
    checked = checked_column(struct, field, column, count if elements is None else (count, elements))
    if elements is None:
        yield from _pieces_of(struct, field, checked)
        return
    assert isinstance(field, Field)
    for k in range(elements):
        cell = Field(field.name, field.offset + k * field.width, field.width, kind=field.kind)
        yield from _pieces_of(struct, cell, checked[:, k])


def _pieces_of(struct: CStruct, field: Field | Joined, column: npt.NDArray[Any]) -> Iterator[_Part]:
    unsigned = not (isinstance(field, Field) and field.kind == "int")
    if unsigned and isinstance(field, Field) and field.width <= 32 and struct.size % 4 == 0:
        byte = field.offset // 32 * 4
        if field.end <= 8 * byte + 32:
            piece = Piece(byte, 4, field.offset - 8 * byte, (1 << field.width) - 1, 0)
            yield _Part(column, piece, whole=field.width == 32 or field.offset % 32 == 0)
            return
    for piece in pieces(field, struct.size):
        whole = unsigned and not piece.up and not piece.shift and piece.mask == (1 << 8 * piece.size) - 1
        yield _Part(column, piece, whole=whole)


def checked_column(
    struct: CStruct, field: Field | Joined, column: npt.ArrayLike, shape: int | tuple[int, int]
) -> npt.NDArray[Any]:
    """`column` as an array of integers of this shape, each of which fits the field; `FormatError` if it is none."""
    where = f"{struct.struct_name}.{field.name}"
    try:
        array = np.asarray(column)
    except (ValueError, OverflowError, TypeError):
        raise FormatError("is no array of integers", id="format.range", where=where) from None
    if not array.size:
        array = array.astype(np.uint8)
    elif array.dtype.kind == "O" or (array.dtype.kind == "f" and not isinstance(column, np.ndarray)):
        array = _from_objects(np.asarray(column, object), where)
    if array.dtype.kind not in "iub":
        raise FormatError(f"is {array.dtype}, not integers", id="format.range", where=where)
    _check_limits(array, field, where)
    try:
        return np.broadcast_to(array, shape)
    except ValueError:
        raise FormatError(f"has shape {array.shape}, {shape} is needed", id="format.count", where=where) from None


def _from_objects(array: npt.NDArray[Any], where: str) -> npt.NDArray[Any]:
    """Python integers for which numpy finds no type of integers by itself, as some are beyond int64."""
    if not all(isinstance(x, int | np.integer) for x in array.flat):
        raise FormatError("is no array of integers", id="format.range", where=where)
    try:
        return array.astype(np.int64 if any(x < 0 for x in array.flat) else np.uint64)
    except OverflowError:
        raise FormatError("has integers of more than 64 bits", id="format.range", where=where) from None


def _check_limits(array: npt.NDArray[Any], field: Field | Joined, where: str) -> None:
    low, high = field.limits
    info = np.iinfo(array.dtype) if array.dtype.kind in "iu" else None
    if not array.size or (info is not None and info.min >= low and info.max <= high):
        return
    for number in (int(array.min()), int(array.max())):
        if not low <= number <= high:
            raise FormatError(f"{number} does not fit, {low} to {high} do", id="format.range", where=where)
