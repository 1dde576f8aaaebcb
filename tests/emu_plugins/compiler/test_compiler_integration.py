"""The compiler with the real chips, operators and host tiling, behind its hook."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import emu_plugins.cgdr
import emu_plugins.chips
import emu_plugins.compiler
import emu_plugins.kernels
import emu_plugins.tiling
from emu_core.api import compile_with_report
from emu_core.device import Device
from emu_core.errors import GraphError
from emu_core.graph import CompileOptions
from emu_core.plugins import PluginHost
from emu_plugins.importers import GraphBuilder
from formats.blob import decode, encode

SAMPLES = Path(__file__).parents[2] / "data" / "graphs"


@pytest.fixture(scope="module")
def host():
    """A plugin host with the real plugins."""
    parts = (emu_plugins.chips, emu_plugins.cgdr, emu_plugins.kernels, emu_plugins.tiling, emu_plugins.compiler)
    return PluginHost(parts, entry_points=False)


def compiled(host, name, chip="ascend310p3", **options):
    """The sample graph `name`, compiled."""
    graph = json.loads((SAMPLES / name).read_text(encoding="utf-8"))
    return host.first("sqemu_compile", graph=graph, chip=host.chip(chip), options=CompileOptions(**options), host=host)


def kinds(blob):
    """Task types in list order."""
    return [int(task.type) for task in blob.tasks]


@pytest.mark.parametrize(("chip", "nops"), [("ascend310p3", 5), ("ascend910b3", 8)])
def test_cgdr_sinks(host, chip, nops):
    """The sample graph becomes the sink sequence, with the bubbles of its chip."""
    blob = compiled(host, "sink.json", chip).blob
    assert kinds(blob) == [43, 2, *[42] * nops, 26, 41, 1, 19]
    (op,) = blob.ops
    assert (op.type, op.depends, op.sink) == ("ChunkGatedDeltaRule", (5,), True)
    assert blob.tasks[2 + nops].args_format == (
        "{i0*}{i1*}{i2*}{i3*}{i4*}{i5*}{i6*}{o0*}{o1*}"
        + "".join(f"{{ws{k}*}}" for k in range(len(op.workspaces)))
        + "{tiling_context.tiling_data}"
    )
    assert blob.tensors[blob.outputs[1]].shape == (1, 8, 80, 80)
    # 8 heads x 80 x 80 float16 values.
    assert blob.tensors[blob.outputs[1]].size == 102400


def test_cgdr_with_constant_lengths(host):
    """With constant lengths there is one kernel task with compile-time tiling."""
    blob = compiled(host, "constant_lengths.json").blob
    assert kinds(blob) == [26, 19]
    assert blob.tasks[0].args_format.startswith("{i0*}{i1*}{i2*}{i3*}{i4*}{i5*}{i6}{o0*}{o1*}{ws0*}")
    assert blob.tasks[0].args_format.endswith("{t}")
    assert blob.ops[0].tiling_data


def test_cgdr_without_option(host):
    """With the option off the graph is host scheduled."""
    blob = compiled(host, "sink.json", tiling_schedule_optimize="0").blob
    assert (blob.unknown_shape, blob.ops[0].host_tiling, kinds(blob)) == (True, True, [26, 19])


def test_cgdr_policy_none(host):
    """Policy `cgdr.tiling_depend` = none leaves a static operator."""
    blob = compiled(host, "sink.json", policies={"cgdr.tiling_depend": "none"}).blob
    assert (blob.unknown_shape, kinds(blob), blob.policies["cgdr.tiling_depend"]) == (False, [26, 19], "none")


@pytest.mark.parametrize(("name", "kernel_type", "format_"), [
    ("probe_sink.json", 6, "{tiling_context}{*op_type}{}"),
    ("add_custom_sink.json", 7, "{tiling_context}{*op_type}{}{ws1*}"),
])  # fmt: skip
def test_sample_operators_sink(host, name, kernel_type, format_):
    """The two sample operators sink, the built-in and the custom way."""
    blob = compiled(host, name).blob
    assert (int(blob.tasks[0].kernel_type), blob.tasks[0].args_format) == (kernel_type, format_)


def test_cgdr_bad_shape(host):
    """What the operator's own inference refuses is a problem at the node's input."""
    graph = json.loads((SAMPLES / "sink.json").read_text(encoding="utf-8"))
    bad = copy.deepcopy(graph)
    bad["inputs"][1]["shape"] = [191, 8, 80]
    with pytest.raises(GraphError) as caught:
        host.first("sqemu_compile", graph=bad, chip=host.chip("ascend310p3"), options=CompileOptions(), host=host)
    assert (caught.value.problems[0].id, caught.value.problems[0].where) == (
        "graph.shape", "nodes[0].inputs[1] (node cgdr0)"
    )  # fmt: skip


@pytest.mark.parametrize("name", sorted(path.name for path in SAMPLES.glob("*.json")))
def test_blob_survives_its_file(host, name):
    """The blob of every sample graph comes back from its bytes."""
    blob = compiled(host, name).blob
    assert decode(encode(blob)) == blob


def probe_chain(labels):
    """Probes behind each other, one per label, each reading the value n."""
    g = GraphBuilder("chain", {"ge.tiling_schedule_optimize": "1"})
    x, n = g.input("x", "float32", [40]), g.input("n", "int32", [1])
    for label in labels:
        x = g.node("TilingProbe", x, n, add_x=1, **({"_stream_label": label} if label else {}))
    g.output(x)
    return g.build()


def run_chain(chip, labels, *, n, policies=None):
    """The output of a chain for the value n, after a first run with another value; and the blob."""
    host = PluginHost()
    blob = compile_with_report(probe_chain(labels), chip, CompileOptions(policies=policies or {}), host).blob
    model = Device(chip, {}, host).load(blob)
    for value in (n + 1, n):
        result = model.execute({"x": np.zeros(40, np.float32), "n": np.array([value], np.int32)})
        assert (result.faults, result.deadlock, result.hazards) == ((), None, ())
    return result.outputs, blob


@pytest.mark.parametrize("labels", [("", "a"), ("a", "", "b", "a"), ("a", "b")])
def test_operators_on_several_main_streams_run(labels):
    """A chain over several main streams gives what it gives on one, in each of two runs with another tiling."""
    (one, _), (several, blob) = (run_chain("ascend910b3", each, n=5) for each in (("",) * len(labels), labels))
    assert len([s for s in blob.streams if s.serves is None]) == len({*labels, ""})
    np.testing.assert_array_equal(*(next(iter(each.values())) for each in (one, several)))


def test_a_split_stream_runs_like_a_whole_one():
    """Ten operators over streams of 60 entries: several parts, the same result."""
    small = replace(PluginHost().chip("ascend910b3"), usable_tasks=60)
    whole, blob = run_chain("ascend910b3", [""] * 10, n=3)
    assert len(blob.streams) == 2
    split, blob = run_chain(small, [""] * 10, n=3)
    # 10 x (wait and reset, 8 NOPs, kernel) + 1 = 111 entries, at most 33 with the margin of 27.
    assert [s.name for s in blob.streams if s.serves is None] == ["main_0", *(f"main_0_part_{i}" for i in range(1, 5))]
    np.testing.assert_array_equal(*(next(iter(each.values())) for each in (whole, split)))


def test_a_mix_operator_is_an_ffts_plus_task_and_runs():
    """On a 910B3 a sinking mix operator is launched by an FFTS+ task, which its update patches, without a hazard."""
    host = PluginHost()
    g = GraphBuilder("mix", {"ge.tiling_schedule_optimize": "1"})
    g.output(g.node("MixProbe", g.input("x", "float32", [40]), g.input("n", "int32", [1])))
    blob = compile_with_report(g.build(), "ascend910b3", CompileOptions(), host).blob
    assert [int(task.type) for task in blob.tasks if task.kernel is not None] == [29]
    result = (
        Device("ascend910b3", {}, host)
        .load(blob)
        .execute({"x": np.zeros(40, np.float32), "n": np.array([3], np.int32)})
    )
    assert (result.ok, result.hazards) == (True, ())
    assert len(result.patches) > 0
