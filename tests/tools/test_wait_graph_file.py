"""`sqemu run --wait-graph FILE`: the picture of a deadlock in the form that the name says."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from emu_core import compile_graph
from emu_core.plugins import PluginHost
from formats.blob import TaskType, encode

GRAPH = {
    "format": "sqemu-graph",
    "version": 1,
    "name": "probe",
    "options": {"ge.tiling_schedule_optimize": "1"},
    "inputs": [{"name": "x", "dtype": "float32", "shape": [40]}, {"name": "n", "dtype": "int32", "shape": [1]}],
    "nodes": [{"name": "op0", "type": "TilingProbe", "inputs": ["x", "n"], "outputs": ["y"]}],
    "outputs": ["y"],
}


@pytest.fixture
def stuck(tmp_path):
    """A program without its record, and inputs."""
    blob = compile_graph(GRAPH, "ascend310p3", plugins=PluginHost())
    tasks = tuple(t for t in blob.tasks if t.type is not TaskType.EVENT_RECORD)
    (tmp_path / "p.sqt").write_bytes(encode(replace(blob, tasks=tasks)))
    np.savez(tmp_path / "in.npz", x=np.arange(40, dtype="f4"), n=np.array([3], "i4"))
    return "run", str(tmp_path / "p.sqt"), "--inputs", str(tmp_path / "in.npz")


@pytest.mark.parametrize(
    ("name", "begins", "has"),
    [
        ("g.dot", "digraph waits {", "nobody sets it"),
        ("g.mmd", "flowchart LR", "nobody sets it"),
        ("g.json", "{", '"missing"'),
    ],
)
def test_a_deadlock_is_drawn(sqemu, stuck, tmp_path, name, begins, has):
    """The wait is there, and that nobody sets its event; the text names cause and way out."""
    done = sqemu(*stuck, "--wait-graph", str(tmp_path / name))
    assert done.code == 1
    text = (tmp_path / name).read_text()
    assert text.startswith(begins)
    assert has in text
    assert "because: " in done.out
    if name.endswith("json"):
        assert json.loads(text)["verdicts"][0]["cause"] == "missing"


def test_a_name_without_a_form_is_refused_before_anything_runs(sqemu, stuck, tmp_path):
    """Exit code 2, the forms are named, and no file is there."""
    done = sqemu(*stuck, "--wait-graph", str(tmp_path / "g.png"))
    assert (done.code, done.out) == (2, "")
    assert ".dot, .json, .mmd" in done.err
    assert not (tmp_path / "g.png").exists()
