"""Counts per kind, stream and engine, ids in use, and the limits of the chip."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

from formats.enums import name_of
from tools.dump.items import Gap

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from emu_core.chips import Chip
    from tools.dump.items import Entry, Item

IDS: Mapping[str, tuple[str, ...]] = MappingProxyType({
    "events": ("event_id",),
    "notifies": ("notify_id",),
    "models": ("model_id",),
    "queues": ("sq_id", "dsa_sq_id"),
})  # fmt: skip
"""Resources by the fields that name them; 0 counts only where the kind is about that resource."""

_ABOUT = MappingProxyType({"events": "event", "notifies": "notify", "models": "model"})
_MOST_SHOWN = 12
_MOST_KEPT = 1 << 20
"""Different ids that are remembered per kind of id and stream."""


@dataclass
class Stream:
    """What one stream holds."""

    entries: int = 0
    first: int | None = None
    last: int | None = None
    tasks: set[int] = field(default_factory=set)
    repeated: int = 0


@dataclass
class Summary:
    """Counts of everything seen."""

    entries: int = 0
    empty: int = 0
    doubtful: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    engines: Counter[str] = field(default_factory=Counter)
    streams: dict[int | None, Stream] = field(default_factory=dict)
    ids: dict[str, set[int]] = field(default_factory=lambda: {name: set() for name in IDS})

    def add(self, item: Item) -> None:
        """Count one entry or gap."""
        if isinstance(item, Gap):
            self.empty += item.count
            return
        self.entries += 1
        self.doubtful += bool(item.decoded.notes) and not item.unit
        self.kinds[item.kind.name] += 1
        self._stream(item)
        if not item.unit:
            self.engines[engine_of(item)] += 1
            self._ids(item)

    def _stream(self, entry: Entry) -> None:
        found = self.streams.setdefault(entry.stream_id, Stream())
        found.entries += 1
        if entry.unit or entry.task_id is None:
            return
        found.repeated += entry.task_id in found.tasks
        if len(found.tasks) < _MOST_KEPT:
            found.tasks.add(entry.task_id)
        found.first = entry.task_id if found.first is None else found.first
        found.last = entry.task_id

    def _ids(self, entry: Entry) -> None:
        for what, names in IDS.items():
            for name in names:
                value = entry.decoded.values.get(name)
                if isinstance(value, int) and (value or _ABOUT.get(what, "\0") in entry.kind.name):
                    self._use(self.ids[what], value)

    @staticmethod
    def _use(kept: set[int], value: int) -> None:
        if len(kept) < _MOST_KEPT:
            kept.add(value)


def engine_of(entry: Entry) -> str:
    """Who executes an entry: the name of its type number in lower case."""
    kind = entry.decoded.struct.by_name.get("type")
    if kind is None:
        return "-"
    number = entry.decoded.values["type"]
    return (name_of(kind.enum, number) or f"type {number}").lower().replace("_", " ")


def summarise(items: Iterable[Item]) -> Summary:
    """The summary of some entries."""
    found = Summary()
    for item in items:
        found.add(item)
    return found


def limits(found: Summary, chip: Chip | None) -> Iterator[tuple[str, int, int]]:
    """(what, used, limit) of the chip's limits."""
    if chip is None:
        return
    yield "streams", len(found.streams), chip.max_streams
    yield "events", len(found.ids["events"]), chip.max_events
    yield "notifies", len(found.ids["notifies"]), chip.max_notifies
    longest = max((s.entries for s in found.streams.values()), default=0)
    yield "entries of the longest stream", longest, chip.usable_tasks


def lines(found: Summary, chip: Chip | None) -> Iterator[str]:
    """The summary as text."""
    yield f"{found.entries} entries, {found.empty} empty, {found.doubtful} with doubts"
    yield from _counter("kind", found.kinds)
    yield from _counter("engine", found.engines)
    if found.streams:
        yield "streams"
    for number, stream in sorted(found.streams.items(), key=lambda each: -1 if each[0] is None else each[0]):
        name = "-" if number is None else number
        tasks = "" if stream.first is None else f"  tasks {stream.first} to {stream.last}"
        again = f"  ! {stream.repeated} task ids occur again" if stream.repeated else ""
        yield f"  {name!s:>6}  {stream.entries:>8} entries{tasks}{again}"
    for what, used in found.ids.items():
        if used:
            yield f"{what:<10}  {len(used)} in use: {_listed(used)}"
    for what, used_count, most in limits(found, chip):
        over = "  ! over the limit" if used_count > most else ""
        yield f"limit       {what}: {used_count} of {most}{over}"


def _counter(what: str, counts: Counter[str]) -> Iterator[str]:
    if not counts:
        return
    yield f"{what}s"
    width = max(map(len, counts))
    for name, count in sorted(counts.items(), key=lambda each: (-each[1], each[0])):
        yield f"  {name:<{width}}  {count:>8}"


def _listed(numbers: set[int]) -> str:
    shown = sorted(numbers)[:_MOST_SHOWN]
    more = f", … up to {max(numbers)}" if len(numbers) > _MOST_SHOWN else ""
    return ", ".join(map(str, shown)) + more


def record(found: Summary, chip: Chip | None) -> dict[str, object]:
    """The summary as one JSON object."""
    return {
        "section": "summary",
        "entries": found.entries,
        "empty": found.empty,
        "doubtful": found.doubtful,
        "kinds": dict(sorted(found.kinds.items())),
        "engines": dict(sorted(found.engines.items())),
        "streams": [
            {"stream_id": number, "entries": s.entries, "first_task": s.first, "last_task": s.last,
             "repeated_tasks": s.repeated}
            for number, s in found.streams.items()
        ],
        "ids": {what: sorted(used) for what, used in found.ids.items()},
        "limits": [{"what": w, "used": u, "limit": m} for w, u, m in limits(found, chip)],
    }  # fmt: skip
