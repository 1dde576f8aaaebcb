"""Offline models as task blobs: sink sequences run as compiled, the rest stands in (`docs/om.md`)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emu_core.checks import Level, run_checks
from emu_core.device import Device
from emu_core.kernels import CoreType
from emu_core.policies import PolicySet
from emu_plugins.om import program_of_om, read_om
from emu_plugins.om.chosen import WAYS, Way, core_of, way_of
from emu_plugins.om.from_blob import om_of_blob
from emu_plugins.om.names import TASK_NAMES
from emu_plugins.om.tasks import Task
from emu_plugins.om.values import Op
from emu_plugins.om.writer import attribute, model_def, task_info, write_om
from emu_plugins.runtime.stand_in import KERNELS, grouped, stand_in_ops, stand_ins_of
from formats import FormatError
from formats.blob import TaskType, TensorRole, decode, encode

CHIP = "ascend310p3"
DESC = {"dtype": 1, "shape": {"dim": [16, 4]}, "size": 288}
"""256 bytes of float32, stored in 288."""


def ops(op_type="Relu", **fields):
    """A graph: data, one operator, the output."""
    return [
        {"name": b"x", "type": b"Data", "output_desc": [DESC]},
        {"name": b"act", "type": op_type.encode(), "id": 1, "input": [b"x:0"], "output_desc": [DESC], **fields},
        {"name": b"out", "type": b"NetOutput", "id": 2, "input": [b"act:0"]},
    ]


def kernel(**fields):
    """A kernel task of that operator with 4 blocks."""
    context = {"kernel_type": 2, "op_index": 1}
    return {"kernel": {"context": context, "block_dim": 4, "kernel_name": b"te_act", **fields}}


END = {"type": 19}


def made(small, host, tasks, graph=None, chip=CHIP, **options):
    """The program of a file with these tasks."""
    return program_of_om(read_om(small(tasks, graph or ops(), **options)), host.chip(chip), host)


def run(blob, host, chip=CHIP, n=5, **policies):
    """One execution of the probe."""
    model = Device(chip, policies, host).load(blob)
    return model.execute({"x": np.arange(40, dtype="f4"), "n": np.array([n], "i4")})


class TestSinkSequences:
    @pytest.mark.parametrize("chip", [CHIP, "ascend910b3"])
    @pytest.mark.parametrize("op_type", ["TilingProbe", "MixProbe"])
    @pytest.mark.parametrize("wide", [False, True])
    def test_runs_as_compiled(self, probe_blob, host, chip, op_type, wide):
        """A sink task list written as a file and read again runs to the nanosecond as the compiled one, patches too."""
        blob = probe_blob(chip, op_type)
        found = program_of_om(read_om(om_of_blob(blob, wide=wide)), host.chip(chip), host)
        assert found.notes == ()
        assert {41, 42, 43} <= {task.type for task in found.blob.tasks}
        assert stand_ins_of(found.blob) == ()
        once, again = (run(each, host, chip) for each in (blob, found.blob))
        assert again.ok
        assert np.array_equal(once.outputs["y"], again.outputs["y"])
        assert (once.ended, len(once.patches)) == (again.ended, len(again.patches))
        assert [(p.field, p.after) for p in once.patches] == [(p.field, p.after) for p in again.patches]

    def test_the_value_decides(self, sink_om, host):
        """Each execution has the tiling of its own value: block b of key k fills its slice with 100 k + b."""
        blob = program_of_om(read_om(sink_om), host.chip(CHIP), host).blob
        for n in (3, 5):
            outputs = run(blob, host, n=n).outputs["y"]
            assert outputs[0] == 100 * (n % 3)

    def test_what_the_blob_says(self, sink_om, host, probe_blob):
        """Operator, tensors, kernels, ports and the attached stream are those of the compiled blob."""
        compiled, found = probe_blob(), program_of_om(read_om(sink_om), host.chip(CHIP), host).blob
        (op,), (wanted,) = found.ops, compiled.ops
        assert replace(op, attrs={}) == replace(wanted, attrs={})
        assert op.attrs == {"add_x": 0}
        assert (found.tensors, found.kernels) == (compiled.tensors, compiled.kernels)
        assert (found.inputs, found.outputs) == (compiled.inputs, compiled.outputs)
        assert [(s.id, s.serves, s.head) for s in found.streams] == [(0, None, True), (1, 0, True)]
        assert [t.type for t in found.tasks] == [t.type for t in compiled.tasks]
        assert decode(encode(found)) == found

    def test_checks(self, sink_om, host):
        """The sequence passes all checks, and one without its update does not."""
        blob = program_of_om(read_om(sink_om), host.chip(CHIP), host).blob
        policies = PolicySet(host.policy_specs)
        assert [f for _, found in run_checks(blob, host.chip(CHIP), policies, host) for f in found] == []
        broken = replace(blob, tasks=tuple(t for t in blob.tasks if t.type != TaskType.UPDATE))
        ids = {f.id for _, found in run_checks(broken, host.chip(CHIP), policies, host) for f in found}
        assert "check.sink-unmatched" in ids

    def test_attributes(self, probe_blob, host):
        """Attributes of the operator's definition are taken over, and change what it computes."""
        found = program_of_om(read_om(om_of_blob(probe_blob(add_x=1))), host.chip(CHIP), host).blob
        assert found.ops[0].attrs["add_x"]
        assert run(found, host).outputs["y"][3] == run(probe_blob(), host).outputs["y"][3] + 3

    @pytest.mark.parametrize(
        ("change", "why"),
        [
            (lambda b: b, ""),
            (lambda b: replace(b, ops=(replace(b.ops[0], type="Unheard"),)), "no plugin has the operator Unheard"),
            (lambda b: replace(b, tasks=tuple(replace(t, so_name="other.so") if t.so_name else t for t in b.tasks)),
             "no AI CPU function RunAicpuRpcSrvLaunch of library other.so"),
            (lambda b: replace(b, tasks=tuple(replace(t, args_format="") if t.kernel is not None else t
                                              for t in b.tasks)), "its kernel task has no args format"),
            (lambda b: replace(b, tasks=tuple(replace(t, args_format="{what}") if t.kernel is not None else t
                                              for t in b.tasks)), "its args format cannot be read: unknown"),
            (lambda b: replace(b, ops=(replace(b.ops[0], inputs=(0,)),)), "it has 1 inputs and 1 outputs"),
            (lambda b: replace(b, ops=(replace(b.ops[0], tiling_key=77),)), "has no tiling key 77"),
        ],
    )  # fmt: skip
    def test_what_must_be_known(self, probe_blob, host, change, why):
        """An operator runs as it is only with everything it needs; else all its code stands in, and says why."""
        blob = program_of_om(read_om(om_of_blob(change(probe_blob()))), host.chip(CHIP), host).blob
        found = stand_ins_of(blob)
        assert bool(found) == bool(why)
        assert all(each.why.startswith(why) or why in each.why for each in found)
        if why:
            assert sorted(each.engine for each in found) == ["ai_core", "ai_cpu", "nop"]
            assert [t.block_dim for t in blob.tasks if t.kernel is not None] == [8]
            assert run(blob, host).ok


