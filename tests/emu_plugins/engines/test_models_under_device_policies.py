"""A whole tiling-sink model under the policies of cores, completions, errors and time budgets."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from emu_core.api import compile_graph
from emu_core.device import Device
from formats.dtypes import dtype_named

GRAPH = Path(__file__).parents[2] / "data" / "graphs" / "add_custom_sink.json"
CHIP = "ascend910b3"


@pytest.fixture(scope="module")
def blob():
    """The sample graph, compiled once."""
    return compile_graph(json.loads(GRAPH.read_text()), CHIP)


def _load(blob, host, **policies):
    device = Device(CHIP, policies, host)
    model = device.load(blob)
    inputs = {p.name: np.ones(p.shape, np.dtype(dtype_named(p.dtype).carrier)) for p in model.inputs}
    return device, model, inputs


@pytest.mark.parametrize(
    "policies",
    [
        {"block_order": "turns"},
        {"completion_reader": "round_trip"},
        {"failure_mode": "stop"},
        {"schem_batch_overflow": "error"},
        {"kernel_credit_us": "100"},
    ],
    ids=lambda policies: next(iter(policies)),
)
def test_a_clean_run_is_the_same_under_every_policy(blob, host, policies):
    """Neither results nor times change when nothing competes and nothing fails, in two executions."""
    _, plain, inputs = _load(blob, host)
    _, other, _ = _load(blob, host, **policies)
    for _ in range(2):
        expected, found = plain.execute(inputs), other.execute(inputs)
        assert expected.ok
        assert found.ok
        assert (found.started, found.ended) == (expected.started, expected.ended)
        assert all(np.array_equal(found.outputs[n], expected.outputs[n]) for n in expected.outputs)


def test_a_tiling_task_over_its_budget_fails_the_model_and_it_can_be_aborted(blob, host):
    """Eight units of 1 us are less than launch and tiling: AI CPU timeout, also for the caller, ready after abort."""
    device, model, inputs = _load(blob, host, kernel_credit_us="1")
    for _ in range(2):
        result = model.execute(inputs)
        first = result.faults[0]
        assert (first.id, first.ts_code, first.acl_code) == ("task.timeout", 0x28, 507017)
        assert [f.acl_code for f in result.faults[1:]] == [507017]
        model.abort()
        assert device.ai_cpus.free == device.ai_cpus.capacity
        assert device.scheduler.slots.held == set()


def test_a_model_leaves_room_in_the_completion_ring(blob, host):
    """Each execution leaves one entry (the update), which is read at its end even if no queue's hold asks for it."""
    device, model, inputs = _load(blob, host, completion_reader="none")
    assert all(model.execute(inputs).ok for _ in range(3))
    assert not device.cq.full
