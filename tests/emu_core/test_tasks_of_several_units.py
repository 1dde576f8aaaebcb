"""v200 tasks of 1 to 5 units of 64 bytes: slots, ids, head and tail, fetched copies, recovery."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emu_core.device import Device
from emu_core.engines import Handler, Run
from emu_core.errors import DeviceFault, InputError, LimitError
from emu_core.hookspecs import hookimpl
from emu_core.plugins import PluginHost
from emu_core.trace import TaskDone, TaskStarted
from emu_plugins.chips.ascend950 import ASCEND950PR_9599
from formats import BUILTIN

CCU, NOP = BUILTIN.get("v200", "CcuSqe"), BUILTIN.get("v200", "PhSqe")
CHIP = replace(ASCEND950PR_9599, sq_depth=16, usable_tasks=12, cq_depth=8)


class CcuPlugin:
    """An engine for CCU entries (type 16), which notes what it sees; mission 14 fails."""

    def __init__(self):
        self.seen = []

    def _start(self, task):
        self.seen.append((task.slot, task.task_id, task.sqe + task.further))
        if task.field("CcuSqe", "mission_id") == 14:
            raise DeviceFault("mission 14", ts_code=0x227, id="ccu.failed")
        return Run(1000)

    @hookimpl
    def sqemu_engines(self, *, device):
        """One handler, where there are such entries."""
        return [Handler("ccu", "ccu", 16, self._start)] if device.chip.family == "v200" else []


@pytest.fixture(scope="module")
def ccu():
    """The engine."""
    return CcuPlugin()


@pytest.fixture
def device(ccu):
    """A 950 with short rings and that engine."""
    ccu.seen.clear()
    return Device(CHIP, {}, PluginHost([ccu]), record_rings=True)


def mission(units, *, fill=1, number=0, task=0):
    """A CCU task of `units` units whose further units hold the byte `fill`."""
    first = CCU.build({"type": 16, "sqe_length": units - 1, "mission_id": number, "task_id": task})
    return first + bytes([fill]) * 64 * (units - 1)


def nop():
    """A NOP."""
    return NOP.build({"type": 3, "task_type": 103, "kernel_credit": 253})


def run(device, stream):
    """Let `stream` run until nothing is left."""
    device.scheduler.ring_doorbell(stream)
    device.scheduler.run_until_idle()


def done(device):
    """(slot, task, kind) of what completed."""
    return [(e.slot, e.task, e.kind) for e in device.trace if isinstance(e, TaskDone)]


def test_a_task_occupies_its_slots_and_retires_as_one(device, ccu):
    """NOP, three units, NOP: slots 0, 1 to 3 and 4, ids 0, 1 and 2, head at 5; the engine sees all 192 bytes."""
    stream = device.create_stream("s", bound=False)
    slots = [stream.queue.append(sqe) for sqe in (nop(), mission(3, fill=7), nop())]
    assert (slots, stream.queue.tail, stream.queue.pending, stream.queue.next_task_id()) == ([0, 1, 4], 5, 5, 3)
    run(device, stream)
    assert done(device) == [(0, 0, "nop"), (1, 1, "ccu"), (4, 2, "nop")]
    assert stream.queue.head == 5
    assert ccu.seen == [(1, 1, mission(3, fill=7))]
    assert stream.executed[2] == stream.executed[3] == b"\7" * 64


def test_units_wrap_at_the_end_of_the_ring(device, ccu):
    """Behind 14 entries a task of five units lies in slots 14, 15, 0, 1 and 2."""
    stream = device.create_stream("s", bound=False)
    for _ in range(14):
        stream.queue.append(nop())
    run(device, stream)
    assert stream.queue.append(mission(5, fill=9)) == 14
    run(device, stream)
    assert (stream.queue.head, stream.queue.tail) == (3, 3)
    assert ccu.seen == [(14, 14, mission(5, fill=9))]


def test_a_ring_needs_room_for_every_unit(device):
    """Of 16 entries one stays empty: behind 11 NOPs four more fit, not five; a bound ring of 12 takes no 13th."""
    plain, bound = device.create_stream("p", bound=False), device.create_stream("b", bound=True)
    for stream in (plain, bound):
        for _ in range(11):
            stream.queue.append(nop())
    with pytest.raises(LimitError) as full:
        plain.queue.append(mission(5))
    plain.queue.append(mission(4))
    with pytest.raises(LimitError) as usable:
        bound.queue.append(mission(2))
    assert (full.value.id, usable.value.id) == ("limit.sq-full", "EE1019")
    assert bound.queue.tail == 11


@pytest.mark.parametrize("size", [0, 63, 65, 6 * 64])
def test_a_task_is_one_to_five_whole_units(device, size):
    """Anything else is refused before a byte is written."""
    stream = device.create_stream("s", bound=False)
    with pytest.raises(InputError) as caught:
        stream.queue.append(bytes(size))
    assert (caught.value.id, stream.queue.tail) == ("ring.task-size", 0)


@pytest.mark.parametrize(("sqe", "words"), [
    (mission(3)[:64], "3 units of 64 bytes, of which 1 are published"),
    (CCU.build({"type": 16, "sqe_length": 6}), "more than 5 units"),
])  # fmt: skip
def test_a_length_that_cannot_be_is_an_sqe_error(device, ccu, sqe, words):
    """The task at head claims units that are not there, or more than exist."""
    stream = device.create_stream("s", bound=False)
    stream.queue.append(sqe)
    run(device, stream)
    (fault,) = device.scheduler.faults
    assert (fault.id, fault.ts_code, fault.error_type) == ("sqe.length", 0x106, 8)
    assert words in fault.what
    assert ccu.seen == []


def test_recovery_goes_on_behind_the_last_unit(device):
    """A failing task of four units in slots 0 to 3: the host moves head to 4 and the NOP there runs."""
    stream = device.create_stream("s", bound=False)
    stream.queue.append(mission(4, number=14))
    stream.queue.append(nop())
    run(device, stream)
    assert [f.id for f in device.scheduler.faults] == ["ccu.failed"]
    assert done(device) == [(4, 1, "nop")]
    assert stream.queue.head == 5


def test_a_further_unit_that_was_fetched_before_it_was_rewritten_is_stale(device, ccu):
    """While the stream waits, unit 2 of the task behind it changes: the fetched bytes run, and the hazard names it."""
    stream, setter = device.create_stream("s", bound=False), device.create_stream("t", bound=False)
    wait = BUILTIN.get("v200", "NotifyWaitSqe").build({"type": 7, "sub_type": 1, "clr_flag": 1, "notify_id": 1})
    record = BUILTIN.get("v200", "NotifyRecordSqe").build({"type": 6, "notify_id": 1})
    stream.queue.append(wait)
    slot = stream.queue.append(mission(3, fill=5))
    run(device, stream)
    device.replace_sqe(stream.id, slot + 2, b"\6" * 64)
    setter.queue.append(record)
    run(device, setter)
    assert ccu.seen == [(1, 1, mission(3, fill=5))]
    (hazard,) = device.hazards
    assert hazard.id == "hazard.stale-prefetch"
    assert "unit 2" in hazard.what
    (started,) = [e for e in device.trace if isinstance(e, TaskStarted) and e.kind == "ccu"]
    assert started.fetched_copy


def test_with_the_refetch_policy_all_units_are_those_of_the_ring(ccu):
    """The same with `stale_prefetch=refetch`: the new bytes run, in one piece."""
    ccu.seen.clear()
    device = Device(CHIP, {"stale_prefetch": "refetch"}, PluginHost([ccu]))
    stream, setter = device.create_stream("s", bound=False), device.create_stream("t", bound=False)
    stream.queue.append(BUILTIN.get("v200", "NotifyWaitSqe").build({"type": 7, "sub_type": 1, "notify_id": 1}))
    slot = stream.queue.append(mission(3, fill=5))
    run(device, stream)
    device.replace_sqe(stream.id, slot + 1, b"\6" * 64)
    setter.queue.append(BUILTIN.get("v200", "NotifyRecordSqe").build({"type": 6, "notify_id": 1}))
    run(device, setter)
    assert ccu.seen == [(1, 1, mission(3)[:64] + b"\6" * 64 + b"\5" * 64)]
    assert device.hazards == []


def test_serial_numbers_have_32_bits_and_a_completion_carries_both_halves(device):
    """Behind 65535 comes 65536; word 1 of a completion entry is the serial number, in slots of 32 bytes."""
    stream = device.create_stream("s", bound=False)
    stream.queue.submissions.count = 65535
    entries = [NOP.build({"type": 3, "task_type": 103, "wr_cqe": 1}) for _ in range(2)]
    for sqe in entries:
        stream.queue.append(sqe)
    run(device, stream)
    assert [task for _, task, _ in done(device)] == [65535, 65536]
    raw = device.cq.drain()
    assert [len(entry) for entry in raw] == [32, 32]
    found = [device.layout("CqeError").parse(entry) for entry in raw]
    assert [(e["stream_id"], e["task_id"], e["sq_id"]) for e in found] == [(65535, 0, 0), (0, 1, 0)]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(1, 5), min_size=1, max_size=12))
def test_any_run_of_tasks_retires_in_order_and_leaves_the_ring_empty(sizes):
    """Submitted whenever there is room, tasks of any size complete once each, in the order of their serial numbers."""
    engine = CcuPlugin()
    device = Device(CHIP, {}, PluginHost([engine]))
    stream = device.create_stream("s", bound=False)
    for i, units in enumerate(sizes):
        if stream.queue.depth - 1 - stream.queue.pending < units:
            run(device, stream)
        stream.queue.append(mission(units, fill=i))
    run(device, stream)
    assert [(task, len(raw) // 64) for _, task, raw in engine.seen] == list(enumerate(sizes))
    assert stream.queue.head == stream.queue.tail == sum(sizes) % 16
    assert set(stream.queue.slot_of) <= set(range(len(sizes)))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 5), min_size=20, max_size=50))
def test_a_long_queue_of_nops_and_tasks_ends_when_it_should(sizes):
    """0 stands for a NOP of 100 ns, n for a task of n units and 1000 ns; each ends behind the one before it."""
    engine = CcuPlugin()
    device = Device(replace(CHIP, sq_depth=257, usable_tasks=256), {}, PluginHost([engine]))
    stream = device.create_stream("s", bound=False)
    slots = [stream.queue.append(mission(units) if units else nop()) for units in sizes]
    run(device, stream)
    ends, slot = 0, 0
    for units, at, event in zip(sizes, slots, [e for e in device.trace if isinstance(e, TaskDone)], strict=True):
        ends += 1000 if units else 100
        assert (at, event.slot, event.time) == (slot, slot, ends)
        slot += max(units, 1)
    assert stream.queue.head == slot
