"""Runtime V2 on the device: the same bytes as V1, times by hand, no update, bad values and bad blobs."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from emu_core.api import compile_with_report
from emu_core.device import Device
from emu_core.errors import InputError, PluginError
from emu_core.graph import CompileOptions
from emu_core.plugins import PluginHost
from emu_core.trace import TaskDone
from emu_plugins.importers import GraphBuilder
from emu_plugins.runtime.v2 import Kind
from formats.blob import TaskType

ROOT = Path(__file__).parents[3]
A2, A3, P3, V200 = "ascend910b3", "ascend910_9392", "ascend310p3", "ascend950pr_9599"
ROUND_TRIP, LAUNCH = 30_000, 3_000
FAIL, CRASH = -1, -3

GRAPHS = [
    *sorted((ROOT / "tests/data/graphs").glob("*.json")),
    *(ROOT / "docs/examples" / f"{name}.json" for name in ("probe", "scenario_offline", "scenario_super_kernel")),
]


def schedule(model):
    """What launches a model of runtime V2."""
    return model._launch.__self__


def arrays(graph):
    """Inputs of any sample graph: small numbers, the same each time; whole lengths where they are read as such."""
    found = {}
    for k, tensor in enumerate(graph["inputs"]):
        size = int(np.prod(tensor["shape"]))
        small = (np.arange(size) * (k + 3) % 7 - 3) / 16
        whole = 192 if tensor["name"] == "actual_seq_lengths" else 3 + k
        values = np.full(size, whole) if tensor["dtype"] == "int32" else small
        found[tensor["name"]] = values.astype(tensor["dtype"]).reshape(tensor["shape"])
    return found


@pytest.mark.parametrize("path", GRAPHS, ids=lambda path: path.stem)
@pytest.mark.parametrize("chip", [P3, A2])
def test_sample_graphs_give_the_same_bytes(path, chip):
    """V1 with the sink, V1 with the host's tiling and V2, each twice, agree in every byte."""
    graph = json.loads(path.read_text())
    host, given, found = PluginHost(), arrays(graph), []
    for sink, runtime in (("1", "v1"), ("0", "v1"), ("1", "v2"), ("0", "v2")):
        options = CompileOptions(tiling_schedule_optimize=sink)
        blob = compile_with_report(
            graph,
            chip,
            options,
            host,
        ).blob
        model = Device(chip, {"runtime": runtime}, host).load(blob)
        for _ in range(2):
            result = model.execute(given)
            assert (result.ok, result.faults, result.hazards) == (True, (), ())
            found.append({name: array.tobytes() for name, array in result.outputs.items()})
    assert all(each == found[0] for each in found)


@pytest.mark.parametrize("operator", ["TilingProbe", "MixProbe"])
@pytest.mark.parametrize("chip", [P3, A2, A3, V200])
def test_probes_on_every_kind_of_chip(lab, probe_graph, operator, chip):
    """The output of each execution is that of V1, for the value of that execution."""
    v1, v2 = (lab(chip, graph=probe_graph(operator=operator), runtime=runtime) for runtime in ("v1", "v2"))
    for n in (1, 2, 7, 5):
        assert v1.run(n).outputs["y0"].tobytes() == v2.run(n).outputs["y0"].tobytes()


@pytest.mark.parametrize("sink", [True, False])
@pytest.mark.parametrize("nodes", [1, 3])
def test_each_operator_that_reads_a_value_costs_a_round_trip(lab, probe_graph, nodes, sink):
    """30 us, then 3 us launch and 2 ns kernel (5 cores, 160 bytes), per operator and execution, whatever the option."""
    bench = lab(P3, graph=probe_graph(sink=sink, nodes=nodes), runtime="v2")
    for run in range(2):
        result = bench.run(5)
        assert (result.started, result.ended) == tuple(nodes * (run + k) * (ROUND_TRIP + LAUNCH + 2) for k in (0, 1))


def test_an_operator_of_stored_run_info_costs_none(lab):
    """A constant n = 5: nothing but 3 us launch and 2 ns kernel."""
    g = GraphBuilder("c")
    g.output(g.node("TilingProbe", g.input("x", "float32", [40]), g.constant("n", "int32", [1], [5]), name="op0"))
    bench = lab(P3, graph=g.build(), runtime="v2")
    assert bench.run().ended == LAUNCH + 2
    assert bench.run().outputs


