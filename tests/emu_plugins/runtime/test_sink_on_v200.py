"""Whole programs on chips of family v200 give the bytes of a 310P: sunk, on the host, stale, and with faults."""

from __future__ import annotations

import numpy as np
import pytest

from emu_core.trace import Completion, Patched, TaskDone
from emu_plugins.runtime.sqes import Place

CHIPS = ("ascend950pr_950z", "ascend950dt_9591", "ascend350_355e")
SMALL, P3, B3 = "ascend950pr_950z", "ascend310p3", "ascend910b3"
TOKENS, HEADS, DK, DV = 70, 2, 16, 16
RUNS = ((40, 3, 4), (65, 7, 1), (9, 5, 6))
"""Tokens of the first sequence, and the values that tile probe and addition."""


def _wave(shape, step, scale):
    return (np.sin(np.arange(np.prod(shape)) * step) * scale).reshape(shape).astype(np.float16)


def _arrays(tokens, n, m):
    return {
        "query": _wave((TOKENS, HEADS, DK), 0.37, 0.5),
        "key": _wave((TOKENS, HEADS, DK), 0.53, 0.3),
        "value": _wave((TOKENS, HEADS, DV), 0.29, 1.0),
        "beta": _wave((TOKENS, HEADS), 0.11, 0.4),
        "state": _wave((2, HEADS, DV, DK), 0.07, 0.1),
        "lens": np.array([tokens, TOKENS - tokens], np.int32),
        "x": np.arange(40, dtype=np.float32),
        "n": np.array([n], np.int32),
        "bias": np.full(40, 0.5, np.float32),
        "m": np.array([m], np.int32),
    }


def _graph(*, sink=True):
    nodes = {
        "cgdr": ("ChunkGatedDeltaRule", ["query", "key", "value", "beta", "state", "lens", None], ["out", "last"]),
        "probe": ("TilingProbe", ["x", "n"], ["y"]),
        "add": ("AddCustomTilingSink", ["y", "bias", "m"], ["z"]),
    }
    return {
        "format": "sqemu-graph", "version": 1, "name": "three",
        "options": {"ge.tiling_schedule_optimize": str(int(sink))},
        "inputs": [
            {"name": name, "dtype": str(array.dtype), "shape": list(array.shape)}
            for name, array in _arrays(*RUNS[0]).items()
        ],
        "nodes": [
            {
                "name": name, "type": kind, "inputs": inputs, "outputs": outputs,
                "attrs": {"scale_value": 0.25} if name == "cgdr" else {},
            }
            for name, (kind, inputs, outputs) in nodes.items()
        ],
        "outputs": ["out", "last", "y", "z"],
    }  # fmt: skip


def _results(bench):
    found = []
    for values in RUNS:
        result = bench.model.execute(_arrays(*values))
        assert result.ok
        assert result.hazards == ()
        assert result.unwritten == {}
        found.append(result)
    return found


@pytest.fixture
def on(lab):
    """Three executions of the three operators on a chip, with tiling on the device or on the host."""

    def run(chip, *, sink=True, **policies):
        bench = lab(chip, graph=_graph(sink=sink), **policies)
        return bench, _results(bench)

    return run


@pytest.mark.parametrize("sink", [True, False])
@pytest.mark.parametrize("chip", CHIPS)
def test_three_executions_give_the_bytes_of_a_310p(on, chip, sink):
    """Three operators whose tiling reads values: every output of every execution is equal, byte for byte."""
    _, found = on(chip, sink=sink)
    _, wanted = on(P3)
    for mine, theirs in zip(found, wanted, strict=True):
        assert {n: a.tobytes() for n, a in mine.outputs.items()} == {n: a.tobytes() for n, a in theirs.outputs.items()}


