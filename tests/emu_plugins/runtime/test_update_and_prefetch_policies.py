"""Each policy of updates, prefetch, reads and waits, value by value."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from emu_core.errors import PluginError
from emu_core.memory import Space
from formats import get
from formats.blob import TaskType

P3 = "ascend310p3"
FAIL, TOO_MUCH, CRASH, SCHEDULE = -1, -2, -3, -4


@pytest.fixture
def knob(lab, probe_graph):
    """A model of the operator whose tiling the value n commands: n = 1000 * block dim + key."""

    def make(operator="Knob", chip=P3, **policies):
        return lab(chip, graph=probe_graph(operator=operator), **policies)

    return make


def _update(bench):
    """The update entry (stream 1, slot 1), and a way to change fields of it."""
    stream = bench.device.streams[1]
    struct = get("v100", "PhModelTaskUpdateSqe")

    def change(**fields):
        raw = bytearray(stream.queue.entry(1))
        for name, value in fields.items():
            struct.field(name).patch(raw, 0, value)
        bench.device.replace_sqe(1, 1, bytes(raw))

    return struct.parse(stream.queue.entry(1)), change


def test_the_operator_of_these_tests_does_what_n_says(knob):
    """N = 3000 is key 0 and block dim 3."""
    result = knob().run(3000)
    assert result.outputs["y0"].tolist() == [0, 3, 3000, 7]
    assert result.hazards == ()


REFUSALS = [
    ("update_unknown_key", 2099, "update.unknown-key", "the tiling key 99 is in none of the 5 rows"),
    ("update_bad_block_dim", 0, "update.block-dim", "the block dim to write is 0x0"),
    ("update_bad_block_dim", 65535000, "update.block-dim", "the block dim to write is 0xffff"),
    ("update_bad_block_dim", 65536000, "update.block-dim", "the block dim to write is 0x0"),
]


@pytest.mark.parametrize(("policy", "n", "id_", "what"), REFUSALS)
def test_an_update_that_cannot_be_done_is_a_fault(knob, ids, policy, n, id_, what):
    """TS 0x4 on the attached stream; the record never comes, the main stream waits, the model ends with 0x91."""
    bench = knob()
    result = bench.run(n)
    assert ids(result.faults) == [id_, "model.failed"]
    fault = result.faults[0]
    assert what in fault.what
    assert (fault.ts_code, fault.error_type, fault.stream, fault.slot, fault.engine) == (0x4, 32, 1, 1, "task_update")
    assert "waits for event 0" in fault.consequences[0]
    assert "that stream stopped at task 1" in fault.consequences[0]
    assert bench.kernel_sqe()[1]["block_dim"] == 0xFFFF


@pytest.mark.parametrize(("policy", "n", "id_", "what"), REFUSALS)
def test_keep_old_leaves_the_entry_and_reports(knob, ids, policy, n, id_, what):
    """With the other policy the kernel runs with its old values, and a hazard says why."""
    bench = knob(block_dim_placeholder="compiled", **{policy: "keep_old"})
    result = bench.run(n)
    assert result.ok
    assert ids(result.hazards) == [id_]
    assert what in result.hazards[0].what
    assert result.outputs["y0"].tolist()[:2] == [0, 1]
    assert [p for p in result.patches if p.target == "sqe"] == []


def test_the_low_16_bits_of_the_block_dim_count(knob):
    """65537 + 3 more is 65540, of which 4 remain."""
    assert knob().run(65540 * 1000).outputs["y0"][1] == 4


TARGETS = [
    ("update.target-missing", {"des_task_id": 999}),
    ("update.target-missing", {"des_stream_id": 77}),
    ("update.target-kind", {"des_task_id": 2}),
    ("update.descriptor", {"desc_buf_offset": 0x1000}),
]


@pytest.mark.parametrize(("id_", "changes"), TARGETS)
def test_a_bad_target_is_a_fault_or_kept(knob, ids, id_, changes):
    """Unknown task, unknown stream, an entry that is no kernel, a mix context for a plain kernel."""
    for policy in ("fault", "keep_old"):
        bench = knob(update_bad_target=policy, block_dim_placeholder="compiled")
        _update(bench)[1](**changes)
        result = bench.run(3000)
        if policy == "fault":
            assert ids(result.faults) == [id_, "model.failed"]
        else:
            assert (ids(result.faults), ids(result.hazards)) == ([], [id_])
            assert result.outputs["y0"][1] == 1


def test_an_update_reads_only_what_its_entry_points_at(knob):
    """Pointing the key at another cell changes the kernel entry that is chosen: memory decides, not the program."""
    bench = knob()
    fields, change = _update(bench)
    cell = bench.device.memory.allocate(8, label="other key", space=Space.TS)
    bench.device.memory.write(cell.address, (3).to_bytes(8, "little"))
    change(tiling_key_offset=bench.device.memory.offset_of(cell.address))
    result = bench.run(2000)
    assert fields["tiling_tab_len"] == 5
    assert {p.tiling_key for p in result.patches if p.writer.engine == "task_update"} == {3}
    assert {p.table_row for p in result.patches if p.writer.engine == "task_update"} == {3}
    assert result.unwritten == {"y0": 0}


def test_an_update_whose_table_is_nowhere_is_a_memory_fault(knob, ids):
    """An offset that leads out of device memory ends the update task, not the emulator."""
    bench = knob()
    _update(bench)[1](tiling_tab_offset=0x7FFF_FFFF_0000)
    result = bench.run(2000)
    assert ids(result.faults) == ["memory.bounds", "model.failed"]
    assert result.faults[0].ts_code == 0x4


@pytest.mark.parametrize(
    ("policy", "hazards", "faults"),
    [
        ("hazard", ["update.after-consume"], []),
        ("fault", [], ["update.after-consume"]),
        ("ignore", [], []),
    ],
)
def test_an_update_after_its_target_started(knob, ids, policy, hazards, faults):
    """Record before update: the kernel runs with its compile-time values, and the patch comes too late."""
    bench = knob(sink_run_order="picture", block_dim_placeholder="compiled", update_after_consume=policy)
    result = bench.run(3000)
    assert ids(result.hazards) == hazards
    assert ids(result.faults)[: len(faults)] == faults
    if faults:
        assert result.faults[0].ts_code == 0x98
    else:
        assert result.outputs["y0"].tolist()[:2] == [0, 1]
        assert bench.kernel_sqe()[1]["block_dim"] == 3


@pytest.mark.parametrize(
    ("policy", "hazards", "dim"),
    [("execute_copy", ["hazard.stale-prefetch"], 1), ("refetch", [], 3), ("fault", None, None)],
)
def test_an_entry_that_changed_after_its_fetch(knob, ids, policy, hazards, dim):
    """The copy runs and is reported, the ring is fetched again, or the entry is an SQE error."""
    bench = knob(nop_count=0, block_dim_placeholder="compiled", stale_prefetch=policy)
    result = bench.run(3000)
    if policy == "fault":
        assert ids(result.faults) == ["hazard.stale-prefetch", "model.failed"]
        assert (result.faults[0].ts_code, result.faults[0].error_type) == (0x106, 8)
        return
    assert ids(result.hazards) == hazards
    assert result.outputs["y0"][1] == dim
    assert bench.kernel_sqe(bench.model.executed()[0])[1]["block_dim"] == dim
    if hazards:
        assert "(block_dim)" in result.hazards[0].what
        assert dict(result.hazards[0].detail) == {"slot": 2, "prefetch_depth": 5, "distance": 2, "missing": 4}


@pytest.mark.parametrize("policy", ["hazard", "fault", "ignore"])
def test_reads_of_bytes_nobody_wrote(knob, ids, policy):
    """The kernel of key 2 reads 16 bytes of its workspace, which no task ever writes."""
    result = knob(uninitialised_read=policy).run(2002)
    if policy == "fault":
        assert ids(result.faults) == ["hazard.uninitialised-read", "model.failed"]
        assert result.faults[0].ts_code == 0x31
        return
    assert result.ok
    assert ids(result.hazards) == ["hazard.uninitialised-read"] * (policy == "hazard")
    if policy == "hazard":
        assert result.hazards[0].detail["size"] == 16
        assert "workspace 0 of op0" in result.hazards[0].what


def test_outputs_with_bytes_nobody_wrote_are_named(knob):
    """The kernel of key 3 writes nothing; the first missing byte is byte 0."""
    bench = knob()
    assert bench.run(2000).unwritten == {}
    assert bench.run(2003).unwritten == {"y0": 0}


def test_an_event_that_never_comes_times_out(lab, ids):
    """After the policy's seconds the wait fails with error type 4 and TS 0x105; the model ends with 0x91 (S50)."""

    def no_record(blob):
        return replace(blob, tasks=tuple(t for t in blob.tasks if t.type != TaskType.EVENT_RECORD))

    bench = lab(P3, edit=no_record, event_wait_timeout_s=2)
    result = bench.run(5)
    assert ids(result.faults) == ["wait.timeout", "model.failed"]
    fault = result.faults[0]
    assert (fault.error_type, fault.ts_code, fault.acl_code, fault.time) == (4, 0x105, 107020, 1000 + 2_000_000_000)
    assert fault.what == "waited 2 s for event 0"