def test_a_chain_waits_for_the_producer(lab, fill):
    """Twice n is computed first, read back, and tiled for: launch, round trip, launch and 3 ns kernel on 4 cores."""
    g = GraphBuilder("chain")
    m = g.node("Twice", g.input("n", "int32", [1]), name="twice")
    g.output(g.node("TilingProbe", g.input("x", "float32", [40]), m, name="op0"))
    bench = lab(P3, graph=g.build(), runtime="v2")
    result = bench.run(2)
    assert [e.time for e in result.trace if isinstance(e, TaskDone)] == [LAUNCH, LAUNCH + ROUND_TRIP + LAUNCH + 3]
    assert result.outputs[bench.blob.tensors[bench.blob.outputs[0]].name].tolist() == fill(1, 4).tolist()


@pytest.mark.parametrize("operator", ["TilingProbe", "MixProbe"])
@pytest.mark.parametrize("chip", [P3, A2])
def test_unknown_shapes(lab, probe_graph, operator, chip):
    """The bytes of V1 for each size in turn, at one round trip and one launch per operator."""
    graph = probe_graph(operator=operator, nodes=2)
    graph["inputs"][0]["shape"] = [-1]
    v1, v2 = (lab(chip, graph=graph, inputs={}, runtime=runtime) for runtime in ("v1", "v2"))
    for size, n in ((40, 3), (1000, 5), (7, 2)):
        given = {"x": np.zeros(size, np.float32), "n": np.array([n], np.int32)}
        one, two = v1.model.execute(given), v2.model.execute(given)
        assert (two.ok, two.outputs["y0"].shape) == (True, (size,))
        assert {k: a.tobytes() for k, a in one.outputs.items()} == {k: a.tobytes() for k, a in two.outputs.items()}
        assert 0 < two.ended - two.started - 2 * (ROUND_TRIP + LAUNCH) < 100


def test_there_is_no_update_and_no_event(lab, probe_graph):
    """A program that V1 patches runs as one kernel entry of a plain stream, with nothing patched."""
    bench = lab(A2, graph=probe_graph(), runtime="v2")
    assert any(task.type == TaskType.UPDATE for task in bench.blob.tasks)
    result = bench.run(5)
    assert [e.kind for e in result.trace if isinstance(e, TaskDone)] == ["kernel"]
    assert (result.patches, bench.model.streams) == ((), ())


@pytest.mark.parametrize("chip", [A2, A3])
def test_the_context_of_a_mix_launch_holds_what_the_node_gave(lab, probe_graph, chip):
    """Entries of non-tail and tail, block dims and ratios in device memory are those of UpdateContext."""
    bench = lab(chip, graph=probe_graph(operator="MixProbe"), runtime="v2")
    bench.run(5)
    (found,) = schedule(bench.model).contexts.values()
    (launched,) = schedule(bench.model).caller.launched.values()
    layout = bench.device.layout("FftsPlusMixAicAivCtx")
    raw = bench.device.memory.read(launched.context, layout.size)
    held = layout.parse(raw)
    assert found.fields["non_tail_block_dim"] == 5
    assert {name: held[name] for name in found.fields} == dict(found.fields)
    assert found.entries.non_tail == found.entries.tail == launched.function


@pytest.mark.parametrize(("constant", "info", "kind"), [
    (7, "{}", Kind.RUN_INFO), (7, "", Kind.TILING), (None, "{}", Kind.TILING),
])  # fmt: skip
def test_the_key_of_a_mix_kernel_comes_from_the_node_that_the_rule_names(lab, constant, info, kind):
    """A stored key that is changed in the blob is used by a static reused binary, and by no other; n mod 5 is 2."""
    g = GraphBuilder("m")
    n = g.input("n", "int32", [1]) if constant is None else g.constant("n", "int32", [1], [constant])
    g.output(g.node("MixProbe", g.input("x", "float32", [40]), n, name="op0", compile_info_json=info))
    graph = g.build()

    def stored(key):
        return lambda blob: replace(blob, ops=(replace(blob.ops[0], tiling_key=key),))

    true = lab(A2, graph=graph, runtime="v2").run(constant or 7)
    keys = [e.detail for e in true.trace if isinstance(e, TaskDone)]
    other = lab(A2, graph=graph, edit=stored(1), runtime="v2")
    result = other.run(constant or 7)
    (found,) = schedule(other.model).tilings
    assert schedule(other.model).graph.nodes[found].kind is kind
    assert ("key 1" in next(e.detail for e in result.trace if isinstance(e, TaskDone))) == (kind is Kind.RUN_INFO)
    assert "key 2" in keys[0]


