"""Problems of a single operator's graph, in the words of the operator."""

from __future__ import annotations

import pytest

from emu_core import AttrSpec, CompileOptions, GraphError, InputSpec, OperatorSpec, OutputSpec, PluginHost, Problem
from emu_core.api import compile_with_report
from tools.single_op_errors import in_words, warning_in_words

SPEC = OperatorSpec(
    type="Sample",
    inputs=(InputSpec("x"), InputSpec("n")),
    outputs=(OutputSpec("y"),),
    infer=lambda *_: (),
    tiling=lambda _: None,
    kernel="Sample",
    attrs=(AttrSpec("scale", "float", 1.0),),
)


@pytest.mark.parametrize(
    ("where", "what", "shown"),
    [
        ("nodes[0].inputs[1] (node sample0)", "input n: n has 2 elements", "input n: n has 2 elements"),
        ("nodes[0].outputs[0] (node sample0)", "too large", "output y: too large"),
        ("nodes[0].attrs.scale (node sample0)", "no number", "attribute scale: no number"),
        ("nodes[0] (node sample0)", "tiling failed", "operator Sample: tiling failed"),
        ("nodes[0].inputs (node sample0)", "1 inputs", "operator Sample: 1 inputs"),
        ("inputs[1].shape (input n)", "too large", "input n: too large"),
        ("inputs[1].dtype", "unknown", "inputs[1].dtype: unknown"),
        ("graph", "too many", "graph: too many"),
    ],
)
def test_places(where, what, shown):
    """A place in the graph becomes the operator's input, output or attribute; other places stay."""
    found = in_words(SPEC, GraphError([Problem("graph.shape", what, where)], source="case.npz"))
    assert found.text() == f"case.npz: {shown}"
    assert found.id == "graph.shape"


def test_warnings():
    """A warning that begins with a place is named likewise; any other stays as it is."""
    assert warning_in_words(SPEC, "nodes[0] (node sample0): stays") == "operator Sample: stays"
    assert warning_in_words(SPEC, "input 'x' is not used") == "input 'x' is not used"


def test_a_real_problem():
    """The compiler's own problem about an input of TilingProbe names the input, and not twice."""
    host = PluginHost()
    graph = {
        "format": "sqemu-graph",
        "version": 1,
        "name": "probe",
        "inputs": [
            {"name": "x", "dtype": "float32", "shape": [8]},
            {"name": "n", "dtype": "int32", "shape": [2]},
        ],
        "nodes": [{"name": "probe0", "type": "TilingProbe", "inputs": ["x", "n"], "outputs": ["y"]}],
        "outputs": ["y"],
    }
    with pytest.raises(GraphError) as caught:
        compile_with_report(graph, "ascend310p3", CompileOptions(source="case.npz"), host)
    text = in_words(host.operators["TilingProbe"], caught.value).text()
    assert text == "case.npz: input n: n has 2 elements; use exactly one"
