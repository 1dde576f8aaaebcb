"""Tables and lines: widths, cutting, wrapping, what must not reach a terminal."""

from __future__ import annotations

import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools import show
from tools.suggest import nearest


class TestText:
    @given(st.text(), st.integers(2, 40))
    def test_cut(self, text, limit):
        """Cut text never takes more columns than the limit."""
        assert show.cells(show.cut(text, limit)) <= limit

    def test_cut_leaves_what_fits(self):
        """Text that fits stays; what does not ends with an ellipsis; no limit, no cut."""
        assert show.cut("abcd", 4) == "abcd"
        assert show.cut("abcde", 4) == "abc…"
        assert show.cut("abcde", None) == "abcde"
        assert show.cut("算子算子", 5) == "算子…"

    @given(st.text())
    def test_safe(self, text):
        """Safe text is printable, and printable text is unchanged."""
        assert show.safe(text).isprintable()
        assert show.safe(text) == text or not text.isprintable()

    def test_surrogates(self):
        """Bytes of a file name that are no text become escapes that any encoding takes."""
        assert show.safe(os.fsdecode(b"\xff")) == r"\udcff"


class TestTables:
    def test_alignment(self):
        """Columns are as wide as their widest cell; numbers can be aligned to the right; wide characters count two."""
        lines = list(show.rows_as_text(("name", "n"), [("算子", 5), ("b", 10)], right=("n",)))
        assert lines == ["  name   n", "  ----  --", "  算子   5", "  b     10"]

    def test_no_rows(self):
        """A table without rows is header and rule."""
        assert list(show.rows_as_text(("a",), [])) == ["  a", "  -"]

    def test_cut_at_the_edge(self):
        """With a limit every line ends there."""
        assert max(map(len, show.rows_as_text(("a", "b"), [("x" * 9, "y" * 90)], limit=30))) == 30

    def test_wrap(self):
        """A wrapped last column goes on below itself, within the limit, and loses no word."""
        words = "one two three four five six seven eight nine ten"
        lines = list(show.rows_as_text(("a", "b"), [("x", words), ("y", "")], limit=30, wrap=True))
        assert max(map(len, lines)) <= 30
        assert " ".join(" ".join(line.split()) for line in lines[2:]) == f"x {words} y"

    def test_title(self, capsys):
        """A title stands before the table; outside a terminal nothing is cut."""
        show.table("Title", ("a",), [("x" * 300,)], fit=True)
        assert capsys.readouterr().out.splitlines() == ["Title", "  a", "  " + "-" * 300, "  " + "x" * 300]

    def test_width_of_a_terminal(self, monkeypatch):
        """The width is that of the terminal, and none without one."""
        assert show.width() is None
        monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
        monkeypatch.setenv("COLUMNS", "77")
        assert show.width() == 77

    def test_many_lines(self, capsys):
        """Long output comes in several writes, complete and in order."""
        show.lines(str(i) for i in range(200))
        assert capsys.readouterr().out.split() == [str(i) for i in range(200)]


class TestJson:
    def test_foreign_values(self, capsys):
        """Numpy numbers are plain numbers, anything else is text."""
        show.json_line({"a": np.int32(3), "b": show.json_line})
        assert '"a": 3' in capsys.readouterr().out


@pytest.mark.parametrize(
    ("typed", "found"),
    [("nop", ["nop_count"]), ("wait_rset", ["wait_reset"]), ("NOP_COUNT", ["nop_count"]), ("", []), ("~~", [])],
)
def test_nearest(typed, found):
    """Names that contain what was typed come first, then similar ones."""
    assert nearest(typed, ["nop_count", "wait_reset", "stale_prefetch"])[:1] == found
