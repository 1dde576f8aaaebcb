"""UB memory against a model with one owner per byte."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu_plugins.cgdr.ub_memory import Place, UbMemory, UbOverrunError

SIZE = 64
PLACES = st.lists(st.tuples(st.integers(0, 12), st.integers(1, 4)), min_size=1, max_size=4, unique=True)
STEPS = st.lists(st.tuples(st.integers(0, 3), st.booleans(), st.integers(0, 3), st.integers(0, 255)), max_size=20)


@given(PLACES, STEPS)
def test_owners_and_values_follow_a_model(places, steps):
    """Values are those of plain bytes, and a pair is reported exactly when a read meets a byte of another writer."""
    ub, model, owners, pairs = UbMemory(SIZE), np.full(SIZE, 0xFF, np.uint8), ["nothing yet"] * SIZE, set()
    tenants = [ub.tenant(f"t{i}", 4 * at, (count,), "<u4") for i, (at, count) in enumerate(places)]
    for which, writes, element, value in steps:
        at, count = places[which % len(places)]
        name, tenant = f"t{which % len(places)}", tenants[which % len(places)]
        index = element % count
        first = 4 * (at + index)
        if writes:
            tenant.write(index, value)
            model[first : first + 4] = np.frombuffer(np.uint32(value).tobytes(), np.uint8)
            owners[first : first + 4] = [name] * 4
        else:
            assert int(tenant.read(index)) == int(model[first : first + 4].view("<u4")[0])
            pairs |= {(name, owner) for owner in owners[first : first + 4] if owner != name}
    assert {(o.reader.name, o.writer.name) for o in ub.overlaps} == pairs


def test_an_overlap_counts_bytes_and_is_told_once():
    """Six of the eight bytes read belong to the other view; the second read of the pair adds nothing."""
    ub = UbMemory(32)
    mine, other = ub.tenant("mine", 8, (4,), "<u2"), ub.tenant("other", 10, (3,), "<u2")
    mine.put(1)
    other.put(2)
    ub.step, ub.row = "sum", 64
    assert mine.read().tolist() == [1, 2, 2, 2]
    mine.read()
    (found,) = ub.overlaps
    assert (found.reader, found.writer) == (Place("mine", 8, 8), Place("other", 10, 6))
    assert (found.first, found.bytes, found.step, found.row) == (10, 6, "sum", 64)
    assert found.text() == ("step sum of row 64 reads mine [8, 16), of which 6 bytes from 10 on hold other [10, 16)")


def test_editing_takes_the_bytes_over():
    """What was edited in place belongs to the editor, and the old values were looked at."""
    ub = UbMemory(8)
    one, two = ub.tenant("one", 0, (2,)), ub.tenant("two", 0, (2,))
    one.put(3)
    two.edit()[...] += 1
    assert [(o.reader.name, o.writer.name) for o in ub.overlaps] == [("two", "one")]
    assert two.read().tolist() == [4, 4]
    assert len(ub.overlaps) == 1


def test_past_the_end():
    """A view may end with UB, and not behind it."""
    ub = UbMemory(16)
    ub.tenant("fits", 8, (2,))
    with pytest.raises(UbOverrunError) as caught:
        ub.tenant("does not", 12, (2,))
    assert (caught.value.place, caught.value.size) == (Place("does not", 12, 8), 16)
