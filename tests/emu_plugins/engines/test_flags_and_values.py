"""Events, notifies, place holders, value writes and conditions, entry by entry."""

from __future__ import annotations

from dataclasses import replace

import pytest

from emu_core.device import Device
from emu_core.errors import DeviceFault
from emu_core.trace import SignalChanged, TaskDone
from emu_plugins.chips.ascend910b import ASCEND910B3
from emu_plugins.engines import sqemu_engines
from emu_plugins.engines.task_types import ACTS, COMPLETES
from formats.enums import CONDITION_TYPES, TASK_TYPES

EVENT_NS, NOTIFY_NS, NOP_NS, WRITE_NS = 500, 500, 100, 100


def test_an_event_wait_passes_after_the_record_and_leaves_the_event_set(queues):
    """A record takes 500 ns; two streams wait, both pass at once, and a third wait passes later."""
    bench = queues()
    first, second, setter = (bench.stream() for _ in range(3))
    bench.add(first, "event_wait", 3)
    bench.add(first, "event_wait", 3)
    bench.add(second, "event_wait", 3)
    bench.add(setter, "event_record", 3)
    bench.run(first, second, setter)
    assert sorted(bench.done()) == [
        (0, 0, "event_wait", EVENT_NS),
        (0, 1, "event_wait", EVENT_NS),
        (1, 0, "event_wait", EVENT_NS),
        (2, 0, "event_record", EVENT_NS),
    ]


def test_an_event_reset_makes_the_next_wait_wait(queues):
    """Record, wait, reset, wait: the last one never passes."""
    bench = queues()
    stream = bench.stream()
    for kind in ("event_record", "event_wait", "event_reset", "event_wait"):
        bench.add(stream, kind, 1)
    bench.run(stream)
    assert [kind for _, _, kind, _ in bench.done()] == ["event_record", "event_wait", "event_reset"]
    assert bench.done()[-1][3] == EVENT_NS + WRITE_NS
    (blocked,) = bench.device.scheduler.blocked([stream])
    assert (blocked.signal, blocked.slot, blocked.since) == ("event 1", 3, EVENT_NS + WRITE_NS)
    assert blocked.setter == "stream 0 task 0 (event_record) ran before, and the flag is clear"


def test_events_and_notifies_of_one_number_are_apart(queues):
    """A notify record does not let an event wait pass."""
    bench = queues()
    first, second = bench.stream(), bench.stream()
    bench.add(first, "event_wait", 4)
    bench.add(second, "notify_record", 4)
    bench.run(first, second)
    assert [kind for _, _, kind, _ in bench.done()] == ["notify_record"]


def test_a_notify_is_consumed_by_one_wait_only(queues):
    """Two streams wait; each of two records lets one pass, in order of arrival."""
    bench = queues()
    first, second, setter = (bench.stream() for _ in range(3))
    bench.add(first, "notify_wait", 2)
    bench.add(second, "notify_wait", 2)
    bench.add(setter, "notify_record", 2)
    bench.run(first, second, setter)
    assert bench.done() == [(2, 0, "notify_record", NOTIFY_NS), (0, 0, "notify_wait", NOTIFY_NS)]
    assert second.waiting is not None
    bench.add(setter, "notify_record", 2)
    bench.run(setter)
    assert bench.done()[-1] == (1, 0, "notify_wait", 2 * NOTIFY_NS)
    values = [(e.signal, e.value) for e in bench.device.trace if isinstance(e, SignalChanged)]
    assert values == [("notify 2", 1), ("notify 2", 0)] * 2


def test_a_record_before_the_wait_is_kept(queues):
    """The flag stays until somebody consumes it."""
    bench = queues()
    stream = bench.stream()
    bench.add(stream, "notify_record", 0)
    bench.add(stream, "notify_wait", 0)
    bench.run(stream)
    assert bench.done()[-1] == (0, 1, "notify_wait", NOTIFY_NS)


def test_a_nop_takes_a_tenth_of_a_microsecond(queues):
    """Ten of them end at 1000 ns."""
    bench = queues()
    stream = bench.stream()
    for _ in range(10):
        bench.add(stream, "nop")
    bench.run(stream)
    assert bench.done()[-1] == (0, 9, "nop", 10 * NOP_NS)


