"""Rows of text put together from pieces side by side, as a matrix of bytes in which 0 is no character."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tools.dump.fast_text import Chars

    Piece: TypeAlias = bytes | Chars
    """Text that is the same in every row, or one text per row."""


class Sheet:
    """The matrix of one kind of row.

    What is the same in every row is written again only when the pieces change; the others are copied as one item a row.
    """

    def __init__(self) -> None:
        self._pieces: tuple[bytes | int, ...] = ()
        self._matrix = np.zeros((0, 0), np.uint8)

    def filled(self, pieces: Iterable[Piece], rows: int) -> Chars:
        """The text of `rows` rows, shape (rows, characters); good until the next call."""
        merged = _merged(pieces)
        shape = tuple(piece if isinstance(piece, bytes) else piece.shape[1] for piece in merged)
        if shape != self._pieces or rows > len(self._matrix):
            self._pieces, self._matrix = shape, _ruled(shape, rows)
        found = self._matrix[:rows]
        at = 0
        for piece in merged:
            if isinstance(piece, bytes):
                at += len(piece)
            elif size := piece.shape[1]:
                whole = piece if piece.strides[1] == 1 else np.ascontiguousarray(piece)
                found[:, at : at + size].view(f"V{size}")[:] = whole.view(f"V{size}")
                at += size
        return found


def _merged(pieces: Iterable[Piece]) -> list[Piece]:
    """The pieces with neighbouring constants as one."""
    found: list[Piece] = []
    for piece in pieces:
        if isinstance(piece, bytes) and found and isinstance(last := found[-1], bytes):
            found[-1] = last + piece
        else:
            found.append(piece)
    return found


def _ruled(shape: tuple[bytes | int, ...], rows: int) -> Chars:
    """A matrix with the constants in their columns."""
    row = b"".join(piece if isinstance(piece, bytes) else bytes(piece) for piece in shape)
    return np.tile(np.frombuffer(row, np.uint8), (rows, 1))
