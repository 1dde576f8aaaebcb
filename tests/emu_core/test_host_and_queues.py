"""What the host does to queues: reading completions, errors, pausing, prefetch clear; and who gets an active slot."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emu_core.device import Device
from emu_core.errors import InputError, LimitError
from emu_core.streams import State
from emu_core.trace import TaskDone
from emu_plugins.chips.ascend910b import ASCEND910B3

NOP_NS, EVENT_NS, CONDITION_NS, ROUND_TRIP_NS = 100, 500, 1000, 30_000


def _done(bench):
    return [(e.stream, e.slot, e.time) for e in bench.events(TaskDone)]


def _reported(bench, stream, count):
    """NOPs that write a completion entry each."""
    layout = bench.device.layout("PhSqe")
    for _ in range(count):
        task = stream.queue.next_task_id()
        values = {"type": 3, "task_type": 103, "wr_cqe": 1, "rt_stream_id": stream.id, "task_id": task}
        stream.queue.append(layout.build(values))


def _bad(bench, stream):
    """An entry that no engine handles."""
    stream.queue.append(bench.device.layout("PhSqe").build({"type": 18, "task_id": stream.queue.next_task_id()}))


def _entries(bench, raw):
    return [bench.device.layout("CqeError").parse(one) for one in raw]


# ---- a full completion ring --------------------------------------------------------------------------------------


@pytest.fixture
def full(queues, chip):
    """A device with a completion ring of four entries: `full(reader)`."""
    return lambda reader: queues(chip=replace(chip, cq_depth=4), completion_reader=reader)


def test_a_full_completion_ring_holds_the_queue_until_the_host_reads(full):
    """The fifth entry is done but not retired; what the host reads releases it, with the phase of the next lap."""
    bench = full("none")
    stream = bench.stream()
    _reported(bench, stream, 6)
    bench.run(stream)
    assert (stream.state, stream.queue.head, bench.device.cq.written) == (State.CQ_FULL, 4, 4)
    first = bench.device.scheduler.completions.read(1)
    bench.device.scheduler.run_until_idle()
    assert (stream.state, stream.queue.head, bench.device.cq.written) == (State.CQ_FULL, 5, 5)
    rest = bench.device.scheduler.completions.read()
    bench.device.scheduler.run_until_idle()
    assert (stream.state, stream.queue.head) == (State.IDLE, 6)
    found = _entries(bench, [*first, *rest, *bench.device.scheduler.completions.read()])
    assert [(e["task_id"], e["phase"], e["sq_head"]) for e in found] == [
        (0, 1, 1), (1, 1, 2), (2, 1, 3), (3, 1, 4), (4, 0, 5), (5, 0, 6),
    ]  # fmt: skip


def test_a_queue_that_holds_is_reported(full):
    """The host is named as the one who has to act."""
    bench = full("none")
    stream = bench.stream()
    _reported(bench, stream, 5)
    bench.run(stream)
    text = bench.device.scheduler.deadlock([stream]).text()
    assert "waits for room in the completion ring" in text
    assert "the host has to read completion entries" in text


def test_queues_that_hold_go_on_in_the_order_in_which_they_came(full):
    """Both fill the ring; each entry that is read lets one of them go on."""
    bench = full("none")
    first, second = bench.stream(), bench.stream()
    _reported(bench, first, 3)
    _reported(bench, second, 3)
    bench.run(first, second)
    assert [s.state for s in (first, second)] == [State.CQ_FULL] * 2
    bench.device.scheduler.completions.read(1)
    assert [s.state for s in (first, second)] == [State.SLOT_ENABLE, State.CQ_FULL]


def test_a_host_that_looks_after_a_round_trip_releases_everything(full):
    """Nine entries in a ring of four: full at 400 ns, read one round trip after the fifth is done, and again."""
    bench = full("round_trip")
    stream = bench.stream()
    _reported(bench, stream, 9)
    bench.run(stream)
    ends = [time for _, _, time in _done(bench)]
    first = 5 * NOP_NS + ROUND_TRIP_NS
    assert ends == [100, 200, 300, 400, 500, first + 100, first + 200, first + 300, first + 400]
    assert (stream.state, bench.device.cq.written) == (State.IDLE, 9)


def test_an_error_entry_holds_like_any_other(full):
    """The queue stops only when its error report is written."""
    bench = full("none")
    stream = bench.stream()
    _reported(bench, stream, 4)
    _bad(bench, stream)
    bench.run(stream)
    assert (stream.state, stream.queue.enabled) == (State.CQ_FULL, False)
    assert [f.id for f in bench.faults] == ["sqe.unknown-type"]
    bench.device.scheduler.completions.read()
    assert stream.state is State.SLOT_DISABLE


def test_a_queue_that_is_taken_off_the_device_holds_no_longer(full):
    """Its entry is not written, and the host has nothing to look for."""
    bench = full("round_trip")
    stream = bench.stream()
    _reported(bench, stream, 5)
    bench.device.clock.at(600, 9, lambda: bench.device.scheduler.halt(stream))
    bench.run(stream)
    assert (stream.state, bench.device.cq.written, bench.device.clock.now) == (State.IDLE, 4, 600)


# ---- errors of plain streams -------------------------------------------------------------------------------------


def test_s45_the_host_skips_the_failing_entry_and_enables_the_queue_again(queues):
    """Head is the reported one + 1; the entry behind runs one round trip after the report."""
    bench = queues()
    stream = bench.stream()
    _bad(bench, stream)
    bench.add(stream, "nop")
    bench.run(stream)
    assert [f.slot for f in bench.faults] == [0]
    assert _done(bench) == [(0, 1, ROUND_TRIP_NS + NOP_NS)]
    assert (stream.state, stream.queue.head) == (State.IDLE, 2)


def test_s45_with_nothing_behind_the_failing_entry_only_head_is_set(queues):
    """The queue stays disabled until more is submitted, and then runs that."""
    bench = queues()
    stream = bench.stream()
    _bad(bench, stream)
    bench.run(stream)
    assert (stream.state, stream.queue.head, stream.queue.enabled) == (State.SLOT_DISABLE, 1, False)
    assert bench.device.clock.now == 0
    bench.add(stream, "nop")
    bench.run(stream)
    assert _done(bench) == [(0, 1, NOP_NS)]


def test_s45_a_failing_model_execute_takes_its_paired_wait_with_it(queues):
    """Head + 2: the wait for the end of the graph is skipped, the NOP behind it runs."""
    bench = queues()
    stream = bench.stream()
    bench.add(stream, "model_execute", 5)
    bench.add(stream, "notify_wait", 0)
    bench.add(stream, "nop")
    bench.run(stream)
    assert [f.id for f in bench.faults] == ["model.unknown"]
    assert _done(bench) == [(0, 2, CONDITION_NS + ROUND_TRIP_NS + NOP_NS)]


def test_s45_skipping_never_goes_past_tail(queues):
    """A model execute without the wait behind it: head is tail."""
    bench = queues()
    stream = bench.stream()
    bench.add(stream, "model_execute", 5)
    bench.run(stream)
    assert (stream.queue.head, stream.queue.pending) == (1, 0)


def test_s46_a_report_without_error_bits_is_no_reason_to_act(queues):
    """Neither 0 nor the warning bit 6; an error of a queue that has not stopped does nothing either."""
    bench = queues(failure_mode="stop")
    stream, other = bench.stream(), bench.stream()
    _bad(bench, stream)
    bench.add(stream, "nop")
    bench.run(stream)
    layout = bench.device.layout("CqeError")
    recovery = bench.device.scheduler.recovery
    for error_type in (0, 64):
        assert not recovery.handle(stream, layout.build({"error_type": error_type, "sq_head": 0}))
    assert not recovery.handle(other, layout.build({"error_type": 1}))
    assert (stream.state, stream.queue.head) == (State.SLOT_DISABLE, 0)


def test_s53_mode_stop_cannot_be_left_and_new_streams_inherit_it(queues):
    """STOP, then CONTINUE is 207000."""
    bench = queues()
    before = bench.stream()
    recovery = bench.device.scheduler.recovery
    recovery.set_mode("continue")
    recovery.set_mode("stop")
    with pytest.raises(LimitError) as caught:
        recovery.set_mode("continue")
    assert caught.value.id == "207000"
    assert (before.stops, bench.stream().stops) == (True, True)


def test_s53_after_an_error_in_mode_stop_everything_is_refused(queues):
    """The queue stays where it stopped, and a doorbell of any plain stream is refused."""
    bench = queues(failure_mode="stop")
    first, second, model = bench.stream(), bench.stream(), bench.stream(bound=True)
    _bad(bench, first)
    bench.add(first, "nop")
    bench.run(first)
    assert (first.state, first.queue.head, _done(bench)) == (State.SLOT_DISABLE, 0, [])
    bench.add(second, "nop")
    with pytest.raises(InputError, match="stream 0 failed in failure mode stop") as caught:
        bench.run(second)
    assert caught.value.id == "stream.aborted"
    bench.add(model, "nop")
    bench.run(model)
    assert [stream for stream, *_ in _done(bench)] == [2]


def test_mode_stop_releases_what_waits_and_what_comes_to_wait_later(queues):
    """One stream waits when the error comes, one reaches its wait behind it; both stop there, and nothing is stuck."""
    bench = queues(failure_mode="stop")
    bad, waits, later = (bench.stream() for _ in range(3))
    bench.add(bad, "nop")
    _bad(bench, bad)
    for stream, nops, wait in ((waits, 0, "event_wait"), (later, 5, "notify_wait")):
        for _ in range(nops):
            bench.add(stream, "nop")
        bench.add(stream, wait, 3)
        bench.add(stream, "nop")
    bench.run(bad, waits, later)
    assert [(s.state, s.queue.head, s.queue.enabled) for s in (waits, later)] == [
        (State.SLOT_DISABLE, 0, False),
        (State.SLOT_DISABLE, 5, False),
    ]
    assert bench.device.scheduler.deadlock([bad, waits, later]) is None
    (fault,) = bench.faults
    assert fault.consequences == (
        "stream 1 task 0 (event_wait) was released from event 3 and stopped",
        "stream 2 task 5 (notify_wait) was released from notify 3 and stopped",
    )
    assert [(stream, slot) for stream, slot, _ in _done(bench) if stream] == [(2, slot) for slot in range(5)]


def test_mode_continue_leaves_what_waits_waiting(queues):
    """The same programs are a deadlock there."""
    bench = queues()
    bad, waits = bench.stream(), bench.stream()
    _bad(bench, bad)
    bench.add(waits, "event_wait", 3)
    bench.run(bad, waits)
    assert waits.state is State.POLLING_FLAG
    assert bench.device.scheduler.deadlock([bad, waits]) is not None


def test_a_second_error_in_mode_stop_keeps_the_first_reason(queues):
    """Two streams fail; what is released is a consequence of the first fault."""
    bench = queues(failure_mode="stop")
    first, second, waits = (bench.stream() for _ in range(3))
    _bad(bench, first)
    bench.add(second, "nop")
    _bad(bench, second)
    for _ in range(3):
        bench.add(waits, "nop")
    bench.add(waits, "event_wait", 1)
    bench.run(first, second, waits)
    assert [len(fault.consequences) for fault in bench.faults] == [1, 0]
    assert bench.device.scheduler.recovery.aborted == "stream 0 failed in failure mode stop"


def test_a_stream_of_a_model_is_left_alone_by_the_hosts_recovery(queues):
    """Its model fails as a whole."""
    bench = queues()
    stream = bench.stream(bound=True)
    stream.model_id = 0
    _bad(bench, stream)
    bench.add(stream, "nop")
    bench.run(stream)
    assert (stream.state, stream.queue.head, _done(bench)) == (State.SLOT_DISABLE, 0, [])


def test_a_stream_that_was_put_right_in_between_is_not_recovered_again(queues):
    """It is taken off the device before the host's answer comes."""
    bench = queues()
    stream = bench.stream()
    _bad(bench, stream)
    bench.add(stream, "nop")
    bench.device.clock.at(500, 9, lambda: bench.device.scheduler.halt(stream))
    bench.run(stream)
    assert (stream.state, _done(bench)) == (State.IDLE, [])


