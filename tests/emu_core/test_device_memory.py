"""Device memory: bounds, life time, protection, and the bytes that nobody wrote."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu_core.errors import DeviceFault, LimitError
from emu_core.memory import GUARD, DeviceMemory, Space, TaskMemory

KIB = 1024


@pytest.fixture
def memory():
    """One MiB."""
    return DeviceMemory(1 << 20)


@pytest.fixture
def task(memory):
    """Memory as a task sees it, with the reports of unwritten reads in `task.seen`."""

    class Seen(TaskMemory):
        seen: list[tuple[int, int, str]]

    found = Seen(memory, lambda *report: found.seen.append(report))
    found.seen = []
    return found


def _refused(call, fault_id):
    with pytest.raises(DeviceFault) as caught:
        call()
    assert caught.value.id == fault_id
    return caught.value.what


def test_spaces_start_at_their_base_and_align(memory):
    """The first allocation of each space lies at its base; later ones are aligned and apart by the guard."""
    first = memory.allocate(100, label="a")
    second = memory.allocate(1, label="b", align=256)
    ring = memory.allocate(64, label="r", space=Space.TS, align=4096)
    assert (first.address, ring.address) == (0x12C0_4000_0000, 0x1240_0000_0000)
    assert second.address % 256 == 0
    assert second.address >= first.end + GUARD


def test_offsets_of_the_scheduler_space_are_inverse(memory):
    """A TS address and its device offset are told apart by the base of the space."""
    assert memory.offset_of(0x1240_0000_0040) == 0x40
    assert memory.address_of_offset(0x40) == 0x1240_0000_0040
    assert memory.address_of_offset((1 << 64) - 1) == 0x123F_FFFF_FFFF


def test_reads_are_zero_until_written_and_memory_is_made_late(memory):
    """A chip's whole memory can be reserved without being backed; untouched bytes read as 0."""
    memory = DeviceMemory(64 << 30)
    block = memory.allocate(48 << 30, label="huge")
    small = memory.allocate(8, label="small")
    assert memory._blocks[block.address]._data is None
    assert memory.read(small.address, 8) == bytes(8)


def test_bytes_written_are_read_back(memory):
    """`write` takes bytes and arrays."""
    at = memory.allocate(8, label="a").address
    memory.write(at, b"\1\2\3\4")
    memory.write(at + 4, np.array([5, 6], np.uint8))
    assert memory.read(at, 8) == b"\1\2\3\4\5\6\0\0"


def test_access_past_the_end_names_the_allocation_and_by_how_much(memory):
    """Eight bytes four before the end go four bytes too far."""
    block = memory.allocate(16, label="tensor y")
    what = _refused(lambda: memory.read(block.end - 4, 8), "memory.bounds")
    assert "4 bytes past the end of tensor y" in what


def test_access_in_the_guard_belongs_to_the_allocation_before(memory):
    """A run-away index is blamed on the tensor it started from."""
    block = memory.allocate(16, label="tensor y")
    memory.allocate(16, label="tensor z")
    assert "tensor y" in _refused(lambda: memory.write(block.end + 100, b"x"), "memory.bounds")


@pytest.mark.parametrize("address", [0, 0x1000, 0x12C0_4000_0000 + (1 << 40)])
def test_access_to_nothing_is_a_fault(memory, address):
    """Addresses that were never given out are out of bounds."""
    memory.allocate(16, label="a")
    assert "no memory was allocated" in _refused(lambda: memory.read(address, 4), "memory.bounds")


def test_access_after_free_is_found_and_frees_room(memory):
    """A freed range is never given out again, so late accesses are always seen."""
    block = memory.allocate(1000, label="workspace 0")
    memory.free(block.address)
    memory.free(block.address)
    assert memory.used == 0
    assert memory.find(block.address) is None
    assert "workspace 0 was freed" in _refused(lambda: memory.read(block.address, 1), "memory.freed")
    assert memory.allocate(1000, label="next").address > block.address


def test_find_names_the_allocation_around_an_address(memory):
    """`find` answers inside a range, not before, behind or in the guard."""
    block = memory.allocate(16, label="a")
    assert memory.find(block.address + 15) == block
    assert memory.find(block.end) is None
    assert memory.find(block.address - 1) is None
    assert DeviceMemory(10).find(5) is None


def test_allocations_lists_what_lives(memory):
    """Freed ranges are not listed."""
    first, second = memory.allocate(1, label="a"), memory.allocate(1, label="b")
    memory.free(first.address)
    assert list(memory.allocations()) == [second]


def test_more_than_the_chip_has_is_a_limit(memory):
    """The message says how much is in use; the exact rest still fits."""
    memory.allocate((1 << 20) - 10, label="a")
    with pytest.raises(LimitError, match="11 bytes for b do not fit") as caught:
        memory.allocate(11, label="b")
    assert caught.value.id == "limit.memory"
    memory.allocate(10, label="c")


@pytest.mark.parametrize(
    ("start", "size", "hit"), [(0, 8, False), (4, 8, True), (8, 8, True), (15, 8, True), (16, 8, False), (12, 0, False)]
)
def test_protected_ranges_refuse_writes_but_not_pokes(memory, start, size, hit):
    """A write that touches one byte of a protected range is refused; `poke` is the one way in."""
    at = memory.allocate(32, label="buffer").address
    memory.protect(at + 8, 8, "tiling key of op")
    if hit:
        assert "tiling key of op" in _refused(lambda: memory.write(at + start, bytes(size)), "memory.protected")
    else:
        memory.write(at + start, bytes(size))
    memory.poke(at + 8, b"\7")
    assert memory.read(at + 8, 1) == b"\7"


