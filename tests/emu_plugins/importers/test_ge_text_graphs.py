"""GE text graphs: the text form of protobuf, and the graph in it (`reference/om_format.md` 8)."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emu_core.api import compile_graph
from emu_core.errors import GraphError, SqemuError
from emu_core.operators import InputSpec, OperatorSpec, OutputSpec
from emu_core.plugins import PluginHost
from emu_plugins.importers.ge_graph import ge_text_to_graph
from emu_plugins.importers.ge_text import TextError, parse_text


@pytest.fixture(scope="module")
def host():
    """The built-in plugins."""
    return PluginHost()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", {}),
        ("a: 1 a: -2; b: 0x1F, c: 1.5f", {"a": [1, -2], "b": [31], "c": [1.5]}),
        ("a { b: true } a < b: DT_FLOAT >", {"a": [{"b": ["true"]}, {"b": ["DT_FLOAT"]}]}),
        ("a: [1, 2] b: []", {"a": [1, 2], "b": []}),
        ("a: [{ b: 1 }, { b: 2 }]", {"a": [{"b": [1]}, {"b": [2]}]}),
        (r'a: "x\n\"\101\x41" ' + "'y'  # comment\n b: -inf", {"a": [b'x\n"AAy'], "b": [float("-inf")]}),
        ('a: "\\303\\244" a: "ä"', {"a": ["ä".encode(), "ä".encode()]}),
        ("a: { b: 1e3 }", {"a": [{"b": [1000.0]}]}),
    ],
)
def test_messages(text, message):
    """Fields, repeated fields, nested messages, lists, escapes, joined texts and comments are read."""
    assert parse_text(text) == message


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("a", 1, "':' or '{'"), ("a: 1\nb:", 2, "the text ends"), ("a {\n b: 1\n", 3, "the text ends"),
        ("a: 1 }", 1, "field name"), ("\n\na: \x01", 3, "begins nothing"), ('a: "x', 1, "begins nothing"),
        ("a { b: 1 >", 1, "field name"), ("a {" * 300, 1, "nested"), ("a: [1 : ]", 1, "a value"),
    ],
)  # fmt: skip
def test_damaged_texts(text, line, words):
    """What is not understood is reported with its line."""
    with pytest.raises(TextError, match=words) as caught:
        parse_text(text)
    assert caught.value.line == line


@given(st.text(alphabet="ab:{}<>[],;\"'\\ \n#0x1.5-einf", max_size=60))
def test_any_text_is_a_message_or_an_error(text):
    """Nothing but the parser's own error is ever raised."""
    with contextlib.suppress(TextError):
        assert isinstance(parse_text(text), dict)


def desc(dtype, *dims):
    """A tensor description."""
    return f"output_desc {{ dtype: {dtype} shape {{ {' '.join(f'dim: {d}' for d in dims)} }} }}"


def op(name, type_, *rest):
    """An operator message."""
    return f'op {{ name: "{name}" type: "{type_}" {" ".join(rest)} }}'


def data(name, index, dtype, *dims):
    """A graph input."""
    return op(name, "Data", f'attr {{ key: "index" value {{ i: {index} }} }}', desc(dtype, *dims))


X, N = data("x", 0, "DT_FLOAT", 64), data("n", 1, "DT_INT32", 1)
OUT = op("out", "NetOutput", 'input: "p:0"')


def model(*ops, more=""):
    """A model text."""
    return 'name: "m" version: 1\ngraph {\n name: "probe"\n ' + "\n ".join(ops) + f"\n {more}\n}}\n"


def test_a_probe(host):
    """Inputs by index, a node with its own attributes only, the output and the options; it compiles to a sink."""
    node = op(
        "p", "TilingProbe", 'input: "x:0" input: "n:0"', 'attr { key: "add_x" value { i: 1 } }',
        'attr { key: "_ir_attr_names" value { list { s: "add_x" val_type: 1 } } }',
        'attr { key: "_op_exec_never_timeout" value { b: false } }', desc("DT_FLOAT", 64),
    )  # fmt: skip
    option = 'attr { key: "ge.tiling_schedule_optimize" value { s: "1" } }'
    graph = ge_text_to_graph(model(N, X, node, OUT, more=option), host.operators)
    assert graph == {
        "format": "sqemu-graph",
        "version": 1,
        "name": "probe",
        "options": {"ge.tiling_schedule_optimize": "1"},
        "inputs": [
            {"name": "x", "dtype": "float32", "shape": [64]},
            {"name": "n", "dtype": "int32", "shape": [1]},
        ],
        "constants": [],
        "nodes": [
            {
                "name": "p",
                "type": "TilingProbe",
                "inputs": ["x", "n"],
                "outputs": ["p:0"],
                "attrs": {"add_x": 1, "_op_exec_never_timeout": False},
            }
        ],
        "outputs": ["p:0"],
    }
    assert compile_graph(graph, "ascend310p3", {}, host).ops[0].sink


