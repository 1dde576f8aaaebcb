"""The virtual clock's total order, and flags with the streams parked on them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from emu_core.clock import Clock
from emu_core.signals import Signal, SignalTable


def _run(clock):
    while clock.step():
        pass


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), max_size=30))
def test_actions_run_by_time_then_stream_then_order_added(entries):
    """The order is total, so two runs of one program are the same to the last step."""
    clock, ran = Clock(), []
    for index, (time, stream) in enumerate(entries):
        clock.at(time, stream, lambda i=index: ran.append((clock.now, i)))
    _run(clock)
    expected = sorted(range(len(entries)), key=lambda i: (entries[i][0], entries[i][1], i))
    assert ran == [(entries[i][0], i) for i in expected]


def test_time_never_goes_back():
    """An action asked for in the past runs now."""
    clock, ran = Clock(), []
    clock.at(10, 0, lambda: clock.at(3, 0, lambda: ran.append(clock.now)))
    _run(clock)
    assert ran == [10]
    assert not clock.step()


def test_after_counts_from_now():
    """Five nanoseconds after an action at 10 is 15."""
    clock, ran = Clock(), []
    clock.at(10, 0, lambda: clock.after(5, 0, lambda: ran.append(clock.now)))
    _run(clock)
    assert ran == [15]


def test_a_cancelled_action_neither_runs_nor_lets_time_pass():
    """A timer of a wait that ended well leaves no trace in the time line."""
    clock, ran = Clock(), []
    ticket = clock.at(1000, 0, lambda: ran.append("timer"))
    clock.at(10, 0, lambda: ran.append("work"))
    clock.cancel(ticket)
    _run(clock)
    assert (ran, clock.now) == (["work"], 10)


def test_clear_drops_everything_and_keeps_the_time():
    """After an error nothing of the run that failed is left over."""
    clock = Clock()
    clock.at(7, 0, lambda: None)
    assert clock.step()
    clock.cancel(clock.at(9, 0, lambda: None))
    clock.clear()
    assert not clock.step()
    assert clock.now == 7


def test_the_host_can_let_time_pass():
    """A host round trip moves the clock while nothing is queued."""
    clock = Clock()
    clock.advance(30_000)
    assert clock.now == 30_000


EVENT, OTHER = Signal("event", 3), Signal("notify", 3)


def test_flags_of_one_number_and_two_kinds_are_two_flags():
    """Event 3 and notify 3 have nothing in common but the number."""
    table = SignalTable()
    table.set(EVENT)
    assert (table.is_set(EVENT), table.is_set(OTHER)) == (True, False)
    assert (str(EVENT), str(OTHER)) == ("event 3", "notify 3")


def test_set_wakes_the_parked_in_order_of_arrival_once():
    """A second set wakes nobody."""
    table = SignalTable()
    for stream in (5, 1, 3):
        table.park(EVENT, stream)
    assert table.set(EVENT) == [5, 1, 3]
    assert table.set(EVENT) == []


def test_clear_and_clear_all():
    """Clearing a flag that is not set changes nothing."""
    table = SignalTable()
    table.clear(EVENT)
    table.set(EVENT)
    table.set(OTHER)
    table.clear(EVENT)
    assert [table.is_set(s) for s in (EVENT, OTHER)] == [False, True]
    table.clear_all()
    assert not table.is_set(OTHER)


def test_unpark_forgets_one_stream():
    """The others stay parked; a stream that waits for nothing can be unparked too."""
    table = SignalTable()
    table.park(EVENT, 1)
    table.park(EVENT, 2)
    table.park(OTHER, 9)
    table.unpark(1)
    table.unpark(9)
    table.unpark(4)
    assert table.set(EVENT) == [2]
    assert table.set(OTHER) == []
