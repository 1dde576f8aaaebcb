"""Execution order, patches and prefetch of tiling sink, by the numbers of the reference's scenario list."""

from __future__ import annotations

import struct
from dataclasses import replace

import numpy as np
import pytest

from emu_core.trace import TaskDone
from formats.blob import TaskType

B3, P3 = "ascend910b3", "ascend310p3"


def _without(*types):
    return lambda blob: replace(blob, tasks=tuple(t for t in blob.tasks if t.type not in types))


def _order(result, kinds):
    return [e.kind for e in result.trace if isinstance(e, TaskDone) and e.kind in kinds]


def _tiling_data(bench):
    """The probe's tiling data on the device: elements, block dim, n, n known, add_x."""
    at = bench.model.details["op0"]["_tiling_context_addr"].tiling_data
    return struct.unpack("<IIiHH", bench.device.memory.read(at, 16))


def test_s22_list_order_rings_and_run_order_on_910b(lab, fill):
    """S22: tiling, wait, 8 NOPs, kernel, refresh, record in the list; on the device the refresh precedes the kernel."""
    bench = lab(B3)
    assert [t.type for t in bench.blob.tasks] == [
        TaskType.PREPROCESS_KERNEL,
        TaskType.EVENT_WAIT,
        *[TaskType.NOP] * 8,
        TaskType.ALL_KERNEL,
        TaskType.UPDATE,
        TaskType.EVENT_RECORD,
        TaskType.MODEL_END_GRAPH,
    ]
    assert bench.types(0) == [(5, 0), (8, 0), *[(3, 103)] * 8, (0, 0), (6, 0)]
    assert bench.types(1) == [(1, 0), (3, 101), (4, 0)]
    result = bench.run(5)
    assert _order(result, {"aicpu", "task_update", "event_record", "event_wait", "kernel"}) == [
        "aicpu",
        "task_update",
        "event_record",
        "event_wait",
        "kernel",
    ]
    assert result.ok
    assert result.hazards == ()
    np.testing.assert_array_equal(result.outputs["y0"], fill(2, 5))


