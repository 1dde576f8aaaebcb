"""ONNX models as graphs; the models are made here with the `onnx` package."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emu_core.api import compile_graph
from emu_core.errors import GraphError, PluginError, SqemuError
from emu_core.operators import AttrSpec, InputSpec, OperatorSpec, OutputSpec
from emu_core.plugins import PluginHost
from emu_plugins.importers import onnx_graph
from emu_plugins.importers.onnx_graph import onnx_to_graph

onnx = pytest.importorskip("onnx", reason="the extra onnx is not installed")
helper, F, I32 = onnx.helper, onnx.TensorProto.FLOAT, onnx.TensorProto.INT32


@pytest.fixture(scope="module")
def host():
    """The built-in plugins."""
    return PluginHost()


def model(nodes, inputs=(), outputs=(), initializers=(), **more):
    """The bytes of a model of the domain `npu`."""
    graph = helper.make_graph(list(nodes), "g", list(inputs), list(outputs), initializer=list(initializers), **more)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("npu", 1)])


def value(name, dtype, shape):
    """A tensor of the graph's interface."""
    return helper.make_tensor_value_info(name, dtype, shape)


def probe(**attrs):
    """A probe node of a custom domain."""
    return helper.make_node("TilingProbe", ["x", "n"], ["y"], name="p", domain="npu", **attrs)


X, N, Y = value("x", F, [64]), value("n", I32, [1]), value("y", F, [64])


def test_a_custom_operator(host):
    """A node of a custom domain is the registered operator of its type, and metadata are options."""
    made = model([probe(add_x=1)], [X, N], [Y])
    helper.set_model_props(made, {"ge.tiling_schedule_optimize": "1", "author": "me"})
    graph = onnx_to_graph(made.SerializeToString(), host.operators)
    assert graph["nodes"] == [
        {"name": "p", "type": "TilingProbe", "inputs": ["x", "n"], "outputs": ["y"], "attrs": {"add_x": 1}}
    ]
    assert graph["options"] == {"ge.tiling_schedule_optimize": "1"}
    assert compile_graph(graph, "ascend310p3", {}, host).ops[0].sink


def test_chunk_gated_delta_rule(host):
    """The first operator: absent g is filled in from the definition, both outputs are there, it sinks."""
    f16 = onnx.TensorProto.FLOAT16
    shapes = {"q": [64, 2, 64], "k": [64, 2, 64], "v": [64, 2, 64], "beta": [64, 2], "state": [1, 2, 64, 64]}
    inputs = [*(value(name, f16, shape) for name, shape in shapes.items()), value("lens", I32, [1])]
    node = helper.make_node("ChunkGatedDeltaRule", [*shapes, "lens"], ["out", "final"], domain="npu", scale_value=0.125)
    outputs = [value("out", f16, [64, 2, 64]), value("final", f16, [1, 2, 64, 64])]
    graph = onnx_to_graph(model([node], inputs, outputs).SerializeToString(), host.operators)
    (found,) = graph["nodes"]
    assert (found["name"], found["inputs"][5:]) == ("ChunkGatedDeltaRule_0", ["lens", None])
    blob = compile_graph(graph, "ascend310p3", {"ge.tiling_schedule_optimize": "1"}, host)
    assert (blob.ops[0].sink, blob.ops[0].attrs["scale_value"]) == (True, 0.125)


@pytest.mark.parametrize("as_node", [True, False])
def test_constants(host, as_node):
    """Initializers and Constant nodes are constants with their bytes; an initialised input is none."""
    lens = onnx.numpy_helper.from_array(np.array([3], np.int32), "n")
    if as_node:
        made = model([helper.make_node("Constant", [], ["n"], value=lens), probe()], [X], [Y])
    else:
        made = model([probe()], [X, N], [Y], [lens])
    graph = onnx_to_graph(made.SerializeToString(), host.operators)
    assert [each["name"] for each in graph["inputs"]] == ["x"]
    assert graph["constants"] == [{"name": "n", "dtype": "int32", "shape": [1], "data": b"\3\0\0\0"}]
    assert not compile_graph(graph, "ascend310p3", {}, host).unknown_shape


def test_bfloat16_constant():
    """bfloat16 travels as its 16 bits."""
    tensor = helper.make_tensor("c", onnx.TensorProto.BFLOAT16, [2], [1.0, -2.0])
    graph = onnx_to_graph(model([], initializers=[tensor]).SerializeToString(), {})
    assert graph["constants"][0]["data"] == b"\x80\x3f\x00\xc0"


