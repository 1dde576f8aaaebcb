"""A set of byte ranges: which parts of an allocation were written."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class IntervalSet:
    """Disjoint half-open ranges, kept sorted; adding merges neighbours."""

    __slots__ = ("_ends", "_starts")

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []

    def add(self, start: int, end: int) -> None:
        """Add ``[start, end)``; an empty range changes nothing."""
        if start >= end:
            return
        first = bisect_left(self._ends, start)
        last = bisect_right(self._starts, end)
        if first < last:
            start = min(start, self._starts[first])
            end = max(end, self._ends[last - 1])
        self._starts[first:last] = [start]
        self._ends[first:last] = [end]

    def first_gap(self, start: int, end: int) -> int | None:
        """Lowest position of ``[start, end)`` that is not in the set, or None when all of it is."""
        if start >= end:
            return None
        at = bisect_right(self._starts, start) - 1
        if at < 0 or self._ends[at] <= start:
            return start
        return None if self._ends[at] >= end else self._ends[at]

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return iter(zip(self._starts, self._ends, strict=True))
