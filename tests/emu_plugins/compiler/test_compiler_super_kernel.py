"""Super kernels: fusion and tasks (`reference/tiling_sink_compiler.md` 8)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from emu_core.errors import GraphError
from emu_plugins.compiler.args_format import format_args, parse_args_format
from emu_plugins.compiler.sink_step import SinkStepError
from emu_plugins.compiler.super_kernel_tasks import sub_kernel_format, sub_tiling_format

PRE, WAIT, RECORD, KERNEL, UPDATE, SUPER, END = 43, 2, 1, 26, 41, 44, 19
DATA = "{tiling_context.tiling_data}{tiling_context.tiling_key}{tiling_context.block_dim}"


def scoped(lab, name, type_, inputs, **attrs):
    """A node of the scope sk."""
    return lab.node(name, type_, inputs, _super_kernel_scope="sk", **attrs)


def pair(lab, **attrs):
    """An ordinary operator and a sinking one behind it, both in the scope; `attrs` for the second."""
    return lab.graph(scoped(lab, "a", "Relu", ["x"]), scoped(lab, "b", "Probe", ["a_out", "lens", None], **attrs))


def members(lab, graph, **options):
    """Members of each super kernel by name."""
    found = lab.compile(graph, details=True, **options).explanation.get("super kernels", [])
    return {each["name"]: each["members"] for each in found}


def ids(lab, graph, **options):
    """Ids of the problems of a graph."""
    with pytest.raises(GraphError) as caught:
        lab.compile(graph, **options)
    return [p.id for p in caught.value.problems]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "{i0}{i_instance0}{i_desc1}{o0}{o_instance0}{ws0}{t_ffts.non_tail}",
            "{i0}{i_instance0}{i_desc1}{o0}{o_instance0}{ws0}" + DATA + "{event_addr1*}",
        ),
        ("{i0*}{ws0*}{t}{overflow_addr}", "{i0*}{ws0*}" + DATA + "{event_addr1*}{overflow_addr}"),
        ("{ws0*}{ws1*}", "{ws0*}{ws1*}" + DATA + "{event_addr1*}"),
        ("{ws0*}{t_ffts.tail}{t}", "{ws0*}" + DATA + "{event_addr1*}{t}"),
    ],
)
def test_s30_format_of_a_sinking_operator(before, after):
    """Tiling data, key, block dim and event address stand behind the last workspace, in the place of `{t}` (8.2)."""
    assert format_args(sub_kernel_format(parse_args_format(before), 1)) == after


def test_format_without_workspace():
    """Without a workspace there is no place for them."""
    with pytest.raises(SinkStepError):
        sub_kernel_format(parse_args_format("{i0*}"), 1)


def test_format_of_the_tiling_task():
    """The event address takes the place of the placeholder."""
    assert format_args(sub_tiling_format(1)) == "{tiling_context}{*op_type}{event_addr1*}"


def test_s30_tasks_of_a_pair(lab):
    """The tiling task first, then one launch with all arguments by operator; no wait, NOP, update or record."""
    blob = lab.compile(pair(lab)).blob
    assert [(int(t.type), t.stream_id, t.node) for t in blob.tasks] == [
        (PRE, 1, "b"), (SUPER, 0, "sk"), (RECORD, 1, ""), (WAIT, 0, ""), (END, 0, ""),
    ]  # fmt: skip
    tiling, launch = blob.tasks[:2]
    assert tiling.args_format == "{skn1tiling_context}{skn1*op_type}{skn1event_addr0*}"
    assert (int(tiling.kernel_type), tiling.kernel_name) == (6, "RunAicpuRpcSrvLaunch")
    assert launch.args_format == (
        "{skn0i0*}{skn0o0*}{skn0ws0*}{skn0t}"
        "{skn1i0*}{skn1i1*}{skn1i2}{skn1o0*}{skn1ws0*}{skn1tiling_context.tiling_data}{skn1tiling_context.tiling_key}"
        "{skn1tiling_context.block_dim}{skn1event_addr0*}"
    )
    assert (launch.block_dim, int(launch.kernel_type), launch.op, launch.kernel) == (7, 2, None, None)


def test_custom_operator_inside(lab):
    """A custom operator keeps kernel type 7 and its library, but passes no log workspace (8.2)."""
    graph = lab.graph(scoped(lab, "a", "Relu", ["x"]), scoped(lab, "b", "CustomProbe", ["a_out", "lens", None]))
    tiling = lab.compile(graph).blob.tasks[0]
    assert (int(tiling.kernel_type), tiling.args_format) == (7, "{skn1tiling_context}{skn1*op_type}{skn1event_addr0*}")
    assert tiling.so_name.endswith("libcust_opmaster.so")


def test_tiling_tasks_are_hoisted_in_order(lab):
    """All tiling tasks come before the launch, in the order of the operators, each with an event of its own."""
    graph = lab.graph(*(scoped(lab, f"p{i}", "Probe", ["x", "lens", None]) for i in range(3)),
                      outputs=["p0_out", "p1_out", "p2_out"])  # fmt: skip
    tasks = lab.compile(graph).blob.tasks
    assert [(int(t.type), t.node) for t in tasks[:4]] == [(PRE, "p0"), (PRE, "p1"), (PRE, "p2"), (SUPER, "sk")]
    assert [t.args_format.rpartition("{")[2] for t in tasks[:3]] == [f"skn{i}event_addr{i}*}}" for i in range(3)]


def test_events_of_producers_and_consumers(lab):
    """The launch waits for what its operators need from other streams, and records for all of them behind it."""
    graph = lab.graph(
        lab.node("n", "LensInt", ["x"]),
        scoped(lab, "a", "Relu", ["x"]),
        scoped(lab, "b", "Probe", ["a_out", "n_out", None]),
        lab.node("c", "Relu", ["b_out"], _stream_label="side"),
        outputs=["c_out"],
    )
    tasks = lab.compile(graph).blob.tasks
    rows = [(int(t.type), t.stream_id, t.node) for t in tasks if t.node]
    assert rows == [
        (KERNEL, 0, "n"), (RECORD, 0, "n"), (WAIT, 2, "b"), (PRE, 2, "b"), (SUPER, 0, "sk"), (RECORD, 0, "b"),
        (WAIT, 1, "c"), (KERNEL, 1, "c"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "attrs",
    [{"supportSuperKernel": 0}, {"local_memory_size": 1}, {"_stream_label": "side"}, {"_super_kernel_scope": "other"}],
)
def test_s32_what_is_not_fused(lab, attrs):
    """An operator that does not support it, a SIMT kernel, another stream and another scope stay outside."""
    graph = pair(lab)
    graph["nodes"][1]["attrs"].update(attrs)
    assert members(lab, graph) == {}
    assert lab.compile(graph).blob.ops[1].sink


@pytest.mark.parametrize(
    ("type_", "reuse", "fused"),
    [("Probe", True, False), ("Probe", False, True), ("HostProbe", True, True), ("Relu", True, False)],
)
def test_binaries_that_have_to_stay_reusable(lab, type_, reuse, fused):
    """Left out when the tiling could sink, does not, and `_op_ensure_reuse_binary` is true."""
    inputs = ["a_out"] if type_ == "Relu" else ["a_out", "fixed", None]
    second = scoped(lab, "b", type_, inputs, _op_ensure_reuse_binary=reuse)
    assert bool(members(lab, lab.graph(scoped(lab, "a", "LensRelu", ["x"]), second))) is fused


@pytest.fixture(autouse=True)
def lens_relu(lab):
    """A host-only operator, so that the first member never is the one that is left out."""
    relu = lab.host.operators["Relu"]
    lab.host.operators["LensRelu"] = replace(
        relu, type="LensRelu", placements=lab.host.operators["HostProbe"].placements
    )


def test_runs(lab):
    """Neighbours of one scope are one super kernel; an operator in between makes two, one alone is none."""
    graph = lab.graph(
        *(scoped(lab, f"a{i}", "Relu", ["x"]) for i in range(2)),
        lab.node("between", "Relu", ["x"]),
        *(scoped(lab, f"b{i}", "Relu", ["x"]) for i in range(2)),
        lab.node("last", "Relu", ["x"]),
        scoped(lab, "alone", "Relu", ["x"]),
    )
    assert members(lab, graph) == {"sk": ["a0", "a1"], "sk_1": ["b0", "b1"]}


def test_a_tiling_that_reads_what_the_run_computes(lab):
    """The run ends in front of it, since launch and tiling would wait for each other."""
    graph = lab.graph(
        scoped(lab, "n", "LensInt", ["x"]),
        scoped(lab, "a", "Relu", ["x"]),
        scoped(lab, "b", "Probe", ["x", "n_out", None]),
        scoped(lab, "c", "Relu", ["b_out"]),
    )
    assert members(lab, graph) == {"sk": ["n", "a"], "sk_1": ["b", "c"]}


@pytest.mark.parametrize(("policy", "fused"), [("off", ["a", "c"]), ("bypass", None)])
def test_scope_check(lab, policy, fused):
    """A member that cannot be fused is left out, or its scope is passed over."""
    graph = lab.graph(
        scoped(lab, "bad", "Relu", ["x"], supportSuperKernel=0),
        scoped(lab, "a", "Relu", ["x"]),
        scoped(lab, "c", "Relu", ["x"]),
        outputs=["a_out"],
    )
    found = members(lab, graph, policies={"super_kernel_scope_check": policy})
    assert found.get("sk") == fused


def test_scope_check_that_aborts(lab):
    """With `abort` such a member ends the compilation."""
    graph = pair(lab, local_memory_size=8)
    assert ids(lab, graph, policies={"super_kernel_scope_check": "abort"}) == ["graph.super-kernel"]


def test_s31_a_reused_binary_must_sink(lab):
    """With the sink it is fused; without it the compilation fails, and outside of a scope nobody asks (8.3)."""
    graph = pair(lab, super_kernel_reuse_binary=True)
    assert members(lab, graph) == {"sk": ["a", "b"]}
    graph["nodes"][1]["inputs"][1] = "fixed"
    assert ids(lab, graph) == ["graph.super-kernel-reuse"]
    del graph["nodes"][1]["attrs"]["_super_kernel_scope"]
    assert not lab.compile(graph).blob.ops[1].sink


def test_three_operators_of_one_binary(lab):
    """Three operators share one kernel binary; taking the sink from one stops the compilation."""
    nodes = [scoped(lab, f"p{i}", "Probe", ["x", "lens", None], super_kernel_reuse_binary=True) for i in range(3)]
    graph = lab.graph(*nodes, outputs=["p0_out", "p1_out", "p2_out"])
    blob = lab.compile(graph).blob
    assert (len(blob.kernels), [int(t.type) for t in blob.tasks].count(PRE)) == (1, 3)
    nodes[1]["attrs"]["compile_info_json"] = ""
    assert ids(lab, lab.graph(*nodes, outputs=["p0_out", "p1_out", "p2_out"])) == ["graph.super-kernel-reuse"]


def test_host_scheduled_graphs_have_none(lab):
    """Fusion is for static graphs only."""
    assert members(lab, pair(lab), sink="0") == {}


def test_without_attached_resources(lab):
    """A sinking member that is given no attached stream is refused."""
    assert ids(lab, pair(lab, _disable_attached_resource=True)) == ["graph.sink-resources"]


def test_account_of_a_fused_node(lab):
    """The account names the super kernel, and says that its operator is told its variant at run time."""
    account = lab.compile(pair(lab), details=True).explanation
    first, second = account["nodes"]
    assert (first["super kernel"], "SPK_task_type" in first) == ("sk", False)
    assert (second["super kernel"], second["SPK_task_type"]) == ("sk", "dynamic")
    assert next(t["task"] for t in account["other tasks"]) == "SUPER_KERNEL"
