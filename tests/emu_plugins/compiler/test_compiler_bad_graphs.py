"""Every way a graph can be wrong: id, place and remedy of the problem."""

from __future__ import annotations

from dataclasses import replace

import pytest

from emu_core.errors import GraphError, PluginError

ABSENT = object()
COMPILE_INFO = "compile_info_json"


def problems(lab, graph, **how):
    """What the compiler finds wrong with `graph`."""
    with pytest.raises(GraphError) as caught:
        lab.compile(graph, **how)
    return caught.value.problems


def edited(graph, path, value):
    """`graph` with the value at `path` replaced, or removed."""
    *parents, last = path
    at = graph
    for key in parents:
        at = at[key]
    if value is ABSENT:
        del at[last]
    else:
        at[last] = value
    return graph


BAD = [
    # structure
    (("format",), "onnx", "graph.format", "format"),
    (("format",), ABSENT, "graph.missing-key", "graph"),
    (("version",), 2, "graph.version", "version"),
    (("version",), True, "graph.version", "version"),
    (("version",), "1", "graph.version", "version"),
    (("node",), [], "graph.unknown-key", "graph"),
    ((3,), [], "graph.unknown-key", "graph"),
    (("name",), "", "graph.name", "name"),
    (("name",), "a" * 256, "graph.name", "name"),
    (("name",), "a\nb", "graph.name", "name"),
    (("name",), "\ud800", "graph.name", "name"),
    (("name",), 7, "graph.type", "name"),
    (("name",), [[[]]], "graph.type", "name"),
    (("nodes",), {}, "graph.type", "nodes"),
    (("nodes",), [], "graph.empty", "nodes"),
    (("nodes",), ABSENT, "graph.missing-key", "graph"),
    (("outputs",), [], "graph.empty", "outputs"),
    (("outputs",), "op_out", "graph.type", "outputs"),
    (("outputs",), [None], "graph.type", "outputs[0]"),
    (("outputs",), ["op_out", "op_out"], "graph.duplicate-name", "outputs[1]"),
    (("outputs",), ["op_oui"], "graph.dangling", "outputs[0]"),
    (("options",), [], "graph.type", "options"),
    (("options",), {"ge.x": None}, "graph.type", "options.ge.x"),
    (("options",), {"": "1"}, "graph.name", "options"),
    (("inputs",), None, "graph.type", "inputs"),
    (("inputs", 0), [], "graph.type", "inputs[0]"),
    (("constants",), 5, "graph.type", "constants"),
    # tensors
    (("inputs", 0, "dtyp"), "x", "graph.unknown-key", "inputs[0]"),
    (("inputs", 0, "dtype"), "float17", "graph.dtype", "inputs[0].dtype"),
    (("inputs", 0, "dtype"), 1, "graph.type", "inputs[0].dtype"),
    (("inputs", 0, "dtype"), ABSENT, "graph.missing-key", "inputs[0]"),
    (("inputs", 0, "shape"), ABSENT, "graph.missing-key", "inputs[0]"),
    (("inputs", 0, "shape"), "4,8", "graph.type", "inputs[0].shape"),
    (("inputs", 0, "shape"), [4, True], "graph.shape", "inputs[0].shape[1]"),
    (("inputs", 0, "shape"), [4.0, 8], "graph.shape", "inputs[0].shape[0]"),
    (("inputs", 0, "shape"), [float("nan")], "graph.shape", "inputs[0].shape[0]"),
    (("inputs", 0, "shape"), [None], "graph.shape", "inputs[0].shape[0]"),
    (("inputs", 0, "shape"), [-3], "graph.shape", "inputs[0].shape[0]"),
    (("inputs", 0, "shape"), [-2, 4], "graph.shape", "inputs[0].shape[0]"),
    (("inputs", 0, "shape"), [2**63], "graph.shape", "inputs[0].shape[0]"),
    (("inputs", 0, "shape"), [10**5000], "graph.shape", "inputs[0].shape[0]"),
    (("inputs", 0, "shape"), [1] * 26, "graph.shape", "inputs[0].shape"),
    (("inputs", 0, "shape"), [1] * 4, "graph.shape", "nodes[0].inputs[0] (node op)"),
    (("inputs", 0, "shape"), [10**18], "graph.size", "inputs[0].shape (input x)"),
    (("inputs", 0, "shape"), [2**62] * 25, "graph.size", "inputs[0].shape (input x)"),
    (("nodes", 0, "inputs"), [["x"], "lens", None], "graph.dynamic-input", "nodes[0].inputs[0] (node op)"),
    (("nodes", 0, "inputs"), [["x", 3], "lens", None], "graph.type", "nodes[0].inputs[0][1]"),
    (("inputs", 0, "name"), "lens", "graph.duplicate-name", "inputs[1].name"),
    (("inputs", 0, "name"), "y", "graph.dangling", "nodes[0].inputs[0] (node op)"),
    (("inputs", 0, "dtype"), "float32", "graph.dtype", "nodes[0].inputs[0] (node op)"),
    # constants
    (("constants", 0, "shape"), [-1], "graph.shape", "constants[0].shape"),
    (("constants", 0, "shape"), [2], "graph.constant", "constants[0].data"),
    (("constants", 0, "shape"), [2**62, 2**62], "graph.constant", "constants[0].data"),
    (("constants", 0, "data"), ABSENT, "graph.missing-key", "constants[0]"),
    (("constants", 0, "data"), 192, "graph.type", "constants[0].data"),
    (("constants", 0, "data"), "192", "graph.type", "constants[0].data"),
    (("constants", 0, "data"), [True], "graph.constant", "constants[0].data"),
    (("constants", 0, "data"), [1.5], "graph.constant", "constants[0].data"),
    (("constants", 0, "data"), [[192]], "graph.constant", "constants[0].data"),
    (("constants", 0, "data"), [2**31], "graph.constant", "constants[0].data"),
    (("constants", 0, "data"), [10**5000], "graph.constant", "constants[0].data"),
    (("constants", 0, "data"), b"\0", "graph.constant", "constants[0].data"),
    (("constants", 0, "data"), {"npz": "a.npz"}, "graph.missing-key", "constants[0].data"),
    (("constants", 0, "data"), {"npz": "a.npz", "key": 1}, "graph.type", "constants[0].data.key"),
    (("constants", 0, "data"), {"npz": "a.npz", "key": "k"}, "graph.constant", "constants[0].data"),
    # nodes
    (("nodes", 0), None, "graph.type", "nodes[0]"),
    (("nodes", 0, "attr"), {}, "graph.unknown-key", "nodes[0]"),
    (("nodes", 0, "type"), "Prob", "graph.unknown-operator", "nodes[0].type (node op)"),
    (("nodes", 0, "type"), "", "graph.name", "nodes[0].type"),
    (("nodes", 0, "type"), "Elsewhere", "graph.kernel", "nodes[0] (node op)"),
    (("nodes", 0, "name"), ABSENT, "graph.missing-key", "nodes[0]"),
    (("nodes", 0, "inputs"), ["x", "lens"], "graph.arity", "nodes[0].inputs (node op)"),
    (("nodes", 0, "inputs"), "x", "graph.type", "nodes[0].inputs"),
    (("nodes", 0, "inputs"), ["x", 1, None], "graph.type", "nodes[0].inputs[1]"),
    (("nodes", 0, "inputs"), ["x", "", None], "graph.name", "nodes[0].inputs[1]"),
    (("nodes", 0, "inputs"), [None, "lens", None], "graph.missing-input", "nodes[0].inputs[0] (node op)"),
    (("nodes", 0, "inputs"), ["x", "len", None], "graph.dangling", "nodes[0].inputs[1] (node op)"),
    (("nodes", 0, "inputs"), ["op_out", "lens", None], "graph.cycle", "nodes[0] (node op)"),
    (("nodes", 0, "outputs"), ["op_out", "more"], "graph.arity", "nodes[0].outputs (node op)"),
    (("nodes", 0, "outputs"), [None], "graph.type", "nodes[0].outputs[0]"),
    (("nodes", 0, "outputs"), ["x"], "graph.duplicate-name", "nodes[0].outputs[0] (node op)"),
    (("nodes", 0, "attrs"), [], "graph.type", "nodes[0].attrs"),
    (("nodes", 0, "attrs"), {"scal": 1}, "graph.attr", "nodes[0].attrs.scal (node op)"),
    (("nodes", 0, "attrs"), {"scale": "1"}, "graph.attr", "nodes[0].attrs.scale (node op)"),
    (("nodes", 0, "attrs"), {"scale": True}, "graph.attr", "nodes[0].attrs.scale (node op)"),
    (("nodes", 0, "attrs"), {"scale": float("inf")}, "graph.attr", "nodes[0].attrs.scale (node op)"),
    (("nodes", 0, "attrs"), {"scale": 10**5000}, "graph.attr", "nodes[0].attrs.scale (node op)"),
    (("nodes", 0, "attrs"), {"scale": None}, "graph.attr", "nodes[0].attrs.scale"),
    (("nodes", 0, "attrs"), {"sizes": [1, 2.5]}, "graph.attr", "nodes[0].attrs.sizes (node op)"),
    (("nodes", 0, "attrs"), {"sizes": [[1]]}, "graph.attr", "nodes[0].attrs.sizes"),
    (("nodes", 0, "attrs"), {"sizes": 3}, "graph.attr", "nodes[0].attrs.sizes (node op)"),
    (("nodes", 0, "attrs"), {"sizes": [2**63]}, "graph.attr", "nodes[0].attrs.sizes (node op)"),
    (("nodes", 0, "attrs"), {"_tiling_sink_op": 1}, "graph.attr", "nodes[0].attrs._tiling_sink_op (node op)"),
    (("nodes", 0, "attrs"), {"_tiling_sink": True}, "graph.attr", "nodes[0].attrs._tiling_sink (node op)"),
    (("nodes", 0, "attrs"), {"op_para_size": 2**24 + 1}, "graph.attr", "nodes[0].attrs.op_para_size (node op)"),
    (("nodes", 0, "attrs"), {COMPILE_INFO: "\ud800"}, "graph.attr", f"nodes[0].attrs.{COMPILE_INFO} (node op)"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "value", "id_", "where"), BAD)