def test_other_place_holders_complete_and_say_their_number(queues):
    """Task type 57 has no engine here; it passes and is traced with its name, 999 by number alone."""
    bench = queues()
    stream = bench.stream()
    bench.raw(stream, "PhSqe", type=3, task_type=57)
    bench.raw(stream, "PhSqe", type=3, task_type=999)
    bench.run(stream)
    found = [(e.kind, e.detail) for e in bench.device.trace if isinstance(e, TaskDone)]
    assert found == [("place_holder", "task type 57 (TASK_SQE_UPDATE)"), ("place_holder", "task type 999")]


@pytest.mark.parametrize("awsize", range(6))
def test_a_plain_write_stores_two_to_the_awsize_bytes(queues, awsize):
    """1 to 32 bytes of the entry's second half land at the address; the byte behind stays."""
    bench = queues()
    stream, at = bench.stream(), bench.room(64)
    parts = {f"write_value_part{i}": int.from_bytes(bytes(range(4 * i + 1, 4 * i + 5)), "little") for i in range(8)}
    bench.raw(stream, "WriteValueSqe", type=8, va=1, awsize=awsize, write_addr=at, **parts)
    bench.run(stream)
    size = 1 << awsize
    assert bench.device.memory.read(at, size + 1) == bytes(range(1, size + 1)) + b"\0"
    assert bench.done() == [(0, 0, "write_value", WRITE_NS)]


@pytest.mark.parametrize(("awsize", "offset"), [(1, 1), (3, 4), (5, 16), (6, 0), (7, 0)])
def test_a_plain_write_must_be_aligned_and_at_most_32_bytes(queues, awsize, offset):
    """Anything else is an SQE error."""
    bench = queues()
    stream, at = bench.stream(), bench.room(256)
    bench.raw(stream, "WriteValueSqe", type=8, va=1, awsize=awsize, write_addr=at + offset)
    bench.run(stream)
    (fault,) = bench.faults
    assert (fault.id, fault.error_type, fault.ts_code, fault.acl_code) == ("sqe.write-value", 8, 0x106, 507001)


@pytest.mark.parametrize(
    ("fields", "what"),
    [
        ({"va": 0}, "write to the physical address"),
        ({"va": 1, "sub_type": 2}, "doorbell"),
        ({"va": 0, "ptr_mode": 1}, "descriptor at a physical address"),
        ({"va": 1, "sub_type": 3, "remote_phy_dev_id": 2}, "notify record for another device"),
    ],
)
def test_value_writes_to_absent_hardware_follow_the_policy(queues, fields, what):
    """They complete without a write and say so, or are SQE errors."""
    bench = queues()
    stream, at = bench.stream(), bench.room(64)
    bench.raw(stream, "WriteValueSqe", type=8, write_addr=at, write_value_part0=7, **fields)
    bench.run(stream)
    (done,) = [e for e in bench.device.trace if isinstance(e, TaskDone)]
    assert done.detail.startswith(what)
    assert done.detail.endswith("absent")
    assert bench.device.memory.read(at, 4) == bytes(4)
    strict = queues(absent_hardware="fault")
    stream = strict.stream()
    strict.raw(stream, "WriteValueSqe", type=8, write_addr=strict.room(64), **fields)
    strict.run(stream)
    assert [(f.id, f.error_type) for f in strict.faults] == [("sqe.unsupported", 8)]


@pytest.mark.parametrize("sub_type", [3, 4])
def test_a_notify_record_for_another_process_of_this_device_sets_the_notify(queues, sub_type):
    """A stream that waits for notify 9 goes on when the write is done."""
    bench = queues()
    waits, sends = bench.stream(), bench.stream()
    bench.add(waits, "notify_wait", 9)
    bench.raw(sends, "WriteValueSqe", type=8, sub_type=sub_type, event_id=9, awsize=2, write_value_part0=1)
    bench.run(waits, sends)
    assert bench.done() == [(1, 0, "write_value", WRITE_NS), (0, 0, "notify_wait", WRITE_NS)]


@pytest.mark.parametrize("sub_type", [5, 0xFFFFFFFF])
def test_a_value_write_of_no_known_sub_type_is_undefined(queues, sub_type):
    """The refusal names the numbers that are known."""
    bench = queues()
    stream = bench.stream()
    bench.raw(stream, "WriteValueSqe", type=8, va=1, sub_type=sub_type, write_addr=bench.room(64))
    bench.run(stream)
    (fault,) = bench.faults
    assert (fault.id, "undefined" in fault.what) == ("sqe.unsupported", True)


