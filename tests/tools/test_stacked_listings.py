"""Blocks of text for narrow terminals."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tools.stacked import figures, folded, stacked_lines, wrapped

WORDS = st.lists(st.text("abcdefghij", min_size=1, max_size=15), min_size=1, max_size=30)


@given(words=WORDS, limit=st.integers(24, 120))
def test_no_word_is_lost_or_broken(words, limit):
    """Every word is there, in order and whole, and no line is longer than the limit."""
    lines = wrapped(" ".join(words), limit, first="  x ", others="    ")
    assert " ".join(lines).split() == ["x", *words]
    assert max(map(len, lines)) <= limit


def test_an_absurd_limit_still_gives_words():
    """A terminal of one column gets lines of twenty and more, not one letter each."""
    assert wrapped("several short words here", 1, first="", others="") == ["several short words", "here"]


def test_figures_stay_together():
    """A label is not parted from its number at the end of a line."""
    lines = wrapped(figures([("UB KiB", "256"), ("tasks/SQ", "2042")]), 22, first="", others="")
    assert lines == ["UB KiB 256,", "tasks/SQ 2042"]


def test_a_block():
    """A name, then each paragraph indented; control codes are shown, not sent."""
    assert list(stacked_lines([("na\x1bme", ("one two", "three"))], 60)) == [
        "\x1b[1mna\\x1bme\x1b[0m",
        "    one two",
        "    three",
    ]


class TestFolded:
    ROWS = ((0, "kernel", "run it on the first core"), (11, "nop", ""))

    def test_with_room(self):
        """A table that fits, or that no terminal limits, is a plain table."""
        whole = [
            "   #  type    what",
            "  --  ------  ------------------------",
            "   0  kernel  run it on the first core",
            "  11  nop",
        ]
        assert list(folded(("#", "type", "what"), self.ROWS, right=("#",))) == whole
        assert list(folded(("#", "type", "what"), self.ROWS, right=("#",), limit=38)) == whole

    def test_without_room(self):
        """Columns without room stand below their row with their name, empty ones not at all."""
        assert list(folded(("#", "type", "what"), self.ROWS, right=("#",), limit=37)) == [
            "   #  type",
            "  --  ------",
            "   0  kernel",
            "        what: run it on the first",
            "            core",
            "  11  nop",
        ]