def test_one_thing_wrong(lab, path, value, id_, where):
    """Each fault gives its problem at its place, and the text of the error is printable."""
    found = problems(lab, edited(lab.one(), path, value))
    assert (id_, where) in [(p.id, p.where) for p in found]
    assert all(p.text().encode() for p in found)


@pytest.mark.parametrize("raw", [None, [], "graph", 1, 1.5, True, object()])
def test_not_an_object(lab, raw):
    """Something that is no mapping is refused at once."""
    (problem,) = problems(lab, raw)[:1]
    assert (problem.id, problem.where) == ("graph.type", "graph")


@pytest.mark.parametrize(
    ("path", "value", "hint"),
    [
        (("nodes", 0, "type"), "Prob", "did you mean 'Probe'?; --plugin loads a plugin that brings others"),
        (("nodes", 0, "inputs"), ["x", "len", None], "did you mean 'lens'?"),
        (("inputs", 0, "dtype"), "float_16", "did you mean 'float16'?"),
        (("node",), [], "did you mean 'nodes'?"),
        (("nodes", 0, "attrs"), {"_tiling_sink": True}, "did you mean '_tiling_sink_op'?"),
        (("nodes", 0, "inputs"), ["x"], "list them all, null for an absent one: x, lens, mask?"),
        (("nodes", 0, "inputs"), ["x", ["lens"], None], "write one name"),
    ],
)
def test_remedies(lab, path, value, hint):
    """The remedy names the likely spelling or the complete list."""
    assert hint in [p.remedy for p in problems(lab, edited(lab.one(), path, value))]


