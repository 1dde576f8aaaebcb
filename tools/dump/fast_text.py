"""Columns of numbers as text, many rows at a time: matrices of bytes in which 0 stands for "no character".

A renderer is chosen by trying the Python function it replaces on the values where the forms differ (0, one digit
more, all ones …); whatever is neither plain decimal nor plain hexadecimal is looked up value by value. So the text is
that of the Python function by construction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Callable

Chars: TypeAlias = npt.NDArray[np.uint8]
"""Shape (rows, columns); 0 is no character."""
Numbers: TypeAlias = npt.NDArray[np.unsignedinteger]
Renderer: TypeAlias = "Callable[[Numbers], Chars]"

_SMALL = 1 << 16
_CHUNK = 10_000
_FEW = 16
"""Bits of the numbers whose texts are remembered."""


def _small_table() -> npt.NDArray[np.uint64]:
    """Digits of 0 to 65535 in cells of 8 characters, aligned to the right, nothing in front."""
    cells = np.zeros((_SMALL, 8), np.uint8)
    left = np.arange(_SMALL, dtype=np.uint16)
    for k in range(5):
        present = (left > 0) | (k == 0)
        left, digit = np.divmod(left, np.uint16(10))
        cells[:, 7 - k] = (digit + ord("0")) * present
    return cells.view("<u8").ravel()


_NUMBERS = _small_table()
_HEX = np.array([[*f"{n:02x}".encode()] for n in range(256)], np.uint8)
_HEX_PAIRS = _HEX.view("<u2").ravel()


_HEX_QUADS = (_HEX_PAIRS[np.arange(_SMALL) & 0xFF] | (_HEX_PAIRS[np.arange(_SMALL) >> 8].astype("<u4") << 16)).astype(
    "<u4"
)


def _without_leading_zeros(digits: Chars) -> Chars:
    """`digits` with zeros in front of the first other digit as no character; the last digit stays."""
    seen = np.logical_or.accumulate(digits != ord("0"), axis=1)
    seen[:, -1] = True
    digits *= seen
    return digits


def decimal(values: Numbers) -> Chars:
    """Numbers in decimal."""
    largest = int(values.max(initial=0))
    used = len(str(largest))
    if largest < _SMALL:
        return _NUMBERS[values].view(np.uint8).reshape(-1, 8)[:, 8 - used :]
    groups = -(-used // 4)
    found = np.empty((len(values), 4 * groups), np.uint8)
    rest = values.astype("<u8")
    for k in range(groups - 1, -1, -1):
        rest, part = np.divmod(rest, np.uint64(_CHUNK))
        cells = _NUMBERS[part.astype(np.intp)].view(np.uint8).reshape(-1, 8)[:, 4:]
        found[:, 4 * k : 4 * k + 4] = np.where(cells == 0, ord("0"), cells)
    return _without_leading_zeros(found)


def hexadecimal(values: Numbers) -> Chars:
    """Numbers as `0x…`."""
    longest = max(1, -(-int(values.max(initial=0)).bit_length() // 4))
    shortest = max(1, -(-int(values.min()).bit_length() // 4))
    raw = values.astype(">u8").view(np.uint8).reshape(-1, 8)[:, 8 - -(-longest // 2) :]
    digits = hex_pairs(raw)
    digits = digits[:, digits.shape[1] - longest :]
    found = np.empty((len(values), longest + 2), np.uint8)
    found[:, 0], found[:, 1] = ord("0"), ord("x")
    found[:, 2:] = digits if longest == shortest else _without_leading_zeros(digits)
    return found


def hex_pairs(raw: Chars) -> Chars:
    """Bytes as two hex digits each: shape (rows, bytes) to (rows, 2 * bytes)."""
    return _HEX_PAIRS[raw].view(np.uint8).reshape(len(raw), 2 * raw.shape[1])


def hex_lines(raw: Chars, columns: int) -> Chars:
    """Rows of bytes as hex words of four bytes, `columns` bytes a line: shape (rows, lines, characters).

    A blank stands before each word. The number of bytes in a row and `columns` are multiples of 4.
    """
    rows, size = raw.shape
    words = np.full((rows, size // 4, 9), ord(" "), np.uint8)
    words[:, :, 1:].view("V8")[..., 0] = np.take(_HEX_QUADS, raw.view("<u2")).view("V8")
    return words.reshape(rows, size // columns, -1)


class Looked:
    """Text looked up value by value, remembered for numbers of up to 16 bits."""

    def __init__(self, show: Callable[[int], str], bits: int) -> None:
        self._show = show
        self._row = np.full(1 << bits, -1, np.int32) if bits <= _FEW else None
        self._table = np.zeros((0, 1), np.uint8)
        self._sizes = np.zeros(0, np.intp)

    def __call__(self, values: Numbers) -> Chars:
        """The texts of `values`."""
        if self._row is None:
            unique, where = np.unique(values, return_inverse=True)
            return _texts(self._show, unique)[where.ravel()]
        rows = self._row[values]
        if len(rows) and rows.min() < 0:
            rows = self._learnt(values, self._row)
        return self._table[rows, : int(self._sizes[rows].max(initial=1))]

    def _learnt(self, values: Numbers, row: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
        """The rows of `values` in the table, after those that are new were added."""
        new = np.unique(values[row[values] < 0])
        texts = _texts(self._show, new)
        size = max(texts.shape[1], self._table.shape[1])
        self._table = np.concatenate([_widened(self._table, size), _widened(texts, size)])
        self._sizes = np.concatenate([self._sizes, np.count_nonzero(texts, axis=1)])
        row[new] = np.arange(len(self._table) - len(new), len(self._table))
        return row[values]


def _texts(show: Callable[[int], str], values: Numbers) -> Chars:
    """The texts of `values`, aligned to the left."""
    texts = [show(value).encode() for value in values.tolist()]
    size = max(map(len, texts), default=0) or 1
    return np.frombuffer(b"".join(text.ljust(size, b"\0") for text in texts), np.uint8).reshape(-1, size)


def _widened(text: Chars, columns: int) -> Chars:
    return np.pad(text, ((0, 0), (0, columns - text.shape[1])))


def suffixed(render: Renderer, suffix: str) -> Renderer:
    """A renderer with the same text behind every number."""
    tail = np.frombuffer(suffix.encode(), np.uint8)

    def shown(values: Numbers) -> Chars:
        left = render(values)
        return np.concatenate([left, np.broadcast_to(tail, (len(left), len(tail)))], axis=1)

    return shown


def renderer(show: Callable[[int], str], bits: int) -> Renderer:
    """A renderer that gives the same texts as `show` for numbers of `bits` bits."""
    top = (1 << bits) - 1
    tried = sorted({min(n, top) for n in (0, 1, 2, 9, 10, 15, 16, 255, 256, 65535, 65536, 1 << 40, top - 1, top)})
    texts = [(n, show(n)) for n in tried]
    if bits > 8 and all(text == f"{n:#x}" for n, text in texts):
        return hexadecimal
    suffix = texts[0][1].removeprefix("0")
    if bits > 8 and not suffix[:1].isdigit() and all(text == f"{n}{suffix}" for n, text in texts):
        return suffixed(decimal, suffix) if suffix else decimal
    return Looked(show, bits)
