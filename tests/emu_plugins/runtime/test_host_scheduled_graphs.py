"""Host scheduling: the same numbers as the sink, one host round trip per operator that is tiled on the host."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from emu_core.errors import InputError, PluginError
from emu_core.trace import TaskDone
from formats.blob import TaskType

B3, P3 = "ascend910b3", "ascend310p3"
ROUND_TRIP, LAUNCH = 30_000, 3_000
FAIL, CRASH = -1, -3


@pytest.fixture
def pair(lab, probe_graph):
    """One graph with the option on, and off."""

    def make(chip=P3, operator="TilingProbe", **changes):
        return tuple(lab(chip, graph=probe_graph(operator=operator, sink=sink), **changes) for sink in (True, False))

    return make


@pytest.mark.parametrize("chip", [B3, P3])
def test_both_ways_give_the_same_bytes(pair, fill, chip):
    """For every n the tiling on the host and on the device lead to one result."""
    sink, hosted = pair(chip)
    assert hosted.blob.unknown_shape
    assert not sink.blob.unknown_shape
    for n in (1, 2, 7, 8, 30):
        first, second = sink.run(n), hosted.run(n)
        assert second.ok
        assert first.outputs["y0"].tobytes() == second.outputs["y0"].tobytes()
        np.testing.assert_array_equal(second.outputs["y0"], fill(n % 3, min(n, {B3: 40, P3: 8}[chip])))


@pytest.mark.parametrize("nodes", [1, 3])
def test_each_tiled_operator_costs_a_round_trip_per_execution(lab, probe_graph, nodes):
    """30 us, then 3 us launch and 2 ns kernel (5 cores, 160 bytes), for each operator and execution."""
    hosted = lab(P3, graph=probe_graph(sink=False, nodes=nodes))
    for run in range(2):
        result = hosted.run(5)
        assert (result.started, result.ended) == tuple(nodes * (run + k) * (ROUND_TRIP + LAUNCH + 2) for k in (0, 1))


def test_there_are_no_events_and_no_patches(pair):
    """One plain stream with one kernel entry per execution."""
    hosted = pair()[1]
    result = hosted.run(5)
    assert [e.kind for e in result.trace if isinstance(e, TaskDone)] == ["kernel"]
    assert result.patches == ()
    assert hosted.model.streams == ()
    assert hosted.model.details == {}


CHAIN = {
    "format": "sqemu-graph", "version": 1, "name": "chain",
    "inputs": [{"name": "x", "dtype": "float32", "shape": [40]}, {"name": "n", "dtype": "int32", "shape": [1]}],
    "nodes": [
        {"name": "twice", "type": "Twice", "inputs": ["n"], "outputs": ["m"]},
        {"name": "op0", "type": "TilingProbe", "inputs": ["x", "m"], "outputs": ["y0"]},
    ],
    "outputs": ["y0", "m"],
}  # fmt: skip


@pytest.mark.parametrize("sink", ["0", "1"])
def test_a_tiling_that_depends_on_what_another_operator_computes(lab, fill, sink):
    """The second operator tiles for 2 n, which the first one computes on the device in the same execution."""
    bench = lab(P3, graph={**CHAIN, "options": {"ge.tiling_schedule_optimize": sink}})
    for n in (1, 2, 4):
        result = bench.run(n)
        assert result.hazards == ()
        assert result.outputs["m"].tolist() == [2 * n]
        np.testing.assert_array_equal(result.outputs["y0"], fill(2 * n % 3, 2 * n))


def test_in_a_chain_only_the_depending_operator_waits_for_the_host(lab):
    """One round trip for the two launches, after the first kernel; 160 bytes on 4 cores take 3 ns."""
    hosted = lab(P3, graph={**CHAIN, "options": {}})
    result = hosted.run(2)
    done = [e.time for e in result.trace if isinstance(e, TaskDone)]
    assert done == [LAUNCH, LAUNCH + ROUND_TRIP + LAUNCH + 3]


def test_the_sink_of_a_chain_waits_for_the_producer_by_an_event(lab):
    """Its tiling comes after the first kernel's record, on the attached stream."""
    bench = lab(P3, graph={**CHAIN, "options": {"ge.tiling_schedule_optimize": "1"}})
    assert len(bench.blob.events) == 2
    assert bench.types(1)[:2] == [(5, 0), (8, 0)]
    ended = {(e.stream, e.kind): e for e in bench.run(2).trace if isinstance(e, TaskDone)}
    first_kernel = next(e for e in bench.device.trace if isinstance(e, TaskDone) and e.kind == "kernel")
    assert ended[1, "aicpu"].started >= first_kernel.time


