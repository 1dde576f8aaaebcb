"""Events and notifies of the host API: which calls reach a ring, what they mean there, and ids (S54 to S56, S59)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emu_core.device import Device
from emu_core.errors import LimitError
from emu_plugins.runtime import EventStyle, RecordMode, Runtime, RuntimeApiError, WaitMode, c_api

B3, P3, DAVID = "ascend910b3", "ascend310p3", "ascend950pr_9599"
EVENT_RECORD, EVENT_WAIT, WRITE_VALUE, PLACE_HOLDER = 4, 5, 8, 3


def types(stream):
    """SQE types of a ring, in order."""
    raw = stream.core.queue.contents()
    return [raw[at] & 0x3F for at in range(0, len(raw), 64)]


def refused(call, *arguments, **named):
    """Code and message class of a refused call."""
    with pytest.raises(RuntimeApiError) as caught:
        call(*arguments, **named)
    return caught.value.code, caught.value.message


def test_s54_a_wait_before_any_record(api):
    """New style, plain stream: success and no entry; after a record another stream's wait is an entry and passes."""
    runtime = api(B3)
    one, two, event = runtime.create_stream(), runtime.create_stream(), runtime.create_event()
    assert runtime.wait_event(one, event) is None
    runtime.synchronize_stream(one)
    assert types(one) == []
    runtime.record_event(event, one)
    assert runtime.wait_event(two, event) == 0
    assert (types(one), types(two)) == ([EVENT_RECORD], [EVENT_WAIT])
    runtime.synchronize_stream(two)
    assert runtime.query_event(event)


@pytest.mark.parametrize("chip", [B3, DAVID])
@pytest.mark.parametrize("call", ["wait_event", "record_event", "reset_event"])
def test_s55_null_event_or_stream(api, chip, call):
    """Each of the three calls gives 107000 with EE1004 for a null event and a null stream."""
    runtime = api(chip)
    stream, event = runtime.create_stream(), runtime.create_event()
    pairs = [(stream, None), (None, event)] if call == "wait_event" else [(None, stream), (event, None)]
    for pair in pairs:
        assert refused(getattr(runtime, call), *pair) == (107000, "EE1004")
    assert types(stream) == []


def test_old_style_events_must_be_recorded_first(api):
    """Old style and never recorded: 107000 with EE1018; it had an id from the beginning."""
    runtime = api(B3)
    event = runtime.create_event(style=EventStyle.OLD)
    assert event.id == 0
    assert refused(runtime.wait_event, runtime.create_stream(), event) == (107000, "EE1018")


@pytest.mark.parametrize("style", EventStyle)
def test_a_bound_stream_always_gets_the_entry(bound, style):
    """In a model a wait comes before its record as often as not."""
    bench = bound(B3)
    event = bench.runtime.create_event(style=style)
    assert bench.runtime.wait_event(bench.work, event) == 0
    bench.runtime.record_event(event, bench.work)
    assert bench.runtime.wait_event(bench.work, event) == 2
    assert types(bench.work) == [EVENT_WAIT, EVENT_RECORD, EVENT_WAIT]


def test_waits_that_the_order_already_ensures_are_dropped(api):
    """On the recording stream, and once the record is done, a wait needs no entry."""
    runtime = api(B3)
    one, two, event = runtime.create_stream(), runtime.create_stream(), runtime.create_event()
    runtime.record_event(event, one)
    assert runtime.wait_event(one, event) is None
    runtime.synchronize_event(event)
    assert runtime.wait_event(two, event) is None
    runtime.record_event(event, one)
    assert runtime.wait_event(two, event) == 0


def test_a_reset_makes_an_event_unrecorded(api):
    """A reset is a write of 0, behind which a wait has nothing to wait for; without an id there is nothing to reset."""
    runtime = api(B3)
    one, two, event = runtime.create_stream(), runtime.create_stream(), runtime.create_event()
    assert runtime.reset_event(event, one) is None
    runtime.record_event(event, one)
    assert runtime.reset_event(event, one) == 1
    assert types(one) == [EVENT_RECORD, WRITE_VALUE]
    assert runtime.wait_event(two, event) is None


def test_an_event_for_time_stamps_only(api):
    """Its record is a place holder of the record's task type, and it cannot be waited for."""
    runtime = api(B3)
    stream, event = runtime.create_stream(), runtime.create_event(waitable=False)
    runtime.record_event(event, stream)
    entry = runtime.device.layout("PhSqe").parse(stream.core.queue.entry(0))
    assert (entry["type"], entry["task_type"], entry["pre_p"]) == (PLACE_HOLDER, 2, 0)
    assert refused(runtime.wait_event, stream, event) == (107000, "EE1003")
    runtime.synchronize_stream(stream)


