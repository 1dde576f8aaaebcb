"""The package as it is installed, or else from the folder beside; and the command in this process."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest

from emu_core import PluginHost, compile_graph
from tools import cli

ROOT = Path(__file__).parents[1]
INSTALLED = any(entry.name == "edu" for entry in importlib.metadata.entry_points(group="sqemu.plugins"))
if not INSTALLED:
    sys.path.insert(0, str(ROOT / "src"))

assert INSTALLED or not os.environ.get("SQEMU_EDU_INSTALLED"), "sqemu-edu should be installed here"


@pytest.fixture(scope="session")
def edu():
    """The package; an installed one is not the one beside."""
    import sqemu_edu

    assert Path(sqemu_edu.__file__).is_relative_to(ROOT) is not INSTALLED
    return sqemu_edu


@pytest.fixture(scope="session")
def host(edu):
    """A host with the plugin, whichever way it comes."""
    return PluginHost() if INSTALLED else PluginHost([edu])


@pytest.fixture(scope="session")
def graph():
    """x[10] cut into the stripes that n says."""
    return json.loads((ROOT / "stripe.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def blob(graph, host):
    """The graph compiled for edu-one."""
    return compile_graph(graph, "edu-one", plugins=host)


class Outcome:
    """Exit code and what was printed."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    @property
    def objects(self):
        """Standard output as JSON lines."""
        return [json.loads(line) for line in self.out.splitlines()]


@pytest.fixture
def sqemu(capsys):
    """Call the command with the plugin; no traceback may be printed."""

    def call(*arguments):
        given = () if INSTALLED else ("--plugin", str(ROOT / "src" / "sqemu_edu"))
        with pytest.raises(SystemExit) as stopped:
            cli.main([*map(str, arguments), *given])
        found = capsys.readouterr()
        assert "Traceback" not in found.err
        return Outcome(stopped.value.code or 0, found.out, found.err)

    return call


@pytest.fixture
def inputs(tmp_path):
    """An npz with ten zeros and n = 3."""
    np.savez(tmp_path / "in.npz", x=np.zeros(10, "f4"), n=np.array([3], "i4"))
    return tmp_path / "in.npz"
