"""Which entries of an args format the loader fills (`reference/tiling_sink_compiler.md` 11.4)."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from emu_core.errors import InputError
from emu_core.operators import TensorInfo
from emu_plugins.runtime.arguments import Slots, argument_block, argument_words


def slots(*, sized=False):
    """An operator with two inputs, the second absent, one output and two workspaces."""
    op = SimpleNamespace(name="op", type="Op", inputs=(0, None), outputs=(1,), attrs={})
    blocks = [SimpleNamespace(address=0x30, size=5), SimpleNamespace(address=0x40, size=6)]
    placement = SimpleNamespace(
        blob=SimpleNamespace(ops=[op]), tensors=[0x10, 0x20], workspaces=[blocks],
        words=SimpleNamespace(sync=0x70, event=lambda number: 0x80 + number,
                              hidden=lambda *named: (0x90, 0x98) if named == ("Op", "op", "hcom") else ()),
    )  # fmt: skip
    return Slots(placement, 0, sized_workspaces=sized)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{i*}{o*}", [0x10, 0, 0x20]), ("{ws*}", [0x30, 0x40]), ("{i1}{ws1*}{#7}{}", [0, 0x40, 7, 0]), ("", []),
        ("{ffts_addr}{event_addr1*}{skn0i0*}", [0x70, 0x81, 0x10]), ("{t_ffts.tail}{overflow_addr}{o0*}", [0x20]),
        ("{i_instance0}{i_instance*}{o_instance0*}", [0x10, 0x10, 0x20]),
        ("{hi.hcom1*}{hi.hcom0*}", [0x98, 0x90]), ("{.32b}{#.32b5}{#.32b7}{o0}", [5 << 32, 7, 0x20]),
        ("{#.32b1}{}{#.32b2}{#.32b3}{#.32b4}", [1, 0, 2 | 3 << 32, 4]),
    ],
)  # fmt: skip
def test_filled_entries(text, words):
    """A wild card fills a slot per tensor or workspace, an absent input is 0."""
    assert argument_words(text, slots()) == words


def test_sizes_behind_workspaces():
    """In a custom tiling task each workspace is followed by its size."""
    assert argument_words("{ws1*}", slots(sized=True)) == [0x40, 6]


@pytest.mark.parametrize(
    "text",
    [
        "{i_desc7}",
        "{i_instance1}",
        "{hi.hcom2*}",
        "{hi.tilefwk0*}",
        "{hi.hcclsk0*}",
        "{skn1i0*}",
        "{i2*}",
        "{ws2*}",
        "{t}",
    ],
)
def test_entries_that_are_not_filled(text):
    """What the loader has nothing for is refused with the operator's name, never filled with something else."""
    with pytest.raises(InputError) as caught:
        argument_words(text, slots())
    assert (caught.value.id, caught.value.where) == ("blob.args-format", "operator op")


def test_descriptor_blocks():
    """The worked example of 11.4 with one tensor per input: blocks lie behind all slots, in order of appearance.

    Word 0 of a block is the bytes up to its addresses; a tensor has 2^32 + rank and its dims, a scalar is [1].
    """
    shapes = {0: (4, 4, 4, 4), 1: (4, 4, 4, 4), 2: (), 3: ()}
    op = SimpleNamespace(name="op", type="Op", inputs=(0, 1, 2, None), outputs=(3,), attrs={})
    placement = SimpleNamespace(
        blob=SimpleNamespace(ops=[op]), tensors=[0x10, 0x20, 0x30, 0x40],
        workspaces=[[SimpleNamespace(address=0x50, size=5)]], info=lambda i: TensorInfo("float32", shapes[i]),
    )  # fmt: skip
    block = argument_block("{i0}{i_desc1}{i_desc2}{i_desc3}{o_desc0}{ws0}{}", Slots(placement, 0))
    written = {}
    base = block.place(lambda words: written.update(enumerate(words)) or 0x1000, written.__setitem__)
    rank_4, scalar = [(1 << 32) + 4, 4, 4, 4, 4], [(1 << 32) + 1, 1]
    behind = [[8 * 6, *rank_4, 0x20], [8 * 3, *scalar, 0x30], [8], [8 * 3, *scalar, 0x40]]
    assert base == 0x1000
    assert [written[i] for i in range(7)] == [0x10, 0, 0, 0, 0, 0x50, 0]
    assert [written[i] for i in range(7, 23)] == [word for each in behind for word in each]
    starts = [7, 14, 18, 19]
    for slot, start in zip((1, 2, 3, 4), starts, strict=True):
        assert int.from_bytes(written[base + 8 * slot], "little") == base + 8 * start