def test_missing_required_attribute(lab):
    """An attribute without default must be given."""
    found = problems(lab, lab.graph(lab.node("n", "Needs", ["x"])))
    assert [(p.id, p.what) for p in found] == [("graph.attr", "attribute axis is required")]


def test_unknown_output_shape(lab):
    """An operator that cannot tell its output shape is refused at that output."""
    (problem,) = problems(lab, lab.graph(lab.node("w", "Unknown", ["x"])))
    assert (problem.id, problem.where) == ("graph.unknown-shape", "nodes[0].outputs[0] (node w)")


def test_all_problems_together(lab):
    """One compilation reports the faults of every part of the graph, in graph order within a pass."""
    graph = lab.graph(
        lab.node("a", "Probe", ["x", "lens", None], scal=1),
        lab.node("b", "Prob", ["a_out", "lens", None]),
        lab.node("c", "Probe", ["x", "x", None]),
        lab.node("c", "Relu", ["x", "x"]),
        outputs=["nothing"],
    )
    graph["inputs"][1]["shape"] = [-3]
    assert [p.id for p in problems(lab, graph)] == [
        "graph.shape", "graph.duplicate-name", "graph.duplicate-name", "graph.attr", "graph.unknown-operator",
        "graph.arity", "graph.dtype",
    ]  # fmt: skip


