"""What a dump consists of: entries, and gaps of entries that are all zero.

`scan` walks over the bytes in windows, so that a file of any size is shown in little memory.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from formats import SQE_SIZE
from tools.dump.kinds import Kind, kind_of, unit_kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import numpy as np
    import numpy.typing as npt

    from formats import CStruct, Decoded, Registry
    from tools.dump.data import Data

WINDOW = 16384
"""Slots looked at together: 1 MiB."""

FEW = 256
"""Entries up to which a file is read without numpy, whose import would take longer than the work."""

MOST_UNITS = 5
"""64-byte units that the longest task has."""

_SYNC = 0x8000
_RECORDS = 1 << 20


@dataclass(frozen=True)
class Entry:
    """One SQE (or another record): where it is, its bytes, what they were taken for.

    Attributes:
        stream_id, task_id: None where the layout has none: the streams of v200 are not in the entry.
        unit: 0 for the first 64 bytes of a task, else the number of the further unit.
    """

    stream_id: int | None
    slot: int
    raw: bytes
    decoded: Decoded
    kind: Kind
    task_id: int | None
    unit: int = 0

    @property
    def offset(self) -> int:
        """Byte offset in its ring or file."""
        return self.decoded.offset

    @property
    def empty(self) -> bool:
        """Whether all bytes are 0."""
        return not any(self.raw)


@dataclass(frozen=True)
class Gap:
    """Entries `first` to `last` (inclusive) whose bytes are all 0."""

    stream_id: int | None
    first: int
    last: int

    @property
    def count(self) -> int:
        """Entries of the gap."""
        return self.last - self.first + 1


Item: TypeAlias = "Entry | Gap"


class Reader:
    """Decodes the entries of one family.

    Args:
        registry, family: layouts.
        stream_id: stream of the ring; without it each entry's own header says the stream.
    """

    def __init__(self, registry: Registry, family: str, stream_id: int | None = None) -> None:
        self.registry = registry
        self.family = family
        self.stream_id = stream_id
        header = self._header = registry.generic(family)
        self._task = header.field("task_id") if "task_id" in header.by_name else None
        self._stream = header.field("rt_stream_id") if "rt_stream_id" in header.by_name else None

    @property
    def zero_stream(self) -> int | None:
        """The stream of entries that are all zero."""
        return self.stream_of(bytes(SQE_SIZE))

    def stream_of(self, raw: bytes) -> int | None:
        """Stream of an entry: the ring's, else the header's without the sync bit."""
        if self.stream_id is not None:
            return self.stream_id
        return int(self._stream.read(raw)) & ~_SYNC if self._stream else None

    def task_of(self, raw: bytes) -> int | None:
        """Task id by the header."""
        return int(self._task.read(raw)) if self._task else None

    @cached_property
    def _lengths(self) -> tuple[int, ...]:
        """The bits of an entry, as masks of a little-endian integer, in which some layout has `sqe_length`."""
        known = (self.registry.get(self.family, name) for name in self.registry.names(self.family))
        fields = (struct.by_name["sqe_length"] for struct in known if "sqe_length" in struct.by_name)
        return tuple({((1 << f.width) - 1) << f.offset for f in fields})

    @property
    def single(self) -> bool:
        """Whether every task of the family is one entry."""
        return not self._lengths

    def units_of(self, raw: bytes) -> int:
        """Units (1 to `MOST_UNITS`) of the task that begins with the entry `raw`."""
        whole = int.from_bytes(raw, "little")
        if not any(whole & mask for mask in self._lengths):
            return 1
        further = int(self.registry.decode(self.family, raw).values.get("sqe_length", 0))
        return 1 + further if further < MOST_UNITS else 1

    def with_ids(
        self, window: memoryview[int], used: Sequence[int], streams: frozenset[int], tasks: frozenset[int]
    ) -> list[int]:
        """Those of the slots `used` that have one of the streams and one of the tasks in their header."""
        import numpy as np  # noqa: PLC0415 - small files do without

        header = self._header.view(np.frombuffer(window, np.uint8).reshape(-1, SQE_SIZE)[list(used)])
        found = np.ones(len(used), bool)
        if streams:
            found &= np.isin(header["rt_stream_id"] & np.uint32(_SYNC - 1), sorted(streams))
        if tasks:
            found &= np.isin(header["task_id"], sorted(tasks))
        return [slot for slot, wanted in zip(used, found.tolist(), strict=True) if wanted]

    def entries(self, window: memoryview[int] | bytes, slot: int, base: int) -> Iterator[Entry]:
        """The entries of the first task in `window`, which starts at `slot` and byte `base`: one per unit."""
        decoded = next(self.registry.decode_stream(self.family, window[: MOST_UNITS * SQE_SIZE], offset=base))
        raw = bytes(window[:SQE_SIZE])
        stream, task, kind = self.stream_of(raw), self.task_of(raw), kind_of(decoded)
        yield Entry(stream, slot, raw, replace(decoded, units=()) if decoded.units else decoded, kind, task)
        for k, unit in enumerate(decoded.units, 1):
            part = bytes(window[k * SQE_SIZE : (k + 1) * SQE_SIZE])
            yield Entry(stream, slot + k, part, unit, unit_kind(kind, k), task, k)


def entries(registry: Registry, family: str, ring: bytes, stream_id: int | None = None) -> Iterator[Entry]:
    """The whole entries of a ring in memory, those of zeros one by one."""
    reader = Reader(registry, family, stream_id)
    view, slot = memoryview(ring), 0
    while (slot + 1) * SQE_SIZE <= len(ring):
        whole = len(ring) // SQE_SIZE * SQE_SIZE
        for entry in reader.entries(view[slot * SQE_SIZE : whole], slot, slot * SQE_SIZE):
            yield entry
            slot += 1


def task_start(reader: Reader, data: Data, slot: int, known: int = 0) -> int:
    """The slot where the task begins that takes up `slot`; `slot` itself where one begins, or none is.

    `known` is a slot, not behind `slot`, that is not inside a task.

    Whether an entry begins a task depends on the entries before it, in the end on the whole ring. To read little, the
    walk goes backwards to a slot that cannot be inside a task: none of the four entries before it, each taken for the
    beginning of a task, claims units up to there. That holds whatever those entries are, so from there on the walk
    forwards is the one from slot 0. Plain entries and zeros claim nothing, so it is mostly a step of four entries;
    only where everything claims further units is it the whole way, or that to `known`.
    """
    if reader.single or slot <= known:
        return slot
    ends: dict[int, int] = {}

    def end(at: int) -> int:
        if at not in ends:
            ends[at] = at + reader.units_of(bytes(data.view[at * SQE_SIZE : (at + 1) * SQE_SIZE]))
        return ends[at]

    def claimed_by(at: int) -> int | None:
        return next((p for p in range(max(at - MOST_UNITS + 1, known), at) if end(p) > at), None)

    safe = slot
    while (over := claimed_by(safe)) is not None:
        safe = over  # the slots between are inside the same claim
    while end(safe) <= slot:
        safe = end(safe)
    return safe


def places(reader: Reader, data: Data, first: int, last: int, start: int) -> Iterator[tuple[int, int]]:
    """(slot, slot where its task begins) of every entry in slots `first` to `last` (exclusive), nothing decoded.

    `start` is where the task begins that takes up `first`, as `task_start` finds it. Entries that are all zero are left
    out unless they are a further unit of a task.
    """
    window = data.view[first * SQE_SIZE : last * SQE_SIZE]
    if reader.single:
        yield from ((first + index, first + index) for index in used_slots(window))
        return
    at = first
    if start < first:
        end = start + reader.units_of(bytes(data.view[start * SQE_SIZE : (start + 1) * SQE_SIZE]))
        yield from ((slot, start) for slot in range(first, min(end, last)))
        at = end
    for index in used_slots(window):
        slot = first + index
        if slot >= at:
            at = slot + reader.units_of(bytes(window[index * SQE_SIZE : (index + 1) * SQE_SIZE]))
            yield from ((unit, slot) for unit in range(slot, min(at, last)))


def entry_at(reader: Reader, data: Data, slot: int, start: int) -> Entry:
    """The entry in `slot`, which belongs to the task that begins in slot `start`."""
    return next(entry for entry in _task(reader, data, start) if entry.slot == slot)


def _task(reader: Reader, data: Data, start: int) -> Iterator[Entry]:
    """The units of the task that begins in slot `start`."""
    stop = min(start + MOST_UNITS, len(data) // SQE_SIZE)
    return reader.entries(data.view[start * SQE_SIZE : stop * SQE_SIZE], start, start * SQE_SIZE)


def scan(reader: Reader, data: Data, first: int, last: int) -> Iterator[Item]:
    """Entries and gaps of slots `first` to `last` (exclusive), as a walk over all of `data` has them.

    A task that begins before `first` shows its further units, one that ends behind `last` its first ones. Pages behind
    are given back.
    """
    gap: Gap | None = None
    slot = first
    start = task_start(reader, data, first) if first < last else first
    if start < first:
        for entry in _task(reader, data, start):
            if first <= entry.slot < last:
                yield entry
                slot = entry.slot + 1
    while slot < last:
        hole = min(data.next_data(slot * SQE_SIZE) // SQE_SIZE, last)
        if hole > slot + WINDOW:
            zero = reader.zero_stream
            gap = Gap(zero, gap.first if gap else slot, hole - 1)
            slot = hole
            continue
        end = min(slot + WINDOW, last)
        start = slot
        for item in _window(reader, data, slot, end, last):
            if isinstance(item, Gap):
                gap = Gap(item.stream_id, gap.first, item.last) if gap else item
                slot = item.last + 1
                continue
            if gap:
                yield gap
                gap = None
            yield item
            slot = item.slot + 1
        data.release(start * SQE_SIZE, min(slot, end) * SQE_SIZE)
    if gap:
        yield gap


def _window(reader: Reader, data: Data, slot: int, end: int, last: int) -> Iterator[Item]:
    """Items that begin in slots `slot` to `end`; the units of the last task may lie behind `end`, up to `last`."""
    used = used_slots(data.view[slot * SQE_SIZE : end * SQE_SIZE])
    at = slot
    for index in used:
        here = slot + index
        if here < at:
            continue  # a further unit of the task before
        if here > at:
            yield Gap(reader.zero_stream, at, here - 1)
        for entry in _task(reader, data, here):
            if entry.slot < last:
                yield entry
            at = entry.slot + 1
    if at < end:
        yield Gap(reader.zero_stream, at, end - 1)


def picked(
    reader: Reader, data: Data, first: int, last: int, streams: frozenset[int], tasks: frozenset[int]
) -> Iterator[Entry]:
    """Entries of these streams and tasks (an empty set means all), found by their headers before any is decoded.

    For families whose tasks are one entry each; gaps are left out.
    """
    start = first
    while start < last:
        stored = min(data.next_data(start * SQE_SIZE) // SQE_SIZE, last)
        if stored > start:
            start = stored
            continue
        end = min(start + WINDOW, last)
        window = data.view[start * SQE_SIZE : end * SQE_SIZE]
        used = used_slots(window)
        for index in reader.with_ids(window, used, streams, tasks):
            slot = start + index
            yield from reader.entries(window[index * SQE_SIZE : (index + 1) * SQE_SIZE], slot, slot * SQE_SIZE)
        data.release(start * SQE_SIZE, end * SQE_SIZE)
        start = end


def used_slots(window: memoryview[int]) -> Sequence[int]:
    """Slots of `window` that are not all zero, ascending."""
    if not window or bytes(window) == bytes(len(window)):
        return []
    count = len(window) // SQE_SIZE
    if count <= FEW:
        return [i for i in range(count) if any(window[i * SQE_SIZE : (i + 1) * SQE_SIZE])]
    found: list[int] = used_array(window).tolist()
    return found


def used_array(window: memoryview[int]) -> npt.NDArray[np.intp]:
    """`used_slots` as an array, for many slots."""
    import numpy as np  # noqa: PLC0415 - small files do without

    return np.flatnonzero(np.frombuffer(window, "<u8").reshape(-1, SQE_SIZE // 8).any(axis=1))


def records(struct: CStruct, data: Data, first: int, last: int) -> Iterator[Item]:
    """The bytes as an array of `struct`: elements `first` to `last` (exclusive), runs of zeros as gaps."""
    from formats.decoded import decode_as  # noqa: PLC0415 - the one use

    kind = Kind(struct.struct_name, struct.struct_name)
    size = struct.size

    def entry(index: int) -> Entry:
        raw = bytes(data.view[index * size : (index + 1) * size])
        return Entry(None, index, raw, decode_as(struct, None, raw, index * size), kind, None)

    return with_gaps(stored(data, size, first, last), first, last, entry)


def stored(data: Data, size: int, first: int, last: int) -> Iterator[int]:
    """Records `first` to `last` (exclusive) of `size` bytes that are not all zero; pages behind are given back."""
    step = max(_RECORDS // size, 1)
    at = first
    while (at := min(max(at, data.next_data(at * size) // size), last)) < last:
        end = min(at + step, last)
        window = bytes(data.view[at * size : end * size])
        if window != bytes(len(window)):
            zero = bytes(size)
            yield from (at + k for k in range(end - at) if window[k * size : (k + 1) * size] != zero)
        data.release(at * size, end * size)
        at = end


def with_gaps(used: Iterable[int], first: int, last: int, entry: Callable[[int], Entry]) -> Iterator[Item]:
    """`entry` of every used record (ascending), gaps for the others of `first` to `last` (exclusive)."""
    at = first
    for index in used:
        if index > at:
            yield Gap(None, at, index - 1)
        yield entry(index)
        at = index + 1
    if at < last:
        yield Gap(None, at, last - 1)
