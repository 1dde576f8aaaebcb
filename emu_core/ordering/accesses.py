"""Who wrote and who read each byte last, as ranges: an access is checked against the ranges it overlaps.

| access | unordered pairs with | then the range remembers |
|---|---|---|
| read | the last write | the reader beside the other readers, one per place |
| write | the last write, and the reads since | the writer alone |
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@dataclass(frozen=True)
class Epoch:
    """A task at a moment: its place (`clocks`), the stretch it is in, and which entry it is."""

    place: int
    count: int
    stream: int
    slot: int
    task: int


@dataclass
class _Range:
    """Bytes from where it is filed to `end`, with their last writer and the readers since, by place."""

    end: int
    write: Epoch | None = None
    reads: dict[int, Epoch] = field(default_factory=dict)


class AccessMap:
    """Accesses of one device; addresses are device addresses."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._ranges: dict[int, _Range] = {}

    def __len__(self) -> int:
        return len(self._starts)

    def clear(self) -> None:
        """Forget everything: all that comes is behind all that was."""
        self._starts.clear()
        self._ranges.clear()

    def touch(
        self, lo: int, hi: int, epoch: Epoch, *, write: bool, ordered: Callable[[Epoch], bool]
    ) -> list[tuple[Epoch, bool, int]]:
        """An access to bytes `lo` to `hi` (exclusive).

        Returns:
            The earlier accesses that nothing orders before it: who, whether it wrote, and the first byte of both.
        """
        found: dict[tuple[Epoch, bool], int] = {}
        for start, part in list(self._parts(lo, hi)):
            earlier = [(part.write, True)] if part.write is not None else []
            earlier += [(read, False) for read in part.reads.values()] if write else []
            for other, wrote in earlier:
                if other is not None and other.place != epoch.place and not ordered(other):
                    found.setdefault((other, wrote), start)
            if not write:
                part.reads[epoch.place] = epoch
        if write:
            self._replace(lo, hi, _Range(hi, epoch))
        return [(other, wrote, at) for (other, wrote), at in found.items()]

    def writers(self, lo: int, hi: int) -> list[Epoch]:
        """Who wrote the bytes `lo` to `hi` (exclusive) last."""
        return list(dict.fromkeys(part.write for _, part in self._parts(lo, hi) if part.write is not None))

    def _parts(self, lo: int, hi: int) -> Iterator[tuple[int, _Range]]:
        """The ranges that make up `lo` to `hi`, split at both ends; gaps become ranges that nobody touched."""
        self._split(lo)
        self._split(hi)
        at = lo
        while at < hi:
            place = bisect_right(self._starts, at)
            known = self._ranges.get(at)
            if known is None:
                following = self._starts[place] if place < len(self._starts) else hi
                known = self._ranges[at] = _Range(min(following, hi))
                self._starts.insert(place, at)
            yield at, known
            at = known.end

    def _split(self, at: int) -> None:
        """Let a range begin at `at`, if one lies over it."""
        place = bisect_right(self._starts, at) - 1
        if place < 0:
            return
        start = self._starts[place]
        known = self._ranges[start]
        if start < at < known.end:
            self._ranges[at] = _Range(known.end, known.write, dict(known.reads))
            self._starts.insert(place + 1, at)
            known.end = at

    def _replace(self, lo: int, hi: int, whole: _Range) -> None:
        first, last = bisect_right(self._starts, lo) - 1, bisect_right(self._starts, hi - 1)
        for start in self._starts[first:last]:
            del self._ranges[start]
        self._starts[first:last] = [lo]
        self._ranges[lo] = whole