def test_source_is_named(lab):
    """The file stands before every problem."""
    with pytest.raises(GraphError) as caught:
        lab.compile({}, source="dir/g.json")
    assert all(line.startswith("dir/g.json: ") for line in caught.value.text().splitlines())


def test_cycle_is_named(lab):
    """A cycle is shown as the nodes on it."""
    found = problems(
        lab,
        lab.graph(lab.node("a", "Relu", ["c_out"]), lab.node("b", "Relu", ["a_out"]), lab.node("c", "Relu", ["b_out"])),
    )
    assert [p.id for p in found] == ["graph.cycle"]
    assert "a -> b -> c -> a" in found[0].what


def test_user_keys(lab):
    """Keys that start with x- are the user's own, everywhere."""
    graph = lab.one(**{"x-note": [1]})
    for each in (graph, graph["inputs"][0], graph["constants"][0], graph["nodes"][0]):
        each["x-note"] = {"any": "thing"}
    graph["options"] = {"x-note": 3}
    assert lab.compile(graph).blob.ops[0].sink


def test_unused_constant_and_input_warn(lab):
    """What nothing reads is said, and an unused constant is left out."""
    compiled = lab.compile(lab.graph(lab.node("r", "Relu", ["x"])))
    assert compiled.warnings == ("input 'lens' is not used", "constant 'fixed' is not used")
    assert [t.name for t in compiled.blob.tensors] == ["x", "lens", "r_out"]


def test_any_listing_order(lab):
    """Nodes may be listed in any order; of those that are ready the first listed runs first."""
    graph = lab.graph(
        lab.node("d", "Relu", ["b_out"]), lab.node("c", "Relu", ["x"]), lab.node("b", "Relu", ["c_out"]),
        lab.node("a", "Relu", ["x"]), outputs=["d_out", "a_out"],
    )  # fmt: skip
    assert [op.name for op in lab.compile(graph).blob.ops] == ["c", "b", "d", "a"]


def test_long_chain_and_large_lists(lab):
    """A chain of 1 500 nodes listed backwards, a constant of a million values and 20 000 bad names are no burden."""
    nodes = [lab.node(f"n{i}", "Relu", [f"n{i - 1}_out" if i else "x"]) for i in range(1500)]
    big = {"name": "big", "dtype": "int8", "shape": [1_000_000], "data": [1] * 1_000_000}
    graph = lab.graph(*reversed(nodes), outputs=["n1499_out"])
    assert len(lab.compile({**graph, "constants": [big]}).blob.ops) == 1500
    bad = lab.graph(*[lab.node(f"n{i}", "Relu", [f"missing{i}"]) for i in range(20_000)])
    assert len(problems(lab, bad)) == 20_000


def test_broken_operator_declarations(lab):
    """A plugin's fault is a plugin error, not a graph error."""
    good = lab.host.operators["Probe"]
    broken = {
        "plugin.kernel": replace(good, kernel="Nowhere"),
        "plugin.depends": replace(good, depends=(3,)),
        "plugin.infer": replace(good, infer=lambda *_: ()),
        "plugin.attr-kind": replace(good, attrs=(replace(good.attrs[0], kind="tensor"),)),
    }
    for id_, spec in broken.items():
        lab.host.operators["Probe"] = spec
        with pytest.raises(PluginError) as caught:
            lab.compile(lab.one())
        assert caught.value.id == id_
    lab.host.operators["Probe"] = replace(good, infer=lambda *_: 1 / 0)
    with pytest.raises(PluginError, match="ZeroDivisionError"):
        lab.compile(lab.one())