# ---- pause and prefetch clear ------------------------------------------------------------------------------------


def test_a_paused_stream_halts_before_its_next_entry(queues):
    """Paused at 250 ns: the third NOP ends, the fourth starts when the host resumes at 1000."""
    bench = queues()
    stream = bench.stream()
    for _ in range(5):
        bench.add(stream, "nop")
    scheduler = bench.device.scheduler
    bench.device.clock.at(250, 9, lambda: scheduler.pause(stream))
    bench.run(stream)
    assert stream.queue.head == 3
    assert "waits for the host to resume it" in scheduler.deadlock([stream]).text()
    bench.device.clock.at(1000, 9, lambda: scheduler.resume(stream))
    scheduler.run_until_idle()
    assert [time for _, _, time in _done(bench)] == [100, 200, 300, 1100, 1200]


def test_a_stream_that_is_woken_and_taken_off_at_once_does_not_start(queues):
    """The flag is set and the host takes the stream off before the engine is asked again."""
    bench = queues()
    waiter = bench.stream()
    bench.add(waiter, "event_wait", 0)
    bench.run(waiter)
    parked, _ = waiter.waiting
    bench.device.scheduler.set_signal(waiter.waits_for, parked)
    bench.device.scheduler.halt(waiter)
    bench.device.scheduler.run_until_idle()
    assert _done(bench) == []


