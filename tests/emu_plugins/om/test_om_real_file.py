"""Facts of a real offline model, as `reference/om_format.md` 10 and the README of the file state them."""

from __future__ import annotations

from collections import Counter

import pytest

from emu_core.device import Device
from emu_plugins.om import program_of_om, read_om
from emu_plugins.om.names import task_name
from emu_plugins.om.values import Tensor
from emu_plugins.runtime.stand_in import stand_ins_of
from formats.blob import TensorRole, decode, encode

np = pytest.importorskip("numpy")


@pytest.fixture(scope="module")
def file(real):
    """The file, read."""
    return read_om(real)


@pytest.fixture(scope="module")
def model(file):
    """Its one model."""
    (found,) = file.models
    return found


def test_header(file):
    """Length, name, number of models and platform are those of the header."""
    header = file.header
    assert (header.length, header.name, header.model_num, header.platform) == (618737, "hh_om", 1, "1.11.z.0")
    assert (header.version, header.wide, header.dynamic) == (0x20000000, False, False)


def test_partitions(model):
    """Four partitions in this order and of these sizes, the data behind a table of 52 bytes."""
    found = model.parts.partitions
    assert [each.type for each in found] == [0, 1, 3, 2]
    assert [each.size for each in found] == [154630, 386560, 64667, 12828]
    assert found[0].offset == 256 + 4 + 4 * 12 == 308
    assert [each.offset for each in found] == [308, 154938, 541498, 606165]


def test_tasks(model):
    """30 tasks of seven types, 28 of them on stream 0."""
    tasks = model.task_list.tasks
    assert len(tasks) == 30
    assert Counter(task_name(task.type) for task in tasks) == {
        "FUSION_START": 1, "KERNEL": 24, "KERNEL_EX": 1, "EVENT_RECORD": 1, "EVENT_WAIT": 1, "FUSION_END": 1,
        "MODEL_END_GRAPH": 1,
    }  # fmt: skip
    assert Counter(task.stream_id for task in tasks) == {0: 28, 1: 2}
    assert (model.number("stream_num"), model.number("event_num")) == (2, 1)


def test_kernels_of_tasks(model):
    """Every kernel task has kernel type 2 and block dim 2, names a kernel, and has no args format."""
    kernels = [task for task in model.task_list.tasks if task.type == 0]
    assert {(task.kernel_type, task.block_dim, task.args_format) for task in kernels} == {(2, 2, "")}
    assert all(task.kernel_name.startswith("te_") and task.args for task in kernels)


def test_events(model):
    """The record has event type 1 and the wait 2, of event 0; both name their operators."""
    found = [task for task in model.task_list.tasks if task.type in (1, 2)]
    assert [(task.event_id, task.fields["event_type"]) for task in found] == [(0, 1), (0, 2)]
    names = {op.id: op.type for op in model.ops}
    assert [names[task.op_index] for task in found] == ["Send", "Recv"]


def test_operators(model):
    """46 operators, 17 of them constants and 7 conversions of layouts, with ids from 0 on."""
    counts = Counter(op.type for op in model.ops)
    assert (len(model.ops), counts["Const"], counts["TransData"]) == (46, 17, 7)
    assert [op.id for op in model.ops] == list(range(46))


def test_kernel_items(model):
    """26 kernel binaries, each an ELF file, which end exactly with the partition."""
    assert len(model.kernels) == 26
    assert all(bytes(item.data[:4]) == b"\x7fELF" for item in model.kernels)
    last, partition = model.kernels[-1], model.parts.partitions[2]
    assert last.offset + len(last.data) == partition.offset + partition.size


def test_weights_lie_in_their_partition(model):
    """The values of all constants lie within the weights, one behind the other and aligned to 512."""
    places = [
        (value.desc.data_offset, value.desc.weight_size)
        for op in model.ops
        for value in [op.attrs.get("value")]
        if isinstance(value, Tensor)
    ]
    assert len(places) == 17
    assert all(offset % 512 == 0 and offset + size <= 386560 for offset, size in places)


def test_logical_addresses(model):
    """Weights begin where the memory of the model ends, in the logical addresses of the compiler."""
    base, weights = model.number("task_gen_base_addr"), model.number("task_gen_weight_addr")
    assert base == 0x80000000
    assert weights == base + model.task_list.memory_size
    assert model.task_list.weight_size == 386560


def test_copy_of_the_task_list(model, real):
    """The attribute `tasks` holds the bytes of TASK_INFO once more."""
    partition = model.parts.partitions[3]
    assert model.attrs["tasks"] == real[partition.offset : partition.offset + partition.size]


def test_as_a_blob(file, host):
    """Its tasks but the two of the fusion become a blob that can be written and read again, with all weights in it."""
    blob = program_of_om(file, host.chip("ascend310p3"), host).blob
    assert decode(encode(blob)) == blob
    assert (len(blob.tasks), len(blob.streams), len(blob.events)) == (28, 2, 1)
    constants = [t for t in blob.tensors if t.role is TensorRole.CONSTANT]
    assert all(len(t.data) == t.size for t in constants)
    names = [blob.tensors[index].name for index in (*blob.inputs, *blob.outputs)]
    assert names == ["input", "generation/output:0"]


def test_runs_on_stand_ins(file, host):
    """No plugin has its kernels, so 24 on cores and one on an AI CPU stand in, and the output stays unwritten."""
    blob = program_of_om(file, host.chip("ascend310p3"), host).blob
    assert Counter(each.engine for each in stand_ins_of(blob)) == {"ai_core": 24, "ai_cpu": 1}
    model = Device("ascend310p3", {}, host).load(blob)
    result = model.execute({"input": np.zeros((100, 784), "f4")})
    assert result.ok
    assert dict(result.unwritten) == {"generation/output:0": 0}
