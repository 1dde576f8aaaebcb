"""Entries that cannot run (bad kernels, unknown types, wrong libraries), and the completions they leave."""

from __future__ import annotations

from dataclasses import replace

import pytest

from formats import get
from formats.blob import TaskType

P3 = "ascend310p3"
KERNEL = get("v100", "AicoreKernelSqe")
CQE = get("v100", "CqeError")


def _change(bench, stream, slot, struct, **fields):
    raw = bytearray(bench.device.streams[stream].queue.entry(slot))
    for name, value in fields.items():
        get("v100", struct).field(name).patch(raw, 0, value)
    bench.device.replace_sqe(stream, slot, bytes(raw))


def _completions(bench):
    """Every completion entry of the device so far, decoded."""
    cq = bench.device.cq
    raw = bench.device.memory.read(cq.ring.address, 16 * cq.written)
    return [CQE.parse(raw[at : at + 16]) for at in range(0, len(raw), 16)]


def _without_update(blob):
    return replace(blob, tasks=tuple(t for t in blob.tasks if t.type != TaskType.UPDATE))


@pytest.fixture
def plain(lab):
    """A model whose kernel is not patched: compile-time block dim, no update; the kernel is in slot 7."""

    def make(**policies):
        return lab(P3, edit=_without_update, block_dim_placeholder="compiled", **policies)

    return make


def test_a_program_counter_without_a_descriptor_is_a_fault(plain, ids):
    """Into nothing, into a tensor, and less than 64 bytes before an end."""
    bench = plain()
    _slot, sqe = bench.kernel_sqe()
    image = sqe["pc_addr_low"] | sqe["pc_addr_high"] << 32
    end = bench.device.memory.find(image).end
    for pc in (0, bench.model.inputs[0].address, end - 8):
        bench = plain()
        _change(bench, 0, 7, "AicoreKernelSqe", pc_addr_low=pc & 0xFFFFFFFF, pc_addr_high=pc >> 32)
        result = bench.run(5)
        assert ids(result.faults) == ["kernel.bad-pc", "model.failed"]
        assert f"{pc:#x}" in result.faults[0].what


def test_a_kernel_that_nobody_registered_is_a_fault(plain, ids):
    """The descriptor's id is what finds the kernel; another id finds none."""
    bench = plain()
    sqe = bench.kernel_sqe()[1]
    bench.device.memory.poke((sqe["pc_addr_low"] | sqe["pc_addr_high"] << 32) + 8, b"\1\2\3\4")
    result = bench.run(5)
    assert ids(result.faults) == ["kernel.unknown", "model.failed"]
    assert "0x4030201" in result.faults[0].what
    assert result.faults[0].ts_code == 0x31


def test_block_dim_zero_is_a_fault(plain, ids):
    """No block is no launch."""
    bench = plain()
    _change(bench, 0, 7, "AicoreKernelSqe", block_dim=0)
    result = bench.run(5)
    assert ids(result.faults) == ["kernel.block-dim-zero", "model.failed"]


def test_an_fftsplus_entry_is_unsupported_here(plain, ids):
    """An SQE error rather than a wrong execution."""
    bench = plain()
    _change(bench, 0, 7, "AicoreKernelSqe", ffts_type=4)
    result = bench.run(5)
    assert ids(result.faults) == ["sqe.unsupported", "model.failed"]
    assert (result.faults[0].ts_code, result.faults[0].error_type) == (0x106, 8)


def test_an_unknown_sqe_type_is_an_sqe_error(plain, ids):
    """Type 63 is what a driver makes of an entry it refuses: error bit 3, TS 0x106."""
    bench = plain()
    _change(bench, 0, 3, "PhSqe", type=63)
    result = bench.run(5)
    assert ids(result.faults) == ["sqe.unknown-type", "model.failed"]
    fault = result.faults[0]
    assert (fault.error_type, fault.ts_code, fault.kind, fault.engine) == (8, 0x106, "unknown", "scheduler")
    assert "SQE type 63" in fault.what
    entry = next(c for c in _completions(bench) if c["error_bit"])
    assert (entry["error_type"], entry["sqe_type"], entry["sqe_index"], entry["sq_head"]) == (8, 63, 3, 3)


