"""Whatever a graph holds, the compiler answers with a blob or with one of its errors."""

from __future__ import annotations

import contextlib
import copy
import json

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emu_core.errors import GraphError, LimitError, OptionError
from emu_plugins.compiler.loading import load_graph_text

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([2**63, -(2**63), 10**18, -1, -2]),
    st.just(5000).map(lambda digits: 10**digits),
    st.floats(),
    st.text(max_size=6),
    st.sampled_from(["x", "lens", "op", "op_out", "fixed", "Probe", "float16", "name", "1"]),
)
WORDS = (
    "format", "version", "name", "options", "inputs", "constants", "nodes", "outputs", "dtype", "shape", "data",
    "type", "attrs", "npz", "key", "scale", "x-a", "ge.tiling_schedule_optimize", "ge.buildGraphMode",
    "ge.offlineMode", "_tiling_sink_op", "op_para_size", "compile_info_json", "_op_exec_never_timeout",
)  # fmt: skip
KEYS = st.one_of(
    st.text(max_size=4),
    st.sampled_from(WORDS),
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=12
)

ALLOWED = (GraphError, OptionError, LimitError)
QUICK = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def compiles_or_refuses(lab, graph):
    """Compile `graph`, which must end in a blob or in a printable error, and leave it alone."""
    before = copy.deepcopy(graph)
    refusal = None
    try:
        lab.compile(graph, sink=None)
    except ALLOWED as error:
        refusal = error
    if refusal is not None:
        assert refusal.text().encode()
        assert json.dumps(refusal.as_json())
    assert [graph] == [before]  # in a list, a NaN equals itself


@QUICK
@given(graph=VALUES)
def test_any_value(lab, graph):
    """Any JSON-like value is refused without anything else being raised, and is not changed."""
    compiles_or_refuses(lab, graph)


def places(value, path=()):
    """Every path into nested lists and objects."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from places(item, (*path, key))


@QUICK
@given(data=st.data())
def test_any_value_anywhere(lab, data):
    """A good graph with one to three values replaced or removed compiles or is refused."""
    graph = lab.graph(
        lab.node("n", "LensInt", ["x"]),
        lab.node("op", "Probe", ["x", "n_out", None], scale=0.5),
        lab.node("q", "CustomProbe", ["op_out", "fixed", None]),
        options={"ge.tiling_schedule_optimize": "1"},
    )
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from([p for p in places(graph) if p]))
        at = graph
        for key in path[:-1]:
            at = at[key]
        if data.draw(st.booleans()):
            at[path[-1]] = data.draw(VALUES)
        else:
            del at[path[-1]]
    compiles_or_refuses(lab, graph)


@QUICK
@given(text=st.text(alphabet='{}[]":,0123456789eE.-NaInfty\\u x', max_size=60))
def test_any_text(text):
    """Any text is JSON or a graph error."""
    with contextlib.suppress(GraphError):
        load_graph_text(text)


ACYCLIC = st.lists(st.lists(st.integers(0, 20), max_size=1), min_size=1, max_size=20)


@QUICK
@given(shape=ACYCLIC, order=st.randoms(use_true_random=False))
def test_order_respects_the_edges(lab, shape, order):
    """In any acyclic graph every node runs after its producers, however the nodes are listed."""
    nodes = [
        lab.node(f"n{i}", "Relu", [f"n{sources[0] % i}_out" if sources and i else "x"])
        for i, sources in enumerate(shape)
    ]
    order.shuffle(nodes)
    done = {"x"}
    for op in lab.compile(lab.graph(*nodes)).blob.ops:
        node = next(each for each in nodes if each["name"] == op.name)
        assert node["inputs"][0] in done
        done.add(node["outputs"][0])
    assert len(done) == len(nodes) + 1
