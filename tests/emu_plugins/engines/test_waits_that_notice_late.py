"""Events, notifies and the entries behind their waits under policy `nop_model`, on a device."""

from __future__ import annotations

import pytest

from emu_core.trace import TaskDone

RECORD_NS, NOP_NS, NOTICE_NS = 500, 100, 600


class _Pair:
    """A stream that records, and one that waits, runs NOPs, and then an entry that is rewritten at `at` ns."""

    def __init__(self, bench, *, kind="event", before=0, nops=0, at=400):
        self.bench = bench
        self.setter, self.main = bench.stream(), bench.stream()
        bench.add(self.setter, f"{kind}_record", 1)
        for _ in range(before):
            bench.add(self.main, "nop")
        bench.add(self.main, f"{kind}_wait", 1)
        for _ in range(nops):
            bench.add(self.main, "nop")
        self.slot = bench.add(self.main, "nop")
        device = bench.device
        change = {"task_type": 57}
        device.clock.at(at, 9, lambda: device.patch_sqe(self.main.id, self.slot, change, device.layout("PhSqe")))
        bench.run(self.setter, self.main)

    @property
    def stale(self):
        """Whether the rewritten entry ran with its old bytes."""
        (done,) = [
            e
            for e in self.bench.device.trace
            if isinstance(e, TaskDone) and (e.stream, e.slot) == (self.main.id, self.slot)
        ]
        assert (done.kind == "nop") is bool(self.bench.device.hazards)
        return done.kind == "nop"


@pytest.mark.parametrize("kind", ["event", "notify"])
@pytest.mark.parametrize("nops", [4, 5, 6, 7])
def test_behind_a_wait_the_entry_is_old_for_600_ns(queues, kind, nops):
    """The event fires at 500; five NOPs of 100 ns are too few and six enough, far behind what would be fetched."""
    assert _Pair(queues(nop_model="latency"), kind=kind, nops=nops).stale is (nops < 6)


@pytest.mark.parametrize("before", [7, 9, 10, 12])
def test_a_wait_that_comes_after_its_event_counts_from_the_event(queues, before):
    """The event fires at 500 and is noticed at 1100: the wait passes at once, its entry runs with time left or not."""
    assert _Pair(queues(nop_model="latency"), before=before).stale is (before * NOP_NS < RECORD_NS + NOTICE_NS)


@pytest.mark.parametrize(
    ("model", "nops", "stale"),
    [
        ("window", 6, True),
        ("window", 8, False),
        ("latency", 5, True),
        ("latency", 6, False),
        ("both", 6, True),
        ("both", 8, False),
    ],
)
def test_each_model_has_its_own_reason(queues, model, nops, stale):
    """At depth 8 an entry seven behind the wait was fetched, one nine behind was not; 600 ns need six NOPs."""
    assert _Pair(queues(nop_model=model), nops=nops).stale is stale


def test_the_hazard_says_how_many_nops_are_missing(queues):
    """Two NOPs, 200 ns behind the event, 400 ns before it is noticed: four more."""
    bench = queues(nop_model="latency")
    assert _Pair(bench, nops=2).stale
    (hazard,) = bench.device.hazards
    assert hazard.remedy == (
        "it lies 3 entries past the wait in slot 0, 400 ns before the event is noticed: put 4 more NOPs in between "
        "(policy nop_count)"
    )
    assert dict(hazard.detail) == {"slot": 3, "prefetch_depth": 0, "notice_left_ns": 400, "distance": 3, "missing": 4}


def test_both_reasons_are_named_and_the_larger_number_is_missing(queues):
    """At depth 8 six more entries are needed, for the time four NOPs."""
    bench = queues(nop_model="both")
    assert _Pair(bench, nops=2).stale
    (hazard,) = bench.device.hazards
    assert "within the prefetch depth 8 and 400 ns before the event is noticed: put 6 more NOPs" in hazard.remedy
