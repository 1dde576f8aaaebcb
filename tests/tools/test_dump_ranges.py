"""Parts of a ring are shown as the whole shows them; runs of zeros in structs and completion entries are one line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from formats import BUILTIN
from tools.dump.cqes import Completions
from tools.dump.data import Data
from tools.dump.items import Entry, Gap, Reader, entry_at, places, records, scan, task_start

CCU, AIC = BUILTIN.get("v200", "CcuSqe"), BUILTIN.get("v200", "AicKernelSqe")
EVENT = BUILTIN.get("v200", "NotifyWaitSqe")

slots = st.lists(st.one_of(st.none(), st.integers(0, 7)), min_size=1, max_size=24)
"""Per slot None for zeros, else a CCU entry that claims so many further units (5 to 7: more than there can be)."""


def ring(claims):
    """The bytes of a ring; nothing in a slot tells whether it begins a task."""
    return b"".join(bytes(64) if n is None else CCU.build({"type": 16, "sqe_length": n}) for n in claims)


def starts(claims):
    """Per slot the slot where its task begins, by a walk from slot 0."""
    found, slot = [], 0
    while slot < len(claims):
        length = 1 + claims[slot] if claims[slot] in range(1, 5) else 1
        found += [slot] * min(length, len(claims) - slot)
        slot += length
    return found


@given(slots)
def test_looking_back(claims):
    """The task of any slot is the one that a walk from slot 0 finds, also when every entry claims units."""
    data, reader = Data(ring(claims)), Reader(BUILTIN, "v200")
    wanted = starts(claims)
    assert [task_start(reader, data, slot) for slot in range(len(claims))] == wanted
    assert [task_start(reader, data, slot, wanted[slot // 2]) for slot in range(len(claims))] == wanted
    full = [(slot, start) for slot, start in enumerate(wanted) if slot > start or claims[slot] is not None]
    for first in range(len(claims)):
        assert list(places(reader, data, first, len(claims), wanted[first])) == [p for p in full if p[0] >= first]


@given(slots, st.data())
def test_a_range_is_a_part_of_the_whole(claims, draw):
    """Entries of a range are those of the whole ring, notes and numbers of units included."""
    data, reader = Data(ring(claims)), Reader(BUILTIN, "v200")
    first = draw.draw(st.integers(0, len(claims)))
    last = draw.draw(st.integers(first, len(claims)))
    whole = list(scan(reader, data, 0, len(claims)))
    found = list(scan(reader, data, first, last))
    shown = [e for e in whole if isinstance(e, Entry) and first <= e.slot < last]
    assert [e for e in found if isinstance(e, Entry)] == shown
    covered = [slot for g in found if isinstance(g, Gap) for slot in range(g.first, g.last + 1)]
    assert sorted(covered + [e.slot for e in shown]) == list(range(first, last))
    for e in shown:
        assert entry_at(reader, data, e.slot, e.slot - e.unit) == e


def test_a_range_inside_a_task(sqemu, tmp_path):
    """The second unit of a CCU task is one, also when it looks like a kernel and the range begins with it."""
    kernel = AIC.build({"task_id": 1, "block_dim": 4})
    (tmp_path / "r").write_bytes(CCU.build({"type": 16, "task_id": 7, "sqe_length": 1}) + kernel + kernel)
    lines = sqemu("dump", tmp_path / "r", "--family", "v200", "--range", "1").out.splitlines()
    assert "ccu +1" in lines[-1]
    first = sqemu("dump", tmp_path / "r", "--family", "v200", "--range", "0").out
    assert "are there" not in first


# ---- records -----------------------------------------------------------------------------------------------------


def kinds(items):
    """(first, last) of gaps, the index of entries."""
    return [(i.first, i.last) if isinstance(i, Gap) else i.slot for i in items]


def test_zeros_in_structs_and_completions():
    """Runs of zeros are gaps, at the beginning, between, and at the end, also with a range."""
    struct = BUILTIN.get("v100", "EventWaitSqe")
    used = struct.build({"type": 5, "task_id": 2})
    data = Data(bytes(128) + used + bytes(64) + used + bytes(64 * 3))
    assert kinds(records(struct, data, 0, 8)) == [(0, 1), 2, (3, 3), 4, (5, 7)]
    assert kinds(records(struct, data, 1, 5)) == [(1, 1), 2, (3, 3), 4]
    assert kinds(records(struct, data, 5, 8)) == [(5, 7)]
    assert kinds(Completions("v100").scan(Data(bytes(32) + b"\1" * 16 + bytes(16)), 0, 4)) == [(0, 1), 2, (3, 3)]


@pytest.mark.parametrize("options", [("--struct", "EventWaitSqe"), ("--cqes",)])
def test_sparse_records(sqemu, tmp_path, options):
    """A sparse file of 4 GiB with one record in it is three lines, and as many JSON objects."""
    with (tmp_path / "f").open("wb") as file:
        file.seek(3 << 30)
        file.write(BUILTIN.get("v100", "EventWaitSqe").build({"type": 5, "task_id": 2})[:16])
        file.truncate(4 << 30)
    found = sqemu("dump", tmp_path / "f", *options, "--json").objects
    assert [o["section"] for o in found[1:]] == ["empty", "records" if len(options) > 1 else "cqes", "empty"]
    assert sum(o["bytes"] for o in found if o["section"] == "empty") == (4 << 30) - (64 if len(options) > 1 else 16)
    out = sqemu("dump", tmp_path / "f", *options).out.splitlines()
    assert sum("empty" in line for line in out) == 2
