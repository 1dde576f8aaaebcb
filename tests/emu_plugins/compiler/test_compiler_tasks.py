"""The task list (`reference/tiling_sink_compiler.md` 7.2 and 7.3; seed 3.3, 4.3)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from emu_core.errors import GraphError
from formats.blob.model import BlobStream, BlobTask

DIRECTORY = "op_impl/ai_core/tbe/op_master_device/lib"
MAIN, ATTACHED = 0, 1


def rows(compiled):
    """Type and stream of each task."""
    return [(int(task.type), task.stream_id) for task in compiled.blob.tasks]


def sink_rows(nops):
    """The sink sequence with `nops` bubbles."""
    return [(43, 1), (2, 0), *[(42, 0)] * nops, (26, 0), (41, 1), (1, 1), (19, 0)]


def test_list_order(lab):
    """Tiling, wait, eight bubbles, kernel, update, record, end of the model, on two streams."""
    assert rows(lab.compile(lab.one())) == sink_rows(8)


@pytest.mark.parametrize(
    ("chip", "policy", "nops"),
    [
        ("chip", {}, 8), ("p310", {}, 5), ("chip", {"nop_count": "seed"}, 8), ("p310", {"nop_count": "seed"}, 5),
        ("chip", {"nop_count": "platform"}, 0), ("p310", {"nop_count": "platform"}, 10),
        ("chip", {"nop_count": "0"}, 0), ("p310", {"nop_count": "13"}, 13),
    ],
)  # fmt: skip
def test_nop_count(lab, chip, policy, nops):
    """The number of bubbles is the chip's of the chosen source, or the given number."""
    assert rows(lab.compile(lab.one(), chip=getattr(lab, chip), policies=policy)) == sink_rows(nops)


def test_fields_of_a_built_in_operator(lab):
    """Each of the six tasks of a built-in operator carries exactly its fields."""
    tasks = lab.compile(lab.one(), policies={"nop_count": "1"}).blob.tasks
    common = {"op": 0, "node": "op", "made_by": "tasks"}
    assert tasks == (
        BlobTask(
            43, ATTACHED, kernel_type=6, args_format="{tiling_context}{*op_type}{}",
            so_name=f"opp/built-in/{DIRECTORY}/Ascend-v1.0-libopmaster.so",
            kernel_name="RunAicpuRpcSrvLaunch", **common,
        ),
        BlobTask(2, MAIN, event_id=0, **common),
        BlobTask(42, MAIN, node="op", made_by="tasks"),
        BlobTask(
            26, MAIN, kernel=0, block_dim=0xFFFFFFFF, kernel_type=2,
            args_format="{i0*}{i1*}{i2}{o0*}{ws0*}{tiling_context.tiling_data}", **common,
        ),
        BlobTask(41, ATTACHED, args_format="{tiling_context.tiling_key}{tiling_context.block_dim}", **common),
        BlobTask(1, ATTACHED, event_id=0, **common),
        BlobTask(19, MAIN, made_by="tasks"),
    )  # fmt: skip


def test_custom_operator(lab):
    """A custom operator: kernel type 7, its own library, and a 20 480-byte log workspace only for the tiling task."""
    blob = lab.compile(lab.one("CustomProbe")).blob
    tiling = blob.tasks[0]
    assert (int(tiling.kernel_type), tiling.args_format) == (7, "{tiling_context}{*op_type}{}{ws1*}")
    assert tiling.so_name.endswith(f"{DIRECTORY}/libcust_opmaster.so")
    assert blob.ops[0].workspaces == (1024, 20480)
    kernel = next(task for task in blob.tasks if task.type == 26)
    assert kernel.args_format == "{i0*}{i1*}{i2}{o0*}{ws0*}{tiling_context.tiling_data}"
    assert blob.ops[0].custom


def test_custom_operator_without_sink_has_no_log_workspace(lab):
    """The log workspace belongs to the sink path."""
    assert lab.compile(lab.one("CustomProbe", "fixed")).blob.ops[0].workspaces == (1024,)


@pytest.mark.parametrize(("imply", "kernel_type"), [(2, 7), (6, 6), (9, 6), (10, 7), (6 | 1 << 32, 6)])
def test_imply_type_decides_custom(lab, imply, kernel_type):
    """`_fe_imply_type`, by its low 32 bits, beats what the operator declares."""
    assert int(lab.compile(lab.one(_fe_imply_type=imply)).blob.tasks[0].kernel_type) == kernel_type


def test_library_on_310p(lab):
    """The built-in library carries the product's name on 310P."""
    tiling = lab.compile(lab.one(), chip=lab.p310).blob.tasks[0]
    assert tiling.so_name == f"opp/built-in/{DIRECTORY}/Ascend310P-v1.0-libopmaster.so"


def test_picture_order(lab):
    """Policy `sink_run_order` = picture puts the record before the update, which the end of the graph then awaits."""
    tasks = lab.compile(lab.one(), policies={"sink_run_order": "picture"}).blob.tasks
    assert [(int(task.type), task.stream_id) for task in tasks[-6:]] == [
        (26, 0),
        (1, 1),
        (41, 1),
        (1, 1),
        (2, 0),
        (19, 0),
    ]


def test_compiled_block_dim(lab):
    """Policy `block_dim_placeholder` = compiled launches with the compile-time block dim."""
    tasks = lab.compile(lab.one(), policies={"block_dim_placeholder": "compiled"}).blob.tasks
    assert next(task.block_dim for task in tasks if task.type == 26) == 7