def test_every_execution_patches_every_kernel(on):
    """Three operators, three executions: probe and addition get the block dims of their inputs, starting at 0xFFFF."""
    _, results = on(SMALL)
    dims = [[(p.before, p.after) for p in r.patches if p.field == "block_dim"] for r in results]
    assert [[before for before, _ in run] for run in dims[:1]] == [[0xFFFF] * 3]
    assert [[after for _, after in run[1:]] for run in dims] == [[3, 4], [7, 1], [5, 6]]
    assert [[before for before, _ in run[1:]] for run in dims[1:]] == [[3, 4], [7, 1]]
    structs = [p.struct for r in results[:1] for p in r.trace if isinstance(p, Patched) and p.field == "block_dim"]
    assert structs == ["AicKernelSqe", "AivKernelSqe", "AivKernelSqe"]


def test_the_rings_of_a_sink_operator(lab):
    """Wait, reset, 8 NOPs, vector kernel, end on the main stream; tiling, update, record on the attached one."""
    bench = lab(SMALL)
    kinds = {
        stream: [
            (e.values["type"], e.values.get("task_type", e.values.get("sub_type", 0)))
            for e in bench.device.host.registry.decode_stream("v200", ring)
        ]
        for stream, ring in bench.model.rings().items()
    }
    assert kinds == {
        0: [(7, 5), (6, 8), *[(3, 103)] * 8, (1, 0), (6, 0)],
        1: [(5, 0), (3, 101), (6, 4)],
    }


