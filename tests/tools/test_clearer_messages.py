"""Messages that a first user meets: ids of all problems, suggestions, and flags that exist."""

from __future__ import annotations

import json

import pytest

from emu_core import InputError, OptionError, PluginHost
from emu_core.errors import MOST_SHOWN, GraphError, Problem
from emu_plugins.importers import GraphBuilder
from formats.blob import decode
from tools.options import split_policies
from tools.single_op import find_operator

TWO = {
    "format": "sqemu-graph",
    "version": 1,
    "name": "two",
    "inputs": [{"name": "x", "dtype": "float32", "shape": [40]}, {"name": "n", "dtype": "int32", "shape": [1]}],
    "nodes": [
        {"name": "a", "type": "TilingProbe", "inputs": ["x", "gone"], "outputs": ["y"]},
        {"name": "b", "type": "TilingProb", "inputs": ["x", "n"], "outputs": ["z"]},
    ],
    "outputs": ["y", "z"],
}
IDS = {"graph.dangling", "graph.unknown-operator"}


@pytest.fixture
def two(tmp_path):
    """A graph file with a tensor that nobody makes and an operator that nobody has."""
    path = tmp_path / "two.json"
    path.write_text(json.dumps(TWO))
    return path


def test_each_problem_of_a_graph_is_printed_under_its_own_id(sqemu, two, tmp_path):
    """As text one line each, as JSON one object each."""
    found = sqemu("compile", two, "-o", tmp_path / "b.sqt")
    assert {line.split(": ")[0] for line in found.err.splitlines()} == {f"error {each}" for each in IDS}
    assert found.code == 2
    found = sqemu("compile", two, "-o", tmp_path / "b.sqt", "--json")
    assert {each["error"] for each in json.loads(found.err)["problems"]} == IDS


def test_an_unknown_operator_of_a_graph_is_suggested_with_the_flag_that_loads_others(sqemu, two, tmp_path):
    """The nearest name, and --plugin."""
    found = sqemu("compile", two, "-o", tmp_path / "b.sqt")
    assert "did you mean 'TilingProbe'?; --plugin loads" in found.err


def test_the_string_of_a_graph_error_has_the_ids():
    """Also that of the line which counts what is not shown."""
    error = GraphError([Problem("graph.a", "is bad", "x"), Problem("graph.b", "is worse", "y")], source="g.json")
    assert str(error) == "graph.a: g.json: x: is bad\ngraph.b: g.json: y: is worse"
    many = GraphError([Problem("graph.a", "is bad", "x")] * (MOST_SHOWN + 3))
    assert str(many).splitlines()[-1] == "graph.a: graph: 3 more problems are not shown"


def test_a_mistyped_policy_is_answered_with_the_near_name_alone():
    """The part of a name is enough."""
    with pytest.raises(OptionError) as caught:
        split_policies(PluginHost(), {"host_matmul": "1"})
    assert (caught.value.id, caught.value.remedy) == ("policy.unknown", "did you mean cgdr.host_matmul?")


def test_an_unknown_operator_of_op_is_answered_with_the_near_name():
    """And with the flag that loads others."""
    with pytest.raises(InputError) as caught:
        find_operator(PluginHost(), "tilingprob")
    assert caught.value.remedy.startswith("did you mean TilingProbe")
    assert "--plugin" in caught.value.remedy


@pytest.mark.parametrize(("where", "sinks"), [("host", 0), ("sink", 1)])
def test_compile_takes_tiling_as_run_does(sqemu, probe, tmp_path, where, sinks):
    """The flag decides whether the operator sinks, over the option of the graph."""
    out = tmp_path / "b.sqt"
    assert sqemu("compile", probe / "probe.json", "-o", out, "--tiling", where).code == 0
    assert sum(op.sink for op in decode(out.read_bytes()).ops) == sinks


@pytest.mark.parametrize("wrong", ["x", 3, ["x"]])
def test_a_node_of_the_builder_refuses_what_is_no_tensor(wrong):
    """A name or a number, alone or in a list."""
    with pytest.raises(InputError, match=r"node a: an input is of type (str|int), not a Tensor") as caught:
        GraphBuilder("g").node("Thing", wrong, name="a")
    assert caught.value.id == "graph.builder"
