"""The set of written byte ranges against a set of integers."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from emu_core.intervals import IntervalSet

LIMIT = 60
RANGES = st.lists(st.tuples(st.integers(0, LIMIT), st.integers(0, LIMIT)), max_size=12)


def _filled(ranges):
    found, model = IntervalSet(), set()
    for start, end in ranges:
        found.add(start, end)
        model.update(range(start, end))
    return found, model


@given(RANGES)
def test_ranges_stay_sorted_disjoint_and_apart(ranges):
    """Adding merges what touches, so between two kept ranges there is always a hole."""
    found, model = _filled(ranges)
    kept = list(found)
    assert {x for start, end in kept for x in range(start, end)} == model
    assert all(start < end for start, end in kept)
    assert all(first[1] < second[0] for first, second in pairwise(kept))


@given(RANGES, st.integers(0, LIMIT), st.integers(0, LIMIT))
def test_first_gap_is_the_lowest_missing_position(ranges, start, end):
    """`first_gap` agrees with looking at every position of the range."""
    found, model = _filled(ranges)
    assert found.first_gap(start, end) == next((x for x in range(start, end) if x not in model), None)


def test_neighbours_merge_and_overlaps_join():
    """[2,4) and [4,6) are one range; [0,10) swallows them."""
    found = IntervalSet()
    for start, end in ((2, 4), (8, 9), (4, 6)):
        found.add(start, end)
    assert list(found) == [(2, 6), (8, 9)]
    found.add(0, 10)
    assert list(found) == [(0, 10)]
