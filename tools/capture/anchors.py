"""Lines of a chunk that may have a shape of the grammar, found without looking at the others.

Every shape has one of a few anchors in its lines. A search for one literal runs at gigabytes per second, but there are
too many of them, and an alternation of all is slower still. So four letters of each anchor, different from those of all
others, stand for it: two tables tell of every pair of bytes whether it begins, or ends, such four letters; numpy looks
up all pairs at once, and only where both tables agree the anchor itself is compared.

Host dumps have no anchor: their eight words are found in a copy of the chunk in which all hex digits are one letter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ANCHORS: tuple[tuple[bytes, int], ...] = (
    (b"word[", 1), (b"dump_sqe", 4), (b"sqe[", 0), (b"pos=", 0), (b"sq_fsm=", 2), (b"xception", 0), (b" failed", 0),
    (b"rror", 0), (b"imeout", 0), (b"Code=0x7", 4), (b"eal fault", 3), (b"task_result", 4), (b"err_pc=", 3),
    (b"slot_dfx", 4), (b"post_reset", 3), (b"schemMode=", 4), (b"coreId(", 2),
)  # fmt: skip
"""Literals, one of which is in every line that the grammar reads, and where their four letters begin."""

WORDS = b" hhhhhhhh hhhhhhhh hhhhhhhh hhhhhhhh hhhhhhhh"
"""Words of a host dump, after `SHAPED`."""
SHAPED = bytes(ord("h") if chr(c) in "0123456789abcdefABCDEF" else c if c in b" \n" else ord(".") for c in range(256))
"""A table for `bytes.translate`."""

_PAIR = np.dtype("<u2")


def _table(pairs: Iterable[bytes]) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Whether a pair of bytes, as a little-endian number, is one of `pairs`; shape (65536,)."""
    found = np.zeros(1 << 16, np.bool_)
    found[[int.from_bytes(pair, "little") for pair in pairs]] = True
    return found


_FIRST = _table(anchor[at : at + 2] for anchor, at in ANCHORS)
_SECOND = _table(anchor[at + 2 : at + 4] for anchor, at in ANCHORS)
_BY_LETTERS = {anchor[at : at + 4]: (anchor, at) for anchor, at in ANCHORS}


def candidates(chunk: bytes) -> list[int]:
    """Where the candidate lines of `chunk` begin, ascending; `chunk` holds whole lines."""
    found = {chunk.rfind(b"\n", 0, at) + 1 for at in _anchored(chunk)}
    found.update(_lines_with(chunk.translate(SHAPED), WORDS))
    return sorted(found)


def _anchored(chunk: bytes) -> Iterator[int]:
    """Where anchors are, the first of each line at least."""
    for odd in (0, 1):
        line = 0
        count = (len(chunk) - odd) // 2
        if not count:
            continue
        pairs = np.frombuffer(chunk, _PAIR, count, odd)
        at = np.flatnonzero(_FIRST[pairs[:-1]])
        for place in (2 * at[_SECOND[pairs[at + 1]]] + odd).tolist():
            anchor, first = _BY_LETTERS.get(chunk[place : place + 4], (b"\n", 0))
            if place >= line and chunk.startswith(anchor, max(place - first, 0)):
                yield place
                line = chunk.find(b"\n", place) + 1


def _lines_with(chunk: bytes, pattern: bytes) -> Iterator[int]:
    """Where the lines begin that hold `pattern`."""
    line = 0
    while (at := chunk.find(pattern, line)) >= 0:
        yield chunk.rfind(b"\n", line, at) + 1 or line
        line = chunk.find(b"\n", at) + 1
        if not line:
            return