def test_events_run_out(api, chip_like):
    """207007 with EE1023: at creation in the old style, when the id is needed in the new one; destroyed ids return."""
    runtime = api(chip_like(B3, max_events=2))
    stream = runtime.create_stream()
    first, _ = (runtime.create_event(style=EventStyle.OLD) for _ in range(2))
    assert refused(runtime.create_event, style=EventStyle.OLD) == (207007, "EE1023")
    late = runtime.create_event()
    assert refused(runtime.record_event, late, stream) == (207007, "EE1023")
    assert types(stream) == []
    runtime.destroy_event(first)
    runtime.record_event(late, stream)
    assert late.id == 0


def test_an_id_is_not_given_out_while_an_entry_names_it(api):
    """A destroyed event's id returns when its entries are done, and its flag is clear then."""
    runtime = api(B3)
    one, two, event = runtime.create_stream(), runtime.create_stream(), runtime.create_event()
    runtime.record_event(event, one)
    runtime.destroy_event(event)
    busy = runtime.create_event(style=EventStyle.OLD)
    assert busy.id == 1
    runtime.synchronize_stream(one)
    again = runtime.create_event(style=EventStyle.OLD)
    assert again.id == 0
    gate = runtime.create_notify()
    runtime.wait_notify(gate, one)
    runtime.record_event(again, one)
    runtime.wait_event(two, again)
    assert refused(runtime.synchronize_stream, two, 1)[0] == 507046


def test_a_flag_that_is_used_for_long_remembers_only_what_waits(api):
    """200 records that are done leave no more than 64 uses behind."""
    runtime = api(B3)
    stream, event = runtime.create_stream(), runtime.create_event()
    for _ in range(200):
        runtime.record_event(event, stream)
        runtime.synchronize_stream(stream)
    assert len(event.uses) <= 64


def test_waits_on_a_950(api):
    """Without an id there is nothing to wait for; with one the entry is always sent."""
    runtime = api(DAVID)
    one, event = runtime.create_stream(), runtime.create_event()
    assert runtime.wait_event(one, event) is None
    runtime.record_event(event, one)
    runtime.synchronize_stream(one)
    assert runtime.wait_event(one, event) == 1
    runtime.synchronize_stream(one)


def test_s59_notifies_run_out(api, chip_like):
    """207009 with EE1023, still a limit error; a destroyed id is given out again."""
    runtime = api(chip_like(B3, max_notifies=3))
    made = [runtime.create_notify() for _ in range(3)]
    with pytest.raises(LimitError) as caught:
        runtime.create_notify()
    assert (caught.value.code, caught.value.message, caught.value.id) == (207009, "EE1023", "207009")
    runtime.destroy_notify(made[1])
    assert runtime.create_notify().id == 1


def test_an_event_that_nobody_will_record(api):
    """Synchronising says so: 507006 for ever, 507047 when a time limit passed; time went on by that limit."""
    runtime = api(B3)
    one, two = runtime.create_stream(), runtime.create_stream()
    blocker, event = runtime.create_notify(), runtime.create_event()
    runtime.wait_notify(blocker, one)
    runtime.record_event(event, one)
    before = runtime.device.clock.now
    assert refused(runtime.synchronize_event, event, 5)[0] == 507047
    assert runtime.device.clock.now == before + 5_000_000
    assert refused(runtime.synchronize_event, event)[0] == 507006
    assert not runtime.query_event(event)
    runtime.record_notify(blocker, two)
    runtime.synchronize_event(event)
    assert runtime.query_event(event)


@pytest.mark.parametrize("chip", [B3, DAVID])
def test_a_notify_wakes_one_wait_and_is_consumed(api, chip):
    """Two waits need two records."""
    runtime = api(chip)
    one, two, three = (runtime.create_stream() for _ in range(3))
    notify = runtime.create_notify()
    runtime.wait_notify(notify, one)
    runtime.wait_notify(notify, two)
    runtime.record_notify(notify, three)
    runtime.synchronize_stream(one)
    assert refused(runtime.synchronize_stream, two)[0] == 507046
    runtime.record_notify(notify, three)
    runtime.synchronize_stream(two)


@pytest.mark.parametrize("chip", [B3, DAVID])
def test_a_notify_that_was_reset(api, chip):
    """A record, then a reset: a wait does not pass; its time limit of 3 seconds ends it with 107020."""
    runtime = api(chip)
    one, two, notify = runtime.create_stream(), runtime.create_stream(), runtime.create_notify()
    runtime.record_notify(notify, one)
    runtime.reset_notify(notify, one)
    runtime.synchronize_stream(one)
    runtime.wait_notify(notify, two, 3)
    with pytest.raises(RuntimeApiError, match="waited 3 s for notify 0") as caught:
        runtime.synchronize_stream(two)
    assert caught.value.code == 107020


