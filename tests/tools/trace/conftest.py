"""Recordings of the probe: two executions (n = 3, n = 5), one that deadlocks, one with a stale launch."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from formats.blob import TaskType, decode, encode
from tools import cli

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


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """A folder with the recordings."""
    made = tmp_path_factory.mktemp("recordings")
    (made / "probe.json").write_text(json.dumps(PROBE))
    for n in (3, 5):
        np.savez(made / f"in{n}.npz", x=np.arange(40, dtype="f4"), n=np.array([n], "i4"))
    three, five = ("--inputs", str(made / "in3.npz")), ("--inputs", str(made / "in5.npz"))
    graph = str(made / "probe.json")
    _call("run", graph, *three, *five, "--record", str(made / "a.sqr"), "--trace", str(made / "a.jsonl"))
    _call("run", graph, *three, "--policy", "nop_count=0", "--record", str(made / "stale.sqr"), code=1)
    _call("compile", graph, "-o", str(made / "p.sqt"), "--online")
    blob = decode((made / "p.sqt").read_bytes())
    left = tuple(task for task in blob.tasks if task.type != TaskType.EVENT_RECORD)
    (made / "dead.sqt").write_bytes(encode(replace(blob, tasks=left)))
    _call("run", str(made / "dead.sqt"), *three, "--record", str(made / "dead.sqr"), code=1)
    return made


def _call(*arguments, code=0):
    with pytest.raises(SystemExit) as stopped:
        cli.main(arguments)
    assert (stopped.value.code or 0) == code


@pytest.fixture
def record(folder):
    """The record of two good executions."""
    return folder / "a.sqr"


@pytest.fixture
def lines(folder):
    """Their trace as JSON lines."""
    return folder / "a.jsonl"


@pytest.fixture
def dead(folder):
    """The record of an execution in which nobody records the event."""
    return folder / "dead.sqr"


@pytest.fixture
def stale(folder):
    """The record of an execution without NOPs, whose kernel runs a fetched copy and fails."""
    return folder / "stale.sqr"