def test_resuming_an_idle_stream_changes_nothing(queues):
    """There is nothing to go on with."""
    bench = queues()
    stream = bench.stream()
    bench.device.scheduler.pause(stream)
    bench.device.scheduler.resume(stream)
    bench.device.scheduler.run_until_idle()
    assert stream.state is State.IDLE


def test_prefetch_clear_lets_a_paused_queue_see_what_was_patched(queues):
    """Without it the copy fetched before the patch runs, with it the ring."""
    for clears in (False, True):
        bench = queues()
        stream = bench.stream()
        for _ in range(3):
            bench.add(stream, "nop")
        scheduler, device = bench.device.scheduler, bench.device

        def act(device=device, stream=stream, scheduler=scheduler, clears=clears):
            device.patch_sqe(stream.id, 2, {"task_type": 57}, device.layout("PhSqe"))
            if clears:
                scheduler.clear_prefetch(stream)
            scheduler.resume(stream)

        device.clock.at(50, 9, lambda scheduler=scheduler, stream=stream: scheduler.pause(stream))
        device.clock.at(500, 9, act)
        bench.run(stream)
        assert [h.id for h in device.hazards] == ([] if clears else ["hazard.stale-prefetch"])
        assert bench.events(TaskDone)[-1].kind == ("place_holder" if clears else "nop")


