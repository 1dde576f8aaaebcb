"""Which entries of an args format the loader fills (`reference/tiling_sink_compiler.md` 11.4)."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from emu_core.errors import InputError
from emu_plugins.runtime.arguments import Slots, argument_words


def slots(*, sized=False):
    """An operator with two inputs, the second absent, one output and two workspaces."""
    op = SimpleNamespace(name="op", inputs=(0, None), outputs=(1,))
    blocks = [SimpleNamespace(address=0x30, size=5), SimpleNamespace(address=0x40, size=6)]
    placement = SimpleNamespace(blob=SimpleNamespace(ops=[op]), tensors=[0x10, 0x20], workspaces=[blocks])
    return Slots(placement, 0, sized_workspaces=sized)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{i*}{o*}", [0x10, 0, 0x20]), ("{ws*}", [0x30, 0x40]), ("{i1}{ws1*}{#7}{}", [0, 0x40, 7, 0]), ("", []),
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
    ["{ffts_addr}", "{i_desc0}", "{event_addr1*}", "{hi.hcom0*}", "{skn1i0*}", "{.32b}", "{i2*}", "{ws2*}", "{t}"],
)
def test_entries_that_are_not_filled(text):
    """What the loader has nothing for is refused with the operator's name, never filled with something else."""
    with pytest.raises(InputError) as caught:
        argument_words(text, slots())
    assert (caught.value.id, caught.value.where) == ("blob.args-format", "operator op")
