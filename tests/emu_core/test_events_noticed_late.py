"""Policy `nop_model`: rewritten entries behind a wait, fetched ahead or not noticed yet."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu_core.clock import Clock
from emu_core.memory import DeviceMemory
from emu_core.notice import LateWindow, fetch_window
from emu_core.prefetch import PrefetchWindow
from emu_core.rings import SubmissionQueue

NOTICE = 600
OLD, NEW, NEWER = b"\1" * 64, b"\2" * 64, b"\3" * 64


class _Queue:
    """A ring of 30 old entries that runs, with a window that notices late."""

    def __init__(self, depth=0):
        self.clock = Clock()
        self.queue = SubmissionQueue(DeviceMemory(1 << 16), 0, 64, 64, "ring")
        for _ in range(30):
            self.queue.append(OLD)
        self.queue.enabled = True
        self.window = LateWindow(self.queue, depth, self.clock, NOTICE)

    def rewrite(self, slot, data=NEW):
        self.window.before_write(slot)
        self.queue.memory.poke(self.queue.address(slot), data)

    def runs(self, slot, at):
        """The bytes that entry `slot` runs with at time `at`."""
        self.clock.now, self.queue.head = at, slot
        taken = self.window.take(slot)
        return self.queue.entry(slot) if taken is None else taken


@given(fired=st.integers(0, 5000), after=st.integers(0, 1500), slot=st.integers(1, 29))
def test_an_entry_is_old_until_the_event_is_noticed(fired, after, slot):
    """However far away it is, the entry runs with its old bytes for 600 ns behind the event, then with the new ones."""
    late = _Queue()
    late.rewrite(slot)
    late.window.released(fired)
    assert late.runs(slot, fired + after) == (OLD if after < NOTICE else NEW)


def test_without_an_event_a_rewritten_entry_is_new():
    """Nothing had to be noticed; without a fetch buffer nothing is old."""
    late = _Queue()
    late.rewrite(2)
    assert late.runs(2, 0) == NEW
    assert late.window.notice_left_ns == 0


def test_the_first_bytes_are_the_old_ones():
    """Two patches before the event is noticed: the entry runs as it was before both, the next lap as it is."""
    late = _Queue()
    late.rewrite(5)
    late.rewrite(5, NEWER)
    late.window.released(0)
    assert late.runs(5, 100) == OLD
    assert late.runs(5, 200) == NEWER


def test_an_entry_that_is_not_published_yet_is_never_old():
    """It is written before the queue can see it."""
    late = _Queue()
    late.rewrite(40)
    late.window.released(0)
    assert late.runs(40, 10) == NEW


def test_fetching_again_takes_what_is_there():
    """After a clear the old bytes are gone."""
    late = _Queue()
    late.rewrite(5)
    late.window.released(0)
    late.window.clear()
    assert late.runs(5, 10) == NEW


@pytest.mark.parametrize(("slot", "at", "old"), [(3, 700, True), (4, 700, False), (4, 500, True)])
def test_both_reasons_hold_at_once(slot, at, old):
    """Depth 3: entry 3 was fetched, entry 4 only has to be noticed."""
    both = _Queue(depth=3)
    both.rewrite(slot)
    both.window.released(0)
    assert both.runs(slot, at) == (OLD if old else NEW)


@pytest.mark.parametrize(("model", "kind", "depth"), [("window", PrefetchWindow, 8), ("latency", LateWindow, 0),
                                                      ("both", LateWindow, 8)])  # fmt: skip
def test_the_policy_chooses_the_fetch_buffer(model, kind, depth):
    """Only `latency` fetches nothing ahead."""
    queue = _Queue().queue
    window = fetch_window(queue, 8, model, Clock(), NOTICE)
    assert (type(window), window.depth) == (kind, depth)
    window.released(0)
    assert window.notice_left_ns == (0 if model == "window" else NOTICE)
