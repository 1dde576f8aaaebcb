"""Records that are dropped or come late."""

from __future__ import annotations

import pytest

from emu_core.injection import Outcome
from emu_core.injection.plan import DelayRecord, DropRecord, Entry

RECORD = Entry(node="op", role="record")


def test_a_dropped_record_is_a_deadlock_whose_first_line_is_the_injection(injected):
    """The record of the operator ends as ever, nothing is set, and the report names it before the waiting streams."""
    _, found, verdict = injected(DropRecord(RECORD)).run()
    assert verdict.outcome is Outcome.DEADLOCK
    assert verdict.causes == (
        "injected: dropped the record of event 0 by stream 1 task 2 (event_record of op) at 18000 ns",
    )
    assert verdict.lines()[0] == verdict.causes[0]
    assert [b.kind for b in found.deadlock.blocked] == ["event_wait", "notify_wait"]
    assert found.deadlock.time == 18500
    assert verdict.what == "2 stream(s) wait for ever: stream 0 for event 0, stream 2 for notify 0"


def test_a_record_that_comes_late_delays_everything_behind_it(injected):
    """5000 ns more before the wait passes are 5000 ns more in all, and the outputs are the same."""
    plain, found, verdict = injected(DelayRecord(RECORD, 5000)).run()
    assert (verdict.outcome, found.ended - plain.ended) == (Outcome.UNAFFECTED, 5000)
    assert verdict.causes[0].endswith("(event_record of op) by 5000 ns at 18000 ns")


def test_a_record_of_the_end_that_is_dropped_leaves_the_caller_waiting(injected):
    """Without the notify of the end of the graph only the calling stream waits."""
    _, found, verdict = injected(DropRecord(Entry(kind="notify_record"))).run()
    assert verdict.outcome is Outcome.DEADLOCK
    assert [b.name for b in found.deadlock.blocked] == ["caller"]
    assert "the record of notify 0" in verdict.causes[0]


def test_a_record_on_v200_is_dropped_likewise(injected):
    """Events of the 950 are notify entries, and are named as the events they are."""
    _, _, verdict = injected(DropRecord(RECORD), chip="ascend950pr_9599").run()
    assert verdict.outcome is Outcome.DEADLOCK
    assert "event_record of op" in verdict.causes[0]


def test_the_second_execution_alone_can_be_meant(injected):
    """With run 2 the first execution is as ever, and the second one hangs on its wait."""
    subject = injected(DropRecord(Entry(node="op", role="record", run=2)))
    assert subject.run()[2].outcome is Outcome.IDLE
    assert subject.at_work.never() != ()
    assert subject.run()[2].outcome is Outcome.DEADLOCK
    assert subject.at_work.never() == ()


@pytest.mark.parametrize("kind", [DropRecord, lambda entry: DelayRecord(entry, 5)])
def test_only_what_sets_something_can_be_dropped(injected, kind):
    """A wait sets nothing: the plan is refused, and says how to name a record."""
    from emu_core.errors import InputError

    with pytest.raises(InputError, match='"role": "record"') as refused:
        injected(kind(Entry(kind="event_wait")))
    assert refused.value.id == "injection.target"
