"""Which task lies in which slot: the compact record against one entry per slot, and many tasks at once."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu_core.errors import DeviceFault, InputError, LimitError
from emu_core.memory import DeviceMemory
from emu_core.origin import NOWHERE, Origin
from emu_core.rings import SubmissionQueue
from emu_core.submissions import Submissions

ORIGINS = (NOWHERE, Origin("a", 1), Origin("b", 2))


class _Literal:
    """One dict entry per slot and per task id."""

    def __init__(self, depth, bits):
        self.depth, self.ids = depth, 1 << bits
        self.tail = self.count = 0
        self.task_at, self.origin_at, self.slot_of = {}, {}, {}

    def add(self, count, origin, units):
        for _ in range(count):
            for unit in range(units):
                at = (self.tail + unit) % self.depth
                old = self.task_at.pop(at, None)
                self.origin_at.pop(at, None)
                if old is not None and self.slot_of.get(old) == at:
                    del self.slot_of[old]
            task = self.count % self.ids
            self.task_at[self.tail], self.origin_at[self.tail] = task, origin
            self.slot_of[task] = self.tail
            self.count += 1
            self.tail = (self.tail + units) % self.depth


@given(
    st.integers(6, 20),
    st.lists(st.tuples(st.integers(1, 30), st.sampled_from(ORIGINS), st.sampled_from((1, 1, 1, 2, 5))), max_size=12),
)
def test_every_question_is_answered_as_from_one_record_per_slot(depth, adds):
    """Slots, ids and origins over wraps of the ring and of the ids, with tasks of several units."""
    found, literal = Submissions(depth, task_bits=5), _Literal(depth, 5)
    for count, origin, units in adds:
        found.add(count, origin, units)
        literal.add(count, origin, units)
    slots = range(depth)
    assert {s: found.task_at(s) for s in found.slots()} == literal.task_at
    assert {s: found.origin_at(s) for s in found.slots()} == literal.origin_at
    assert {t: s for t in range(32) if (s := found.slot_of(t)) is not None} == literal.slot_of
    assert [found.task_at(s) for s in slots] == [literal.task_at.get(s) for s in slots]
    assert found.task_at(-1) is None
    assert found.slot_of(32) is None


def _queue(depth=8):
    return SubmissionQueue(DeviceMemory(1 << 20), 0, depth, depth, "ring")


def test_many_entries_at_once_are_as_one_after_the_other():
    """Bytes, ids, origins and tail are the same, also over the end of the ring."""
    one, many = _queue(), _queue()
    entries = [bytes([n]) * 64 for n in range(9)]
    for queue in (one, many):
        queue.append(entries[0])
        queue.append(entries[1])
        queue.head = 2
    assert many.extend(b"".join(entries[2:9]), ORIGINS[1]) == 2
    for entry in entries[2:9]:
        one.append(entry, ORIGINS[1])
    assert (one.tail, one.contents()) == (many.tail, many.contents())
    assert one.task_at == many.task_at
    assert one.origin_at == many.origin_at
    assert many.contents()[:64] == bytes([8]) * 64


def test_too_many_entries_are_refused_before_anything_is_written():
    """A ring of 8 takes 7 entries; half an entry is none."""
    queue = _queue()
    with pytest.raises(LimitError):
        queue.extend(bytes(64 * 8))
    with pytest.raises(InputError) as caught:
        queue.extend(np.zeros(65, np.uint8))
    assert caught.value.id == "ring.task-size"
    assert (queue.tail, len(queue.task_at)) == (0, 0)


def test_the_record_of_a_large_ring_takes_no_memory():
    """100 000 entries from one place are one run."""
    found = Submissions(1 << 17)
    tracemalloc.start()
    for _ in range(100_000):
        found.add(1, NOWHERE)
    used = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert used < 4096
    assert found.task_at(70_000) == 70_000 - 65_536


def test_a_slot_outside_of_the_ring_is_a_fault():
    """Neither before the first nor behind the last one lies an entry."""
    queue = _queue()
    for slot in (-1, 8):
        with pytest.raises(DeviceFault) as caught:
            queue.entry(slot)
        assert caught.value.id == "memory.bounds"


@given(
    steps=st.lists(st.tuples(st.integers(1, 4), st.integers(1, 3), st.sampled_from("abc")), min_size=1, max_size=12),
    several=st.booleans(),
)
def test_columns_of_slots_are_found_as_single_ones(steps, several):
    """Numbers and origins of all slots of a ring of 16, wrapped or not, are those that one question each gives."""
    found = Submissions(16)
    for count, units, node in steps:
        found.add(count, Origin(node, count), units if several else 1)
    slots = np.arange(-2, 18)
    each = [found.number_at(slot) for slot in slots.tolist()]
    numbers = found.numbers_at(slots)
    assert numbers.tolist() == [-1 if number is None else number for number in each]
    origins = [NOWHERE if number is None else found.origin_of(number) for number in each]
    assert found.origins_of(numbers) == origins
