"""Plans and what else there is: several executions, snapshots, late effects that fail."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from emu_core.clock import Clock
from emu_core.engines import Run, Wait
from emu_core.errors import DeviceFault
from emu_core.injection.altered import Dropped, Late
from emu_core.injection.plan import CorruptBuffer, DelayRecord, Entry, FlipField, Stall
from emu_core.signals import Signal

INPUTS = {"x": np.arange(40, dtype=np.float32), "n": np.array([3], np.int32)}


def test_many_executions_are_not_all_remembered(injected):
    """After three executions of five stalls each, five and the first are kept."""
    subject = injected(Stall(Entry(kind="nop"), 1))
    for _ in range(3):
        subject.run()
    assert [fired.run for fired in subject.at_work.fired] == [1, 3, 3, 3, 3, 3]


def test_a_change_of_the_ring_is_the_cause_of_later_executions_too(injected):
    """The wait's event is changed in execution 1, whose wait has passed; execution 2 hangs on it and says why."""
    subject = injected(FlipField(Entry(stream=0, task=0), "event_id", bits=(1,), at_ns=19_000))
    assert subject.run()[2].good
    verdict = subject.run()[2]
    assert not verdict.good
    assert verdict.causes[0].endswith("(event_wait of op) in the ring at 19000 ns, in execution 1")


@pytest.mark.parametrize(
    "injection",
    [
        DelayRecord(Entry(node="op", role="record"), 5000),
        Stall(Entry(engine="ai_core"), 777),
        Stall(Entry(kind="nop")),
        CorruptBuffer("n", xor="01", at_ns=20_000),
    ],
)
@pytest.mark.parametrize("steps", [5, 14, 20])
def test_a_snapshot_holds_what_is_in_flight(injected, injection, steps):
    """Going on from a snapshot ends as going on from where it was taken."""
    subject = injected(injection)
    model, scheduler = subject.model, subject.model.device.scheduler
    scheduler.lanes.on = False
    model.begin(INPUTS)
    subject.at_work._begin()
    model.submit()
    for _ in range(steps):
        scheduler.step()
    taken = model.device.snapshot()
    ends = []
    for _ in range(2):
        scheduler.run_until_idle()
        result = model.complete()
        ends.append((result.ended, result.ok, [event.name for event in result.trace]))
        model.device.restore(taken)
    assert ends[0] == ends[1]


def test_a_late_effect_that_fails_fails_nobody():
    """Its entry has ended long ago: the effect is lost, and the run goes on."""

    def broken():
        raise DeviceFault("gone", ts_code=1, id="memory.freed")

    clock = Clock()
    task = SimpleNamespace(device=SimpleNamespace(clock=clock), stream=SimpleNamespace(id=0))
    Late(lambda _: Run(5, broken), 30)(task).finish()
    assert clock.step()
    assert clock.now == 30


def test_a_wait_has_nothing_to_drop():
    """Who waits goes on waiting."""
    wait = Wait(Signal("event", 1))
    assert Dropped(lambda _: wait)(None) is wait
    assert Late(lambda _: wait, 5)(None) is wait
