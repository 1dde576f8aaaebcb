"""The bytes of device memory in a snapshot: of each allocation only what somebody may have written, in pieces.

| piece | length |
|---|---|
| of a first snapshot | a whole range that was touched, at most `LONGEST` bytes |
| of a snapshot beside an earlier one | `SHARED` bytes; a piece that has not changed is the earlier one's, not a copy |

What no piece covers is 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from emu_core.memory import Bytes, _Block

    Piece: TypeAlias = "bytes | Bytes"
    Pieces: TypeAlias = Mapping[int, Piece]

LONGEST = 1 << 24
SHARED = 1 << 16
PAGE = 4096


def touched(block: _Block) -> Iterator[tuple[int, int]]:
    """Ranges of an allocation that may hold something else than 0, whole pages, in order, apart from each other."""
    ranges = sorted([*block.written, *block.touched])
    first, last = -1, -1
    for start, end in ranges:
        lower, upper = start // PAGE * PAGE, min(-(-end // PAGE) * PAGE, block.info.size)
        if lower <= last:
            last = max(last, upper)
            continue
        if last > first:
            yield first, last
        first, last = lower, upper
    if last > first:
        yield first, last


def kept(block: _Block, before: Pieces | None) -> dict[int, Piece]:
    """The pieces of one allocation by offset; `before`: those of an earlier snapshot, to share what did not change."""
    if block.freed or block.untouched:
        return {}
    data = block.data
    if before is None:
        return {
            at: data[at : min(at + LONGEST, end)].copy()
            for start, end in touched(block)
            for at in range(start, end, LONGEST)
        }
    found: dict[int, Piece] = {}
    for start, end in touched(block):
        for at in range(start // SHARED * SHARED, end, SHARED):
            if at not in found:
                raw = data[at : at + SHARED].tobytes()
                old = before.get(at)
                found[at] = old if isinstance(old, bytes) and old == raw else raw
    return found


def put_back(block: _Block, pieces: Pieces) -> None:
    """Make the bytes of an allocation those of `pieces`; what was touched and lies in none becomes 0."""
    if not block.untouched:
        data = block.data
        for start, end in touched(block):
            data[start:end] = 0
    for at, piece in pieces.items():
        raw = np.frombuffer(piece, np.uint8) if isinstance(piece, bytes) else piece
        block.data[at : at + len(raw)] = raw


def size_of(pieces: Pieces) -> int:
    """Bytes in `pieces`."""
    return sum(len(piece) for piece in pieces.values())
