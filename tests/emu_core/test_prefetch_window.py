"""The fetch buffer that keeps pre-images, against a literal one that copies entries when they are fetched."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from emu_core.memory import DeviceMemory
from emu_core.prefetch import PrefetchWindow
from emu_core.rings import SubmissionQueue

DEPTH = 8


class LiteralBuffer:
    """Copies of the entries head … head + depth, made as soon as they are published, kept until they retire."""

    def __init__(self, depth):
        self.depth = depth
        self.copies = {}

    def fetch(self, queue):
        """Copy what is published and was not copied before."""
        if queue.enabled:
            for distance in range(min(self.depth + 1, queue.pending)):
                slot = (queue.head + distance) % queue.depth
                self.copies.setdefault(slot, queue.entry(slot))


class Fetching(RuleBasedStateMachine):
    """Publishing, rewriting, executing, retiring and restarting in any order."""

    @initialize(depth=st.integers(0, DEPTH + 2))
    def build(self, depth):
        """An empty ring with a window of any depth."""
        self.queue = SubmissionQueue(DeviceMemory(1 << 16), 0, DEPTH, DEPTH, "ring")
        self.window = PrefetchWindow(self.queue, depth)
        self.literal = LiteralBuffer(depth)
        self.running = False
        self.number = 0

    def _bytes(self):
        self.number += 1
        return self.number.to_bytes(2, "little") * 32

    @rule()
    def ring_doorbell(self):
        """The queue runs."""
        self.queue.enabled = True
        self.literal.fetch(self.queue)

    @precondition(lambda self: self.queue.pending < DEPTH - 1)
    @rule()
    def publish(self):
        """One more entry."""
        self.queue.append(self._bytes())
        self.literal.fetch(self.queue)

    @rule(slot=st.integers(0, DEPTH - 1))
    def rewrite(self, slot):
        """Any slot gets new bytes."""
        fetched = slot in self.literal.copies
        assert self.window.before_write(slot) == fetched
        self.queue.memory.poke(self.queue.address(slot), self._bytes())

    @precondition(lambda self: self.queue.enabled and self.queue.pending and not self.running)
    @rule()
    def execute(self):
        """What runs is the literal copy."""
        slot = self.queue.head
        saved = self.window.take(slot)
        assert (self.queue.entry(slot) if saved is None else saved) == self.literal.copies[slot]
        self.running = True

    @precondition(lambda self: self.running)
    @rule()
    def retire(self):
        """Head moves on and the next entry is fetched."""
        slot = self.queue.head
        self.window.take(slot)
        del self.literal.copies[slot]
        self.queue.head = (slot + 1) % DEPTH
        self.literal.fetch(self.queue)
        self.running = False

    @precondition(lambda self: not self.running)
    @rule()
    def start_again(self):
        """Everything fetched is dropped."""
        self.window.clear()
        self.literal.copies.clear()
        self.queue.enabled = False

    @invariant()
    def same_entries_are_fetched(self):
        """Both buffers hold the same slots."""
        held = {slot for slot in range(DEPTH) if self.window.holds(slot)}
        assert held == set(self.literal.copies)


Fetching.TestCase.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
TestFetching = Fetching.TestCase


def _window(depth, published, *, head=0):
    queue = SubmissionQueue(DeviceMemory(1 << 16), 0, 32, 32, "ring")
    for n in range(published):
        queue.append(bytes([n]) * 64)
    queue.head, queue.enabled = head, True
    return PrefetchWindow(queue, depth)


def test_depth_entries_past_head_are_held():
    """With depth 8 and head at 0, the entries 0 to 8 are fetched and entry 9 is not."""
    window = _window(8, 12)
    assert [window.holds(slot) for slot in (0, 8, 9)] == [True, True, False]


def test_entries_that_are_not_published_are_not_held():
    """The window ends at tail."""
    window = _window(8, 4)
    assert [window.holds(slot) for slot in (3, 4)] == [True, False]


def test_the_first_pre_image_stays():
    """A second rewrite of a fetched entry does not change what will execute."""
    window = _window(8, 4)
    assert window.before_write(2)
    window.queue.memory.poke(window.queue.address(2), b"b" * 64)
    assert window.before_write(2)
    assert window.take(2) == bytes([2]) * 64
    assert window.take(2) is None


def test_nothing_is_held_while_the_queue_is_disabled():
    """A queue that waits for its activation has fetched nothing."""
    window = _window(8, 4)
    window.queue.enabled = False
    assert not window.before_write(0)