def test_protected_as_names_the_range_around_an_address(memory):
    """The first byte belongs to it, the one past the end does not."""
    at = memory.allocate(32, label="buffer").address
    memory.protect(at + 8, 8, "cell")
    assert [memory.protected_as(at + i) for i in (7, 8, 15, 16)] == [None, "cell", "cell", None]


def test_unwritten_reads_report_the_first_missing_byte(memory, task):
    """Of eight bytes of which three were written, the report starts at the fourth and names the tensor."""
    at = memory.allocate(8, label="tensor t").address
    memory.write(at, b"abc")
    assert task.read(at, 3) == b"abc"
    assert task.seen == []
    assert task.u64(at) == int.from_bytes(b"abc", "little")
    assert task.seen == [(at + 3, 5, "tensor t")]


def test_a_new_execution_forgets_what_was_written(memory, task):
    """`forget_written` keeps the bytes and drops the marks of the whole allocation."""
    at = memory.allocate(8, label="t").address
    task.write(at, bytes(range(8)))
    memory.forget_written(at, 1)
    assert memory.unwritten(at, 8) == at
    assert task.u32(at + 4) == 0x07060504
    assert task.seen == [(at + 4, 4, "t")]


def test_out_array_marks_when_it_closes(memory, task):
    """Inside the block nothing counts as written yet; afterwards all of it does."""
    at = memory.allocate(16, label="y").address
    with task.out_array(at, "<f4", (2, 2)) as y:
        y[...] = [[1, 2], [3, 4]]
        assert memory.unwritten(at, 16) == at
    assert memory.unwritten(at, 16) is None
    assert task.array(at, "<f4", (4,)).tolist() == [1, 2, 3, 4]
    assert task.seen == []


def test_out_array_does_not_mark_after_an_error(memory, task):
    """A kernel that fails half way has written nothing that counts."""
    at = memory.allocate(16, label="y").address
    with pytest.raises(ZeroDivisionError), task.out_array(at, "<f4", (4,)):
        raise ZeroDivisionError
    assert memory.unwritten(at, 16) == at


def test_out_array_respects_bounds_and_protection(memory, task):
    """An array that is too long or that covers a cell is refused before it is handed out."""
    at = memory.allocate(16, label="y").address
    memory.protect(at + 12, 4, "cell")

    def use(count):
        with task.out_array(at, "<f4", (count,)):
            pass

    _refused(lambda: use(5), "memory.protected")
    _refused(lambda: use(4), "memory.protected")
    use(3)


def test_inout_array_reads_what_is_there(memory, task):
    """An accumulation over unwritten bytes is reported, and its result is written."""
    at = memory.allocate(8, label="acc").address
    with task.inout_array(at, "<i4", (2,)) as acc:
        acc[...] = acc + 1
    assert task.seen == [(at, 8, "acc")]
    assert task.array(at, "<i4", (2,)).tolist() == [1, 1]


def test_arrays_are_read_only_and_may_lie_at_odd_addresses(memory, task):
    """A view at an unaligned address has the same values; nobody can write through it."""
    at = memory.allocate(16, label="x").address
    task.write(at + 1, np.array([1.5, -2.0], "<f4").tobytes())
    found = task.array(at + 1, "<f4", (2,))
    assert found.tolist() == [1.5, -2.0]
    with pytest.raises(ValueError, match="read-only"):
        found[0] = 1
    with task.out_array(at + 3, "<f8", ()) as one:
        one[...] = 2.25
    assert task.array(at + 3, "<f8", ()).item() == 2.25


def test_empty_and_impossible_shapes(memory, task):
    """No elements are no access; a negative dimension is a fault, not a crash."""
    at = memory.allocate(4, label="x").address
    assert task.array(at, "<f4", (0, 3)).shape == (0, 3)
    assert task.seen == []
    _refused(lambda: task.array(at, "<f4", (-1,)), "memory.bounds")


def test_text_ends_at_zero(memory, task):
    """Text without an end, or that is no UTF-8, is a fault; so is text at no address."""
    at = memory.allocate(8, label="t").address
    task.write(at, b"abc\0\xff\xffzz")
    assert task.c_string(at) == "abc"
    _refused(lambda: task.c_string(at + 6), "memory.text")
    _refused(lambda: task.c_string(at, limit=2), "memory.text")
    task.write(at, b"\xff\xfe\0")
    _refused(lambda: task.c_string(at), "memory.text")
    _refused(lambda: task.c_string(16), "memory.bounds")


@given(st.lists(st.tuples(st.integers(0, 200), st.binary(max_size=40)), max_size=10))
def test_memory_agrees_with_a_bytearray(writes):
    """Any sequence of writes inside an allocation leaves what the same writes leave in a bytearray."""
    memory, model = DeviceMemory(KIB), bytearray(256)
    at = memory.allocate(256, label="m").address
    for offset, data in writes:
        memory.write(at + offset, data)
        model[offset : offset + len(data)] = data
    assert memory.read(at, 256) == bytes(model)