def test_constants(host):
    """The data of a constant are its bytes, and its readers name it without an output number."""
    value = (
        'attr { key: "value" value { t { desc { dtype: DT_INT32 shape { dim: 1 } } data: "\\003\\000\\000\\000" } } }'
    )
    node = op("p", "TilingProbe", 'input: "x:0" input: "c:0"', desc("DT_FLOAT", 64))
    graph = ge_text_to_graph(model(X, op("c", "Const", value), node, OUT), host.operators)
    assert graph["constants"] == [{"name": "c", "dtype": "int32", "shape": [1], "data": b"\3\0\0\0"}]
    assert graph["nodes"][0]["inputs"] == ["x", "c"]
    assert compile_graph(graph, "ascend310p3", {}, host).ops[0].tiling_key == 0


def spec(*names):
    """An operator of optional inputs."""
    return OperatorSpec(
        "T", tuple(InputSpec(name, optional=True) for name in names), (OutputSpec("y"), OutputSpec("z")),
        lambda *_: (), lambda _: None, "K",
    )  # fmt: skip


NAMED = (
    'attr { key: "_input_name_key" value { list { s: "c" s: "a" } } } '
    'attr { key: "_input_name_value" value { list { i: 0 i: 1 } } }'
)


@pytest.mark.parametrize(
    ("inputs", "attrs", "found"),
    [
        ('input: "x:0"', "", ["x", None, None]),
        ('input: "" input: "n:0"', "", [None, "n", None]),
        (
            'input: "x:0" input: "n:0"',
            NAMED,
            ["n", None, "x"],
        ),
    ],
)
def test_inputs_by_ir_index(inputs, attrs, found):
    """Inputs left out at the end are absent, an empty entry too; names of instances map them to the definition."""
    text = model(X, N, op("p", "T", inputs, attrs, desc("DT_FLOAT", 64)), OUT)
    (node,) = ge_text_to_graph(text, {"T": spec("a", "b", "c")})["nodes"]
    assert (node["inputs"], node["outputs"]) == (found, ["p:0", "p:1"])


def test_everything_in_the_way_is_reported_together():
    """Control edges, odd types, missing data and subgraphs are one refusal with a problem each."""
    text = model(
        data("x", 0, "DT_STRING", 4), op("c", "Const", desc("DT_INT32", 1)),
        op("p", "T", 'input: "x:0" input: "c:-1"', desc("DT_FLOAT", 4)), op("q", "T", 'input: "nonsense"'),
        op("d", "Data"), OUT,
    ) + 'graph { name: "sub" }'  # fmt: skip
    with pytest.raises(GraphError) as caught:
        ge_text_to_graph(text, {}, source="g.txt")
    words = [p.what for p in caught.value.problems]
    assert [w for w in words if "subgraph" in w or "DT_STRING" in w or "without data" in w or "control edges" in w
            or "producer:number" in w or "no output_desc" in w] == words  # fmt: skip
    assert len(words) == 6
    assert all(p.id == "graph.import" and p.remedy for p in caught.value.problems)


def test_a_damaged_file_names_its_line():
    """A text that is no message is refused with its line."""
    with pytest.raises(GraphError) as caught:
        ge_text_to_graph('graph {\n op { name: "x\n', {}, source="g.txt")
    assert caught.value.problems[0].where == "line 2"


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_damaged_graphs_are_refused_or_read(host, data):
    """A text with some characters changed is refused with an error of ours, or read; nothing else is raised."""
    node = op("p", "TilingProbe", 'input: "x:0" input: "n:0"', desc("DT_FLOAT", 64))
    text = list(model(X, N, node, OUT))
    for _ in range(data.draw(st.integers(1, 3))):
        text[data.draw(st.integers(0, len(text) - 1))] = data.draw(st.sampled_from("{}<>[]:,\"'\\ \n0-ax"))
    with contextlib.suppress(SqemuError):
        compile_graph(ge_text_to_graph("".join(text), host.operators), "ascend310p3", {}, host)