class TestStandIns:
    def test_a_kernel(self, small, host):
        """An unknown kernel keeps stream, blocks and name, and says how many bytes its operator has."""
        blob = made(small, host, [kernel(), END]).blob
        task = blob.tasks[0]
        assert (task.type, task.block_dim, task.kernel_name) == (TaskType.KERNEL, 4, "te_act")
        assert task.args_format == "{#512}"
        assert blob.kernels[task.kernel].name == "StandInCube"
        (found,) = stand_ins_of(blob)
        assert (found.node, found.op_type, found.instead_of, found.engine) == ("act", "Relu", "te_act", "ai_core")
        assert stand_in_ops(blob) == {0}

    def test_duration_by_bytes(self, small, host):
        """By default a kernel takes its bytes at the memory rate of its blocks' cores; the figures are the chip's."""
        chip = host.chip(CHIP)
        graph = ops(output_desc=[{"dtype": 1, "shape": {"dim": [1 << 20]}}])
        blob = made(small, host, [kernel(), END], graph).blob
        moved = 256 + 4 * (1 << 20)
        expected = moved * 1000 / (chip.ddr_bytes_per_cycle * chip.cube_mhz) / 4
        times = [Device(CHIP, {"stand_in_time": v}, host) for v in ("bytes", "0")]
        spans = [d.load(blob).execute({"x": np.zeros((16, 4), "f4")}).ended for d in times]
        assert spans[0] - spans[1] == pytest.approx(expected, abs=2)

    @pytest.mark.parametrize("chip", [CHIP, "ascend910b3"])
    def test_duration_by_policy(self, small, host, chip):
        """A number is the time of a block: 4 blocks at once take it once, as many more as there are cores twice."""
        chip_cores = host.chip(chip).core_num
        spans = {}
        for blocks in (4, chip_cores + 1):
            blob = made(small, host, [kernel(block_dim=blocks), END], chip=chip).blob
            for ns in ("0", "5000"):
                model = Device(chip, {"stand_in_time": ns}, host).load(blob)
                spans[blocks, ns] = model.execute({"x": np.zeros((16, 4), "f4")}).ended
        assert spans[4, "5000"] - spans[4, "0"] == pytest.approx(5000, abs=2)
        assert spans[chip_cores + 1, "5000"] - spans[chip_cores + 1, "0"] == pytest.approx(10000, abs=4)

    @pytest.mark.parametrize("chip", [CHIP, "ascend910b3", "ascend950pr_9599"])
    @pytest.mark.parametrize("core", ["AiCore", "VectorCore", "MIX_AIC"])
    def test_all_cores_of_all_families(self, small, host, chip, core):
        """Stand-ins for kernels of every kind of cores run on every family of chips."""
        graph = ops(attr=[attribute("_cube_vector_core_type", core)])
        blob = made(small, host, [kernel(), END], graph, chip).blob
        assert Device(chip, {}, host).load(blob).execute({"x": np.zeros((16, 4), "f4")}).ok

    def test_ai_cpu(self, small, host):
        """An AI CPU kernel, and what other engines do, take an AI CPU thread for the time of the policy."""
        tasks = [kernel(context={"kernel_type": 6, "op_index": 1}), {"type": 5, "kernel_ex": {"op_index": 1}}, END]
        blob = made(small, host, tasks).blob
        assert [each.engine for each in stand_ins_of(blob)] == ["ai_cpu", "ai_cpu"]
        spans = [
            Device(CHIP, {"stand_in_time": ns}, host).load(blob).execute({"x": np.zeros((16, 4), "f4")}).ended
            for ns in ("0", "5000")
        ]
        assert spans[1] - spans[0] == 10000

    def test_details(self, small, host):
        """The loaded model lists its stand-ins by operator."""
        model = Device(CHIP, {}, host).load(made(small, host, [kernel(), {"type": 31, "cmo_task": {}}, END]).blob)
        assert [each.instead_of for each in model.details["act"]["stand_ins"]] == ["te_act"]
        assert [each.instead_of for each in model.details["task 1"]["stand_ins"]] == ["CMO"]

    def test_check_warns(self, small, host):
        """`supplied` warns of each operator type that stands in, once."""
        blob = made(small, host, [kernel(), kernel(), END]).blob
        policies = PolicySet(host.policy_specs)
        findings = [f for _, found in run_checks(blob, host.chip(CHIP), policies, host) for f in found]
        assert [(f.level, f.id, f.where) for f in findings] == [(Level.WARNING, "kernel.stand-in", "Relu (act)")]

    def test_words(self, small, host):
        """Stand-ins are told by operator type, with where they run, why, and for which nodes."""
        (group,) = grouped(stand_ins_of(made(small, host, [kernel(), END]).blob))
        assert group.text() == "Relu on cores (no plugin has the operator Relu): act"

    def test_one_per_core_type(self):
        """There is a kernel for each kind of cores, with the one key 0."""
        assert {each.core_type for each in KERNELS} == set(CoreType)
        assert {each.tiling_keys for each in KERNELS} == {(0,)}