def test_prefetch_clear_is_refused_unless_the_queue_stopped_or_is_paused(queues):
    """An idle queue is neither; a stopped one may be cleared."""
    bench = queues(failure_mode="stop")
    stream = bench.stream()
    with pytest.raises(InputError) as caught:
        bench.device.scheduler.clear_prefetch(stream)
    assert caught.value.id == "prefetch.clear"
    _bad(bench, stream)
    bench.run(stream)
    bench.device.scheduler.clear_prefetch(stream)


# ---- slots and priorities ----------------------------------------------------------------------------------------


def test_the_129th_stream_waits_for_an_active_slot(host):
    """128 streams wait for an event; the next one starts when the first of them is done."""
    device = Device(ASCEND910B3, None, host)
    layouts = device.layout("EventWaitSqe"), device.layout("PhSqe"), device.layout("EventRecordSqe")
    streams = [device.create_stream("s", bound=False) for _ in range(129)]
    for number, stream in enumerate(streams[:128]):
        stream.queue.append(layouts[0].build({"type": 5, "event_id": 0 if number else 1}))
    streams[128].queue.append(layouts[1].build({"type": 3, "task_type": 103}))
    for stream in streams:
        device.scheduler.ring_doorbell(stream)
    device.scheduler.run_until_idle()
    assert streams[128].state is State.WAIT_SLOT
    text = device.scheduler.deadlock(streams[128:]).text()
    assert "waits for an active slot" in text
    device.scheduler.halt(streams[0])
    device.scheduler.run_until_idle()
    assert [(e.stream, e.time) for e in device.trace if isinstance(e, TaskDone)] == [(128, NOP_NS)]