@pytest.mark.parametrize(
    ("type_", "lens", "sink"),
    [("Probe", "fixed", "1"), ("Probe", "lens", "0"), ("HostProbe", "lens", "1"), ("StaticBinary", "lens", "1")],
)
def test_without_sink_one_kernel(lab, type_, lens, sink):
    """Without a sink sequence there is one kernel task with `{t}` and the compile-time block dim."""
    blob = lab.compile(lab.one(type_, lens), sink=sink).blob
    kernel, end = blob.tasks
    assert (int(kernel.type), kernel.block_dim, int(end.type)) == (0 if type_ == "StaticBinary" else 26, 7, 19)
    assert kernel.args_format == "{i0*}{i1*}{i2}{o0*}{ws0*}{t}"
    assert blob.streams == (BlobStream(0, "main_0"),)
    assert blob.events == ()


def test_present_optional_input_is_starred(lab):
    """A connected optional input prints like any other."""
    blob = lab.compile(lab.graph(lab.node("op", "Relu", ["x"]), lab.node("p", "Probe", ["x", "lens", "op_out"]))).blob
    kernel = next(task for task in blob.tasks if task.node == "p" and task.type == 26)
    assert kernel.args_format.startswith("{i0*}{i1*}{i2*}{o0*}")


def test_constant_depended_input(lab):
    """A constant depended input brings its bytes to one compile-time tiling, and nothing sinks."""
    blob = lab.compile(lab.one("Probe", "fixed")).blob
    assert lab.tiler.asked[0].data == {1: (192).to_bytes(4, "little")}
    assert len(lab.tiler.asked) == 1
    assert (blob.ops[0].tiling_key, blob.ops[0].tiling_block_dim, blob.ops[0].tiling_data) == (3, 7, b"\x01\x02")


def test_sink_tiles_once_without_the_value(lab):
    """A sinking operator is tiled once on the host with the depended value null."""
    lab.compile(lab.one())
    (asked,) = lab.tiler.asked
    assert dict(asked.data) == {}
    assert asked.inputs[1].shape == (1,)
    assert asked.attrs == (1.0, (1, 2))
    assert asked.capacity == 16384


@pytest.mark.parametrize(("size", "capacity"), [(4096, 4096), (-1, 16384), (0, 0)])
def test_tiling_capacity(lab, size, capacity):
    """`op_para_size` sets the capacity; negative means the default of 16384."""
    blob = lab.compile(lab.one(op_para_size=size)).blob
    assert (lab.tiler.asked[0].capacity, blob.ops[0].tiling_capacity) == (capacity, capacity)


def test_dfx_buffer_grows_the_first_workspace(lab):
    """`_op_dfx_buffer_size` is added to workspace 0, sinking or not."""
    assert lab.compile(lab.one(_op_dfx_buffer_size=100)).blob.ops[0].workspaces == (1124,)
    assert lab.compile(lab.one("Probe", "fixed", _op_dfx_buffer_size=1)).blob.ops[0].workspaces == (1025,)


@pytest.mark.parametrize("preset", [True, False])
def test_empty_compile_info(lab, preset):
    """Without compile info the operator takes the static path with a warning, and is not host scheduled."""
    graph = lab.one("Probe", compile_info_json="") if preset else lab.one("StaticBinary")
    compiled = lab.compile(graph)
    op = compiled.blob.ops[0]
    assert (op.sink, op.host_tiling, compiled.blob.unknown_shape) == (False, False, False)
    assert any("compile_info_json is empty" in line for line in compiled.warnings)


def test_never_timeout(lab):
    """Never-time-out with sink is refused with the place, and allowed with a warning by policy."""
    graph = lab.one(_op_exec_never_timeout=True)
    with pytest.raises(GraphError) as caught:
        lab.compile(graph)
    (problem,) = caught.value.problems
    assert (problem.id, problem.where) == ("graph.never-timeout", "nodes[0].attrs._op_exec_never_timeout (node op)")
    allowed = lab.compile(graph, policies={"never_timeout_with_sink": "allow"})
    assert any("never" in line for line in allowed.warnings)
    assert lab.compile(graph, sink="0").blob.ops[0].host_tiling


@pytest.mark.parametrize("type_", ["NoWorkspace"])
def test_sink_needs_a_workspace(lab, type_):
    """Without workspace there is no place for the tiling data, so the graph is refused."""
    with pytest.raises(GraphError) as caught:
        lab.compile(lab.one(type_))
    assert [p.id for p in caught.value.problems] == ["graph.sink-workspace"]
    assert lab.compile(lab.one(type_, "fixed")).blob.tasks[0].args_format == "{i0*}{i1*}{i2}{o0*}{t}"


def test_tiling_failure_is_a_problem_of_the_graph(lab):
    """A tiling function that cannot tile is reported at its node, with its numbers."""
    with pytest.raises(GraphError, match="ub_bytes=5") as caught:
        lab.compile(lab.one("BadTiling"))
    assert caught.value.problems[0].id == "graph.tiling"


def test_unknown_tiling_key(lab):
    """A compile-time key that the kernel binary lacks is refused."""
    with pytest.raises(GraphError, match="key 99") as caught:
        lab.compile(lab.one("WrongKey"))
    assert caught.value.problems[0].id == "graph.tiling-key"


@pytest.mark.parametrize("sizes", [(1,) * 17, (-1,), (1 << 62,)])
def test_unusable_workspaces(lab, sizes):
    """More than 16 workspaces, a negative size and one larger than the memory are refused."""
    lab.tiler.workspaces = sizes
    with pytest.raises(GraphError) as caught:
        lab.compile(lab.one())
    assert {p.id for p in caught.value.problems} == {"graph.workspace"}


def test_device_without_update_compiles_offline(lab):
    """Offline compilation does not ask the device."""
    chip = replace(lab.chip, model_task_update=False)
    assert rows(lab.compile(lab.one(), chip=chip)) == sink_rows(8)
