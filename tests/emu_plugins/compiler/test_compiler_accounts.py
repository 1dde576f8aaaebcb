"""What the compiler tells about itself: explanations, snapshots, and problems of all phases together."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from emu_core.errors import GraphError
from emu_plugins.compiler.snapshots import PASSES


def test_nothing_is_collected_unasked(lab):
    """Without `details` there is no explanation and no snapshot."""
    compiled = lab.compile(lab.one())
    assert (compiled.explanation, compiled.snapshots) == ({}, ())


def test_details_do_not_change_the_result(lab):
    """The blob, warnings and decisions are the same with details."""
    plain, full = lab.compile(lab.one()), lab.compile(lab.one(), details=True)
    assert (plain.blob, plain.warnings, plain.decisions) == (full.blob, full.warnings, full.decisions)


def test_a_snapshot_after_each_pass(lab):
    """There is one snapshot per pass in order, JSON-ready, each knowing no less than the one before."""
    compiled = lab.compile(lab.one(), details=True)
    assert tuple(name for name, _ in compiled.snapshots) == PASSES
    nodes = [json.loads(json.dumps(snapshot))["nodes"][0] for _, snapshot in compiled.snapshots]
    assert all(set(before) <= set(after) for before, after in pairwise(nodes))
    assert "tasks" not in nodes[PASSES.index("streams")]
    assert "gates" not in nodes[PASSES.index("shapes")]


def test_snapshots_are_deterministic(lab):
    """Two compilations give the same texts."""
    texts = [json.dumps(lab.compile(lab.one(), details=True).snapshots) for _ in range(2)]
    assert texts[0] == texts[1]


def test_a_host_scheduled_graph_is_neither_joined_nor_split(lab):
    """Its task list has no streams of a model, so the last two passes do not run."""
    names = [name for name, _ in lab.compile(lab.one(), sink="0", details=True).snapshots]
    assert names == list(PASSES[:-2])


def test_account_of_a_sinking_node(lab):
    """Condition, resources, tiling and every task with its args format before and after the sink step."""
    (node,) = lab.compile(lab.one(), details=True, policies={"nop_count": "1"}).explanation["nodes"]
    assert node["condition"] == {
        "graph is static": True, "_tiling_sink_op": True, "compile_info_json is not empty": True,
    }  # fmt: skip
    (stream,) = node["attributes"]["_attached_stream_info_list"]
    (event,) = node["attributes"]["_attached_sync_res_info_list"]
    assert (stream["_attached_resource_id"], event["_attached_resource_id"]) == (1, 0)
    assert stream["_attached_resource_depend_value_list_int"] == [1]
    assert node["tiling"] == {
        "tiling key": 3, "block dim": 7, "tiling data bytes": 2, "workspaces": [1024], "log workspace": False,
    }  # fmt: skip
    rows = [(t["task"], t["stream"], t.get("args format before"), t.get("args format")) for t in node["tasks"]]
    assert rows == [
        ("PREPROCESS_KERNEL", 1, "", "{tiling_context}{*op_type}{}"),
        ("EVENT_WAIT", 0, None, None),
        ("NOP", 0, None, None),
        ("ALL_KERNEL", 0, "{i0*}{i1*}{i2}{o0*}{ws0*}", "{i0*}{i1*}{i2}{o0*}{ws0*}{tiling_context.tiling_data}"),
        ("UPDATE", 1, "", "{tiling_context.tiling_key}{tiling_context.block_dim}"),
        ("EVENT_RECORD", 1, None, None),
    ]


def test_resources_are_asked_for_before_they_are_given(lab):
    """After the running parameters the requested stream has the invalid id, after the streams a valid one."""
    found = dict(lab.compile(lab.one(), details=True).snapshots)
    given = [
        found[name]["nodes"][0]["attributes"]["_attached_stream_info_list"][0]["_attached_resource_id"]
        for name in ("running_params", "streams")
    ]
    assert given == [-1, 1]


def test_an_empty_compile_info_is_explained(lab):
    """The account of a node that takes the static path says which condition failed."""
    (node,) = lab.compile(lab.one(compile_info_json=""), details=True).explanation["nodes"]
    assert (node["tiled"], node["sinks"]) == ("compile time", False)
    assert node["condition"]["compile_info_json is not empty"] is False


def test_problems_of_all_phases_come_together(lab):
    """A cycle, a dangling read, a wrong arity and type, a contradiction, and failures of tiling: one refusal."""
    graph = lab.graph(
        lab.node("a", "Relu", ["b_out"]),
        lab.node("b", "Relu", ["a_out"]),
        lab.node("c", "Relu", ["nobody"]),
        lab.node("d", "Relu", []),
        lab.node("e", "Relu", ["lens"]),
        lab.node("f", "Probe", ["x", "lens", None], _tiling_sink_op=True, _force_unknown_shape=True),
        lab.node("g", "BadTiling", ["x", "lens", None]),
        lab.node("h", "DeviceOnly", ["x", "lens", None]),
        lab.node("i", "Probe", ["x", "lens", None], _op_exec_never_timeout=True),
        lab.node("i", "NoWorkspace", ["x", "lens", None]),
    )
    with pytest.raises(GraphError) as caught:
        lab.compile(graph)
    assert {p.id for p in caught.value.problems} >= {
        "graph.cycle", "graph.dangling", "graph.arity", "graph.dtype", "graph.contradiction", "graph.tiling",
        "graph.host-placement", "graph.never-timeout", "graph.duplicate-name",
    }  # fmt: skip
    assert all(p.where and p.what for p in caught.value.problems)


@pytest.mark.parametrize(
    ("shape", "words"),
    [([2**62, 4], "overflows 64 bits"), ([2**31, 2**31, 2], "overflows 64 bits"), ([2**40], "of memory")],
)
def test_sizes_beyond_64_bits(lab, shape, words):
    """A tensor whose bytes do not fit 64 bits is told from one that is larger than the memory."""
    graph = lab.one()
    graph["inputs"][0]["shape"] = shape
    with pytest.raises(GraphError) as caught:
        lab.compile(graph)
    (problem,) = (p for p in caught.value.problems if p.id == "graph.size")
    assert words in problem.what


def test_every_cycle_is_reported(lab):
    """Two cycles that have nothing to do with each other are two problems, a node behind one is none."""
    graph = lab.graph(
        lab.node("a", "Relu", ["b_out"]),
        lab.node("b", "Relu", ["a_out"]),
        lab.node("c", "Relu", ["d_out"]),
        lab.node("d", "Relu", ["c_out"]),
        lab.node("e", "Relu", ["d_out"]),
    )
    with pytest.raises(GraphError) as caught:
        lab.compile(graph)
    assert [p.what for p in caught.value.problems if p.id == "graph.cycle"] == [
        "nodes wait for each other: a -> b -> a",
        "nodes wait for each other: c -> d -> c",
    ]
