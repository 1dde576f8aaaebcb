"""The args-format language (`reference/tiling_sink_compiler.md` 14)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu_plugins.compiler import ArgEntry, ArgKind, format_args, parse_args_format
from emu_plugins.compiler.tasks import sink_kernel_format
from formats.errors import FormatError


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{tiling_context}{*op_type}{tiling_context.tiling_key}{tiling_context.tiling_data}{tiling_context.block_dim}",
        "{tiling_context}{*op_type}{}{ws1*}",
        "{i0}{ws0}",
        "{i0*}{i5*}{i6}{o0*}{o1*}{ws0*}{t}",
        "{}{}{#42}{#514}",
        "{#18446744073709551615}{#0}",
    ],
)
def test_golden_texts(text):
    """Golden strings survive parsing and printing unchanged."""
    assert format_args(parse_args_format(text)) == text


def test_entries():
    """Each token becomes its entry."""
    assert parse_args_format("{i12*}{i3}{o0*}{ws15*}{}{t}{*op_type}{#7}{tiling_context}{tiling_context.block_dim}") == (
        ArgEntry(ArgKind.INPUT, 12),
        ArgEntry(ArgKind.INPUT, 3, folded=True),
        ArgEntry(ArgKind.OUTPUT, 0),
        ArgEntry(ArgKind.WORKSPACE, 15),
        ArgEntry(ArgKind.PLACEHOLDER),
        ArgEntry(ArgKind.TILING),
        ArgEntry(ArgKind.OP_TYPE),
        ArgEntry(ArgKind.CUSTOM_VALUE, value=7),
        ArgEntry(ArgKind.TILING_CONTEXT),
        ArgEntry(ArgKind.BLOCK_DIM),
    )


@pytest.mark.parametrize(
    ("text", "offset"),
    [
        ("i0*", 0), ("{i0*", 0), ("{ }", 0), ("{hehe}", 0), ("{xxx}", 0), ("{hi.unsupported}", 0), ("{#}", 0),
        ("{tiling_context.bad}", 0), ("{.16b}", 0), ("{i}", 0), ("{ws}", 0), ("{tX}", 0), ("{i0*}x", 5),
        ("{i0*}{i01*}", 5), ("{i0*}{ws99999*}", 5), ("{#18446744073709551616}", 0), ("{i٣*}", 0), ("{i-1*}", 0),
        ("{i0**}", 0), ("{}{{i0}}", 2),
    ],
)  # fmt: skip
def test_errors_carry_the_position(text, offset):
    """Anything else is refused at the byte where the bad token starts."""
    with pytest.raises(FormatError) as caught:
        parse_args_format(text)
    assert (caught.value.id, caught.value.offset) == ("format.args-format", offset)


NUMBERED = st.builds(
    ArgEntry,
    st.sampled_from([ArgKind.INPUT, ArgKind.OUTPUT, ArgKind.WORKSPACE]),
    st.integers(0, 65535),
    folded=st.booleans(),
)
PLAIN = st.sampled_from(
    sorted(set(ArgKind) - {ArgKind.INPUT, ArgKind.OUTPUT, ArgKind.WORKSPACE, ArgKind.CUSTOM_VALUE})
).map(ArgEntry)
VALUES = st.integers(0, 2**64 - 1).map(lambda v: ArgEntry(ArgKind.CUSTOM_VALUE, value=v))


@given(st.lists(st.one_of(NUMBERED, PLAIN, VALUES)).map(tuple))
def test_printing_and_parsing_are_inverse(entries):
    """Every list of entries comes back from its text."""
    assert parse_args_format(format_args(entries)) == entries


@given(st.text(alphabet="{}io*wst#.0129_abcdefgklmnpxy ", max_size=40))
def test_accepted_texts_are_canonical(text):
    """A text is either refused with a FormatError or printed back as it was."""
    try:
        entries = parse_args_format(text)
    except FormatError:
        return
    assert format_args(entries) == text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("{i0*}{i1*}{o0*}{ws0*}", "{i0*}{i1*}{o0*}{ws0*}{tiling_context.tiling_data}"),
        ("{i0*}{o0*}{ws0*}{ws1*}{}", "{i0*}{o0*}{ws0*}{ws1*}{tiling_context.tiling_data}{}"),
        ("{i0*}{o0*}{ws0*}{t}", "{i0*}{o0*}{ws0*}{tiling_context.tiling_data}{t}"),
    ],
)
def test_rewrite_for_sink(before, after):
    """The tiling data goes right behind the last workspace; a plain `{t}` survives behind it (7.4)."""
    assert format_args(sink_kernel_format(parse_args_format(before))) == after
