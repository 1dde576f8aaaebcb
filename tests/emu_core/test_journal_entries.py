"""Journal entries as text, and the marks by which an execution takes its own."""

from __future__ import annotations

from emu_core.journal import HOST, Journal, JournalEntry, Writer


def _entry(**changes):
    values = {
        "time": 18000, "run": 1, "writer": Writer(1, 1, "task_update"), "target": "sqe", "stream": 0, "slot": 7,
        "task": 7, "struct": "AicoreKernelSqe", "field": "block_dim", "address": 0x1000, "bit_offset": 16,
        "bit_width": 16, "before": 0xFFFF, "after": 3,
    }  # fmt: skip
    return JournalEntry(**{**values, **changes})


def test_a_patch_says_where_what_and_by_whom():
    """Time, place, field, both values, and the task that wrote."""
    place, change = _entry().text().split("AicoreKernelSqe.")
    assert place.split() == ["18000", "ns", "stream", "0", "slot", "7", "task", "7"]
    assert change == "block_dim: 0xffff -> 0x3 by stream 1 task 1 (task_update)"


def test_a_cell_has_no_place_in_a_ring():
    """A tiling cell is named by its label."""
    text = _entry(target="cell", struct="tiling key of op", field="value", stream=-1, slot=-1, task=-1).text()
    assert "stream 0" not in text
    assert "tiling key of op.value: 0xffff -> 0x3" in text


def test_the_host_is_named_as_such():
    """A write that no task made is the host's."""
    assert _entry(writer=HOST).text().endswith("by the host")


def test_since_gives_what_came_after_a_mark():
    """The mark is an earlier length."""
    journal = Journal()
    first, second = _entry(), _entry(after=4)
    journal.add(first)
    mark = len(journal)
    journal.add(second)
    assert list(journal) == [first, second]
    assert journal.since(mark) == (second,)
