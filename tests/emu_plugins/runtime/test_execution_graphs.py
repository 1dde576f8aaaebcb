"""Runtime V2 as a graph: which nodes a program is lowered to, and what they depend on (seed 5.7, chapter 12)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from emu_core.api import compile_with_report
from emu_core.errors import InputError
from emu_core.graph import CompileOptions
from emu_plugins.importers import GraphBuilder
from emu_plugins.runtime.v2 import Kind, Stage, lower
from formats.blob import TaskType

A2, A3, P3, V200 = "ascend910b3", "ascend910_9392", "ascend310p3", "ascend950pr_9599"


def program(operator="TilingProbe", *, sink="1", constant=None, **attrs):
    """One operator; its value n is an input, or `constant`."""
    g = GraphBuilder("p", {"ge.tiling_schedule_optimize": sink})
    x = g.input("x", "float32", [40])
    n = g.input("n", "int32", [1]) if constant is None else g.constant("n", "int32", [1], [constant])
    g.output(g.node(operator, x, n, name="op0", **attrs))
    return g.build()


@pytest.fixture
def lowered(host):
    """Compiles and lowers a graph, or a blob changed by `edit`."""

    def make(graph, chip=P3, edit=lambda blob: blob, **policies):
        options = CompileOptions(policies=policies)
        return lower(edit(compile_with_report(graph, chip, options, host).blob), host.chip(chip), host)

    return make


def kinds(graph, stage=None):
    """Kinds of the nodes of a stage, in order."""
    return [node.kind for node in graph.nodes if stage in (None, node.stage)]


def only(graph, kind):
    """The one node of a kind."""
    (found,) = [node for node in graph.nodes if node.kind is kind]
    return found


def test_an_operator_that_reads_a_value_is_tiled_at_every_execution(lowered):
    """Binary and shapes are there at load; values, tiling, workspace, data, entry, arguments, launch come per run."""
    graph = lowered(program())
    assert kinds(graph, Stage.INIT) == [Kind.SINK_BIN, Kind.INFER_SHAPE]
    assert kinds(graph, Stage.MAIN) == [
        Kind.COPY_VALUES, Kind.TILING, Kind.ALLOC_WORKSPACE, Kind.COPY_TILING_DATA, Kind.GET_ENTRY, Kind.BUILD_ARGS,
        Kind.LAUNCH,
    ]  # fmt: skip


def test_what_each_node_takes(lowered):
    """Inputs name node and output, and come from nodes in front."""
    graph = lowered(program())
    assert [(e.name, e.node, e.output) for node in graph.nodes for e in node.inputs] == [
        ("shapes", 1, "shapes"), ("values", 2, "values"),
        ("sizes", 3, "workspaces"), ("data", 3, "tiling_data"), ("binary", 0, "binary"), ("key", 3, "tiling_key"),
        ("workspaces", 4, "addresses"), ("tiling_data", 5, "address"),
        ("kernel", 6, "entry"), ("block_dim", 3, "block_dim"), ("schedule_mode", 3, "schedule_mode"),
        ("args", 7, "args"),
    ]  # fmt: skip
    assert only(graph, Kind.BUILD_ARGS).args_format == "{i0*}{i1*}{o0*}{ws0*}{t}"


@pytest.mark.parametrize("operator", ["TilingProbe", "MixProbe", "AddCustomTilingSink"])
@pytest.mark.parametrize("chip", [A2, P3, V200])
def test_the_option_changes_nothing(lowered, operator, chip):
    """With the sink on and off the nodes are the same but for the tasks they stem from, and none is an update."""
    graphs = []
    for sink in ("0", "1"):
        g = GraphBuilder("p", {"ge.tiling_schedule_optimize": sink})
        kind = "float16" if operator == "AddCustomTilingSink" else "float32"
        tensors = [g.input("x", kind, [40]), *([g.input("y", kind, [40])] if kind == "float16" else [])]
        g.output(g.node(operator, *tensors, g.input("n", "int32", [1]), name="op0"))
        graphs.append(lowered(g.build(), chip))
    off, on = ([replace(node, task=0) for node in graph.nodes] for graph in graphs)
    assert off == on
    assert not any("pdate" in node.kind.value for node in on if node.kind is not Kind.UPDATE_CONTEXT)


CASES = [
    pytest.param(None, {}, Kind.TILING, Stage.MAIN, "from the tiling output", id="reads a value"),
    pytest.param(4, {}, Kind.RUN_INFO, Stage.INIT, "from the stored run info", id="static and reused"),
    pytest.param(
        4, {"compile_info_json": ""}, Kind.TILING, Stage.INIT, "from the tiling output, once", id="not reused"
    ),
]


@pytest.mark.parametrize(("chip", "entry", "binary"), [
    (A2, Kind.GET_FFTS_ENTRY, Kind.SINK_FFTS_BIN), (A3, Kind.GET_MIX_ENTRY, Kind.SINK_MIX_BIN),
    (V200, Kind.GET_MIX_ENTRY, Kind.SINK_MIX_BIN),
])  # fmt: skip
@pytest.mark.parametrize(("constant", "attrs", "source", "stage", "note"), CASES)
def test_where_a_mix_kernel_has_its_keys_from(lowered, chip, entry, binary, constant, attrs, source, stage, note):
    """Binary, non-tail and tail key go in: from the stored run info of a static reused binary, else from the tiling."""
    graph = lowered(program("MixProbe", constant=constant, **attrs), chip)
    found = only(graph, entry)
    assert [edge.name for edge in found.inputs] == ["binary", "non_tail_key", "tail_key"]
    loaded, *keys = [(graph.nodes[edge.node], edge.output) for edge in found.inputs]
    assert (loaded[0].kind, loaded[0].stage) == (binary, Stage.INIT)
    assert [(node.kind, node.stage, output) for node, output in keys] == [(source, stage, "tiling_key")] * 2
    assert found.stage is stage
    assert found.note.startswith(f"key {note}")


@pytest.mark.parametrize("shape", [[-1], [-2]])
def test_an_unknown_shape_takes_the_key_from_the_tiling(lowered, shape):
    """Although the value is a constant and the binary reused: shapes and tiling come at every execution."""
    graph = lowered(
        {**program("MixProbe", constant=4), "inputs": [{"name": "x", "dtype": "float32", "shape": shape}]}, A2
    )
    found = only(graph, Kind.GET_FFTS_ENTRY)
    assert [graph.nodes[found.source(name)].kind for name in ("non_tail_key", "tail_key")] == [Kind.TILING] * 2
    assert found.note == "key from the tiling output: a shape is known at run time only"
    assert kinds(graph, Stage.INIT) == [Kind.SINK_FFTS_BIN]


def test_ffts_plus_and_mix_kernels_of_v100_update_a_context(lowered):
    """On A2 and A3 the launch takes entry and block dim by way of a context, on v200 and 310P there is none."""
    found = {chip: lowered(program("MixProbe"), chip) for chip in (A2, A3, P3, V200)}
    assert [Kind.UPDATE_CONTEXT in kinds(graph) for graph in found.values()] == [True, True, False, False]
    context, launch = only(found[A2], Kind.UPDATE_CONTEXT), only(found[A2], Kind.LAUNCH)
    assert [edge.name for edge in context.inputs] == ["entry", "block_dim"]
    assert launch.source("kernel") == context.id


def test_cores_that_are_fused_know_no_mix_kernel(lowered):
    """On a 310P a mix kernel has one entry, by one key."""
    assert [edge.name for edge in only(lowered(program("MixProbe")), Kind.GET_ENTRY).inputs] == ["binary", "key"]


def test_a_chain(lowered):
    """Shapes follow the tensors; values are read behind the launch in front, which is an order without a value."""
    g = GraphBuilder("chain")
    x, n = g.input("x", "float32", [40]), g.input("n", "int32", [1])
    first = g.node("TilingProbe", x, n, name="a")
    g.output(g.node("TilingProbe", first, n, name="b"))
    graph = lowered(g.build())
    launches = [node for node in graph.nodes if node.kind is Kind.LAUNCH]
    shapes = [node for node in graph.nodes if node.kind is Kind.INFER_SHAPE]
    values = [node for node in graph.nodes if node.kind is Kind.COPY_VALUES]
    assert [(e.name, e.node) for e in shapes[1].inputs] == [("input0", shapes[0].id)]
    assert [node.after for node in (*values, *launches)] == [(), (launches[0].id,), (), (launches[0].id,)]


def test_every_node_stands_behind_those_it_depends_on(lowered):
    """Ids are positions, edges and order lead backwards, and each output that is taken is given."""
    g = GraphBuilder("three")
    x, n = g.input("x", "float32", [40]), g.input("n", "int32", [1])
    for kind in ("TilingProbe", "MixProbe", "TilingProbe"):
        x = g.node(kind, x, n)
    g.output(x)
    graph = lowered(g.build(), A2)
    for at, node in enumerate(graph.nodes):
        assert node.id == at
        assert all(before < at for before in (*node.after, *(e.node for e in node.inputs)))
        assert all(e.output in graph.nodes[e.node].outputs for e in node.inputs)


def test_a_static_model_inside_is_one_node(lowered):
    """Its operators are not lowered: V1 runs it, so that tiling sinks there; what follows waits for it."""
    g = GraphBuilder("mixed", {"ge.tiling_schedule_optimize": "1"})
    x, n = g.input("x", "float32", [40]), g.input("n", "int32", [1])
    x = g.node("TilingProbe", x, n, name="h0", _force_unknown_shape=True)
    x = g.node("TilingProbe", x, n, name="s1")
    g.output(g.node("TilingProbe", x, n, name="h2", _force_unknown_shape=True))
    graph = lowered(g.build())
    inside = only(graph, Kind.EXECUTE_MODEL)
    assert {node.label for node in graph.nodes} == {"h0", "mixed part 0", "h2"}
    assert (inside.stage, inside.op) == (Stage.MAIN, None)
    assert [node.after for node in graph.nodes if node.kind is Kind.COPY_VALUES] == [(), (inside.id,)]


def test_a_super_kernel_falls_apart(lowered):
    """Its members are launched one by one, without key, block dim and event word among their arguments."""
    g = GraphBuilder("sk", {"ge.tiling_schedule_optimize": "1"})
    x, n = g.input("x", "float32", [40]), g.input("n", "int32", [1])
    for name in ("a", "b"):
        g.output(g.node("TilingProbe", x, n, name=name, _super_kernel_scope="s"))
    graph = lowered(g.build())
    built = [(node.label, node.args_format) for node in graph.nodes if node.kind is Kind.BUILD_ARGS]
    assert built == [(name, "{i0*}{i1*}{o0*}{ws0*}{t}") for name in ("a", "b")]


def test_as_plain_values(lowered):
    """JSON has ids, kinds, stages, inputs as node and output, and what a launch comes behind."""
    found = lowered(program(constant=4)).as_values()
    assert (found["name"], len(found["nodes"])) == ("p", 8)
    assert found["nodes"][2] == {
        "node": 2, "kind": "RunInfo", "stage": "init", "operator": "op0", "task": 0, "inputs": {}, "after": [],
        "outputs": ["tiling_key", "block_dim", "schedule_mode", "tiling_data", "workspaces"],
    }  # fmt: skip
    assert found["nodes"][5]["inputs"] == {"binary": "0.binary", "key": "2.tiling_key"}


def changed(kind, **fields):
    """An edit of the tasks of a type."""
    return lambda blob: replace(
        blob, tasks=tuple(replace(task, **fields) if task.type == kind else task for task in blob.tasks)
    )


@pytest.mark.parametrize(("edit", "fault", "words"), [
    (changed(TaskType.ALL_KERNEL, op=None), "blob.task", "names no operator"),
    (changed(TaskType.ALL_KERNEL, kernel=None), "blob.task", "names no kernel"),
    (changed(TaskType.ALL_KERNEL, type=TaskType.SUPER_KERNEL, args_format="{i0*}"), "blob.args-format", "None"),
    (changed(TaskType.ALL_KERNEL, type=TaskType.SUPER_KERNEL, args_format="{skn9i0*}"), "blob.args-format", "names 9"),
    (lambda b: replace(b, kernels=(replace(b.kernels[0], name="Gone"),)), "kernel.missing", "Gone"),
])  # fmt: skip
def test_programs_that_cannot_be_lowered(lowered, edit, fault, words):
    """Each names task or kernel, with a stable id."""
    with pytest.raises(InputError, match=words) as caught:
        lowered(program(), edit=edit)
    assert caught.value.id == fault
    assert caught.value.remedy
