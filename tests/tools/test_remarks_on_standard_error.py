"""Remarks on standard error: whole lines for programs, wrapped for people, and the same warning only once."""

from __future__ import annotations

import pytest

from tools import say
from tools.grouped_warnings import MOST_NAMED, grouped

LONG = "warning: " + "word " * 30 + "end"


def test_a_pipe_gets_one_line(capsys):
    """What is said stays on a line of its own where standard error is no terminal."""
    say.say(LONG)
    assert capsys.readouterr().err == LONG + "\n"


@pytest.mark.parametrize("columns", [40, 80])
def test_a_terminal_gets_its_width(capsys, monkeypatch, columns):
    """The same words in lines that fit, the further ones indented."""
    monkeypatch.setattr(say, "_width", lambda: columns)
    say.say(LONG)
    lines = capsys.readouterr().err.splitlines()
    assert max(map(len, lines)) <= columns
    assert all(line.startswith("  ") for line in lines[1:])
    assert " ".join(" ".join(lines).split()) == LONG


def test_a_closed_standard_error(monkeypatch):
    """Without a descriptor there is no width."""
    monkeypatch.setattr("sys.stderr", None)
    assert say._width() is None


def test_one_node_keeps_its_words():
    """A warning of a single node, and one of no node, are said as they are."""
    said = ["nodes[0] (node a): stays on the host: why; what to do", "option x is not known here"]
    assert grouped(said) == said


def test_the_same_of_several_nodes():
    """The text once, with the nodes in their order; other warnings keep their places."""
    said = ["nodes[0] (node a): stays", "other", "nodes[2] (node b): stays", "node c loses tiling sink: x", "other"]
    said.append("node d loses tiling sink: x")
    assert grouped(said) == [
        "stays (the same for nodes a, b)", "other", "loses tiling sink: x (the same for nodes c, d)",
    ]  # fmt: skip


def test_many_nodes_are_counted():
    """So many are named, the others counted."""
    (text,) = grouped(f"nodes[{i}] (node n{i}): stays" for i in range(MOST_NAMED + 3))
    assert text.endswith(f"n{MOST_NAMED - 1} and 3 more)")