def test_times_of_one_execution_on_310p(lab):
    """Execute, tiling, update, record, reset, NOPs, launch and kernel, end of graph add up.

    The kernel moves 40 floats at 17 bytes per cycle and core, with 1.06 GHz and 5 cores.
    """
    result = lab(P3).run(5)
    kernel = -(-160 * 1000 // (17 * 1060 * 5))
    assert kernel == 2
    assert (result.started, result.ended) == (0, 1000 + 15000 + 2000 + 500 + 100 + 500 + 3000 + kernel + 500)


def test_s23_a_chip_without_prefetch_num_gets_no_bubbles(lab, chip_like, ids):
    """S23: no NOPs at all; the kernel runs with its load-time values and the hazard is reported."""
    chip = chip_like(B3, platform_prefetch_num=0)
    bench = lab(chip, nop_count="platform", block_dim_placeholder="compiled")
    assert [t.type for t in bench.blob.tasks].count(TaskType.NOP) == 0
    result = bench.run(5)
    assert ids(result.hazards) == ["hazard.stale-prefetch"]
    assert bench.kernel_sqe(bench.model.executed()[0])[1]["block_dim"] == 40


@pytest.mark.parametrize(("chip", "stale", "safe"), [(B3, 6, 7), (P3, 3, 4)])
def test_s24_the_kernel_is_fresh_when_n_plus_2_exceeds_the_depth(lab, ids, fill, chip, stale, safe):
    """S24: at depth 8, 6 NOPs are too few and 7 are enough; at depth 5 the edge lies between 3 and 4."""
    late = lab(chip, nop_count=stale, block_dim_placeholder="compiled").run(3)
    assert ids(late.hazards) == ["hazard.stale-prefetch"]
    assert late.ok
    cores = {B3: 40, P3: 8}[chip]
    np.testing.assert_array_equal(late.outputs["y0"], fill(0, cores))
    fresh = lab(chip, nop_count=safe, block_dim_placeholder="compiled").run(3)
    assert fresh.hazards == ()
    np.testing.assert_array_equal(fresh.outputs["y0"], fill(0, 3))


@pytest.mark.parametrize(("chip", "distance", "depth"), [(B3, 10, 8), (P3, 7, 5)])
def test_the_default_distance_exceeds_the_default_depth(lab, chip, distance, depth):
    """By default the kernel is 10 entries behind the wait at depth 8, or 7 at depth 5; nothing is stale."""
    bench = lab(chip)
    assert bench.kernel_sqe()[0] == distance
    assert bench.device.prefetch_depth == depth
    assert all(bench.run(n).hazards == () for n in (1, 2, 3))


@pytest.mark.parametrize(
    ("nops", "stale"), [("seed", True), ("7", True), ("8", True), ("9", False), ("platform", False)]
)
def test_310p_at_the_platform_files_depth(lab, ids, nops, stale):
    """If a 310P fetches 10 entries ahead, the seed's 5 NOPs and even 8 are too few; 9 is the smallest safe number."""
    bench = lab(P3, prefetch_depth="platform", nop_count=nops, block_dim_placeholder="compiled")
    assert ids(bench.run(3).hazards) == ["hazard.stale-prefetch"] * stale


def test_s25_each_run_executes_its_own_patch_and_the_ring_keeps_the_last(lab, fill):
    """S25: n = 8 gives key 2 and dim 8, n = 21 key 0 and dim 21; before run 2 the ring still holds 8."""
    bench = lab(B3)
    pcs = []
    for n, key in ((8, 2), (21, 0)):
        result = bench.run(n)
        np.testing.assert_array_equal(result.outputs["y0"], fill(key, n))
        ran = bench.kernel_sqe(bench.model.executed()[0])[1]
        assert ran["block_dim"] == n
        assert bench.kernel_sqe()[1] == ran
        assert bench.kernel_sqe()[1]["block_dim"] == n
        pcs.append(ran["pc_addr_low"])
    assert pcs[0] - pcs[1] == 2 * 64


def test_before_run_k_the_ring_holds_the_patch_of_run_k_minus_1(lab):
    """The first patch replaces the placeholder, the second one the values of run 1."""
    bench = lab(P3)
    before = [[(p.before, p.after) for p in bench.run(n).patches if p.field == "block_dim"] for n in (3, 5, 7)]
    assert before == [[(0xFFFF, 3)], [(3, 5)], [(5, 7)]]


def test_restoring_load_time_entries_between_runs(lab):
    """With `reexecute_keeps_patch` off, every run starts from the placeholder; the restoring is journalled."""
    bench = lab(P3, reexecute_keeps_patch="off")
    bench.run(3)
    result = bench.run(5)
    dims = [(p.before, p.after, p.writer.stream) for p in result.patches if p.field == "block_dim"]
    assert dims == [(3, 0xFFFF, -1), (0xFFFF, 5, 1)]
    assert result.ok


def test_s26_without_refresh_every_run_uses_the_load_time_kernel(lab, fill):
    """S26: key 0 and all 8 cores in both runs, while the tiling data follow n."""
    bench = lab(P3, edit=_without(TaskType.UPDATE), block_dim_placeholder="compiled")
    for n in (4, 7):
        result = bench.run(n)
        np.testing.assert_array_equal(result.outputs["y0"], fill(0, 8))
        assert _tiling_data(bench)[1:3] == (n, n)


def test_s27_without_bubbles_run_2_executes_the_patch_of_run_1_with_new_tiling_data(lab, fill, ids):
    """S27: run 1 the load-time kernel, run 2 key 2 and dim 5 of run 1 beside the tiling data of n = 7."""
    bench = lab(P3, nop_count=0, block_dim_placeholder="compiled")
    first, second = bench.run(5), bench.run(7)
    np.testing.assert_array_equal(first.outputs["y0"], fill(0, 8))
    np.testing.assert_array_equal(second.outputs["y0"], fill(2, 5))
    assert _tiling_data(bench)[1:3] == (7, 7)
    assert ids(first.hazards) == ids(second.hazards) == ["hazard.stale-prefetch"]


def test_s28_without_reset_run_2_passes_the_wait_at_once(lab, fill, ids):
    """S28: run 1 is right; run 2 starts the kernel before the refresh and repeats the values of run 1."""
    bench = lab(P3, wait_reset="off")
    assert bench.types(0)[:2] == [(5, 0), (3, 103)]
    first, second = bench.run(5), bench.run(7)
    assert first.hazards == ()
    np.testing.assert_array_equal(first.outputs["y0"], fill(2, 5))
    assert ids(second.hazards) == ["hazard.silent-reuse", "update.after-consume"]
    np.testing.assert_array_equal(second.outputs["y0"], fill(2, 5))


def test_silent_reuse_when_the_update_is_lost(lab, fill, ids):
    """The update of run 2 is a NOP: the kernel runs with the values of run 1, and the hazard says from which run."""
    bench = lab(P3)
    bench.run(5)
    nop = bench.device.streams[0].queue.entry(2)
    bench.device.replace_sqe(1, 1, nop)
    result = bench.run(7)
    assert result.ok
    assert ids(result.hazards) == ["hazard.silent-reuse"]
    assert dict(result.hazards[0].detail) == {"patched_in_run": 1}
    np.testing.assert_array_equal(result.outputs["y0"], fill(2, 5))


def test_the_placeholder_block_dim_is_a_fault(lab, ids):
    """0xFFFF at start: TS 0x31 for the vector kernel, 0x91 for the model, ACL 507011, and no outputs."""
    bench = lab(P3, nop_count=0)
    result = bench.run(5)
    assert not result.ok
    assert ids(result.faults) == ["kernel.placeholder-block-dim", "model.failed"]
    kernel, model = result.faults
    assert (kernel.ts_code, kernel.acl_code, kernel.stream, kernel.slot, kernel.engine) == (
        0x31,
        507035,
        0,
        2,
        "ai_core",
    )
    assert (model.ts_code, model.acl_code, model.stream) == (0x91, 507011, bench.model.caller.id)
    assert "ends with TS 0x91, ACL 507011" in kernel.consequences[-1]
    assert ids(result.hazards) == ["hazard.stale-prefetch"]
    assert result.outputs == {}
    assert result.unwritten == {}


def test_record_before_update_ends_in_the_placeholder_fault(lab, ids):
    """The picture's order releases the kernel before the patch."""
    result = lab(P3, sink_run_order="picture").run(5)
    assert ids(result.faults) == ["kernel.placeholder-block-dim", "model.failed"]


def test_six_tasks_on_one_stream_in_list_order_block_each_other(lab):
    """The wait comes before the record on the same stream; the report names both."""

    def one_stream(blob):
        return replace(blob, tasks=tuple(replace(t, stream_id=0) for t in blob.tasks))

    result = lab(P3, edit=one_stream).run(5)
    assert not result.ok
    assert result.faults == ()
    main, caller = result.deadlock.blocked
    assert (main.stream, main.kind, main.signal, main.task) == (0, "event_wait", "event 0", 1)
    assert main.setter == "stream 0 task 10 (event_record of op0) would set it, but stream 0 is at task 1"
    assert (caller.name, caller.signal) == ("caller", "notify 0")
    assert caller.setter == "stream 0 task 11 (notify_record) would set it, but stream 0 is at task 1"
    assert result.outputs == {}


def test_deadlock_names_a_flag_that_nobody_sets(lab):
    """Without the record, no entry of any stream sets the event."""
    result = lab(P3, edit=_without(TaskType.EVENT_RECORD)).run(5)
    assert result.deadlock.blocked[0].setter == "no entry of any stream sets it"
    assert "stream 0 (main_0) task 0 (event_wait of op0) waits for event 0" in result.deadlock.text()


def test_two_sinking_operators_share_the_attached_stream(lab, fill):
    """Both outputs follow n; four entries per operator on the attached side are in one ring."""
    from_graph = lab(P3, graph={**_two_probes()})
    result = from_graph.run(4)
    assert result.hazards == ()
    for name in ("y0", "y1"):
        np.testing.assert_array_equal(result.outputs[name], fill(1, 4))
    assert from_graph.types(1) == [(1, 0), (3, 101), (4, 0)] * 2


def _two_probes():
    return {
        "format": "sqemu-graph", "version": 1, "name": "two", "options": {"ge.tiling_schedule_optimize": "1"},
        "inputs": [{"name": "x", "dtype": "float32", "shape": [40]}, {"name": "n", "dtype": "int32", "shape": [1]}],
        "nodes": [
            {"name": f"op{i}", "type": "TilingProbe", "inputs": ["x", "n"], "outputs": [f"y{i}"]} for i in (0, 1)
        ],
        "outputs": ["y0", "y1"],
    }  # fmt: skip


def test_a_custom_operator_sinks_with_its_own_library_and_log_workspace(lab):
    """AddCustomTilingSink: the tiling task has five argument words and the sum is right in every run."""
    graph = {
        "format": "sqemu-graph", "version": 1, "name": "add", "options": {"ge.tiling_schedule_optimize": "1"},
        "inputs": [
            {"name": "x", "dtype": "float16", "shape": [100]},
            {"name": "y", "dtype": "float16", "shape": [100]},
            {"name": "n", "dtype": "int32", "shape": [1]},
        ],
        "nodes": [{"name": "op0", "type": "AddCustomTilingSink", "inputs": ["x", "y", "n"], "outputs": ["z"]}],
        "outputs": ["z"],
    }  # fmt: skip
    x, y = np.arange(100, dtype=np.float16), np.full(100, 0.5, np.float16)
    bench = lab(B3, graph=graph, inputs={"x": x, "y": y})
    assert bench.blob.tasks[0].so_name.endswith("libcust_opmaster.so")
    sqe = bench.device.layout("AicpuKernelSqe").parse(bench.device.streams[1].queue.entry(0))
    assert sqe["kernel_type"] == 4
    args = sqe["param_addr_low"] | sqe["param_addr_high"] << 32
    context = bench.model.details["op0"]["_tiling_context_addr"]
    words = struct.unpack("<5Q", bench.device.memory.read(args, 40))
    log = bench.device.memory.find(words[3])
    assert words[:3] == (context.tiling_context, context.op_type, 0)
    assert (log.address, log.size) == (words[3], words[4])
    assert log.label.startswith("workspace")
    for n in (1, 6, 33):
        result = bench.run(n)
        np.testing.assert_array_equal(result.outputs["z"], x + y)
        assert result.unwritten == {}