def test_the_order_and_times_of_one_execution(lab):
    """The update ends before the record, the record before the kernel; a reset takes 100 ns, as on v100."""
    result = lab(SMALL).run(5)
    done = [(e.kind, e.time) for e in result.trace if isinstance(e, TaskDone) and e.kind != "nop"]
    kernel = -(-160 * 1000 // (31 * 1650 * 5))
    start = 1000 + 15000 + 2000 + 500
    assert done[:5] == [
        ("model_execute", 1000), ("aicpu", 16000), ("task_update", 18000), ("event_record", start),
        ("event_wait", start),
    ]  # fmt: skip
    assert done[5:] == [
        ("event_reset", start + 100),
        ("kernel", start + 100 + 800 + 3000 + kernel),
        ("notify_record", start + 100 + 800 + 3000 + kernel + 500),
        ("notify_wait", start + 100 + 800 + 3000 + kernel + 500),
    ]


def test_the_update_writes_no_completion_entry(lab):
    """On v100 the update asks for one, on v200 the stream decides, and does not."""
    counts = {}
    for chip in (SMALL, P3):
        result = lab(chip).run(5)
        counts[chip] = sum(isinstance(e, Completion) for e in result.trace)
    assert counts == {SMALL: 0, P3: 1}


@pytest.mark.parametrize(("nops", "stale"), [(6, True), (7, False)])
def test_s24_stale_prefetch_on_v200(lab, fill, nops, stale):
    """S24 at depth 8: 6 NOPs run the copy of load time (8 cores, key 0), 7 are enough."""
    result = lab(SMALL, nop_count=nops, block_dim_placeholder="compiled").run(3)
    assert [h.id for h in result.hazards] == ["hazard.stale-prefetch"] * stale
    np.testing.assert_array_equal(result.outputs["y0"], fill(0, 8 if stale else 3))


def test_a_stale_placeholder_is_a_vector_core_exception(lab):
    """Without NOPs the launch has 0xFFFF blocks: 0x31 on the stream, 507011 for the caller of the model."""
    result = lab(SMALL, nop_count=0).run(3)
    assert [(f.id, f.ts_code, f.acl_code) for f in result.faults] == [
        ("kernel.placeholder-block-dim", 0x31, 507035), ("model.failed", 0x91, 507011),
    ]  # fmt: skip


def test_s28_without_the_reset_the_second_run_passes_the_wait_at_once(lab):
    """S28: the event of run 1 is still set, so the kernel of run 2 does not wait for its patch."""
    bench = lab(SMALL, wait_reset="off", block_dim_placeholder="compiled")
    assert bench.run(3).hazards == ()
    assert "hazard.silent-reuse" in [h.id for h in bench.run(7).hazards]


def test_an_update_of_a_program_for_v200_names_addresses(lab):
    """Key and block dim cells, and the table of three 40-byte rows, by their device addresses."""
    bench = lab(SMALL)
    sqe = bench.model.rings()[1][64:128]
    found = bench.device.layout("PhModelTaskUpdateSqe").parse(sqe)
    context = bench.model.details["op0"]["_tiling_context_addr"]
    assert (found["tiling_key_offset"], found["block_dim_offset"]) == (context.tiling_key, context.block_dim)
    table = bench.device.memory.find(found["tiling_tab_offset"])
    assert (found["tiling_tab_len"], table.size, table.label) == (3, 120, "tiling table of op0")


def test_a_program_of_several_sinks_on_a_910b_and_a_950_has_the_same_tasks(lab, probe_graph):
    """Four operators: as many entries on each stream, and the same fills."""
    graph = probe_graph(nodes=4)
    found = {chip: lab(chip, graph=graph) for chip in (SMALL, B3)}
    lengths = {chip: [len(ring) for ring in bench.model.rings().values()] for chip, bench in found.items()}
    assert lengths[SMALL] == lengths[B3]
    outputs = [bench.run(6).outputs for bench in found.values()]
    assert all(outputs[0][name].tobytes() == outputs[1][name].tobytes() for name in ("y0", "y1", "y2", "y3"))


def test_a_second_model_execute_while_the_first_runs_is_busy(lab):
    """The condition entry of v200 goes through the same steps."""
    bench = lab(SMALL)
    device, other = bench.device, bench.device.create_stream("other", bound=False)

    def again():
        queue = other.queue
        queue.append(builder(device).model_execute(Place(other.id, queue.next_task_id()), bench.model.id))
        device.scheduler.ring_doorbell(other)

    device.clock.after(5000, 0, again)
    result = bench.run(3)
    assert [(f.id, f.ts_code) for f in result.faults] == [("model.busy", 0x4)]


def builder(device):
    """The builder of the device's family."""
    from emu_plugins.runtime.builders import builder_for

    return builder_for(device.host.registry, device.chip.family)


def _mix_graph():
    return {
        "format": "sqemu-graph", "version": 1, "name": "mix", "options": {"ge.tiling_schedule_optimize": "1"},
        "inputs": [
            {"name": "x", "dtype": "float32", "shape": [40]}, {"name": "n", "dtype": "int32", "shape": [1]},
        ],
        "nodes": [{"name": "op0", "type": "MixProbe", "inputs": ["x", "n"], "outputs": ["y"]}],
        "outputs": ["y"],
    }  # fmt: skip


def test_a_mix_kernel_whose_key_decides_which_cores_lead(lab):
    """Keys 0 to 4 in turn on a 950 and a 910B: the same outputs, and on the 950 entries of type 0 or 1 by the key."""
    found = {chip: lab(chip, graph=_mix_graph()) for chip in (SMALL, B3)}
    for n, sqe_type in ((3, 1), (4, 0), (1, 0), (2, 1), (0, 0)):
        results = {chip: bench.run(n) for chip, bench in found.items()}
        assert all(r.ok and r.hazards == () for r in results.values())
        assert results[SMALL].outputs["y"].tobytes() == results[B3].outputs["y"].tobytes()
        ran = found[SMALL].model.executed()[0][64 * 10 : 64 * 11]
        assert ran[0] & 0x3F == sqe_type


@pytest.mark.parametrize(("model", "stale", "safe"), [("window", 6, 7), ("latency", 4, 5), ("both", 6, 7)])
def test_the_smallest_safe_number_of_nops_is_that_of_a_910b(lab, model, stale, safe):
    """P - 1 = 7 where entries are fetched ahead, (600 - 100) / 100 = 5 where events are noticed late."""
    for chip in (SMALL, B3):
        found = {
            nops: lab(chip, nop_count=nops, block_dim_placeholder="compiled", nop_model=model).run(3).hazards
            for nops in (stale, safe)
        }
        assert [h.id for h in found[stale]] == ["hazard.stale-prefetch"]
        assert found[safe] == ()
