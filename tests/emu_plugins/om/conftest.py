"""Offline models for tests: a real one, a small made one, and compiled graphs written as one."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from emu_core import PluginHost
from emu_core.api import compile_graph
from emu_core.graph import CompileOptions
from emu_plugins.om.from_blob import om_of_blob
from emu_plugins.om.writer import model_def, task_info, write_om

REAL = Path(__file__).parents[2] / "data" / "om" / "autoencoder_310.om"
SHA256 = "f3c15ae90fccccec497b2ea46c3f913dc3ef88ebe66c5ca8f7279d801a79829e"


@pytest.fixture(scope="session")
def host():
    """The installed plugins."""
    return PluginHost()


@pytest.fixture(scope="session")
def real():
    """The bytes of the real file, which are looked at before they are used."""
    data = REAL.read_bytes()
    assert hashlib.sha256(data).hexdigest() == SHA256
    return data


@pytest.fixture(scope="session")
def small():
    """Build a file with one model from tasks and operators; further partitions and header fields as given."""

    def make(tasks=(), ops=(), *, attrs=(), more=(), **options):
        graph = [{"name": b"g", "op": list(ops)}]
        define = model_def({"name": b"small", "graph": graph, "attr": list(attrs)})
        return write_om([[(0, define), (2, task_info(tasks)), *more]], name="small", **options)

    return make


def probe_graph(op_type="TilingProbe", **attrs):
    """A graph of one operator whose tiling reads n."""
    node = {"name": "probe0", "type": op_type, "inputs": ["x", "n"], "outputs": ["y"]}
    return {
        "format": "sqemu-graph",
        "version": 1,
        "name": "probe",
        "options": {"ge.tiling_schedule_optimize": "1"},
        "inputs": [
            {"name": "x", "dtype": "float32", "shape": [40]},
            {"name": "n", "dtype": "int32", "shape": [1]},
        ],
        "nodes": [{**node, **({"attrs": attrs} if attrs else {})}],
        "outputs": ["y"],
    }


@pytest.fixture(scope="session")
def probe_blob(host):
    """Compile the probe for a chip; gives the blob."""

    def make(chip="ascend310p3", op_type="TilingProbe", **attrs):
        return compile_graph(probe_graph(op_type, **attrs), chip, CompileOptions(offline=True), host)

    return make


@pytest.fixture(scope="session")
def sink_om(probe_blob):
    """The probe with its tiling sink as an offline model."""
    return om_of_blob(probe_blob())