class TestTasks:
    def test_every_type_has_a_way(self):
        """All task types are in the table; a number without a name becomes a NOP."""
        assert set(WAYS) == set(TASK_NAMES)
        assert way_of(Task(0, 99))[0] is Way.NOTHING

    @settings(max_examples=60, deadline=None)
    @given(st.lists(st.integers(0, 60), max_size=12))
    def test_any_list_of_types_is_a_program(self, small, host, types):
        """Task lists of any types, known or not, become blobs that can be written, checked and loaded."""
        tasks = [{"type": number, "stream_id": number % 3, "event_id": number % 2} for number in types]
        waits = [t for t in tasks if t["type"] not in (2, 15)]
        blob = made(small, host, [*waits, END]).blob
        assert decode(encode(blob)) == blob
        list(run_checks(blob, host.chip(CHIP), PolicySet(host.policy_specs), host))
        assert Device(CHIP, {}, host).load(blob).execute({"x": np.zeros((16, 4), "f4")}).ok

    def test_flags(self, small, host):
        """Events keep their ids; notifies follow behind them, so that the two are not confused."""
        tasks = [{"type": 1, "event_id": 4}, {"type": 2, "event_id": 4, "stream_id": 1}, {"type": 14, "notify_id": 0},
                 {"type": 15, "notify_id": 0, "stream_id": 1}, END]  # fmt: skip
        blob = made(small, host, tasks).blob
        assert [(t.type, t.event_id) for t in blob.tasks[:4]] == [(1, 4), (2, 4), (14, 5), (15, 5)]
        assert [e.name for e in blob.events] == ["event 4", "notify 0"]

    def test_fusion_marks_have_no_entry(self, small, host):
        """The start and end of a fusion are not in the blob, as they are not in a ring."""
        blob = made(small, host, [{"type": 3}, kernel(), {"type": 4}, END]).blob
        assert [t.type for t in blob.tasks] == [0, 19]

    def test_end_of_graph(self, small, host):
        """A list without an end gets one, which is said."""
        found = made(small, host, [kernel()])
        assert found.blob.tasks[-1].type == TaskType.MODEL_END_GRAPH
        assert "no end of graph" in found.notes[0]

    @pytest.mark.parametrize(
        ("task", "attrs", "core"),
        [
            (Task(0, 0), {}, CoreType.AIC),
            (Task(0, 39), {}, CoreType.AIV),
            (Task(0, 40), {}, CoreType.AIV),
            (Task(0, 0, kernel_type=11), {}, CoreType.MIX),
            (Task(0, 44), {}, CoreType.MIX),
            (Task(0, 0), {"_cube_vector_core_type": "VectorCore"}, CoreType.AIV),
            (Task(0, 0), {"_cube_vector_core_type": "MIX_AIC"}, CoreType.MIX),
            (Task(0, 0), {"tvm_magic": "RT_DEV_BINARY_MAGIC_ELF_AIVEC"}, CoreType.AIV),
            (Task(0, 29, fields={"ffts_plus_ctx": [{"mix_aic_aiv_ctx": {}}]}), {}, CoreType.MIX),
        ],
    )
    def test_cores(self, task, attrs, core):
        """Task type, kernel type and the compiler's attributes say which cores a kernel runs on."""
        assert core_of(task, Op(0, "op", "T", attrs=attrs)) is core


