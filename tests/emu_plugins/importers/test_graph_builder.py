"""Graphs in Python, and telling formats by their content."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from emu_core import compile_graph
from emu_core.errors import GraphError, InputError
from emu_core.plugins import PluginHost
from emu_plugins.importers import GraphBuilder, GraphKind, kind_of_bytes, read_graph

DOCS = Path(__file__).parents[3] / "docs"


@pytest.fixture(scope="module")
def host():
    """The built-in plugins."""
    return PluginHost()


def test_the_list_of_a_dynamic_input():
    """A list of tensors is a list of names."""
    g = GraphBuilder("g")
    a, b = g.input("a", "int32", [1]), g.input("b", "int32", [1])
    g.node("ListProbe", a, None, [a, b])
    assert g.build()["nodes"][0]["inputs"] == ["a", None, ["a", "b"]]


def test_a_whole_graph():
    """Inputs, constants, nodes, outputs and options come out in the order in which they were given."""
    g = GraphBuilder("g", {"a": "1"})
    x = g.input("x", "float32", (4,))
    c = g.constant("c", "int32", [2], [7, 8])
    y = g.node("Add", x, None, c, axis=(0, 1), scale=1.5)
    z, w = g.nodes("Split", y, name="s", count=2)
    g.output(z, w)
    g.option("b", "2")
    assert g.build() == {
        "format": "sqemu-graph",
        "version": 1,
        "name": "g",
        "options": {"a": "1", "b": "2"},
        "inputs": [{"name": "x", "dtype": "float32", "shape": [4]}],
        "constants": [{"name": "c", "dtype": "int32", "shape": [2], "data": [7, 8]}],
        "nodes": [
            {
                "name": "add0",
                "type": "Add",
                "inputs": ["x", None, "c"],
                "outputs": ["add0_out"],
                "attrs": {"axis": [0, 1], "scale": 1.5},
            },
            {"name": "s", "type": "Split", "inputs": ["add0_out"], "outputs": ["s_out0", "s_out1"]},
        ],
        "outputs": ["s_out0", "s_out1"],
    }


def test_arrays_become_little_endian_bytes():
    """A constant from an array holds its bytes row by row, whatever its byte order and strides."""
    g = GraphBuilder("g")
    g.constant("c", "int32", [2, 1], np.array([[1, 9], [2, 9]], dtype=">i4")[:, :1])
    assert g.build()["constants"][0]["data"] == b"\1\0\0\0\2\0\0\0"


def test_names_and_counts():
    """Nodes of one type are numbered, outputs may be named, and a node without any is refused."""
    g = GraphBuilder("g")
    assert [g.node("T").name, g.node("T").name, g.node("U", outputs=["mine"]).name] == ["t0_out", "t1_out", "mine"]
    with pytest.raises(InputError) as caught:
        g.nodes("T")
    assert caught.value.id == "graph.builder"


def test_building_twice():
    """A graph that was built is not changed by what the builder does afterwards."""
    g = GraphBuilder("g")
    g.output(g.input("x", "float32", [1]))
    before = g.build()
    g.node("T", name="later")
    assert (before["nodes"], len(g.build()["nodes"])) == ([], 1)


def test_a_built_graph_compiles(host):
    """What the builder gives is what the compiler takes: the sink sequence of one probe on a 310P."""
    g = GraphBuilder("probe")
    x, n = g.input("x", "float32", [64]), g.input("n", "int32", [1])
    g.output(g.node("TilingProbe", x, n, add_x=1))
    blob = compile_graph(g.build(), "ascend310p3", {"ge.tiling_schedule_optimize": "1"}, host)
    assert [int(task.type) for task in blob.tasks] == [43, 2, *[42] * 5, 26, 41, 1, 19]


@pytest.mark.skipif(not DOCS.is_dir(), reason="the documents are not beside the tests")
def test_the_documented_example_runs():
    """The example of the graph page compiles."""
    (example,) = re.findall(r"```python\n(.*?)```", (DOCS / "graph.md").read_text(encoding="utf-8"), re.DOTALL)
    found = {}
    exec(compile(example, "docs/graph.md", "exec"), found)
    assert found["blob"].ops[0].sink


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b'{"format": "sqemu-graph"}', GraphKind.JSON), (b"\xef\xbb\xbf {}", GraphKind.JSON), (b"", GraphKind.JSON),
        (b"[1]", GraphKind.JSON), (b"nonsense", GraphKind.JSON),
        (b'name: "g"', GraphKind.GE_TEXT), (b"# a comment\n\n op {", GraphKind.GE_TEXT),
        (b"graph <", GraphKind.GE_TEXT),
        (b"\x08\x07\x12\x00", GraphKind.ONNX), (b"\x08\x0a\x3a\xff\x01", GraphKind.ONNX),
        (b"\xff\xfe\x00", None), (b"\x89PNG\r\n", None),
    ],
)  # fmt: skip
def test_kinds(data, kind):
    """Text is JSON or GE text by how it begins; what is no text is ONNX by its first field, or unknown."""
    assert kind_of_bytes(data) is kind


@pytest.mark.parametrize(
    ("data", "id_"),
    [
        (b"", "graph.json"),
        (b"[1]", "graph.json"),
        (b"\x89PNG\r\n", "graph.json"),
        (b"name: ", "graph.import"),
        (b"SQEMUBLB\xff", "graph.json"),
    ],
)
def test_what_is_no_graph(data, id_):
    """Nothing, a list, a picture and a torn text are refused with the file's name."""
    with pytest.raises(GraphError) as caught:
        read_graph(data, {}, source="g.txt")
    assert caught.value.id == id_
    assert caught.value.text().startswith("g.txt: ")
