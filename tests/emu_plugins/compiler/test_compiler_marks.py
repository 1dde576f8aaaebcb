"""Marks, the worked example of `reference/tiling_sink_compiler.md` 4.3, and graphs that lose sink."""

from __future__ import annotations

from dataclasses import replace

import pytest

from emu_core.errors import GraphError
from emu_core.graph import CompileOptions
from emu_core.policies import PolicySet
from emu_plugins.compiler.marks import Marker, Marks, has_dynamic_depend
from emu_plugins.compiler.operators import bind_node
from emu_plugins.compiler.options import resolve_options
from emu_plugins.compiler.parse import parse_graph
from emu_plugins.compiler.report import Report


def worked_example(lab):
    """Three nodes: host only with data, host only with a constant, both placements with data."""
    return lab.graph(
        lab.node("add", "HostProbe", ["x", "lens", None]),
        lab.node("add2", "HostProbe", ["add_out", "fixed", None]),
        lab.node("add3", "Probe", ["add2_out", "lens", None]),
    )


def test_worked_example_marks(lab):
    """Host-only with data: forced; with a constant: not marked; both placements with data: sink-marked."""
    report = Report()
    graph = parse_graph(worked_example(lab), report, lambda *_: b"")
    options = resolve_options(CompileOptions(tiling_schedule_optimize="1", offline=False), {}, report)
    marker = Marker(options, lab.chip, PolicySet(lab.host.policy_specs), {"fixed": b""})
    bound = [bind_node(graph, i, lab.host, lab.chip, report) for i in range(3)]
    assert [replace(marker.mark(each, report), gates=()) for each in bound] == [
        Marks((1,), dynamic_depend=True, force_unknown=True),
        Marks((1,)),
        Marks((1,), dynamic_depend=True, sink=True),
    ]


def test_worked_example_is_merged(lab):
    """One forced operator makes the whole graph host scheduled; the sink-marked one loses sink, with a warning."""
    compiled = lab.compile(worked_example(lab), policies={"graph_partition": "merge"})
    assert compiled.blob.unknown_shape
    assert [(op.name, op.sink, op.host_tiling) for op in compiled.blob.ops] == [
        ("add", False, True), ("add2", False, False), ("add3", False, True),
    ]  # fmt: skip
    assert [(int(task.type), task.block_dim) for task in compiled.blob.tasks] == [(26, 7), (26, 7), (26, 7), (19, 0)]
    assert any("add3 loses tiling sink" in line for line in compiled.warnings)
    assert any(node == "add3" and "loses its sink" in text for node, _, text in compiled.decisions)


def test_worked_example_in_parts(lab):
    """By default the static part that may sink stays a static model inside, the one in between is part of it (4.3)."""
    compiled = lab.compile(worked_example(lab), policies={"nop_count": "0"})
    assert compiled.blob.unknown_shape
    assert [(op.name, op.sink, op.host_tiling) for op in compiled.blob.ops] == [
        ("add", False, True), ("add2", False, False), ("add3", True, False),
    ]  # fmt: skip
    assert [(int(task.type), task.node, task.stream_id) for task in compiled.blob.tasks] == [
        (26, "add", 0), (26, "add2", 1), (43, "add3", 2), (2, "add3", 1), (26, "add3", 1), (41, "add3", 2),
        (1, "add3", 2), (19, "", 1), (19, "", 0),
    ]  # fmt: skip


def test_preset_force_unknown(lab):
    """A node that presets `_force_unknown_shape` takes the graph along by policy, its tiling reading no value."""
    blob = lab.compile(
        lab.graph(
            lab.node("r", "Relu", ["x"], _force_unknown_shape=True), lab.node("p", "Probe", ["r_out", "lens", None])
        ),
        policies={"graph_partition": "merge"},
    ).blob
    assert blob.unknown_shape
    assert [op.host_tiling for op in blob.ops] == [True, True]


def test_preset_force_unknown_skips_the_gates(lab):
    """A dependent node that presets `_force_unknown_shape` is host scheduled although every gate would pass."""
    blob = lab.compile(lab.one(_force_unknown_shape=True)).blob
    assert (blob.unknown_shape, blob.ops[0].sink, blob.ops[0].host_tiling) == (True, False, True)
    assert "_tiling_sink_op" not in blob.ops[0].attrs


def test_preset_sink_without_dependency(lab):
    """A node that presets `_tiling_sink_op` although its tiling reads no value is refused (6.1)."""
    with pytest.raises(GraphError) as caught:
        lab.compile(lab.graph(lab.node("r", "Relu", ["x"], _tiling_sink_op=True)))
    assert [(p.id, p.where) for p in caught.value.problems] == [
        ("graph.sink-depends", "nodes[0].attrs._tiling_sink_op (node r)")
    ]


def test_preset_sink_with_constant(lab):
    """A preset `_tiling_sink_op` sinks an operator whose depended input is a constant, without asking a gate."""
    assert lab.compile(lab.one("Probe", "fixed", _tiling_sink_op=True), sink="0").blob.ops[0].sink


def test_policy_removes_the_dependency(lab):
    """A `depends_policy` with value `none` leaves nothing to depend on."""
    assert lab.compile(lab.one("PolicyProbe")).blob.ops[0].sink
    op = lab.compile(lab.one("PolicyProbe"), policies={"probe.depend": "none"}).blob.ops[0]
    assert (op.sink, op.host_tiling, op.depends) == (False, False, ())


@pytest.mark.parametrize(
    ("inputs", "depends", "unknown", "marked"),
    [
        (("x", "c"), (1,), False, False),
        (("x", "v"), (1,), False, True),
        (("x", "c"), (1,), True, True),
        (("x", None), (1,), False, False),
        (("c", "v"), (0, 1), False, True),
        (("x", "v"), (), True, False),
    ],
)
def test_when_a_node_is_marked(inputs, depends, unknown, marked):
    """Marked: a connected depended input that is no constant, or any when the shape is unknown."""
    assert has_dynamic_depend(inputs, depends, {"c"}, unknown_shape=unknown) is marked


def test_a_decision_for_every_node_and_pass(lab):
    """Each node has a line of shapes, marks, gates, sink, running parameters and streams."""
    decisions = lab.compile(lab.one()).decisions
    assert [by for node, by, _ in decisions if node == "op"] == [
        "shapes", "marks", "gates", "sink", "running_params", "streams",
    ]  # fmt: skip
    assert any(by == "options" and "command line" in text for _, by, text in decisions)


def test_gate_reason_is_a_warning(lab):
    """The user is told why a tiling stays on the host."""
    assert any('is not "1"' in line for line in lab.compile(lab.one(), sink=None).warnings)


@pytest.mark.parametrize("value", ["", "0"])
def test_host_tiling_that_was_asked_for_is_no_warning(lab, value):
    """With the flag empty or 0 the gate is a decision only; of a lower level it stays a warning."""
    asked = lab.compile(lab.one(), sink=value)
    assert not any("the tiling stays on the host" in line for line in asked.warnings)
    assert any(by == "gates" and 'is not "1"' in text for _, by, text in asked.decisions)
    by_graph = lab.compile(lab.one(), sink=None, options={"ge.tiling_schedule_optimize": value})
    assert any("the tiling stays on the host" in line for line in by_graph.warnings)
