"""The loader goes through the host API and writes what it always wrote: rings, addresses, times (recorded before)."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from emu_core import Device, compile_graph

EXAMPLES = Path(__file__).parents[3] / "docs" / "examples"
PINNED = json.loads((Path(__file__).parents[2] / "data" / "runtime" / "rings.json").read_text(encoding="utf-8"))


def digests(model):
    """The first 16 digits of the SHA-256 of each ring."""
    return {str(stream): hashlib.sha256(ring).hexdigest()[:16] for stream, ring in model.rings().items()}


@pytest.mark.parametrize("case", PINNED["cases"], ids=lambda case: f"{case['chip']}-{case['graph']}")
def test_rings_before_and_after_an_execution(host, probe_graph, case):
    """Bytes of all rings after load and after one execution, addresses of all memory, and the time it took."""
    graph = (
        json.loads((EXAMPLES / "probe.json").read_text(encoding="utf-8"))
        if case["graph"] == "probe.json"
        else probe_graph(sink=case["graph"].startswith("sink"), nodes=int(case["graph"][-1]))
    )
    device = Device(case["chip"], plugins=host)
    model = device.load(compile_graph(graph, case["chip"], plugins=host))
    assert digests(model) == case["loaded"]
    assert {a.label: hex(a.address) for a in device.memory.allocations()} == case["memory"]
    inputs = {port.name: np.zeros(port.shape, port.dtype) for port in model.inputs}
    result = model.execute({**inputs, "n": np.array([3], np.int32)})
    assert result.ok is case["ok"]
    assert digests(model) == case["executed"]
    assert result.ended == case["ended"]
