"""Work items and their owners, with the examples of the reference."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu_plugins.cgdr.items import (
    LiveSequence,
    average_load,
    items_of_block,
    key_head,
    live_sequences,
    tiles_per_head,
    work_items,
)


def _owners(lengths, hv, block_num, dv=64, v_step=64):
    return [item.block for item in work_items(lengths, hv=hv, dv=dv, v_step=v_step, block_num=block_num)]


def test_eight_items_on_eight_blocks():
    """Eight equal items go to one block each."""
    assert _owners([64], 8, 8) == list(range(8))


def test_thirty_two_items_on_eight_blocks():
    """Thirty-two equal items go to eight blocks, four each, in order."""
    assert _owners([64], 32, 8) == [block for block in range(8) for _ in range(4)]


def test_three_items_on_two_blocks():
    """Three items of 10 tokens on two blocks average 15, so the first block gets two."""
    assert average_load([10], 3, 1, 2) == 15
    assert _owners([10], 3, 2) == [0, 0, 1]


def test_overshoot_is_dropped():
    """The load counter restarts at 0, so with uneven lengths the last blocks may stay idle."""
    # 100 + 1 + 1 + 1 tokens on 4 blocks average 26: block 0 takes the long one, block 1 all the others.
    assert _owners([100, 1, 1, 1], 1, 4) == [0, 1, 1, 1]


def test_v_tiles_are_items():
    """A V wider than the step is cut into tiles of that width, the last one narrower."""
    items = list(work_items([64], hv=2, dv=160, v_step=96, block_num=4))
    assert [(i.head, i.v_tile, i.v_start, i.v_width) for i in items] == [
        (0, 0, 0, 96), (0, 1, 96, 64), (1, 0, 0, 96), (1, 1, 96, 64),
    ]  # fmt: skip
    assert [i.block for i in items] == [0, 1, 2, 3]


def test_one_tile_when_v_is_narrow():
    """A V up to the step is one tile of its own width."""
    assert tiles_per_head(48, 80) == tiles_per_head(80, 80) == 1
    assert next(iter(work_items([5], hv=1, dv=48, v_step=80, block_num=1))).v_width == 48


def test_zero_and_negative_lengths_are_skipped():
    """A length of 0 or below gives no item; a negative one still moves the next start."""
    assert live_sequences([5, 0, -2, 7]) == (LiveSequence(0, 0, 5), LiveSequence(3, 3, 7))


def test_no_tokens_no_items():
    """Without a token there is nothing to own."""
    assert _owners([0, -3], 4, 8) == []


def test_items_of_one_block():
    """A block runs its items in the order of the list."""
    items = tuple(work_items([10], hv=3, dv=64, v_step=64, block_num=2))
    assert [item.head for item in items_of_block(items, 0)] == [0, 1]
    assert [item.head for item in items_of_block(items, 1)] == [2]


@pytest.mark.parametrize(
    ("hv", "hqk", "mapped"),
    [(4, 2, [0, 0, 1, 1]), (2, 2, [0, 1]), (2, 4, [0, 1]), (3, 2, [0, 1, 2]), (5, 2, [0, 0, 1, 1, 2])],
)
def test_head_mapping(hv, hqk, mapped):
    """Value heads share key heads by integer division, past the last one if Hv is no multiple of Hqk."""
    assert [key_head(head, hv, hqk) for head in range(hv)] == mapped


@given(
    lengths=st.lists(st.integers(-5, 300), max_size=8),
    hv=st.integers(1, 12),
    dv=st.integers(1, 300),
    v_step=st.integers(1, 128),
    block_num=st.integers(1, 48),
)
def test_every_item_is_owned_once_by_a_block_of_the_launch(lengths, hv, dv, v_step, block_num):
    """Each (sequence with tokens, head, V tile) has one owner below the block count, and owners never go back."""
    items = list(work_items(lengths, hv=hv, dv=dv, v_step=v_step, block_num=block_num))
    tiles = -(-dv // v_step)
    expected = {(b, h, v) for b, n in enumerate(lengths) if n > 0 for h in range(hv) for v in range(tiles)}
    counted = Counter((i.sequence.batch, i.head, i.v_tile) for i in items)
    assert counted == dict.fromkeys(expected, 1)
    assert all(0 <= i.block < block_num for i in items)
    assert [i.block for i in items] == sorted(i.block for i in items)


@given(dv=st.integers(1, 300), v_step=st.integers(1, 128))
def test_tiles_cover_v_once(dv, v_step):
    """The tiles of a head cover its columns without gap or overlap."""
    items = list(work_items([1], hv=1, dv=dv, v_step=v_step, block_num=1))
    columns = [c for i in items for c in range(i.v_start, i.v_start + i.v_width)]
    assert columns == list(range(dv))
