"""The args-format language (`reference/tiling_sink_compiler.md` 14)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu_plugins.compiler import ArgEntry, ArgKind, format_args, parse_args_format
from emu_plugins.compiler.args_format import for_sub_operator
from emu_plugins.compiler.args_layout import ADDR_TYPE, IrShape, IrTensor, args_bytes, expand_args_format, ir_index
from emu_plugins.compiler.sink_step import SinkStepError, sink_kernel_format
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
        "{ffts_addr}{i0*}{i_desc1}{i_desc2}{i4*}{o_desc0}{ws0*}{t_ffts.tail}",
        "{i*}{o*}{ws0*}{ws1*}",
        "{}{}{.32b}{}",
        "{#42}{#.32b114}{#514}",
        "{skn1i0*}{skn1#42}{skn1o0*}",
        "{skn1hi.hcom0*}{skn1hi.tilefwk0*}{skn1hi.hcclsk0*}",
        "{skn1event_addr10*}",
        "{skn19ffts_addr}{skn19i_desc0}{skn19i_desc1}{skn19o0}{skn19ws0}{skn20ffts_addr}{skn20event_addr123*}"  # noqa: ISC004 - one text
        "{skn20i_desc0}{skn20i1}{skn20i_instance3}{skn20o_desc0}{skn20o_instance2}{skn20ws*}{skn20hi.hcom0*}"
        "{skn20tiling_context}{skn20tiling_context.tiling_data}{skn20*op_type}{skn20tiling_context.tiling_key}"
        "{skn20tiling_context.block_dim}{ws0*}{overflow_addr}",
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
        ("{skn1}x", 6), ("{sknXi0*}", 0), ("{skn1skn2i0*}", 0), ("{#.32b4294967296}", 0), ("{t_ffts.none}", 0),
        ("{event_addr7}", 0), ("{hi.hcom0}", 0), ("{i_desc*}", 0), ("{ffts_addrX}", 0), ("{i_instance}", 0),
    ],
)  # fmt: skip
def test_errors_carry_the_position(text, offset):
    """Anything else is refused at the byte where the bad token starts."""
    with pytest.raises(FormatError) as caught:
        parse_args_format(text)
    assert (caught.value.id, caught.value.offset) == ("format.args-format", offset)


STARRED = st.sampled_from(
    [ArgKind.INPUT, ArgKind.OUTPUT, ArgKind.WORKSPACE, ArgKind.INPUT_INSTANCE, ArgKind.OUTPUT_INSTANCE]
)
NUMBERED = st.builds(
    ArgEntry,
    STARRED | st.sampled_from([ArgKind.INPUT_DESC, ArgKind.OUTPUT_DESC]),
    st.integers(0, 65535),
    folded=st.booleans(),
)
WILD = STARRED.map(ArgEntry)
PLAIN = st.sampled_from(
    [
        ArgKind.TILING, ArgKind.TILING_CONTEXT, ArgKind.TILING_DATA, ArgKind.TILING_KEY, ArgKind.BLOCK_DIM,
        ArgKind.OP_TYPE, ArgKind.FFTS_ADDR, ArgKind.OVERFLOW_ADDR,
    ]
).map(ArgEntry)  # fmt: skip
PLACES = st.booleans().map(lambda narrow: ArgEntry(ArgKind.PLACEHOLDER, narrow=narrow))
VALUES = st.one_of(
    st.integers(0, 2**64 - 1).map(lambda v: ArgEntry(ArgKind.CUSTOM_VALUE, value=v)),
    st.integers(0, 2**32 - 1).map(lambda v: ArgEntry(ArgKind.CUSTOM_VALUE, value=v, narrow=True)),
)
DETAILED = st.one_of(
    st.integers(0, 2**31 - 1).map(lambda n: ArgEntry(ArgKind.EVENT_ADDR, n)),
    st.builds(
        lambda n, detail: ArgEntry(ArgKind.HIDDEN_INPUT, n, detail=detail),
        st.integers(0, 65535),
        st.sampled_from(["hcom", "tilefwk", "hcclsk"]),
    ),
    st.sampled_from(["tail", "non_tail"]).map(lambda detail: ArgEntry(ArgKind.TILING_FFTS, detail=detail)),
)
ENTRIES = st.builds(
    replace,
    st.one_of(NUMBERED, WILD, PLAIN, PLACES, VALUES, DETAILED),
    sub=st.none() | st.integers(0, 2**31 - 1),
)


@given(st.lists(ENTRIES).map(tuple))
def test_printing_and_parsing_are_inverse(entries):
    """Every list of entries comes back from its text."""
    assert parse_args_format(format_args(entries)) == entries


TOKENS = (
    "{", "}", "*", "i", "o", "ws", "t", "skn1", "i_desc", "i_instance", "event_addr", "hi.", "hcom", "t_ffts.", "tail",
    "#", ".32b", "0", "7", "01", "ffts_addr", "overflow_addr", "tiling_context", ".block_dim", "*op_type", " ",
)  # fmt: skip


@given(st.lists(st.sampled_from(TOKENS), max_size=12).map("".join))
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
        (
            "{i0}{i_instance0}{i_desc1}{o0}{o_instance0}{ws0}{t_ffts.non_tail}",
            "{i0}{i_instance0}{i_desc1}{o0}{o_instance0}{ws0}{tiling_context.tiling_data}",
        ),
        ("{ffts_addr}{i0*}{i1*}{o0*}{ws0*}", "{ffts_addr}{i0*}{i1*}{o0*}{ws0*}{tiling_context.tiling_data}"),
        (
            "{i0*}{o0*}{ws0*}{ws1*}{overflow_addr}",
            "{i0*}{o0*}{ws0*}{ws1*}{tiling_context.tiling_data}{overflow_addr}",
        ),
    ],
)
def test_rewrite_for_sink(before, after):
    """The tiling data goes right behind the last workspace; a plain `{t}` survives behind it (7.4)."""
    assert format_args(sink_kernel_format(parse_args_format(before))) == after


def test_rewrite_without_workspace():
    """There is no place for the tiling data without a workspace entry (7.4)."""
    with pytest.raises(SinkStepError) as caught:
        sink_kernel_format(parse_args_format("{i0}{i_instance0}{i_desc1}{o0}{o_instance0}"))
    assert caught.value.id == "graph.sink-workspace"


SHAPES = IrShape(
    inputs=(
        IrTensor(((4, 4, 4, 4),)),
        IrTensor(((4, 4, 4, 4), (4, 4, 4, 4)), dynamic=True),
        IrTensor(),
    ),
    outputs=(IrTensor(((), ()), dynamic=True),),
)
"""A tensor, a dynamic input of two, an absent optional one; a dynamic output of two scalars."""


@pytest.mark.parametrize(
    ("text", "expanded"),
    [
        ("{i*}", "{i0*}{i1*}{i2*}"),
        ("{o*}{ws*}", "{o0*}{ws*}"),
        ("{i_instance*}{o_instance*}", "{i_instance0*}{i_instance1*}{i_instance2*}{o_instance0*}{o_instance1*}"),
        ("{i0}{i1}{i_instance0}{ws0}", "{i0*}{i1}{i_instance0*}{ws0*}"),
        ("{i_desc1}{i_desc1*}", "{i_desc1}{i_desc1*}"),
        ("{skn3i0}{#7}", "{skn3i0*}{#7}"),
    ],
)
def test_expansion(text, expanded):
    """With the operator known wild cards become one entry per tensor, and only dynamic inputs stay folded (14.2)."""
    assert format_args(expand_args_format(text, SHAPES)) == expanded


@pytest.mark.parametrize(
    ("text", "offset"),
    [("{i0*}{i3*}", 5), ("{o1*}", 0), ("{i_instance3}", 0), ("{o_instance2*}", 0), ("{i0*}{skn1i*}", 5), ("{i0", 0)],
)
def test_expansion_errors_carry_the_position(text, offset):
    """An index that the operator has not, and a sub-operator's token for several, are refused at their brace (14.3)."""
    with pytest.raises(FormatError) as caught:
        expand_args_format(text, SHAPES)
    assert caught.value.offset == offset


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("", 0), ("{t}", 8), ("{}", 8), ("{.32b}", 4), ("{#1}", 8), ("{#.32b1}", 4), ("{ws0*}", 8), ("{ws*}", 128),
        ("{i0*}", 8), ("{i0}", 8), ("{i1*}", 16), ("{i1}", 24), ("{i2*}", 8), ("{i*}", 40), ("{i_instance*}", 24),
        ("{i_instance0*}", 8), ("{o*}", 24), ("{event_addr3*}", 8),
        # 8 folded, 8, and per instance 16 and four dimensions of 8; a scalar counts one dimension.
        ("{i_desc1}", 8 + 8 + 2 * (16 + 32)), ("{i_desc1*}", 8 + 2 * (16 + 32)), ("{o_desc0}", 8 + 8 + 2 * (16 + 8)),
        ("{i0*}{o_desc0}{ws0*}", 8 + 64 + 8),
    ],
)  # fmt: skip
def test_sizes(text, size):
    """Each entry takes the bytes of the table (14.4)."""
    assert args_bytes(parse_args_format(text), SHAPES) == size