class TestModels:
    def test_several_models(self, host):
        """Of several models the first with tasks is taken, which is said."""
        define = model_def({"name": b"part", "graph": [{"op": ops()}]})
        root, part = [(0, model_def({"name": b"root"}))], [(0, define), (2, task_info([kernel(), END]))]
        file = write_om([root, part], wide=True)
        found = program_of_om(read_om(file), host.chip(CHIP), host)
        assert (found.model, found.blob.name) == (1, "part")
        assert "2 models" in found.notes[0]

    def test_no_tasks(self, small, host):
        """A file without tasks has nothing to run."""
        with pytest.raises(FormatError) as raised:
            program_of_om(read_om(small()), host.chip(CHIP), host)
        assert raised.value.id == "om.no-tasks"

    def test_constants(self, host):
        """A constant has the bytes of the weights at its offset, or its own."""
        desc = {"dtype": 1, "shape": {"dim": [2]}}
        outside = attribute("value", {"t": {"desc": {**desc, "data_offset": 4, "weight_size": 8}}})
        inside = attribute("value", {"t": {"desc": desc, "data": b"ABCDEFGH"}})
        graph = [
            {"name": b"a", "type": b"Const", "output_desc": [desc], "attr": [outside]},
            {"name": b"b", "type": b"Const", "id": 1, "output_desc": [desc], "attr": [inside]},
            {"name": b"op", "type": b"Add", "id": 2, "input": [b"a:0", b"b:0"], "output_desc": [desc]},
        ]
        task = {"kernel": {"context": {"op_index": 2, "kernel_type": 2}, "block_dim": 1}}
        parts = [(0, model_def({"graph": [{"op": graph}]})), (2, task_info([task, END]))]
        blob = program_of_om(read_om(write_om([[*parts, (1, b"0123456789abcdef")]])), host.chip(CHIP), host).blob
        assert [t.data for t in blob.tensors if t.role is TensorRole.CONSTANT] == [b"456789ab", b"ABCDEFGH"]
        with pytest.raises(FormatError) as raised:
            program_of_om(read_om(write_om([[*parts, (1, b"0123")]])), host.chip(CHIP), host)
        assert raised.value.id == "om.weights"

    def test_unknown_element_types(self, small, host):
        """A tensor of a type without whole bytes, or of unknown shape, is bytes of its stored size."""
        for dtype, dim in ((28, 3), (1, -1)):
            desc = {"dtype": dtype, "shape": {"dim": [dim]}, "size": 64}
            blob = made(small, host, [kernel(), END], graph=ops(output_desc=[desc])).blob
            (tensor,) = (t for t in blob.tensors if t.role is TensorRole.INTERMEDIATE)
            assert (tensor.dtype, tensor.shape, tensor.size) == (4, (64,), 64)
