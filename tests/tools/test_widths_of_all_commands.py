"""What people read fits 80 columns: every command, into a pipe and on a terminal of 80 columns."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from formats.blob import TaskType, decode, encode
from tools.show import PAPER, cells

CGDR = ("tiling", "cgdr", "--t", "192", "--hv", "8", "--dk", "80", "--dv", "80")
EXCEPTIONS = {
    "chips": (r"  (\S+ +(A2|A3|310P|350|950|product) |-+ )", "a pipe gets a line per chip, for other programs"),
    "chips one": (r"  (\w+|-+) +", "a pipe gets a line per figure"),
    "policies": (r"  (\S+ +\w+ +\S+|-+ )", "a pipe gets a line per policy"),
    "plugins": (r"  (\S+ +(ok|broken) |-+ )", "a pipe gets a line per plugin"),
    "dump": (r".", "a pipe gets a line per entry, and hex"),
    "sweep": (r"  .*", "a pipe gets a line per value"),
    "tiling": (r"  ChunkGatedDeltaRule tiling: T=", "the line of a log, as it is there"),
    "tiling padded": (r"  ChunkGatedDeltaRule tiling: T=", "the line of a log, as it is there"),
}
"""Commands that may have longer lines in a pipe: which lines, and why. On a terminal there is none but `PATHS`."""
PATHS = re.compile(r"/\S{20,}")
"""A path is never broken."""


@pytest.fixture
def commands(sqemu, probe):
    """Command lines by name."""
    many = json.loads((probe / "probe.json").read_text())
    many["nodes"] = [{**many["nodes"][0], "name": f"p{i}", "outputs": [f"y{i}"]} for i in range(600)]
    many["outputs"] = ["y0"]
    (probe / "many.json").write_text(json.dumps(many))
    blob = probe / "p.sqt"
    assert sqemu("compile", probe / "probe.json", "-o", blob, "--online").code == 0
    made = decode(blob.read_bytes())
    left = tuple(task for task in made.tasks if task.type != TaskType.EVENT_RECORD)
    (probe / "dead.sqt").write_bytes(encode(replace(made, tasks=left)))
    run = ("--inputs", probe / "in3.npz")
    assert sqemu("run", blob, *run, *run, "--record", probe / "r.sqr").code == 0
    return {
        "demo": ("demo",),
        "compile": ("compile", probe / "probe.json", "-o", blob, "--explain"),
        "compile host": ("compile", probe / "probe.json", "-o", blob, "--explain", "--tiling_schedule_optimize", "0"),
        "check": ("check", blob),
        "check too large": ("check", probe / "many.json", "--policy", "stream_split=off"),
        "check split": ("check", probe / "many.json"),
        "check findings": ("check", probe / "dead.sqt", "--policy", "prefetch_depth=platform"),
        "run": ("run", blob, *run, *run, "--patches"),
        "run hazards": ("run", probe / "probe.json", *run, "--policy", "nop_count=0"),
        "run deadlock": ("run", probe / "dead.sqt", *run),
        "compare": ("compare-tiling", probe / "probe.json", *run),
        "compare series": ("compare-tiling", probe / "probe.json", *run, *run),
        "tiling": (*CGDR, "--why", "--map"),
        "tiling padded": (*CGDR[:-2], "--dv", "200", "--why", "--map", "--variant", "1108"),
        "tiling 910b": (*CGDR, "--why", "--map", "--variant", "910b", "--scale", "1", "--chip", "ascend910b3"),
        "sweep": ("tiling", "cgdr", "--t", "192", "--hv", "8", "--dv", "128", "--sweep", "dk=60..130"),
        "chips": ("chips",),
        "chips one": ("chips", "ascend310p3"),
        "plugins": ("plugins", "list"),
        "policies": ("policies",),
        "policies one": ("policies", "nop_model"),
        "formats": ("formats",),
        "explain": ("explain", "EE1019", "207007", "check.nop-distance"),
        "explain all": ("explain",),
        "dump": ("dump", blob),
        "trace events": ("trace", "events"),
        "trace summary": ("trace", "summary", probe / "r.sqr"),
        "trace patches": ("trace", "patches", probe / "r.sqr"),
        "trace why": ("trace", "why", probe / "r.sqr", "0:7"),
        "trace path": ("trace", "critical-path", probe / "r.sqr"),
        "trace sql": ("trace", "sql", probe / "r.sqr"),
    }


NAMES = [
    "demo", "compile", "compile host", "check", "check too large", "check split", "check findings", "run",
    "run hazards", "run deadlock", "compare", "compare series", "tiling", "tiling padded", "tiling 910b", "sweep",
    "chips", "chips one", "plugins", "policies", "policies one", "formats", "explain", "explain all", "dump",
    "trace events", "trace summary", "trace patches", "trace why", "trace path", "trace sql",
]  # fmt: skip


def test_every_command_is_tried(commands):
    """The names are those of the command lines, and every exception is one of them."""
    assert list(commands) == NAMES
    assert set(EXCEPTIONS) <= set(NAMES)


def _too_wide(text):
    return [line for line in text.splitlines() if cells(line) > PAPER and not PATHS.search(line)]


@pytest.mark.parametrize("name", NAMES)
def test_into_a_pipe(sqemu, commands, name):
    """No line of running text or of a told table is wider than 80 columns; the terminal's width plays no part."""
    allowed = EXCEPTIONS.get(name, ("$^", ""))[0]
    wide = [line for line in _too_wide(sqemu(*commands[name]).out) if not re.match(allowed, line)]
    assert wide == []


@pytest.mark.parametrize("name", NAMES)
def test_on_a_terminal_of_80_columns(sqemu, commands, name, monkeypatch):
    """No line is wider than the terminal."""
    for module in (
        "show",
        "tiling.outcomes",
        "tiling.as_text",
        "cmd_chips",
        "cmd_policies",
        "dump.blobs",
        "dump.present",
        "dump.run",
    ):
        monkeypatch.setattr(f"tools.{module}.width", lambda: PAPER)
    assert _too_wide(sqemu(*commands[name]).out) == []


@pytest.mark.parametrize("columns", [60, 120])
def test_other_terminals(sqemu, commands, monkeypatch, columns):
    """A narrower terminal is kept to as well, and a wider one is used."""
    monkeypatch.setattr("tools.show.width", lambda: columns)
    for name in ("check", "check findings", "run hazards", "compile"):
        widest = max(cells(line) for line in sqemu(*commands[name]).out.splitlines() if not PATHS.search(line))
        assert widest <= columns
        assert columns < PAPER or widest > PAPER
