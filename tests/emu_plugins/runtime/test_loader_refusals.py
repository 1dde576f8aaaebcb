"""What the loader refuses, with ids, places and the vendor's limit codes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from emu_core.api import compile_graph
from emu_core.device import Device
from emu_core.errors import InputError, LimitError
from emu_core.plugins import PluginHost
from formats.blob import BlobEvent, BlobTask, TaskType

B3, P3 = "ascend910b3", "ascend310p3"


def _tasks(change):
    return lambda blob: replace(blob, tasks=tuple(change(list(blob.tasks))))


def _set(position, **fields):
    def change(tasks):
        tasks[position] = replace(tasks[position], **fields)
        return tasks

    return _tasks(change)


def _first_tensor(**fields):
    return lambda blob: replace(blob, tensors=(replace(blob.tensors[0], **fields), *blob.tensors[1:]))


def _kernel_at(blob):
    return next(i for i, t in enumerate(blob.tasks) if t.type == TaskType.ALL_KERNEL)


# 310P: 0 tiling, 1 wait, 2-6 NOPs, 7 kernel, 8 update, 9 record, 10 end of graph.
REFUSED = [
    (_set(3, stream_id=9), "blob.task", "names the stream 9"),
    (_set(3, type=17), "blob.task-type", "has the type 17"),
    (_set(1, event_id=5), "blob.task", "names the event 5"),
    (_set(9, event_id=None), "blob.task", "names the event None"),
    (_set(0, op=None), "blob.task", "names no operator"),
    (_set(7, op=None), "blob.task", "names no operator"),
    (_set(8, op=None), "blob.task", "names no operator"),
    (_set(7, kernel=None), "blob.task", "names no kernel"),
    (_set(0, kernel_type=2), "blob.task", "has the kernel type 2; a tiling task has 6 or 7"),
    (_set(7, op=3), "blob.reference", "names the operator 3, of which there are 1"),
    (_set(7, kernel=1), "blob.reference", "names the kernel 1, of which there are 1"),
    (_set(7, args_format="{i7*}"), "blob.args-format", "{i7*} names one of 2"),
    (_set(7, args_format="{ws4*}"), "blob.args-format", "{ws4*} names one of 1 workspaces"),
    (_set(7, args_format="{t}"), "blob.args-format", "{t} asks for tiling data of the compiler"),
    (_tasks(lambda t: [t[7], *t[:7], *t[8:]]), "blob.args-format", "has the tiling task been launched?"),
    (_tasks(lambda t: [*t[:7], t[8], t[7], *t[9:]]), "blob.update-order", "has the target task been launched?"),
    (_tasks(lambda t: t[:-1]), "blob.no-end", "no end of graph"),
    (lambda b: replace(b, ops=(replace(b.ops[0], type="Nobodys"),)), "operator.missing", "'Nobodys' is not registered"),
    (lambda b: replace(b, ops=(replace(b.ops[0], inputs=(0, 1, None)),)), "operator.arity", "has 3 inputs"),
    (lambda b: replace(b, kernels=(replace(b.kernels[0], name="Nobodys"),)), "kernel.missing", "the kernel 'Nobodys'"),
    (lambda b: replace(b, kernels=(replace(b.kernels[0], tiling_keys=(1, 2)),)), "kernel.no-entry", "tiling key 0"),
    (_first_tensor(size=7), "blob.tensor", "shape [40] but 7 bytes"),
    (_first_tensor(shape=(-1,)), "blob.tensor", "shape [-1]"),
]  # fmt: skip


@pytest.mark.parametrize(("edit", "id_", "what"), REFUSED, ids=[f"{r[1]} {r[2][:24]}" for r in REFUSED])
def test_a_blob_that_cannot_be_loaded_says_why(lab, edit, id_, what):
    """Each is an InputError with a stable id, found while loading and not while running."""
    with pytest.raises(InputError) as caught:
        lab(P3, edit=edit)
    assert caught.value.id == id_
    assert what in caught.value.text()


def test_a_blob_for_another_chip_is_refused(host, probe_graph):
    """The message names both chips and the way out."""
    blob = compile_graph(probe_graph(), B3, None, host)
    with pytest.raises(InputError, match="compiled for ascend910b3, the device is ascend310p3") as caught:
        Device(P3, None, host).load(blob)
    assert caught.value.id == "blob.chip"
    assert "--chip ascend910b3" in caught.value.remedy


def test_a_kernel_without_a_binary_for_the_product_is_refused(host, probe_graph):
    """A kernel may be for some products only; loading says for which."""
    blob = compile_graph(probe_graph(), P3, None, host)

    other = PluginHost()
    other.__dict__["kernels"] = {n: replace(k, products=("A2",)) for n, k in host.kernels.items()}
    with pytest.raises(InputError, match="no binary for ascend310p3") as caught:
        Device(P3, None, other).load(blob)
    assert (caught.value.id, caught.value.remedy) == ("kernel.product", "it has binaries for A2")


def test_a_constant_must_have_the_bytes_of_its_shape(lab):
    """Too many bytes of data are found before anything is written."""
    graph = {
        "format": "sqemu-graph", "version": 1, "name": "c",
        "inputs": [{"name": "x", "dtype": "float32", "shape": [40]}],
        "constants": [{"name": "n", "dtype": "int32", "shape": [1], "data": [3]}],
        "nodes": [{"name": "op0", "type": "TilingProbe", "inputs": ["x", "n"], "outputs": ["y0"]}],
        "outputs": ["y0"],
    }  # fmt: skip

    def longer(blob):
        return replace(blob, tensors=tuple(replace(t, data=t.data + b"\0" * 4) if t.data else t for t in blob.tensors))

    with pytest.raises(InputError, match="data of 8") as caught:
        lab(P3, graph=graph, edit=longer)
    assert caught.value.id == "blob.tensor"
    assert lab(P3, graph=graph).run().ok


@pytest.mark.parametrize(("chip", "usable"), [(P3, 2042), (B3, 2013)])
def test_a_ring_takes_its_usable_tasks_and_no_more(lab, chip, usable):
    """EE1019 at task 2043 of a 310P stream and 2014 of a 910B stream; exactly the limit loads and runs."""

    def fill_up(extra):
        def change(tasks):
            others = sum(t.stream_id == 0 for t in tasks) + 1
            nops = [BlobTask(TaskType.NOP, 0)] * (usable - others + extra)
            return [*tasks[:-1], *nops, tasks[-1]]

        return _tasks(change)

    bench = lab(chip, edit=fill_up(0))
    assert len(bench.types(0)) == usable
    assert bench.run(3).ok
    with pytest.raises(LimitError, match=f"stream 0 is full: a model-bound ring holds {usable} tasks") as caught:
        lab(chip, edit=fill_up(1))
    assert caught.value.id == "EE1019"


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"max_streams": 1}, "207008"),
        ({"max_streams": 2}, "207008"),
        ({"max_events": 1}, "207007"),
        ({"max_notifies": 0}, "207009"),
        ({"persistent_tasks": 11}, "limit.persistent-tasks"),
        ({"memory_bytes": 400_000}, "limit.memory"),
    ],
)
def test_limits_of_the_chip_have_the_vendors_codes(host, chip_like, probe_graph, changes, code):
    """Two streams and the caller, two events, one end-of-graph notify, 12 entries: one less of each is too few."""
    blob = compile_graph(probe_graph(), P3, None, host)
    blob = replace(blob, events=(*blob.events, BlobEvent(1, "spare")))
    with pytest.raises(LimitError) as caught:
        Device(chip_like(P3, **changes), None, host).load(blob)
    assert caught.value.id == code
    assert caught.value.remedy


def test_the_smallest_chip_that_fits(host, chip_like, probe_graph):
    """Exactly as much as is needed is enough."""
    blob = compile_graph(probe_graph(), P3, None, host)
    chip = chip_like(P3, max_streams=3, max_events=1, max_notifies=1, persistent_tasks=12)
    model = Device(chip, None, host).load(blob)
    result = model.execute({"x": np.zeros(40, np.float32), "n": np.array([2], np.int32)})
    assert result.ok


def test_kernels_find_their_position_in_the_list(lab):
    """The table above counts on these positions."""
    blob = lab(P3).blob
    assert _kernel_at(blob) == 7
    assert [t.type for t in blob.tasks][8:] == [TaskType.UPDATE, TaskType.EVENT_RECORD, TaskType.MODEL_END_GRAPH]


def test_s48_streams_that_the_blob_marks_as_head_are_started(lab):
    """S48: both streams are heads by default; one that is not is never started, and the model waits."""
    assert [s.id for s in lab(P3).model.head_streams] == [0, 1]

    def second_not_head(blob):
        return replace(blob, streams=(blob.streams[0], replace(blob.streams[1], head=False)))

    bench = lab(P3, edit=second_not_head)
    assert [s.id for s in bench.model.head_streams] == [0]
    blocked = bench.run(3).deadlock.blocked
    assert blocked[0].setter == "stream 1 task 2 (event_record of op0) would set it, but nobody activated that stream"


def test_s35_a_whole_sink_model_loads_on_two_streams_with_one_event(lab):
    """S35: tiling, kernel, update and NOPs; the extended attributes name the kernel and its context."""
    bench = lab(B3)
    assert (len(bench.blob.streams), len(bench.blob.events)) == (2, 1)
    details = bench.model.details["op0"]
    info, address = details["_tiling_sink_task_info"], details["_tiling_context_addr"]
    assert (info.task_id, info.stream_id, info.ffts_task_handle) == (10, 0, None)
    memory = bench.device.memory
    assert memory.read(address.op_type, 12) == b"TilingProbe\0"
    assert memory.find(address.tiling_context).label == "sink buffer of op0"
    assert memory.protected_as(address.tiling_key) == "tiling key of op0"
    assert memory.protected_as(address.block_dim) == "block dim of op0"