def test_size_of_an_unknown_rank():
    """A descriptor of unknown rank reserves 25 dimensions."""
    shape = IrShape(inputs=(IrTensor(((-2,),)),))
    assert args_bytes(parse_args_format("{i_desc0}"), shape) == 8 + 8 + 16 + 25 * 8


def test_ir_index_of_an_instance():
    """Absent optional inputs and dynamic ones shift the numbers; behind the last there is no input (3)."""
    counts = [1, 0, 2, 1]
    assert [ir_index(counts, k) for k in range(-1, 5)] == [None, 0, 2, 2, 3, None]


def test_numbers_of_the_kinds():
    """The kinds have the vendor's numbers; the four of the tiling context share one (14.1)."""
    numbers = sorted(set(ADDR_TYPE.values()) | {16})
    assert numbers == list(range(18))
    assert set(ADDR_TYPE) == set(ArgKind)


@pytest.mark.parametrize(
    ("text", "sub", "prefixed"),
    [
        ("{i0*}", 19, "{skn19i0*}"), ("{#42}", 19, "{skn19#42}"), ("{#.32b42}", 19, "{skn19#.32b42}"),
        ("{event_addr200000*}", 19, "{skn19event_addr200000*}"),
        ("{tiling_context}{*op_type}{event_addr1*}", 20, "{skn20tiling_context}{skn20*op_type}{skn20event_addr1*}"),
    ],
)  # fmt: skip
def test_prefix_of_a_sub_operator(text, sub, prefixed):
    """Each entry of a sub-operator carries its id (14.5)."""
    assert format_args(for_sub_operator(parse_args_format(text), sub)) == prefixed
