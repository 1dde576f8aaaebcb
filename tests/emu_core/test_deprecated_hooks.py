"""Hooks that change: a new argument harms nobody, and one that goes is announced first."""

from __future__ import annotations

import warnings

import pytest

from emu_core import Compiled, PluginDeprecationWarning, PluginError, PluginHost, compile_graph, deprecations, hookimpl
from emu_core import hook_calls as calls
from emu_plugins.chips.ascend310p import ASCEND310P3
from formats.blob import Blob

ROW = deprecations.Deprecated("sqemu_compile", "options", "0.3", "0.5", "read the policies of the host")
HOOK_ROW = deprecations.Deprecated("sqemu_old", "", "0.1", "0.2", "use sqemu_chips")
SAID = (
    "uses the argument options of sqemu_compile, deprecated since sqemu 0.3 and removed in 0.5: "
    "read the policies of the host"
)
BLOB = Blob("ascend310p3", "b")


class Old:
    """A plugin that was written before `sqemu_compile` had more arguments."""

    @hookimpl
    def sqemu_compile(self, graph):
        """Take one argument of four."""
        return Compiled(BLOB, (str(sorted(graph)),))


class Uses:
    """A plugin that takes an argument that will go."""

    @hookimpl
    def sqemu_compile(self, graph, options):
        """Take two arguments of four."""
        return Compiled(BLOB)


class Gone:
    """A plugin with a hook that went."""

    @hookimpl
    def sqemu_old(self):
        """Nothing."""
        return ()


@pytest.fixture
def table(monkeypatch):
    """Replaces the table of deprecated things."""
    return lambda *rows: monkeypatch.setattr(deprecations, "DEPRECATED", rows)


def test_one_more_argument_does_not_break_an_old_plugin(monkeypatch):
    """A hook that is called with an argument that the function does not know does not give it."""
    known = calls.arguments_of("sqemu_compile")
    assert compile_graph({"a": 1}, ASCEND310P3, plugins=PluginHost([Old()], entry_points=False)) == BLOB
    host = PluginHost([Old()], entry_points=False)
    more = {**dict.fromkeys(known), "graph": {"b": 1}, "invented": object()}
    assert host.first("sqemu_compile", **more).warnings == ("['b']",)


def test_a_deprecated_argument_works_and_is_named(table):
    """The warning has plugin, releases and what to use; there is one per plugin."""
    table(ROW)
    with pytest.warns(PluginDeprecationWarning) as caught:
        host = PluginHost([Uses(), Old()], entry_points=False)
    assert [str(each.message) for each in caught] == [f"plugin Uses (given by the caller) {SAID}"]
    assert compile_graph({}, ASCEND310P3, plugins=host) == BLOB


def test_nothing_is_said_of_others(table):
    """A plugin that does not take the argument is not warned."""
    table(ROW)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PluginHost([Old()], entry_points=False)


def test_a_removed_argument_is_refused_with_what_to_use(table, monkeypatch):
    """The row stays in the table when the hook lost the argument."""
    table(ROW)
    monkeypatch.setattr("emu_core.plugins.arguments_of", lambda hook: ("graph", "chip", "host"))
    with pytest.raises(PluginError, match=r"removed in sqemu 0\.5: read the policies of the host"):
        PluginHost([Uses()], entry_points=False)


def test_a_removed_hook_is_refused_with_what_to_use(table):
    """Without a row it is a hook that nobody knows."""
    with pytest.raises(PluginError, match="unknown hook 'sqemu_old'"):
        PluginHost([Gone()], entry_points=False)
    table(HOOK_ROW)
    with pytest.raises(PluginError, match=r"hook sqemu_old, which was removed in sqemu 0\.2: use sqemu_chips"):
        PluginHost([Gone()], entry_points=False)


def test_the_window_of_each_row_is_open_for_two_minor_releases():
    """The rule of the table, for whatever it holds."""
    for row in deprecations.DEPRECATED:
        since, until = (tuple(map(int, text.split(".")[:2])) for text in (row.since, row.until))
        assert until[0] > since[0] or until[1] - since[1] >= 2
