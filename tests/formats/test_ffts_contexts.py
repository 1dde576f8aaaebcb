"""FFTS+ contexts by their type (`sqe_formats.md` 5)."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import formats
from formats import FormatError

KINDS = {
    0: "AicAiv", 1: "AicAiv", 3: "Notify", 4: "Notify", 5: "WriteValue", 6: "MixAicAiv", 7: "MixAicAiv", 8: "Sdma",
    9: "Data", 0xA: "Data", 0xB: "Data", 0xC: "Aicpu", 0x10D: "CondSwitch", 0x20D: "CaseSwitch", 0x300: "AtStart",
    0x400: "AtEnd", 0x500: "Label", 0x600: "PersistentCache", 0x700: "Dsa", 0x805: "WriteValue",
}  # fmt: skip


@pytest.mark.parametrize(("number", "name"), KINDS.items())
def test_the_type_leads_to_the_layout(number, name):
    """Each of the twenty context types of the reference has its struct."""
    found = formats.decode_context(number.to_bytes(2, "little") + bytes(126), offset=256)
    assert (found.struct.struct_name, found.guessed, found.notes) == (f"FftsPlus{name}Ctx", False, ())
    assert found.offset == 256


def test_an_unknown_type_shows_the_common_words():
    """The common part is decoded, and the note names the number."""
    found = formats.decode_context((0x123).to_bytes(2, "little") + bytes(126))
    assert (found.struct.struct_name, found.guessed) == ("FftsPlusComCtx", True)
    assert found.notes[0].startswith("context type 0x123 (not a known type)")


@pytest.mark.parametrize("size", [0, 64, 127, 129])
def test_a_context_has_128_bytes(size):
    """Another size is refused."""
    with pytest.raises(FormatError, match="128 bytes"):
        formats.decode_context(bytes(size))


def test_only_v100_has_contexts():
    """Another family is refused with the one that has them."""
    with pytest.raises(FormatError, match="no contexts"):
        formats.decode_context(bytes(128), family="v200")


@settings(max_examples=100, deadline=None)
@given(st.binary(min_size=128, max_size=128))
def test_any_128_bytes_decode_and_build_back(data):
    """Contexts keep every bit."""
    assert formats.decode_context(data).raw() == data