@pytest.mark.parametrize(
    ("so_name", "kernel_name"),
    [
        ("libccl_kernel.so", "RunAicpuRpcSrvLaunch"),
        ("opp/lib/Ascend310P-v1.0-libopmaster.so", "RunOther"),
        ("opp/lib/Ascend310P-v1.0-libopmaster.so.1", "RunAicpuRpcSrvLaunch"),
    ],
)
def test_ai_cpu_functions_are_found_by_library_and_name(lab, ids, so_name, kernel_name):
    """Another library has a function of the same name, so neither alone is enough."""

    def edit(blob):
        first = replace(blob.tasks[0], so_name=so_name, kernel_name=kernel_name)
        return replace(blob, tasks=(first, *blob.tasks[1:]))

    result = lab(P3, edit=edit).run(5)
    assert ids(result.faults) == ["aicpu.unknown-function", "model.failed"]
    assert so_name in result.faults[0].what
    assert kernel_name in result.faults[0].what
    assert result.faults[0].ts_code == 0x2A


def test_only_the_update_leaves_a_completion(lab):
    """wr_cqe is set on the update alone; its entry has no error and the head behind it."""
    bench = lab(P3)
    result = bench.run(5)
    (entry,) = _completions(bench)
    assert result.ok
    expected = {"phase": 1, "error_bit": 0, "error_type": 0, "sq_id": 1, "sq_head": 2, "stream_id": 1, "task_id": 1}
    assert {name: entry[name] for name in expected} == expected
    assert (entry["sqe_type"], entry["sqe_index"], entry["sq_sw_status"]) == (3, 1, 0)


def test_s46_a_completion_without_error_bits_stops_nothing(lab):
    """S46: the stream whose update completed goes on to its record."""
    bench = lab(P3)
    assert bench.run(5).ok
    attached = bench.device.streams[1]
    assert attached.queue.enabled
    assert attached.queue.head == attached.queue.tail == 3


def test_s60_a_fault_stops_its_queue_and_the_siblings_wait(lab, ids):
    """S60, S52: kernel fault, disabled queue, error entry; then the caller's entry, packed from the cause."""
    bench = lab(P3, nop_count=0)
    result = bench.run(5)
    assert ids(result.faults) == ["kernel.placeholder-block-dim", "model.failed"]
    main, caller = bench.device.streams[0], bench.model.caller
    assert not main.queue.enabled
    assert main.queue.head == 2
    update, kernel, model = _completions(bench)
    assert update["error_bit"] == 0
    assert (
        kernel["error_bit"],
        kernel["error_type"],
        kernel["sq_sw_status"],
        kernel["sq_head"],
        kernel["task_id"],
    ) == (1, 1, 0x31, 2, 2)
    assert (model["sq_id"], model["error_type"], model["sqe_type"]) == (caller.id, 32, 7)
    packed = get("v100", "CqeModelExec")
    cq = bench.device.cq
    raw = bench.device.memory.read(cq.ring.address + 16 * (cq.written - 1), 16)
    status = packed.parse(raw)
    assert (status["fault_task_id"], status["fault_stream_id"], status["result"]) == (2, 0, 1)


def test_s60_other_streams_that_wait_are_listed(lab, probe_graph, ids):
    """S60: the tiling fails, the main stream still waits for its event when the model has ended with 507011."""
    bench = lab(P3, graph=probe_graph(operator="Knob"))
    result = bench.run(-1)
    assert ids(result.faults) == ["tiling.failed", "model.failed"]
    assert "stream 0 (main_0) task 0 (event_wait of op0) waits for event 0" in result.faults[0].consequences[0]
    assert bench.device.streams[0].waiting is not None
    bench.model.abort()
    assert bench.device.streams[0].waiting is None
    assert bench.run(2000).ok