def test_the_wait_timeout_of_the_device(api):
    """Waits submitted after it was set carry its seconds, those before none; 310P does not have it."""
    runtime = api(B3)
    one, two, event = runtime.create_stream(), runtime.create_stream(), runtime.create_event()
    runtime.record_event(event, one)
    runtime.wait_event(two, event)
    runtime.set_op_wait_timeout(1866)
    runtime.wait_event(two, event)
    read = runtime.device.layout("EventWaitSqe").field("timeout").read
    assert [read(two.core.queue.entry(slot)) for slot in (0, 1)] == [0, 1866]
    assert refused(api(P3).set_op_wait_timeout, 5)[0] == 207000
    assert refused(runtime.set_op_wait_timeout, -1) == (107000, "EE1003")
    assert refused(runtime.wait_notify, runtime.create_notify(), two, 1 << 32) == (107000, "EE1003")


def test_s56_counted_notifies(api):
    """Record add 0, wait equal 0 with a limit of 10, reset twice: all succeed in order."""
    runtime = api(DAVID)
    stream, notify = runtime.create_stream(), runtime.create_counted_notify()
    assert runtime.record_counted_notify(notify, stream, 0, RecordMode.ADD) == 0
    assert runtime.wait_counted_notify(notify, stream, 0, WaitMode.EQUAL, timeout_s=10) == 1
    assert runtime.reset_counted_notify(notify, stream) == 2
    assert runtime.reset_counted_notify(notify, stream) == 3
    runtime.synchronize_stream(stream)


def test_a_counted_wait_compares(api):
    """Two additions of 3 let a wait for at least 6 pass, and clear the value when asked to."""
    runtime = api(DAVID)
    one, two, notify = runtime.create_stream(), runtime.create_stream(), runtime.create_counted_notify()
    runtime.wait_counted_notify(notify, one, 6, WaitMode.GREATER_EQUAL, clear=True)
    runtime.record_counted_notify(notify, two, 3, RecordMode.ADD)
    assert refused(runtime.synchronize_stream, one)[0] == 507046
    runtime.record_counted_notify(notify, two, 3, RecordMode.ADD)
    runtime.synchronize_stream(one)
    runtime.wait_counted_notify(notify, one, 0, WaitMode.EQUAL)
    runtime.synchronize_stream(one)


def test_counted_notifies_are_apart_from_plain_ones(api):
    """Chips without them: 207000; the calls of one kind refuse the other; values and modes are checked."""
    assert refused(api(B3).create_counted_notify)[0] == 207000
    runtime = api(DAVID)
    stream, plain, counted = runtime.create_stream(), runtime.create_notify(), runtime.create_counted_notify()
    assert (plain.id, counted.id) == (0, 0)
    assert refused(runtime.record_notify, counted, stream) == (107000, "EE1003")
    assert refused(runtime.record_counted_notify, plain, stream, 1) == (107000, "EE1003")
    assert refused(runtime.record_counted_notify, counted, stream, 1 << 32) == (107000, "EE1003")
    assert refused(runtime.wait_counted_notify, counted, stream, 1, 9) == (107000, "EE1003")
    runtime.destroy_notify(counted)
    assert refused(runtime.wait_counted_notify, counted, stream, 1)[0] == 107017
    assert runtime.create_counted_notify().id == 0


STEPS = st.lists(st.tuples(st.sampled_from(["record", "wait", "reset", "run"]), st.integers(0, 2)), max_size=12)


@settings(max_examples=60, deadline=None)
@given(steps=STEPS)
def test_plain_streams_never_get_stuck_on_events(host, steps):
    """A wait is left behind for ever only where a reset on another stream may have overtaken it."""
    runtime = Runtime(Device(B3, plugins=host))
    streams = [runtime.create_stream() for _ in range(3)]
    event = runtime.create_event()
    resets = False
    for what, which in steps:
        stream = streams[which]
        if what == "record":
            runtime.record_event(event, stream)
        elif what == "wait":
            runtime.wait_event(stream, event)
        elif what == "reset":
            resets = resets or runtime.reset_event(event, stream) is not None
        else:
            _check(stream, resets)
    for stream in streams:
        _check(stream, resets)


def _check(stream, resets):
    status = c_api.rt_stream_synchronize(stream)
    assert status == 0 or (resets and status == 507046)
