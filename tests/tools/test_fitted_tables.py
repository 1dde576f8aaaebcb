"""Tables that fit: wrapped cells, what stands below a row, and packed pieces."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tools.fitted import fitted_lines, packed, tokens
from tools.show import cells

WORDS = st.text(st.sampled_from("ab {}"), max_size=30)


def test_a_table_with_room_is_left_alone():
    """Columns are as wide as their widest cell, two columns apart, numbers to the right."""
    assert list(fitted_lines(("n", "what"), [(1, "one"), (10, "ten and more")], 80, right=("n",))) == [
        "   n  what",
        "  --  ------------",
        "   1  one",
        "  10  ten and more",
    ]


def test_the_widest_column_is_wrapped_between_words():
    """The cell goes on below itself; numbers keep their width; a text stands under its row."""
    found = list(fitted_lines(("n", "what"), [(1, "ten and more")], 14, right=("n",), below=["this stands below"]))
    assert found[:4] == ["  n  what", "  -  ---------", "  1  ten and", "     more"]
    assert [line.strip() for line in found[4:]] == ["this stands below"]


def test_long_words_are_broken_behind_underscores():
    """Only where there is no room for the word."""
    found = list(fitted_lines(("field",), [("group_block_dim",)], 15))
    assert found[2:] == ["  group_block_", "  dim"]


def test_no_break_spaces_keep_words_together():
    """`key 3` moves to the next line as a whole."""
    found = list(fitted_lines(("what",), [("abcdef, key\xa03",)], 11))
    assert found[2:] == ["  abcdef,", "  key 3"]


@given(st.lists(st.tuples(WORDS, WORDS, WORDS), max_size=4), st.integers(30, 80))
def test_no_line_is_wider_than_the_limit_and_nothing_is_lost(rows, limit):
    """Three columns of text fit 30 columns (three of 6, gaps of 2, and to spare), and every sign is there."""
    lines = list(fitted_lines(("a", "b", "c"), rows, limit))
    assert max(map(cells, lines)) <= limit
    for sign in "{}":
        assert "".join(lines).count(sign) == sum(cell.count(sign) for row in rows for cell in row)


@given(st.lists(st.text("ab", min_size=1, max_size=12), max_size=12), st.integers(20, 60))
def test_packed_pieces(pieces, limit):
    """Pieces stay whole and in order, and lines keep to the limit as long as a piece fits one."""
    lines = packed(pieces, limit, first="> ", others="  ")
    assert "".join(line[2:] for line in lines) == "".join(pieces)
    assert max(map(cells, lines)) <= limit


def test_tokens_of_an_args_format():
    """One piece per token; text that is none stays whole."""
    assert tokens("{i0*}{ws0*}x{") == ["{i0*}", "{ws0*}", "x", "{"]
