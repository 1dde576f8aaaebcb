"""What the package adds around the machine: a pass, an importer, a view, an observer, a subcommand."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import pytest

from emu_core import Device, compile_with_report
from emu_core.snapshot.session import Executions
from emu_core.testing.conformance import CHECKS, Program, conforms
from tools import cli

ROOT = Path(__file__).parents[1]
GRAPH = ROOT / "stripe.json"


@pytest.fixture
def name(host):
    """How the host calls the plugin."""
    return next(p.name for p in host.plugins if p.name in {"edu", "sqemu_edu"})


@pytest.mark.parametrize("check", CHECKS)
def test_it_conforms(host, name, blob, check):
    """Every check of the kit passes, with the graph of the package as a program."""

    def stripe(plugins):
        device = Device("edu-one", plugins=plugins)
        inputs = [{"x": np.zeros(10, "<f4"), "n": np.array([n], "<i4")} for n in (3, 2)]
        return device, Executions(device.load(blob), inputs)

    conforms(host, name, check, (Program("stripe", stripe),))


def test_the_importer(sqemu, tmp_path):
    """A line of text is compiled; one that goes on in another way is refused."""
    (tmp_path / "a.edu").write_text("edu-stripe,a,10")
    assert sqemu("compile", tmp_path / "a.edu", "--chip", "edu-one", "-o", tmp_path / "a.sqt").code == 0
    (tmp_path / "b.edu").write_text("edu-stripe,a,many")
    assert "edu.line" in sqemu("compile", tmp_path / "b.edu", "--chip", "edu-one", "-o", tmp_path / "b.sqt").err


def test_the_pass(graph, host, blob):
    """The first name of the operator gives the same blob as its name, and a warning; the graph itself stays."""
    nodes = [{**node, "type": "EduStripes"} for node in graph["nodes"]]
    compiled = compile_with_report({**graph, "nodes": nodes}, "edu-one", plugins=host)
    assert compiled.blob == blob
    assert any("compiled as EduStripe" in text for text in compiled.warnings)
    assert nodes[0]["type"] == "EduStripes"


def test_the_view(sqemu, inputs, tmp_path):
    """One word per entry; the kernel has the 3 blocks of the patch."""
    run = ("run", GRAPH, "--chip", "edu-one", "--inputs", inputs, "--outputs", tmp_path / "o.npz")
    assert sqemu(*run, "--dump-rings", tmp_path / "rings").code == 0
    ring = tmp_path / "rings" / "sq0" / "executed.bin"
    assert "kernel x3" in sqemu("dump", ring, "--chip", "edu-one", "--view", "edu-short").out
    words = [each.get("word") for each in sqemu("dump", ring, "--view", "edu-short", "--json").objects]
    assert "kernel x3" in words


def test_the_observer(blob, host, caplog):
    """Each patch is said on the logger of the package."""
    with caplog.at_level(logging.INFO, "sqemu_edu"):
        Device("edu-one", plugins=host).load(blob).execute({"x": np.zeros(10, "<f4"), "n": np.array([3], "<i4")})
    assert any("blocks of task" in record.getMessage() for record in caplog.records)


def test_the_subcommand(edu, capsys):
    """It lists the six kinds of entries; a plugin that is not installed is given before its subcommand."""
    given = ["--plugin", str(ROOT / "src" / "sqemu_edu")] if Path(edu.__file__).is_relative_to(ROOT) else []
    with pytest.raises(SystemExit) as stopped:
        cli.main([*given, "edu-kinds"])
    out = capsys.readouterr().out
    assert not stopped.value.code
    assert len(out.splitlines()) == 6
    assert "EduKernelSqe" in out