def test_a_time_limit_that_is_not_reached_changes_nothing(lab):
    """Timers of waits that ended do not stretch the virtual time."""
    plain, limited = lab(P3), lab(P3, event_wait_timeout_s=2)
    for n in (5, 7):
        first, second = plain.run(n), limited.run(n)
        assert (first.started, first.ended) == (second.started, second.ended)


def test_s37_a_tiling_that_fails_stops_the_attached_stream(knob, ids):
    """S37: AI CPU exception 0x2A, nothing written, the main stream waits, the model ends with 507011."""
    bench = knob()
    bench.run(3000)
    result = bench.run(FAIL)
    assert ids(result.faults) == ["tiling.failed", "model.failed"]
    first, model = result.faults
    assert (first.ts_code, first.acl_code, first.stream, first.slot) == (0x2A, 507018, 1, 0)
    assert first.what == "the tiling function of Knob failed: n says so"
    assert model.acl_code == 507011
    assert result.patches == ()


def test_tiling_data_larger_than_the_capacity_write_nothing(knob, ids):
    """20000 bytes do not fit 16384: the task fails, and key, block dim and data keep the values of the run before."""
    bench = knob()
    bench.run(3000)
    at = bench.model.details["op0"]["_tiling_context_addr"]
    before = bench.device.memory.read(at.buffer, at.buffer_bytes)
    result = bench.run(TOO_MUCH)
    assert ids(result.faults) == ["tiling.failed", "model.failed"]
    assert "20000 bytes of tiling data do not fit the capacity of 16384 bytes" in result.faults[0].what
    assert bench.device.memory.read(at.buffer, at.buffer_bytes) == before


