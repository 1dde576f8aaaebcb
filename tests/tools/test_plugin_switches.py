"""Plugins by option and environment; importers, views and subcommands of plugins on the command line."""

from __future__ import annotations

import importlib.metadata
import json
import subprocess
import sys
from types import SimpleNamespace

import click
import pytest

from emu_core import CommandSpec, DumpView, ImporterSpec, InputError, hookimpl

PLUGIN = """
from emu_core import CommandSpec, DumpView, ImporterSpec, ObserverSpec, hookimpl


def _command():
    import click

    @click.command("hello", help="Say hello.")
    @click.argument("name")
    def command(name):
        if name == "bad":
            raise KeyError("no such name")
        if name == "usage":
            raise click.UsageError("another name")
        click.echo(f"hello {name}")

    return command


@hookimpl
def sqemu_commands():
    \"\"\"Commands.\"\"\"
    return [CommandSpec("hello", "Say hello.", _command), CommandSpec("number", "None.", lambda: 3),
            CommandSpec("run", "Never reached.", _command)]


@hookimpl
def sqemu_importers():
    \"\"\"Formats.\"\"\"
    return [ImporterSpec("hash", lambda head: head.startswith(b"#G"), lambda data, operators, source: 7)]


@hookimpl
def sqemu_dump_views():
    \"\"\"Views.\"\"\"
    return [DumpView("slots", lambda entries: (f"at {e.slot}: {e.struct} of {e.stream}" for e in entries)),
            DumpView("bad", lambda entries: (e.nothing for e in entries)),
            DumpView("numbers", lambda entries: (e.slot for e in entries))]
"""


@pytest.fixture
def given(tmp_path):
    """The options that load the plugin."""
    path = tmp_path / "mine.py"
    path.write_text(PLUGIN)
    return ("--plugin", path)


def installed_beside(monkeypatch, **plugins):
    """Installed plugins of another distribution, beside ours."""
    ours = importlib.metadata.entry_points(group="sqemu.plugins")
    dist = SimpleNamespace(name="sqemu-other", version="2.1")
    more = [SimpleNamespace(name=n, dist=dist, value="x", load=lambda p=p: p) for n, p in plugins.items()]
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: [*ours, *more])


class Empty:
    """A plugin with one hook."""

    @hookimpl
    def sqemu_explanations(self):
        """One text."""
        return {"other.id": "text\ndo: nothing"}


class TestSwitches:
    def names(self, sqemu, *arguments):
        """Names of the plugins that are there."""
        return {each["name"] for each in sqemu(*arguments, "--json").objects if "name" in each}

    def test_options_before_the_subcommand(self, sqemu, given):
        """They count for any subcommand, together with those behind it."""
        found = self.names(sqemu, *given, "--no-plugin", "cgdr", "plugins", "list", "--no-plugin", "layer")
        assert "mine" in found
        assert found.isdisjoint({"cgdr", "layer"})

    def test_the_environment_leaves_plugins_out(self, sqemu, monkeypatch):
        """By name; a name that is not installed does nothing; the list says what was left out."""
        installed_beside(monkeypatch, other=Empty())
        assert "other" in self.names(sqemu, "plugins", "list")
        monkeypatch.setenv("SQEMU_NO_PLUGINS", "other, missing")
        assert "other" not in self.names(sqemu, "plugins", "list")
        assert "left out by SQEMU_NO_PLUGINS: other\n" in sqemu("plugins", "list").out

    def test_all_of_others(self, sqemu, monkeypatch):
        """`all` leaves ours alone."""
        installed_beside(monkeypatch, other=Empty(), another=Empty())
        monkeypatch.setenv("SQEMU_NO_PLUGINS", "all")
        found = self.names(sqemu, "plugins", "list")
        assert {"chips", "compiler"} <= found
        assert found.isdisjoint({"other", "another"})

    def test_a_name_that_is_not_installed_is_an_error_of_the_option(self, sqemu):
        """It may be mistyped."""
        assert sqemu("--no-plugin", "missing", "chips", "--json").error["error"] == "plugin.unknown"

    def test_the_list_says_cost_order_and_file(self, sqemu, given):
        """Each plugin has its place, nanoseconds, and its file; a compiler its place among compilers."""
        found = sqemu("plugins", "list", "--json", *given).objects
        plugins = {each["plugin"]: each for each in found if "plugin" in each}
        assert [each["order"] for each in found if "plugin" in each] == list(range(len(plugins)))
        assert all(each["load_ns"] > 0 for each in plugins.values())
        assert plugins["mine"]["file"].endswith("mine.py")
        assert plugins["mine"]["commands"] == ["hello", "number", "run"]
        assert "subcommands of mine: hello, number, run" in sqemu("plugins", "list", *given).out
        assert plugins["compiler"]["asked"] == {"sqemu_compile": 0}
        assert plugins["runtime"]["asked"] == {"sqemu_load": 1}


