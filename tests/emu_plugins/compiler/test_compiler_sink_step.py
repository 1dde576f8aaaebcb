"""Task generation of special operators (`reference/tiling_sink_compiler.md` 6.4, 7.1 to 7.3, 5)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from emu_core.errors import GraphError
from emu_core.kernels import Mix, MixType
from emu_plugins.compiler.ffts_plus import SINK_KERNEL_TASKS, has_ffts_plus
from emu_plugins.compiler.sink_step import SinkStepError, insert_sink_tasks
from formats.blob.model import BlobTask

KERNEL, ALL, FFTS, VECTOR_ALL = 0, 26, 29, 40
PRE, POST = BlobTask(43, 1), BlobTask(41, 1)


def kernels(lab, graph, **options):
    """Types of the tasks that launch kernels."""
    return [int(t.type) for t in lab.compile(graph, **options).blob.tasks if t.kernel is not None]


def ids(lab, graph, **options):
    """Ids of the problems of a graph."""
    with pytest.raises(GraphError) as caught:
        lab.compile(graph, **options)
    return [p.id for p in caught.value.problems]


def test_first_accepted_task_is_wrapped():
    """Tasks before it stay in front, tasks behind it follow, and only its args format changes."""
    base = [BlobTask(KERNEL, 0), BlobTask(ALL, 0, args_format="{ws0*}"), BlobTask(VECTOR_ALL, 2, args_format="{ws0*}")]
    found = insert_sink_tasks(base, [PRE], [POST], SINK_KERNEL_TASKS["public"])
    changed = replace(base[1], args_format="{ws0*}{tiling_context.tiling_data}")
    assert found == (base[0], PRE, changed, POST, base[2])


@pytest.mark.parametrize(("policy", "taken"), [("seed", True), ("public", False)])
def test_plain_kernel(policy, taken):
    """A plain KERNEL is taken by the seed's reading and not by the public code."""
    base = [BlobTask(KERNEL, 0, args_format="{ws0*}")]
    if taken:
        assert len(insert_sink_tasks(base, [PRE], [POST], SINK_KERNEL_TASKS[policy])) == 3
        return
    with pytest.raises(SinkStepError) as caught:
        insert_sink_tasks(base, [PRE], [POST], SINK_KERNEL_TASKS[policy])
    assert caught.value.id == "graph.sink-kernel-task"


def test_kernel_list_decides_the_task(lab):
    """Without `_kernel_list_first_name` the kernel is a plain KERNEL, which sinks by policy only."""
    graph = lab.one(_kernel_list_first_name="")
    assert kernels(lab, graph) == [KERNEL]
    assert lab.compile(graph).blob.ops[0].sink
    assert ids(lab, graph, policies={"sink_kernel_task": "public"}) == ["graph.sink-kernel-task"]


def test_vector_core_operator(lab):
    """`_cube_vector_core_type` = VectorCore makes VECTOR_ALL_KERNEL where there are such cores, and is refused else."""
    graph = lab.one(_cube_vector_core_type="VectorCore")
    assert kernels(lab, graph, chip=lab.p310) == [VECTOR_ALL]
    assert ids(lab, graph) == ["graph.kernel"]
    assert ids(lab, lab.one(_cube_vector_core_type="Elsewhere")) == ["graph.contradiction"]


@pytest.mark.parametrize(
    ("changes", "there"),
    [({"family": "v100"}, True), ({"family": "v100", "product": "A3"}, False), ({}, False)],
)
def test_platforms_with_ffts_plus(lab, changes, there):
    """FFTS+ is for v100 entries with separate cores, not for an A3."""
    assert has_ffts_plus(replace(lab.chip, **changes)) is there
    assert not has_ffts_plus(lab.p310)


def test_mix_kernel_of_a_sinking_operator(lab):
    """On such a platform a MIX kernel that sinks is an FFTS+ task with the alias engine; otherwise it is not."""
    chip = replace(lab.chip, family="v100")
    compiled = lab.compile(lab.one(), chip=chip, details=True)
    assert [int(t.type) for t in compiled.blob.tasks if t.kernel is not None] == [FFTS]
    assert compiled.blob.ops[0].attrs["_alias_engine_name"] == "ffts_plus"
    node = compiled.explanation["nodes"][0]
    assert (node["engine"], node["ffts_plus"]) == ("ffts_plus", {"context": "MIX_AIC", "ratio": 2})
    assert kernels(lab, lab.one("Probe", "fixed"), chip=chip) == [ALL]
    lab.host.kernels["Kernel"] = replace(lab.host.kernels["Kernel"], mix=Mix(MixType.AIV_ONLY, 2))
    node = lab.compile(lab.one(), chip=chip, details=True).explanation["nodes"][0]
    assert node["ffts_plus"] == {"context": "MIX_AIV", "ratio": 0}


@pytest.mark.parametrize("preset", [True, False])
def test_operator_of_a_package(lab, preset):
    """A path prefix means a library of its own, kernel type 7 and the log workspace, like a custom operator."""
    attrs = {"_ops_path_name_prefix": "ops_attention"} if preset else {}
    if not preset:
        lab.host.operators["Probe"] = replace(lab.host.operators["Probe"], package="ops_attention")
    blob = lab.compile(lab.one(**attrs)).blob
    tiling = blob.tasks[0]
    assert tiling.so_name == ("opp/built-in/op_impl/ai_core/tbe/op_tiling_device/lib/libtiling_device_attention.so")
    assert (int(tiling.kernel_type), tiling.args_format) == (7, "{tiling_context}{*op_type}{}{ws1*}")
    assert blob.ops[0].workspaces == (1024, 20480)


def test_without_attached_resources_nothing_sinks(lab):
    """`_disable_attached_resource` takes the stream away that a sinking operator needs, which is a failure."""
    assert ids(lab, lab.one(_disable_attached_resource=True)) == ["graph.sink-resources"]
    assert not lab.compile(lab.one("Probe", "fixed", _disable_attached_resource=True)).blob.ops[0].sink


@pytest.mark.parametrize(
    "attrs",
    [
        {"_force_unknown_shape": True}, {"_dynamic_tiling_depend_op": False}, {"_is_support_addr_refresh": False},
    ],
)  # fmt: skip
def test_attributes_that_contradict_a_preset_sink(lab, attrs):
    """A preset `_tiling_sink_op` and what excludes it are refused, naming both."""
    with pytest.raises(GraphError) as caught:
        lab.compile(lab.one(_tiling_sink_op=True, **attrs))
    (problem,) = caught.value.problems
    assert problem.id == "graph.contradiction"
    assert problem.where == "nodes[0].attrs._tiling_sink_op (node op)"
    assert next(iter(attrs)) in problem.remedy


@pytest.mark.parametrize("lens", ["lens", "fixed"])
def test_schedule_mode(lab, lens):
    """The kernel task has the schedule mode of the compile-time tiling, sinking or not."""
    lab.tiler.schedule_mode = 1
    (kernel,) = (t for t in lab.compile(lab.one("Probe", lens)).blob.tasks if t.kernel is not None)
    assert kernel.schem == 1