def test_a_tiling_function_that_crashes_is_the_plugins_error(knob):
    """No traceback of plugin code reaches the user as a fault of the program."""
    bench = knob()
    with pytest.raises(PluginError, match="RunAicpuRpcSrvLaunch raised ZeroDivisionError") as caught:
        bench.run(CRASH)
    assert caught.value.id == "plugin.aicpu-raised"
    bench.model.abort()
    assert bench.run(2000).ok


def test_a_kernel_that_crashes_is_the_plugins_error(knob):
    """Key 4 raises ValueError; after an abort the model runs again."""
    bench = knob()
    with pytest.raises(PluginError, match="kernel Knob raised ValueError: kernel of Knob") as caught:
        bench.run(2004)
    assert caught.value.id == "plugin.kernel-raised"
    bench.model.abort()
    assert bench.run(2000).outputs["y0"].tolist() == [0, 2, 2000, 7]


def test_s41_the_schedule_mode_of_the_tiling_is_not_carried(knob):
    """S41: mode 1 lands in output cell 6, the entry's `schem` keeps its launch value 0."""
    bench = knob()
    assert bench.run(SCHEDULE).outputs["y0"].tolist()[:2] == [0, 2]
    address = bench.model.details["op0"]["_tiling_context_addr"]
    assert bench.device.memory.read(address.tiling_key + 6 * 128, 4) == b"\1\0\0\0"
    assert bench.kernel_sqe()[1]["schem"] == 0


def test_a_kernel_that_writes_past_an_end_is_a_memory_fault(knob, ids):
    """Key 1 writes five floats into a tensor of four; the fault names the tensor and the four bytes too many."""
    result = knob().run(2001)
    assert ids(result.faults) == ["memory.bounds", "model.failed"]
    assert result.faults[0].ts_code == 0x31
    assert "4 bytes past the end of tensor y0" in result.faults[0].what


def test_a_kernels_own_fault_keeps_its_code(knob, ids):
    """A kernel may raise with a TS code, error type and remedy of its own."""
    result = knob("Refuses").run(2000)
    fault = result.faults[0]
    assert (fault.id, fault.ts_code, fault.acl_code, fault.error_type) == ("odd.refused", 0x27, 507016, 2)
    assert fault.text().endswith("do: do not use it")


def test_tiling_reads_device_memory_and_nothing_else(knob):
    """The depended tensor's data pointer is turned to other bytes: the tiling follows them, not the input array."""
    bench = knob()
    other = bench.device.memory.allocate(4, label="elsewhere")
    bench.device.memory.write(other.address, np.array([4000], np.int32).tobytes())
    sqe = get("v100", "AicpuKernelSqe").parse(bench.device.streams[1].queue.entry(0))
    slots = sqe["param_addr_low"] | sqe["param_addr_high"] << 32
    tensor_object = slots - 752
    bench.device.memory.write(tensor_object + 640, other.address.to_bytes(8, "little"))
    assert bench.run(2000).outputs["y0"].tolist() == [0, 4, 4000, 7]
