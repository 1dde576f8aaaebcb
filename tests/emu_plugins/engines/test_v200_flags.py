"""Notifies, counted notifies and events of a 950, entry by entry; times in nanoseconds."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emu_core.signals import Signal
from emu_core.trace import SignalChanged
from emu_plugins.engines.notifies_v200 import CHANGES
from emu_plugins.runtime.sqes_v200 import RecordMode, WaitMode

CHIP = "ascend950pr_950z"
EVENT_NS, NOTIFY_NS, RESET_NS, NS_PER_S = 500, 500, 100, 1_000_000_000


@pytest.fixture
def bench(queues):
    """A 950."""
    return queues(chip=CHIP)


def _values(bench):
    return [(e.signal, e.value) for e in bench.device.trace if isinstance(e, SignalChanged)]


def test_s56_a_counted_notify_is_recorded_waited_for_and_reset_twice(bench):
    """S56: add 0, wait equal 0 with 10 s, two resets: all succeed in order on one stream."""
    stream = bench.stream()
    bench.add(stream, "count_notify_record", 3, mode=RecordMode.ADD, value=0)
    bench.add(stream, "count_notify_wait", 3, mode=WaitMode.EQUAL, value=0, timeout=10)
    bench.add(stream, "count_notify_reset", 3)
    bench.add(stream, "count_notify_reset", 3)
    bench.run(stream)
    assert bench.faults == []
    assert bench.done() == [
        (0, 0, "count_notify_record", NOTIFY_NS),
        (0, 1, "count_notify_wait", NOTIFY_NS),
        (0, 2, "count_notify_record", 2 * NOTIFY_NS),
        (0, 3, "count_notify_record", 3 * NOTIFY_NS),
    ]


@pytest.mark.parametrize(
    ("mode", "start", "given_value", "expected"),
    [
        (RecordMode.STORE, 7, 9, 9),
        (RecordMode.ADD, 7, 9, 16),
        (RecordMode.ADD, 0xFFFFFFFF, 2, 1),
        (RecordMode.SET_BITS, 0b1100, 0b0110, 0b1110),
        (RecordMode.CLEAR_BITS, 0b1100, 0b0110, 0b1000),
    ],
)
def test_a_counted_record_changes_the_value_by_its_mode(bench, mode, start, given_value, expected):
    """Store, add (32 bits wrap), set bits, clear bits."""
    stream = bench.stream()
    bench.add(stream, "count_notify_record", 1, mode=RecordMode.STORE, value=start)
    bench.add(stream, "count_notify_record", 1, mode=mode, value=given_value)
    bench.run(stream)
    assert _values(bench) == [("counted notify 1", start), ("counted notify 1", expected)]


@pytest.mark.parametrize(
    ("mode", "wanted", "passing"),
    [
        (WaitMode.LESS, 2, (0, 1)),
        (WaitMode.EQUAL, 2, (2,)),
        (WaitMode.GREATER, 2, (3, 4, 5, 6, 7)),
        (WaitMode.GREATER_EQUAL, 2, (2, 3, 4, 5, 6, 7)),
        (WaitMode.BITS, 0b101, (5, 7)),
    ],
)
def test_a_counted_wait_passes_for_these_values(queues, mode, wanted, passing):
    """Of the values 0 to 7."""
    found = []
    for value in range(8):
        bench = queues(chip=CHIP)
        stream = bench.stream()
        bench.add(stream, "count_notify_record", 0, mode=RecordMode.STORE, value=value)
        bench.add(stream, "count_notify_wait", 0, mode=mode, value=wanted)
        bench.run(stream)
        if len(bench.done()) == 2:
            found.append(value)
    assert tuple(found) == passing


def test_a_counted_wait_stays_parked_until_the_value_fits(bench):
    """Two adds of 1 reach 2: the wait is asked twice, passes at the second, and clears the value if it was told to."""
    waits, setter = bench.stream(), bench.stream()
    bench.add(waits, "count_notify_wait", 8, mode=WaitMode.GREATER_EQUAL, value=2, clear=True)
    for _ in range(2):
        bench.add(setter, "count_notify_record", 8, mode=RecordMode.ADD, value=1)
    bench.run(waits, setter)
    assert bench.done()[-1] == (0, 0, "count_notify_wait", 2 * NOTIFY_NS)
    assert _values(bench) == [("counted notify 8", 1), ("counted notify 8", 2), ("counted notify 8", 0)]


def test_without_the_clear_flag_several_waits_pass_on_one_value(bench):
    """A value of 1 lets both streams go on, and stays."""
    first, second, setter = (bench.stream() for _ in range(3))
    for stream in (first, second):
        bench.add(stream, "count_notify_wait", 8, mode=WaitMode.EQUAL, value=1)
    bench.add(setter, "count_notify_record", 8, mode=RecordMode.STORE, value=1)
    bench.run(first, second, setter)
    assert sorted(bench.done())[:2] == [(s, 0, "count_notify_wait", NOTIFY_NS) for s in (0, 1)]
    assert bench.device.signals.value(Signal("counted notify", 8)) == 1


def test_a_counted_wait_ends_after_its_seconds(bench):
    """The value never fits: the fault comes after one second, with the code of a task timeout."""
    stream = bench.stream()
    bench.add(stream, "count_notify_wait", 8, mode=WaitMode.EQUAL, value=1, timeout=1)
    bench.run(stream)
    (fault,) = bench.faults
    assert (fault.id, fault.time, fault.ts_code) == ("wait.timeout", NS_PER_S, 0x105)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 0xFFFFFFFF), st.integers(0, 0xFFFFFFFF))
def test_counted_values_keep_32_bits(value, given_value):
    """No mode leaves the range; setting bits and clearing them again leaves none of them."""
    assert all(0 <= change(value, given_value) <= 0xFFFFFFFF for change in CHANGES.values())
    assert CHANGES[4](CHANGES[2](value, given_value), given_value) & given_value == 0


def test_an_event_wait_leaves_the_event_set_and_a_reset_clears_it(bench):
    """Record, two waits, reset, and a wait that never passes; who set it is named."""
    stream = bench.stream()
    for kind in ("event_record", "event_wait", "event_wait", "event_reset", "event_wait"):
        bench.add(stream, kind, 70000)
    bench.run(stream)
    kinds = ["event_record", "event_wait", "event_wait", "event_reset"]
    assert [kind for _, _, kind, _ in bench.done()] == kinds
    (blocked,) = bench.device.scheduler.blocked([stream])
    assert (blocked.signal, blocked.slot, blocked.since) == ("event 70000", 4, EVENT_NS + RESET_NS)
    assert blocked.setter == "stream 0 task 0 (event_record) ran before, and the flag is clear"


def test_a_notify_is_consumed_by_one_wait_only_and_a_reset_takes_it_back(bench):
    """One record, one of two waits; record and reset together let none pass."""
    first, second, setter = (bench.stream() for _ in range(3))
    for stream in (first, second):
        bench.add(stream, "notify_wait", 2)
    bench.add(setter, "notify_record", 2)
    bench.run(first, second, setter)
    assert bench.done() == [(2, 0, "notify_record", NOTIFY_NS), (0, 0, "notify_wait", NOTIFY_NS)]
    third = bench.stream()
    bench.add(setter, "notify_record", 5)
    bench.add(setter, "notify_reset", 5)
    bench.run(setter)
    bench.add(third, "notify_wait", 5)
    bench.run(third)
    assert third.waiting is not None


def test_flags_of_one_number_are_apart(bench):
    """A notify record lets neither the event wait nor the counted wait of that number pass."""
    event, counted, setter = (bench.stream() for _ in range(3))
    bench.add(event, "event_wait", 4)
    bench.add(counted, "count_notify_wait", 4, mode=WaitMode.EQUAL, value=1)
    bench.add(setter, "notify_record", 4)
    bench.run(event, counted, setter)
    assert [kind for _, _, kind, _ in bench.done()] == ["notify_record"]


def test_events_on_counted_notifies(bench):
    """Sub types 6, 7 and 9: a stored 1 lets a wait for at least 1 pass, the reset makes it 0."""
    stream = bench.stream()
    for struct, fields in (
        ("NotifyRecordSqe", {"type": 6, "sub_type": 6, "cnt_value": 1}),
        ("NotifyWaitSqe", {"type": 7, "sub_type": 7, "cnt_value": 1, "wait_mode_bit": 3}),
        ("NotifyRecordSqe", {"type": 6, "sub_type": 9, "clr_flag": 1}),
        ("NotifyWaitSqe", {"type": 7, "sub_type": 7, "cnt_value": 1, "wait_mode_bit": 3}),
    ):
        bench.raw(stream, struct, notify_id=3, cnt_flag=1, **fields)
    bench.run(stream)
    assert [kind for _, _, kind, _ in bench.done()] == ["event_record", "event_wait", "event_reset"]
    assert _values(bench) == [("counted event 3", 1), ("counted event 3", 0)]


def test_the_wait_of_serial_scheduling_has_no_limit_at_its_largest_number_of_seconds(bench):
    """Sub type 10 with 0xFFFFFFFF seconds waits for ever and clears the notify."""
    stream = bench.stream()
    bench.raw(stream, "NotifyWaitSqe", type=7, sub_type=10, clr_flag=1, notify_id=1, timeout=0xFFFFFFFF)
    bench.run(stream)
    assert bench.faults == []
    assert stream.wait_timer is None
    assert stream.waiting is not None


@pytest.mark.parametrize(
    ("struct", "fields", "words"),
    [
        ("NotifyRecordSqe", {"type": 6, "sub_type": 1}, "sub type 1"),
        ("NotifyWaitSqe", {"type": 7, "sub_type": 99}, "sub type 99"),
        ("NotifyRecordSqe", {"type": 6, "sub_type": 2}, "sub type 2 and cnt_flag 0"),
        ("NotifyWaitSqe", {"type": 7, "sub_type": 5, "cnt_flag": 1}, "sub type 5 and cnt_flag 1"),
        ("NotifyRecordSqe", {"type": 6, "sub_type": 2, "cnt_flag": 1, "record_mode_bit": 3}, "record mode 3"),
    ],
)
def test_entries_that_contradict_themselves_are_refused(bench, struct, fields, words):
    """An unknown sub type or mode, or a count flag that the sub type has not, is an SQE error with its reason."""
    stream = bench.stream()
    bench.raw(stream, struct, notify_id=1, **fields)
    bench.run(stream)
    (fault,) = bench.faults
    assert (fault.id, fault.error_type, fault.ts_code) == ("sqe.unsupported", 8, 0x106)
    assert words in fault.what
