"""The two documents say what the code does."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from emu_core import compile_graph
from emu_plugins.compiler import POLICIES
from emu_plugins.compiler.attributes import GE_ATTRS
from emu_plugins.compiler.explanations import EXPLANATIONS
from formats.dtypes import BY_NAME

DOCS = Path(__file__).parents[3] / "docs"
pytestmark = pytest.mark.skipif(not DOCS.is_dir(), reason="the documents are not beside the tests")


def text(name):
    """A document."""
    return (DOCS / name).read_text(encoding="utf-8")


def test_the_example_compiles(lab):
    """The example of the graph format is a graph, apart from its operator, which the laboratory lacks."""
    example, _ = re.findall(r"```json\n(.*?)```", text("graph.md"), re.DOTALL)
    graph = json.loads(example)
    spec = lab.host.operators["Relu"]
    names = graph["nodes"][0]["inputs"]
    lab.host.operators["ChunkGatedDeltaRule"] = spec.__class__(
        **{
            **spec.__dict__,
            "inputs": tuple(type(spec.inputs[0])(name) for name in names),
            "outputs": spec.outputs * 2,
            "infer": lambda inputs, _: (inputs[0], inputs[0]),
            "attrs": (type(lab.host.operators["Probe"].attrs[0])("scale_value", "float", 1.0),),
        }
    )
    assert lab.compile(graph).blob.ops[0].attrs == {"scale_value": 0.1118}


def test_the_example_with_an_unknown_dimension_compiles():
    """The second example is host scheduled as the text says."""
    _, example = re.findall(r"```json\n(.*?)```", text("graph.md"), re.DOTALL)
    assert compile_graph(json.loads(example), "ascend310p3").unknown_shape


def test_every_problem_attribute_and_dtype_is_listed():
    """The graph document names every graph and limit id, GE attribute and dtype."""
    ids = [id_ for id_ in EXPLANATIONS if id_.startswith(("graph.", "limit."))]
    missing = [word for word in (*ids, *GE_ATTRS, *BY_NAME) if word not in text("graph.md")]
    assert missing == []


def test_every_policy_is_listed():
    """The compiler document has a row per policy, with its default and its other values."""
    for policy in POLICIES:
        (row,) = re.findall(rf"^\| `{policy.name}` \|.*$", text("compiler.md"), re.MULTILINE)
        assert all(f"`{value}`" in row for value in policy.values)


def test_every_pass_is_listed():
    """The compiler document names every module."""
    package = Path(__file__).parents[3] / "emu_plugins" / "compiler"
    listed = text("compiler.md")
    assert [p.stem for p in package.glob("[a-z]*.py") if f"`{p.stem}`" not in listed] == []
