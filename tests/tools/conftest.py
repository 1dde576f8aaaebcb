"""Running the command in this process, and small programs for it."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tools import cli


class Outcome:
    """Exit code and what was printed."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    @property
    def objects(self):
        """Standard output as JSON lines."""
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def error(self):
        """The one JSON object on standard error."""
        return json.loads(self.err)


@pytest.fixture
def sqemu(capsys):
    """Call the command with arguments; gives an `Outcome`."""

    def call(*arguments):
        capsys.readouterr()
        with pytest.raises(SystemExit) as stopped:
            cli.main([str(a) for a in arguments])
        found = capsys.readouterr()
        assert "Traceback" not in found.err
        return Outcome(stopped.value.code or 0, found.out, found.err)

    return call


PROBE = {
    "format": "sqemu-graph",
    "version": 1,
    "name": "probe",
    "options": {"ge.tiling_schedule_optimize": "1"},
    "inputs": [
        {"name": "x", "dtype": "float32", "shape": [40]},
        {"name": "n", "dtype": "int32", "shape": [1]},
    ],
    "nodes": [{"name": "probe0", "type": "TilingProbe", "inputs": ["x", "n"], "outputs": ["y"]}],
    "outputs": ["y"],
}


@pytest.fixture
def probe(tmp_path):
    """A folder with the probe graph and inputs for n = 3 and n = 5; gives the folder."""
    (tmp_path / "probe.json").write_text(json.dumps(PROBE))
    for n in (3, 5):
        np.savez(tmp_path / f"in{n}.npz", x=np.arange(40, dtype="f4"), n=np.array([n], "i4"))
    return tmp_path