def test_a_plain_write_out_of_bounds_or_into_a_cell_is_a_memory_fault(queues):
    """The fault comes when the write happens, with the general task exception."""
    bench = queues()
    at = bench.room(64)
    bench.device.memory.protect(at, 8, "tiling key of op")
    for address, id_ in ((at, "memory.protected"), (0x1000, "memory.bounds")):
        stream = bench.stream()
        bench.raw(stream, "WriteValueSqe", type=8, va=1, awsize=3, write_addr=address)
        bench.run(stream)
        assert (bench.faults[-1].id, bench.faults[-1].ts_code) == (id_, 0x103)


@pytest.mark.parametrize("sub_type", [2, 3, *range(11, 24)])
def test_conditions_for_absent_hardware_follow_the_policy(queues, sub_type):
    """RDMA (2, 3) and data queues (11 to 23) complete and are traced by name, or are SQE errors."""
    for policy, ids in (("complete", []), ("fault", ["sqe.unsupported"])):
        bench = queues(absent_hardware=policy)
        stream = bench.stream()
        bench.raw(stream, "FunctionCallSqe", type=20, conds_sub_type=sub_type)
        bench.run(stream)
        assert [f.id for f in bench.faults] == ids
        details = [e.detail for e in bench.device.trace if isinstance(e, TaskDone)]
        assert all(CONDITION_TYPES[sub_type] in detail for detail in details)
        assert len(details) == 1 - len(ids)


@pytest.mark.parametrize(
    ("struct", "number", "fields"),
    [("EventWaitSqe", 5, {"event_id": 1, "timeout": 2}), ("NotifyWaitSqe", 7, {"notify_id": 1, "timeout": 2})],
)
def test_a_wait_has_seconds_of_its_own(queues, struct, number, fields):
    """After two seconds of virtual time it is a task timeout (bit 2); with 0 it waits for ever."""
    bench = queues()
    limited, forever = bench.stream(), bench.stream()
    bench.raw(limited, struct, type=number, kernel_credit=255, **fields)
    bench.raw(forever, struct, type=number, kernel_credit=255, **{**fields, "timeout": 0})
    bench.run(limited, forever)
    (fault,) = bench.faults
    assert (fault.id, fault.error_type, fault.ts_code, fault.time) == ("wait.timeout", 4, 0x105, 2_000_000_000)
    assert forever.waiting is not None


@pytest.mark.parametrize("sub_type", [26, 255])
def test_conditions_of_no_known_sub_type_are_undefined(queues, sub_type):
    """Task type not supported, and the number is named."""
    bench = queues()
    stream = bench.stream()
    bench.raw(stream, "FunctionCallSqe", type=20, conds_sub_type=sub_type)
    bench.run(stream)
    (fault,) = bench.faults
    assert (fault.id, fault.ts_code) == ("sqe.unsupported", 0x97)
    assert f"sub type {sub_type}" in fault.what


@pytest.mark.parametrize("number", sorted(TASK_TYPES))
def test_every_task_type_has_a_rule_and_completes_as_a_place_holder(queues, number):
    """Each is listed once; with empty fields and pre-P none of them stops the queue, but 101 (no table) and 104, 12."""
    listed = [number for numbers in COMPLETES.values() for number in numbers]
    assert [*ACTS, *listed].count(number) == 1
    bench = queues()
    stream = bench.stream()
    bench.raw(stream, "PhSqe", type=3, task_type=number, pre_p=1)
    bench.run(stream)
    assert bool(bench.faults) is (number in {101, 104})
    if number in listed:
        (done,) = [e for e in bench.device.trace if isinstance(e, TaskDone)]
        assert done.detail.startswith(f"task type {number} ({TASK_TYPES[number]}): ")


def test_a_forced_recycle_empties_the_queue_of_its_target(queues):
    """Task type 6 with sub type 0x67; any other sub type leaves the queue alone."""
    for sub_type, left in ((0x67, 0), (0, 2)):
        bench = queues()
        waits, recycles = bench.stream(), bench.stream()
        bench.add(waits, "event_wait", 1)
        bench.add(waits, "nop")
        bench.raw(recycles, "PhMaintenanceSqe", type=3, task_type=6, pre_p=1, sub_type=sub_type, target_id=waits.id)
        bench.run(waits, recycles)
        assert waits.queue.pending == left