class TestSubcommands:
    def test_one_of_a_plugin(self, sqemu, given):
        """It gets its arguments; its help is its own."""
        assert sqemu(*given, "hello", "world").out == "hello world\n"
        assert "Say hello." in sqemu(*given, "hello", "--help").out

    def test_what_it_raises(self, sqemu, given):
        """An unexpected error names the plugin; a usage error is one."""
        found = sqemu(*given, "--no-plugin", "cgdr", "hello", "bad")
        assert (found.code, "plugin.raised" in found.err, "KeyError" in found.err) == (2, True, True)
        assert "plugin mine (given by the caller), subcommand hello" in found.err
        assert sqemu(*given, "hello", "usage").code == 2

    def test_no_click_command(self, sqemu, given):
        """It is refused."""
        assert sqemu(*given, "number", "--json").error["error"] == "plugin.answer"

    def test_names_of_ours_stay_ours(self, sqemu, given):
        """`run` is ours, and the list says that the plugin has it, too."""
        assert "PROGRAM" in sqemu(*given, "run", "--help").out
        assert "! subcommand 'run' comes from both sqemu and plugin mine" in sqemu("plugins", "list", *given).out

    def test_an_unknown_one(self, sqemu, given):
        """It is answered as before, with a plugin and without."""
        assert "did you mean 'run'" in sqemu(*given, "rnu").err
        assert "did you mean 'run'" in sqemu("rnu").err

    @pytest.mark.parametrize("option", ["--help", "--version"])
    def test_help_and_version_import_no_plugin(self, tmp_path, option):
        """Not even one that was given."""
        (tmp_path / "mine.py").write_text("raise SystemExit('imported')")
        command = [sys.executable, "-m", "tools.cli", "--plugin", str(tmp_path / "mine.py"), option]
        found = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (found.returncode, found.stderr) == (0, "")


def test_a_dump_of_a_blob_does_without_the_machine(sqemu, probe, tmp_path):
    """A blob alone is shown without numpy, plugins and device; they come with its rings."""
    blob = tmp_path / "p.sqt"
    assert sqemu("compile", probe / "probe.json", "-o", blob).code == 0
    command = [sys.executable, "-X", "importtime", "-m", "tools.cli", "dump", str(blob)]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    names = {line.rsplit("|", 1)[-1].strip() for line in found.stderr.splitlines() if "|" in line}
    assert not names & {"numpy", "pluggy", "emu_core.device", "emu_core.plugins"}


class TestViews:
    @pytest.fixture
    def ring(self, tmp_path):
        """Two entries and an empty one between them."""
        entry = bytes([3]) + bytes(63)
        (tmp_path / "ring").write_bytes(entry + bytes(64) + entry)
        return tmp_path / "ring"

    def test_one_of_a_plugin(self, sqemu, given, ring):
        """Lines as it gives them, or one object per entry."""
        out = sqemu("dump", ring, "--family", "v100", "--view", "slots", *given).out
        assert [line.split(":")[0] for line in out.splitlines() if line.startswith("at")] == ["at 0", "at 2"]
        found = sqemu("dump", ring, "--family", "v100", "--view", "slots", "--json", *given).objects
        assert [each["slot"] for each in found if each["section"] == "slots"] == [0, 2]

    @pytest.mark.parametrize(("view", "word"), [("bad", "AttributeError"), ("numbers", "AttributeError")])
    def test_one_that_fails(self, sqemu, given, ring, view, word):
        """The error names the view."""
        found = sqemu("dump", ring, "--family", "v100", "--view", view, *given)
        assert found.code == 2
        assert f"dump view {view}" in found.err
        assert word in found.err

    def test_names(self, sqemu, given, ring, tmp_path):
        """An unknown one lists the known ones; two views make no sense; a blob needs --sqes."""
        found = sqemu("dump", ring, "--view", "nothing", "--json", *given)
        assert (found.error["error"], "slots" in found.error["remedy"]) == ("dump.view", True)
        assert sqemu("dump", ring, "--view", "slots", "--fields", "--json", *given).error["error"] == "dump.options"


class TestImporters:
    def test_a_wrong_answer(self, sqemu, given, tmp_path):
        """A number is no graph."""
        (tmp_path / "g").write_bytes(b"#G")
        found = sqemu("compile", tmp_path / "g", "-o", tmp_path / "o", "--json", *given)
        assert found.error["error"] == "plugin.answer"

    def test_two_that_take_one_file(self):
        """Both are named with their plugins."""
        from emu_core import PluginHost
        from tools.importer_of import importer_of

        class One:
            @hookimpl
            def sqemu_importers(self):
                """Two formats."""
                return [ImporterSpec(name, lambda _: True, lambda *_: {}) for name in ("a", "b")]

        with pytest.raises(InputError, match=r"a of plugin One .* and b of plugin One") as caught:
            importer_of(PluginHost([One()], entry_points=False), b"x")
        assert caught.value.id == "import.ambiguous"

    def test_an_installed_one_that_raises_is_left_out(self, sqemu, monkeypatch, tmp_path, probe):
        """The file is read as it would be without the plugin."""

        class Bad:
            @hookimpl
            def sqemu_importers(self):
                """A format that cannot be recognised."""
                return [ImporterSpec("bad", lambda _: 1 / 0, lambda *_: {})]

        installed_beside(monkeypatch, bad=Bad())
        assert sqemu("compile", probe / "probe.json", "-o", tmp_path / "o.sqt").code == 0


def test_deprecations_are_notes(sqemu, monkeypatch, tmp_path):
    """On the command line a deprecated hook is one line on standard error."""
    from emu_core import deprecations

    row = deprecations.Deprecated("sqemu_dump_views", "", "0.2", "0.4", "use nothing")
    monkeypatch.setattr(deprecations, "DEPRECATED", (row,))
    (tmp_path / "mine.py").write_text(PLUGIN)
    found = sqemu("plugins", "list", "--plugin", tmp_path / "mine.py")
    assert found.code == 0
    assert found.err.startswith("note: plugin mine (given by the caller) uses the hook sqemu_dump_views, deprecated")


def test_records_can_be_made_by_hand():
    """A plugin in one file needs nothing but these two names and click."""
    assert CommandSpec("a", "b", lambda: click.Command("a")).load().name == "a"
    assert json.dumps(DumpView("a", lambda _: ()).summary) == '""'
