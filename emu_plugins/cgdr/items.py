"""Work items and the block that owns each (`reference/cgdr.md` 2.2 and 6). Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


@dataclass(frozen=True)
class LiveSequence:
    """A sequence that is worked on: its batch index, first token and number of tokens (above 0)."""

    batch: int
    start: int
    length: int


@dataclass(frozen=True)
class WorkItem:
    """One (sequence, value head, V tile): all chunks of the sequence, in order, on block `block`.

    `v_start` and `v_width` are the columns of V it computes.
    """

    block: int
    sequence: LiveSequence
    head: int
    v_tile: int
    v_start: int
    v_width: int


def live_sequences(lengths: Sequence[int]) -> tuple[LiveSequence, ...]:
    """The sequences with tokens. A length of 0 or below is skipped; a negative one still moves the next start."""
    found, start = [], 0
    for batch, length in enumerate(lengths):
        if length > 0:
            found.append(LiveSequence(batch, start, length))
        start += length
    return tuple(found)


def tiles_per_head(dv: int, v_step: int) -> int:
    """Work items per (sequence, head): more than one only when `dv` is wider than a V step."""
    return -(-dv // v_step) if dv > v_step else 1


def average_load(lengths: Sequence[int], hv: int, tiles: int, block_num: int) -> int:
    """Tokens after which the owner moves on to the next block; exact, where the device keeps 32 bits."""
    tokens = sum(length for length in lengths if length > 0)
    return -(-tokens * hv * tiles // block_num)


def work_items(lengths: Sequence[int], *, hv: int, dv: int, v_step: int, block_num: int) -> Iterator[WorkItem]:
    """Every item with its owner, in the order in which each block walks the same list.

    Args:
        lengths: tokens per sequence.
        hv: value heads.
        dv: V columns.
        v_step: V columns per item, above 0.
        block_num: blocks of the launch, above 0.
    """
    tiles = tiles_per_head(dv, v_step)
    average = average_load(lengths, hv, tiles, block_num)
    load = owner = 0
    for sequence in live_sequences(lengths):
        for head in range(hv):
            for v_tile in range(tiles):
                v_start = v_tile * v_step
                yield WorkItem(owner, sequence, head, v_tile, v_start, min(v_step, dv - v_start))
                load += sequence.length
                if load >= average:
                    load, owner = 0, owner + 1


def items_of_block(items: Sequence[WorkItem], block: int) -> tuple[WorkItem, ...]:
    """What `block` runs, in its order."""
    return tuple(item for item in items if item.block == block)


def key_head(head: int, hv: int, hqk: int) -> int:
    """Key head that value head `head` reads (2.3); it may lie past the last one if `hv` is no multiple of `hqk`."""
    return head // (hv // hqk if hv >= hqk else 1)
