"""Attribute values <-> kind, cell and list words."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple

from formats.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from formats.blob.model import AttrValue

BOOL, INT, FLOAT, TEXT, INTS, FLOATS = range(6)
_WORD = 1 << 64


class Cell(NamedTuple):
    """An attribute as the file holds it: kind, value cell (or 0), list words (or none)."""

    kind: int
    value: int
    words: tuple[int, ...]


def _int_word(x: int, where: str) -> int:
    if not -(1 << 63) <= x < 1 << 63:
        raise FormatError(f"{x} does not fit 64 bits", id="format.range", where=where)
    return x % _WORD


def _float_word(x: float) -> int:
    return int.from_bytes(struct.pack("<d", x), "little")


def _word_int(word: int) -> int:
    return word - _WORD if word >> 63 else word


def _word_float(word: int) -> float:
    return float(struct.unpack("<d", word.to_bytes(8, "little"))[0])


def to_cell(value: AttrValue, text: Callable[[str, str], int], where: str) -> Cell:
    """The file form of `value`; `text` interns a string.

    Raises:
        FormatError: an integer over 64 bits (id `format.range`), a list of mixed or other types (`format.type`).
    """
    if isinstance(value, bool):
        return Cell(BOOL, int(value), ())
    if isinstance(value, int):
        return Cell(INT, _int_word(value, where), ())
    if isinstance(value, float):
        return Cell(FLOAT, _float_word(value), ())
    if isinstance(value, str):
        return Cell(TEXT, text(value, where), ())
    if isinstance(value, tuple) and all(type(x) is int for x in value):
        return Cell(INTS, 0, tuple(_int_word(int(x), where) for x in value))
    if isinstance(value, tuple) and all(type(x) is float for x in value):
        return Cell(FLOATS, 0, tuple(_float_word(x) for x in value))
    raise FormatError(
        f"an attribute cannot be {value!r}",
        id="format.type",
        where=where,
        remedy="use a bool, int, float, string, or a tuple of ints or of floats",
    )


def from_cell(kind: int, value: int, words: Sequence[int], text: Callable[[int], str]) -> AttrValue:
    """The value of a cell; `FormatError` (id `blob.value`) for an unknown kind."""
    readers: dict[int, Callable[[], AttrValue]] = {
        BOOL: lambda: bool(value),
        INT: lambda: _word_int(value),
        FLOAT: lambda: _word_float(value),
        TEXT: lambda: text(value),
        INTS: lambda: tuple(_word_int(w) for w in words),
        FLOATS: lambda: tuple(_word_float(w) for w in words),
    }
    if kind not in readers:
        raise FormatError(f"attribute kind {kind} is not known", id="blob.value")
    return readers[kind]()