def test_a_slot_goes_to_the_smallest_priority_then_to_the_first(queues):
    """One slot for four streams; 3 has priority 0, the others 2."""
    bench = queues()
    bench.device.scheduler.slots.count = 1
    streams = [bench.device.create_stream("s", bound=False, priority=2) for _ in range(3)]
    streams.append(bench.device.create_stream("s", bound=False))
    for stream in streams:
        bench.add(stream, "nop")
    bench.run(*streams)
    assert [stream for stream, *_ in _done(bench)] == [0, 3, 1, 2]


def test_a_stream_that_fails_gives_its_slot_away(queues):
    """The second stream runs although the first has stopped for good."""
    bench = queues(failure_mode="stop")
    bench.device.scheduler.slots.count = 1
    first, second = bench.stream(), bench.stream()
    _bad(bench, first)
    bench.add(second, "nop")
    bench.run(first, second)
    assert [stream for stream, *_ in _done(bench)] == [1]


def test_a_stream_in_the_waiting_line_can_be_taken_off(queues):
    """It waits no longer, and the slot goes to the one behind it."""
    bench = queues()
    bench.device.scheduler.slots.count = 1
    streams = [bench.stream() for _ in range(3)]
    for stream in streams:
        bench.add(stream, "nop")
    bench.device.clock.at(50, 9, lambda: bench.device.scheduler.halt(streams[1]))
    bench.run(*streams)
    assert [stream for stream, *_ in _done(bench)] == [0, 2]


@pytest.mark.parametrize("priority", [-1, 8])
def test_priorities_have_three_bits(queues, priority):
    """0 to 7."""
    with pytest.raises(InputError) as caught:
        queues().device.create_stream("s", bound=False, priority=priority)
    assert caught.value.id == "stream.priority"


PROGRAM = st.lists(st.lists(st.sampled_from(["nop", "report", "bad", "record", "wait"]), max_size=6), max_size=3)


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture], deadline=None)
@given(PROGRAM, st.sampled_from(["prompt", "round_trip", "none"]), st.integers(1, 3))
def test_every_program_comes_to_rest_and_can_be_cleared(queues, chip, program, reader, slots):
    """Whatever is submitted, the run ends; what is left is reported, and halting leaves every stream idle."""
    bench = queues(chip=replace(chip, cq_depth=2), completion_reader=reader)
    scheduler = bench.device.scheduler
    scheduler.slots.count = slots
    streams = []
    for part in program:
        stream = bench.stream()
        streams.append(stream)
        for kind in part:
            if kind == "report":
                _reported(bench, stream, 1)
            elif kind == "bad":
                _bad(bench, stream)
            elif kind == "nop":
                bench.add(stream, "nop")
            else:
                bench.add(stream, f"event_{kind}", 0)
    bench.run(*streams)
    left = {s.id for s in streams if s.queue.pending}
    assert left == {b.stream for b in scheduler.blocked(streams)}
    for stream in streams:
        scheduler.halt(stream)
    scheduler.run_until_idle()
    assert all((s.state, s.queue.pending) == (State.IDLE, 0) for s in streams)
    assert not scheduler.slots.held
