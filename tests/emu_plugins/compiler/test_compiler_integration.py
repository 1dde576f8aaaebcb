"""The compiler with the real chips, operators and host tiling, behind its hook."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest

import emu_plugins.cgdr
import emu_plugins.chips
import emu_plugins.compiler
import emu_plugins.kernels
import emu_plugins.tiling
from emu_core.errors import GraphError
from emu_core.graph import CompileOptions
from emu_core.plugins import PluginHost
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