def test_a_workspace_grows_with_what_a_tiling_asks_for(lab, probe_graph):
    """Knob asks for 64 bytes per block; more than before is given, and outputs are right."""
    bench = lab(P3, graph=probe_graph(operator="Knob"), runtime="v2")
    for blocks in (1, 7, 3):
        assert bench.run(1000 * blocks).outputs["y0"].tolist() == [0, blocks, 1000 * blocks, 7]
    (placed,) = schedule(bench.model)._placement.workspaces[0]
    assert placed.size == 64 * 7


def test_a_model_inside_sinks(lab):
    """V1 runs the part of a host-scheduled graph that sinks: 2 round trips, 1 task update, the same bytes as V1."""
    g = GraphBuilder("mixed", {"ge.tiling_schedule_optimize": "1"})
    x, n = g.input("x", "float32", [40]), g.input("n", "int32", [1])
    for name in ("h0", "s1", "h2"):
        forced = {"_force_unknown_shape": True} if name[0] == "h" else {}
        x = g.node("TilingProbe", x, n, name=name, add_x=1, **forced)
        g.output(x)
    v1, v2 = (lab(P3, graph=g.build(), runtime=runtime) for runtime in ("v1", "v2"))
    for n in (3, 5):
        one, two = v1.run(n), v2.run(n)
        assert two.ok
        assert {k: a.tobytes() for k, a in one.outputs.items()} == {k: a.tobytes() for k, a in two.outputs.items()}
        assert one.ended - one.started == two.ended - two.started
        assert len({p.writer for p in two.patches if p.tiling_key is not None}) == 1


def test_the_schedule_mode_of_the_tiling_holds(lab, probe_graph):
    """A tiling that sets mode 1 for one execution launches with it, and without it the next time."""
    bench = lab(P3, graph=probe_graph(operator="Knob"), runtime="v2")
    for n, mode in ((-4, 1), (2000, 0)):
        bench.run(n)
        ((_, task),) = list(schedule(bench.model).caller.launched.items())[-1:]
        queue = schedule(bench.model).caller.core.queue
        raw = queue.entry(queue.task_at[task.task_id])
        assert bench.device.layout("AicoreKernelSqe").parse(raw)["schem"] == mode


class TestBadInput:
    """Nothing runs half."""

    def test_a_tiling_that_fails(self, lab, probe_graph):
        """The operator is named; after an abort the model runs again."""
        bench = lab(P3, graph=probe_graph(operator="Knob"), runtime="v2")
        with pytest.raises(InputError, match="host tiling failed: n says so") as caught:
            bench.run(FAIL)
        assert (caught.value.id, caught.value.where) == ("tiling.failed", "operator op0")
        bench.model.abort()
        assert bench.run(3000).outputs["y0"].tolist() == [0, 3, 3000, 7]

    def test_a_tiling_that_crashes(self, lab, probe_graph):
        """It is the plugin's error."""
        with pytest.raises(PluginError, match="the tiling function of Knob raised ZeroDivisionError"):
            lab(P3, graph=probe_graph(operator="Knob"), runtime="v2").run(CRASH)

    def test_a_key_without_an_entry(self, lab, probe_graph):
        """The binary has keys 0 to 4."""
        with pytest.raises(InputError, match="no entry for the tiling key 99") as caught:
            lab(A2, graph=probe_graph(operator="Knob"), runtime="v2").run(1099)
        assert caught.value.id == "kernel.no-entry"

    def test_a_kernel_that_faults_stops_the_execution(self, lab, probe_graph):
        """The operators behind it are neither tiled nor launched, and no round trip is paid for them."""
        bench = lab(P3, graph=probe_graph(operator="Refuses", nodes=2), runtime="v2")
        result = bench.run(2000)
        assert [fault.id for fault in result.faults][:1] == ["odd.refused"]
        assert result.ended - result.started < 2 * ROUND_TRIP

    def test_a_blob_whose_shapes_are_not_the_operators(self, lab, probe_graph):
        """Shape inference at load disagrees and says both."""

        def shorter(blob):
            (out,) = blob.outputs
            tensors = list(blob.tensors)
            tensors[out] = replace(tensors[out], shape=(20,), size=80)
            return replace(blob, tensors=tuple(tensors))

        with pytest.raises(InputError, match=r"infers float32\[40\], the blob has float32\[20\]") as caught:
            lab(P3, graph=probe_graph(), edit=shorter, runtime="v2")
        assert (caught.value.id, caught.value.where) == ("blob.tensor", "operator op0")

    def test_a_runtime_that_does_not_exist(self, lab):
        """The policy names the two there are."""
        with pytest.raises(Exception, match="v1") as caught:
            lab(P3, runtime="v3")
        assert "v2" in str(caught.value)
