"""The command itself: start-up, usage, errors of every kind, closed pipes."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from emu_core.errors import EmulatorBug
from tools import cli, failures
from tools.failures import report


def run(*arguments, **options):
    """The command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "tools.cli", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        **options,
    )


class TestStart:
    @pytest.mark.parametrize("arguments", [("--help",), ("--version",), ()])
    def test_nothing_heavy_is_imported(self, arguments):
        """Help and version import neither numpy nor structlog nor rich nor construct, and scan no entry points."""
        found = subprocess.run(
            [sys.executable, "-X", "importtime", "-m", "tools.cli", *arguments],
            capture_output=True,
            text=True,
            check=False,
        )
        names = {line.rsplit("|", 1)[-1].strip() for line in found.stderr.splitlines() if "|" in line}
        assert not names & {"numpy", "structlog", "rich", "construct", "pluggy", "msgspec", "emu_core.plugins"}

    def test_every_command_is_there(self):
        """Each command of the table can be imported and says what it does in one line."""
        context = cli.cli.make_context("sqemu", ["--help"], resilient_parsing=True)
        for name, line in cli.COMMANDS.items():
            command = cli.cli.get_command(context, name)
            assert command is not None
            assert command.help
            assert line.endswith(".")

    def test_mistyped_command(self, sqemu):
        """A mistyped command is answered with the nearest one, exit 2."""
        found = sqemu("rnu")
        assert found.code == 2
        assert "'run'" in found.err

    def test_usage_error_as_json(self, sqemu):
        """With --json a usage error is one object on standard error."""
        found = sqemu("compile", "--json")
        assert (found.code, found.error["error"]) == (2, "usage")


class TestErrors:
    def test_unexpected_errors_are_bugs_of_ours(self, sqemu, monkeypatch):
        """Any exception nobody planned for becomes a block to report, exit 70, without a traceback."""
        monkeypatch.setattr("tools.cmd_demo.PluginHost", lambda: 1 / 0)
        found = sqemu("demo")
        assert found.code == 70
        assert "please report" in found.err
        assert "ZeroDivisionError" in found.err
        assert sqemu("demo", "--json").error["error"] == "bug"

    def test_debug_shows_the_traceback(self, monkeypatch, capsys):
        """--debug adds the traceback."""
        monkeypatch.setattr("tools.cmd_demo.PluginHost", lambda: 1 / 0)
        with pytest.raises(SystemExit):
            cli.main(["demo", "--debug"])
        assert "Traceback" in capsys.readouterr().err

    def test_emulator_bug(self, capsys):
        """An EmulatorBug exits 70 as well."""
        assert report(EmulatorBug("broke"), as_json=False, debug=False) == 70
        assert "broke" in capsys.readouterr().err

    @pytest.mark.parametrize(
        ("error", "found"), [(MemoryError(), "memory"), (PermissionError(13, "Permission denied", "f"), "file")]
    )
    def test_other_known_errors(self, capsys, error, found):
        """Lack of memory and errors of the file system are the user's to solve: exit 2, with a remedy."""
        assert report(error, as_json=True, debug=False) == failures.USAGE
        values = json.loads(capsys.readouterr().err)
        assert values["error"] == found
        assert values["remedy"]
        report(error, as_json=False, debug=False)
        assert f"error {found}: " in capsys.readouterr().err

    def test_interrupt(self, sqemu, monkeypatch):
        """Ctrl-C exits 130."""

        def stop():
            raise KeyboardInterrupt

        monkeypatch.setattr("tools.cmd_demo.PluginHost", stop)
        assert sqemu("demo").code == 130

    def test_closed_pipe_is_silent(self):
        """A reader that goes away early gets no error message."""
        command = f"{sys.executable} -m tools.cli demo | head -n 1"
        found = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False, timeout=60)
        assert found.stderr == ""
        assert "ascend310p3" in found.stdout

    def test_exit_code_reaches_the_shell(self, tmp_path):
        """The process exits with the code of the error."""
        assert run("run", str(tmp_path / "nothing.json")).returncode == 2