def test_the_abort_of_a_model_that_does_not_exist_is_a_fault(queues):
    """Task type 12, operation 6; the other operations are the host's bookkeeping."""
    bench = queues()
    stream = bench.stream()
    for operation in (0, 1, 2, 3, 4, 5, 6):
        bench.raw(stream, "PhModelMaintenanceSqe", type=3, task_type=12, pre_p=1, model_id=3, operation=operation)
    bench.run(stream)
    assert [(f.id, f.slot, f.ts_code) for f in bench.faults] == [("model.unknown", 6, 0x4)]


def test_after_a_fault_the_queue_stops_at_the_entry(queues):
    """In failure mode stop the entries behind it do not run, and other streams go on."""
    bench = queues(failure_mode="stop")
    bad, good = bench.stream(), bench.stream()
    bench.raw(bad, "CommonSqe", type=17)
    bench.add(bad, "nop")
    bench.add(good, "nop")
    bench.run(bad, good)
    assert bench.done() == [(1, 0, "nop", NOP_NS)]
    assert (bad.queue.head, bad.queue.enabled, bad.state.name) == (0, False, "SLOT_DISABLE")


def test_a_full_completion_ring_is_drained_by_the_host(host):
    """More completions than the ring holds, with nobody reading: the oldest are taken, none blocks."""
    device = Device(replace(ASCEND910B3, cq_depth=4), None, host)
    stream = device.create_stream("s", bound=False)
    layout = device.layout("PhSqe")
    for task in range(10):
        stream.queue.append(layout.build({"type": 3, "task_type": 103, "wr_cqe": 1, "task_id": task}))
    device.scheduler.ring_doorbell(stream)
    device.scheduler.run_until_idle()
    assert device.cq.written == 10
    entries = [device.layout("CqeError").parse(raw) for raw in device.cq.drain()]
    assert [(e["task_id"], e["phase"]) for e in entries] == [(8, 1), (9, 1)]


def test_a_chip_of_another_family_has_no_engines_of_ours(host):
    """Its queues hold other entries, so the v100 handlers stay away."""

    class Other:
        chip = replace(ASCEND910B3, family="arch5162")

    assert list(sqemu_engines(device=Other())) == []


def test_a_wait_that_loses_a_notify_waits_on(queues):
    """It has one time limit, from when it parked first, and it is not woken twice by one record."""
    bench = queues(event_wait_timeout_s="1")
    first, second = bench.stream(), bench.stream()
    for stream in (first, second):
        stream.model_id = 0
        bench.add(stream, "notify_wait", 2)
    setter = bench.stream()
    bench.add(setter, "notify_record", 2)
    bench.run(first, second, setter)
    assert [(s, k) for s, _, k, _ in bench.done()] == [(2, "notify_record"), (0, "notify_wait")]
    (fault,) = bench.faults
    assert (fault.id, fault.stream, fault.time) == ("wait.timeout", 1, 1_000_000_000)


def test_a_parked_stream_polls_and_a_stopped_one_is_disabled(queues):
    """Register codes 10 and 7, and 0 when everything has retired."""
    bench = queues()
    waits, fails, ends = (bench.stream() for _ in range(3))
    bench.add(waits, "event_wait", 0)
    bench.raw(fails, "CommonSqe", type=33)
    bench.add(ends, "nop")
    bench.run(waits, fails, ends)
    assert [int(s.state) for s in (waits, fails, ends)] == [10, 7, 0]


def test_a_second_doorbell_of_a_running_queue_only_publishes(queues):
    """Entries that are added while the queue runs are executed in order, once."""
    bench = queues()
    stream = bench.stream()
    bench.add(stream, "nop")
    bench.device.scheduler.ring_doorbell(stream)
    bench.add(stream, "nop")
    bench.run(stream)
    bench.run(stream)
    assert bench.done() == [(0, 0, "nop", NOP_NS), (0, 1, "nop", 2 * NOP_NS)]


def test_ending_a_wait_of_a_stream_that_waits_for_nothing_changes_nothing(queues):
    """The caller of a model may have gone on already."""
    bench = queues()
    stream = bench.stream()
    bench.device.scheduler.end_wait(stream, DeviceFault("x", ts_code=1, id="x.y"), 0)
    assert bench.faults == []
    assert stream.state.name == "IDLE"
