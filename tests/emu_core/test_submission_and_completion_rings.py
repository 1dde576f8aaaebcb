"""Submission rings (full, bound, task ids) and the completion ring (phase bit)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu_core.errors import LimitError
from emu_core.memory import DeviceMemory, Space
from emu_core.rings import CompletionQueue, SubmissionQueue, free_entries, is_full


def _sqe(number):
    return bytes([number & 0xFF, number >> 8 & 0xFF]) * 32


@pytest.fixture
def memory():
    """Four MiB."""
    return DeviceMemory(1 << 22)


@pytest.fixture
def queue(memory):
    """SQ 3: eight entries, six of them usable when bound."""
    return SubmissionQueue(memory, 3, 8, 6, "main")


@pytest.mark.parametrize(("head", "tail", "add"), [(5, 1, 5), (0, 5, 3)])
def test_s43_both_published_examples_are_full(head, tail, add):
    """S43: in a ring of 8, head 5 tail 1 has no room for 5 entries and head 0 tail 5 none for 3."""
    assert is_full(head, tail, 8, add)
    assert not is_full(head, tail, 8, add - 2)


@given(st.integers(2, 64), st.data())
def test_free_and_pending_entries_leave_one_empty(depth, data):
    """Entries that wait plus entries that are free are depth - 1, whatever head and tail."""
    head, tail = data.draw(st.integers(0, depth - 1)), data.draw(st.integers(0, depth - 1))
    assert free_entries(head, tail, depth) + (tail - head) % depth == depth - 1


def test_entries_lie_in_device_memory_64_bytes_apart(queue, memory):
    """The ring's bytes are the truth: what `append` wrote is read from memory."""
    slots = [queue.append(_sqe(n)) for n in range(3)]
    assert slots == [0, 1, 2]
    assert queue.ring.address == Space.TS.value
    assert memory.read(queue.ring.address, 192) == _sqe(0) + _sqe(1) + _sqe(2)
    assert queue.entry(1) == _sqe(1)
    assert queue.contents() == _sqe(0) + _sqe(1) + _sqe(2)
    assert queue.pending == 3


def test_a_ring_is_written_by_its_queue_only(queue, memory):
    """Tasks cannot write into a ring."""
    assert memory.protected_as(queue.ring.address + 511) == "the ring of SQ 3"
    assert memory.protected_as(queue.ring.address + 512) is None


def test_one_entry_always_stays_empty(queue):
    """A ring of 8 takes 7 entries; after one retires, one more."""
    for n in range(7):
        queue.append(_sqe(n))
    with pytest.raises(LimitError, match="7 entries wait") as caught:
        queue.append(_sqe(7))
    assert caught.value.id == "limit.sq-full"
    queue.head = 1
    assert queue.append(_sqe(7)) == 7
    assert queue.tail == 0


def test_s44_a_bound_ring_never_wraps(queue):
    """S44: a ring that belongs to a model is full at its usable tasks, even when all have retired."""
    queue.bound = True
    for n in range(6):
        queue.append(_sqe(n))
    queue.head = 6
    with pytest.raises(LimitError, match="holds 6 tasks") as caught:
        queue.append(_sqe(6))
    assert caught.value.id == "EE1019"


def test_task_ids_flip_at_65536_and_old_ids_are_forgotten(queue):
    """Ids are 16 bit; only the tasks whose entries are still in the ring can be found by id."""
    for n in range(65536 + 5):
        queue.append(_sqe(n))
        queue.head = queue.tail
    assert queue.next_task_id() == 5
    assert queue.slot_of == {65533: 5, 65534: 6, 65535: 7, 0: 0, 1: 1, 2: 2, 3: 3, 4: 4}
    assert queue.task_at == {slot: task for task, slot in queue.slot_of.items()}


def test_an_empty_ring_has_no_contents(queue):
    """Nothing was ever written, so nothing is shown."""
    assert queue.contents() == b""


def _cqe(phase, number):
    return bytes([phase | number << 1]) + bytes(15)


def test_phase_bit_toggles_with_each_lap(memory):
    """The phase is 1 on the first lap, 0 on the second, 1 on the third."""
    queue = CompletionQueue(memory, 3, 16)
    phases = []
    for n in range(9):
        phases.append(queue.phase)
        queue.push(_cqe(queue.phase, n))
        assert queue.drain() == [_cqe(phases[-1], n)]
    assert phases == [1, 1, 1, 0, 0, 0, 1, 1, 1]


@given(st.lists(st.integers(-4, 4), max_size=40))
def test_completions_arrive_once_and_in_order(steps):
    """Pushes (positive) and drains (negative) in any mixture behave like a queue of the ring's depth."""
    queue = CompletionQueue(DeviceMemory(1 << 16), 4, 16)
    waiting, number = [], 0
    for step in steps:
        for _ in range(step):
            if not queue.full:
                waiting.append(_cqe(queue.phase, number % 100))
                queue.push(waiting[-1])
                number += 1
        if step < 0:
            assert queue.drain(-step) == waiting[:-step]
            waiting = waiting[-step:]
        assert queue.full == (len(waiting) == 4)
    assert queue.drain() == waiting


def test_the_host_takes_32_entries_at_a_time(memory):
    """Without a number given, a drain stops at 32."""
    queue = CompletionQueue(memory, 64, 16)
    for n in range(40):
        queue.push(_cqe(queue.phase, n))
    assert [len(queue.drain()), len(queue.drain())] == [32, 8]