def test_attributes_and_names():
    """Ints become bools where the operator says so, lists and texts stay, and nodes without a name get one."""
    spec = OperatorSpec(
        "T", (InputSpec("x"), InputSpec("m", optional=True)), (OutputSpec("y"), OutputSpec("z")), lambda *_: (),
        lambda _: None, "K", attrs=(AttrSpec("flag", "bool", None),),
    )  # fmt: skip
    nodes = [
        helper.make_node("T", ["x"], ["a"], flag=1, sizes=[1, 2], factors=[0.5], text="t", half=0.5),
        helper.make_node("T", ["x", ""], ["b", ""], name="T_0", other=1),
    ]
    first, second = onnx_to_graph(model(nodes, [X]).SerializeToString(), {"T": spec})["nodes"]
    assert (first["name"], second["name"]) == ("T_0_", "T_0")
    assert first["attrs"] == {"flag": True, "sizes": [1, 2], "factors": [0.5], "text": "t", "half": 0.5}
    assert (first["inputs"], first["outputs"]) == (["x", None], ["a", "T_0_:1"])
    assert (second["inputs"], second["outputs"]) == (["x", None], ["b", "T_0:1"])


def test_everything_in_the_way_is_reported_together():
    """Unknown dimensions, odd types, outside data, subgraphs, functions and sparse tensors: a problem each."""
    outside = onnx.numpy_helper.from_array(np.zeros(4, np.float32), "w")
    outside.data_location = onnx.TensorProto.EXTERNAL
    body = helper.make_graph([], "body", [], [])
    made = model(
        [
            helper.make_node("Loop", ["x"], ["y"], name="l", body=body),
            helper.make_node("Constant", [], ["c"], value_int=1),
        ],
        [
            value("a", F, ["batch", 4]), value("s", onnx.TensorProto.STRING, [1]), value("r", F, None),
            helper.make_tensor_sequence_value_info("q", F, [1]),
        ],
        [Y],
        [outside],
    )  # fmt: skip
    made.functions.append(helper.make_function("npu", "Fn", ["x"], ["y"], [], [helper.make_opsetid("npu", 1)]))
    with pytest.raises(GraphError) as caught:
        onnx_to_graph(made.SerializeToString(), {}, source="m.onnx")
    problems = caught.value.problems
    wanted = (
        "functions", "another file", "Constant without a tensor", "attribute body",
        "element type 8", "no tensor",
    )  # fmt: skip
    assert [sum(words in p.what for p in problems) for words in wanted] == [1] * len(wanted)
    assert len(problems) == len(wanted)
    assert all(p.id == "graph.import" and p.remedy for p in problems)


def test_symbolic_dimensions(host):
    """A symbolic dimension is -1, an input without shape has an unknown rank, and such a graph compiles."""
    graph = onnx_to_graph(
        model([probe()], [value("x", F, ["batch"]), N, value("r", F, None)], [Y]).SerializeToString(), host.operators
    )
    assert [each["shape"] for each in graph["inputs"]] == [[-1], [1], [-2]]
    assert compile_graph(graph, "ascend310p3", {}, host).ops[0].host_tiling


@pytest.mark.parametrize(
    ("given", "entries"),
    [(["x", "", "a"], ["x", None, ["a"]]), (["x", "m", "a", "b"], ["x", "m", ["a", "b"]]), (["x"], ["x", None, []])],
)
def test_a_dynamic_input_takes_what_the_others_leave(host, given, entries):
    """Names behind those of the ordinary inputs are the list of the dynamic one."""
    node = helper.make_node("ListProbe", given, ["y"], name="p", domain="npu")
    inputs = [X, value("m", F, [64]), value("a", I32, [1]), value("b", I32, [1])]
    graph = onnx_to_graph(model([node], inputs, [Y]).SerializeToString(), host.operators)
    assert graph["nodes"][0]["inputs"] == entries


@pytest.mark.parametrize("damage", [b"\x08\x07\x3a\xff\xff\xff\x7f", b"\x08"])
def test_a_damaged_model(damage):
    """What begins like a model and is none is refused with the file's name."""
    with pytest.raises(GraphError) as caught:
        onnx_to_graph(damage, {}, source="m.onnx")
    assert caught.value.text().startswith("m.onnx: file: is neither text nor an ONNX model")


def test_without_the_extra(monkeypatch):
    """Without the package the message has the line that installs it, and the exit code is 2."""

    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(onnx_graph, "import_module", missing)
    with pytest.raises(PluginError, match=r"pip install 'sqemu\[onnx\]'") as caught:
        onnx_to_graph(b"\x08\x07", {})
    assert (caught.value.id, caught.value.exit_code) == ("extra.missing", 2)


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_damaged_models_are_refused_or_read(host, data):
    """A model with some bytes changed is refused with an error of ours, or read; nothing else is raised."""
    made = model([helper.make_node("Constant", [], ["n"], value_int=3), probe(add_x=1, text="t")], [X, N], [Y])
    helper.set_model_props(made, {"ge.tiling_schedule_optimize": "1"})
    raw = bytearray(made.SerializeToString())
    for _ in range(data.draw(st.integers(1, 3))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(SqemuError):
        compile_graph(onnx_to_graph(bytes(raw), host.operators), "ascend310p3", {}, host)