def test_a_tiling_that_fails_on_the_host_is_an_input_error(pair):
    """There is no device fault: the host says which operator cannot be tiled, and the model is failed, not running."""
    hosted = pair(operator="Knob")[1]
    assert hosted.run(2000).ok
    with pytest.raises(InputError, match="host tiling failed: n says so") as caught:
        hosted.run(FAIL)
    assert (caught.value.id, caught.value.where) == ("tiling.failed", "operator op0")
    with pytest.raises(InputError, match="model p is failed"):
        hosted.run(2000)
    hosted.model.abort()
    assert hosted.run(3000).outputs["y0"].tolist() == [0, 3, 3000, 7]


def test_a_tiling_that_crashes_on_the_host_is_the_plugins_error(pair):
    """The message names operator type and exception."""
    with pytest.raises(PluginError, match="the tiling function of Knob raised ZeroDivisionError") as caught:
        pair(operator="Knob")[1].run(CRASH)
    assert caught.value.id == "plugin.tiling-raised"


def test_a_key_without_a_kernel_entry_is_found_on_the_host(pair):
    """On the device this is an update fault, on the host an error before the launch."""
    with pytest.raises(InputError, match="no entry for the tiling key 99") as caught:
        pair(operator="Knob")[1].run(2099)
    assert caught.value.id == "kernel.no-entry"


def test_workspaces_grow_when_an_execution_needs_more(pair):
    """64 bytes per block: 2 blocks, then 9, then 3; a freed workspace is exchanged for a larger one and kept."""
    hosted = pair(operator="Knob")[1]
    sizes = []
    for n in (2000, 9000, 3000):
        assert hosted.run(n).ok
        sizes += [a.size for a in hosted.device.memory.allocations() if a.label == "workspace 0 of op0"]
    assert sizes == [128, 576, 576]


def test_a_larger_workspace_is_as_unwritten_as_the_first_one(pair, ids):
    """Reads of a workspace that nobody wrote are reported in every execution."""
    hosted = pair(operator="Knob")[1]
    for n in (1002, 4002, 3002):
        assert ids(hosted.run(n).hazards) == ["hazard.uninitialised-read"]


def test_executions_do_not_use_up_memory(pair):
    """Argument blocks are used again."""
    hosted = pair()[1]
    hosted.run(3)
    used = hosted.device.memory.used
    for n in (3, 5, 7):
        hosted.run(n)
    assert hosted.device.memory.used == used


def test_a_workspace_more_than_compile_time_knew_is_added(lab, probe_graph):
    """A blob that grants no workspace gets one at the first launch that needs it."""

    def no_workspace(blob):
        tasks = tuple(replace(t, args_format=t.args_format.replace("{ws0*}", "{i0*}")) for t in blob.tasks)
        return replace(blob, ops=(replace(blob.ops[0], workspaces=()),), tasks=tasks)

    bench = lab(P3, graph=probe_graph(operator="Knob", sink=False), edit=no_workspace)
    assert bench.run(2000).ok
    assert [a.size for a in bench.device.memory.allocations() if a.label == "workspace 0 of op0"] == [128]


def test_after_a_fault_nothing_more_is_launched(lab, probe_graph, ids):
    """The first of three kernels reads unwritten bytes; the two behind it are never submitted."""
    graph = probe_graph(operator="Knob", sink=False, nodes=3)
    bench = lab(P3, graph=graph, uninitialised_read="fault")
    result = bench.run(2002)
    assert ids(result.faults) == ["hazard.uninitialised-read"]
    assert result.faults[0].acl_code == 507035
    assert bench.model.caller.queue.tail == 1
    assert not result.ok


def test_a_plain_stream_is_run_empty_when_it_is_full(lab, chip_like):
    """Ten launches that need no host tiling pass through a ring of four entries."""
    nodes = [{"name": f"t{i}", "type": "Twice", "inputs": [f"m{i}"], "outputs": [f"m{i + 1}"]} for i in range(10)]
    graph = {
        "format": "sqemu-graph", "version": 1, "name": "many",
        "inputs": [{"name": "m0", "dtype": "int32", "shape": [1]}, {"name": "x", "dtype": "float32", "shape": [40]}],
        "nodes": [*nodes, {"name": "op0", "type": "TilingProbe", "inputs": ["x", "m0"], "outputs": ["y"]}],
        "outputs": ["m10", "y"],
    }  # fmt: skip
    bench = lab(chip_like(P3, sq_depth=4, usable_tasks=3), graph=graph)
    given = {"m0": np.array([3], np.int32), "x": np.zeros(40, np.float32)}
    assert bench.blob.unknown_shape
    assert bench.model.execute(given).outputs["m10"].tolist() == [3 * 1024]


def test_other_tasks_of_a_host_scheduled_blob_are_passed_over(pair):
    """The end of graph is no launch."""
    hosted = pair()[1]
    assert hosted.blob.tasks[-1].type == TaskType.MODEL_END_GRAPH
    assert hosted.run(2).ok
