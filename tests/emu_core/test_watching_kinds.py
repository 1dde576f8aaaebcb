"""Watching a kind: breakpoints and injected faults, which also end running ahead for that kind."""

from __future__ import annotations

import pytest

from emu_core.errors import DeviceFault
from emu_core.streams import State
from emu_core.trace import TaskDone

NOP_NS = 100


def _nops(bench, count):
    stream = bench.stream()
    bench.device.scheduler.lanes.least = 2
    for _ in range(count):
        bench.add(stream, "nop")
    return stream


@pytest.fixture
def lanes_taken(monkeypatch):
    """How many lanes were entered."""
    from emu_core.streams import Stream

    taken, lead = [], Stream.lead
    monkeypatch.setattr(Stream, "lead", lambda self, lane: (taken.append(self.id), lead(self, lane)))
    return taken


def test_a_long_queue_of_nops_runs_ahead(queues, lanes_taken):
    """Ten NOPs are one lane, and end at 1000 ns."""
    bench = queues()
    bench.run(_nops(bench, 10))
    assert (lanes_taken, bench.device.clock.now) == ([0], 10 * NOP_NS)


def test_a_short_queue_is_not_worth_it(queues, lanes_taken):
    """Fewer than 16 entries are run one by one."""
    bench = queues()
    stream = _nops(bench, 3)
    bench.device.scheduler.lanes.least = 16
    bench.run(stream)
    assert lanes_taken == []


def test_a_watcher_sees_every_entry_of_its_kind_at_its_time(queues, lanes_taken):
    """Each NOP is shown when it starts; nothing runs ahead."""
    bench, seen = queues(), []
    end = bench.device.scheduler.watch(
        "nop", lambda task, handler: seen.append((bench.device.clock.now, task.slot, handler.kind))
    )
    bench.run(_nops(bench, 3))
    assert seen == [(0, 0, "nop"), (100, 1, "nop"), (200, 2, "nop")]
    assert lanes_taken == []
    end()
    end()
    bench.run(_nops(bench, 3))
    assert len(seen) == 3
    assert lanes_taken == [1]


def test_a_watcher_of_another_kind_leaves_the_rest_alone(queues, lanes_taken):
    """The NOPs run ahead to the record, which is watched, and behind it."""
    bench, seen = queues(), []
    bench.device.scheduler.watch("event_record", lambda task, _: seen.append(task.slot))
    stream = _nops(bench, 4)
    bench.add(stream, "event_record", 0)
    for _ in range(4):
        bench.add(stream, "nop")
    bench.run(stream)
    assert (seen, len(lanes_taken)) == ([4], 2)
    assert bench.device.clock.now == 8 * NOP_NS + 500


def test_an_injected_fault_is_the_fault_of_the_entry(queues):
    """A `DeviceFault` of a watcher stops the queue there."""

    def inject(task, _handler):
        if task.slot == 2:
            raise DeviceFault("bit flip", ts_code=0x26, id="test.flip")

    bench = queues(failure_mode="stop")
    bench.device.scheduler.watch("nop", inject)
    stream = _nops(bench, 5)
    bench.run(stream)
    assert [(f.id, f.slot, f.kind) for f in bench.faults] == [("test.flip", 2, "nop")]
    assert (stream.state, stream.queue.head) == (State.SLOT_DISABLE, 2)


def test_a_breakpoint_leaves_the_machine_where_it_is(queues):
    """An exception of the watcher's own comes out of the run; states can be read, and the run goes on after it."""

    class StoppedError(Exception):
        pass

    def stop(task, _handler):
        if task.slot == 3 and not hits:
            hits.append(task.slot)
            raise StoppedError

    hits = []
    bench = queues()
    other = _nops(bench, 10)
    stream = bench.stream()
    for _ in range(3):
        bench.add(stream, "event_record", 0)
    bench.add(stream, "event_reset", 0)
    bench.device.scheduler.watch("event_reset", stop)
    with pytest.raises(StoppedError):
        bench.run(other, stream)
    assert bench.device.clock.now == 1500
    assert (other.state, other.queue.head) == (State.IDLE, 10)
    assert hits == [3]


def test_an_exception_of_an_action_leaves_lanes_that_go_on(queues):
    """After an exception in the middle, running again ends where it would have ended."""

    def fail():
        raise ValueError

    bench = queues()
    stream = _nops(bench, 10)
    bench.device.clock.at(350, 9, fail)
    with pytest.raises(ValueError):
        bench.run(stream)
    assert (stream.queue.head, stream.state) == (3, State.WORKING)
    bench.device.scheduler.run_until_idle()
    assert (stream.queue.head, bench.device.clock.now) == (10, 1000)
    assert [e.time for e in bench.events(TaskDone)] == [NOP_NS * (i + 1) for i in range(10)]
