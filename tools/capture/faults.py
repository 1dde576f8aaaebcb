"""Records put together to faults: lines about one task on one side, then both sides of it.

Ids come again: the same stream and task may fail twice in a log. Lines of one side are one fault while they are close
in time, and (firmware) until an interrupt reports another state of the queue. Sides are joined in their order; an
address that both name, or that there is only one on each side, makes that certain.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tools.capture.model import DEVICE, HOST, Fault
from tools.capture.packed import task_result

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tools.capture.model import Record

OPENING = frozenset({
    "interrupt", "cqe", "exception", "kernel", "aicpu_kernel", "aicpu_exception", "sqe_error", "wait_timeout",
    "device_timeout", "task_failed", "real_fault", "model_failed", "packed",
})  # fmt: skip
"""Kinds of lines that say that a task failed."""
ADDING = frozenset({"op"})
"""Kinds that tell more of a task that failed."""
REPORTS = frozenset({"interrupt", "cqe", "exception"})
APART_NS = 30_000_000_000
"""Lines of one task that are further apart are two faults."""


@dataclass
class _Cluster:
    records: list[Record] = field(default_factory=list)
    repeats: int = 0
    said: set[tuple[object, ...]] = field(default_factory=set)
    state: tuple[int | None, ...] | None = None

    @property
    def stamp(self) -> int:
        return self.records[0].stamp or 0

    @property
    def last(self) -> int:
        return self.records[-1].stamp or 0

    @property
    def device(self) -> int | None:
        """The device that its lines name."""
        return next((r.device for r in self.records if r.device is not None), None)

    def add(self, record: Record) -> None:
        """One more line; a report that says the same again is counted."""
        if record.kind in REPORTS:
            key = (record.kind, *sorted(record.values.items(), key=str))
            self.repeats += key in self.said
            self.said.add(key)
        if record.kind == "interrupt" and self.state is None:
            self.state = _queue(record)
        self.records.append(record)


def _queue(record: Record) -> tuple[int | None, ...]:
    return tuple(record.number(name) for name in ("head", "tail", "acsq_id"))


def task_of(record: Record) -> int | None:
    """The task of a record; on 950 its position in the ring, which is all that is said."""
    found = record.number("task")
    return record.number("pos") if found is None else found


def _ids(record: Record) -> tuple[int | None, int | None]:
    """Stream and task that a record is about; a packed result on its own is about the task that it names."""
    word = record.number("task_result")
    if record.kind == "packed" and record.number("stream") is None and word is not None:
        named = task_result(word)
        return (named.stream, named.task) if named.result else (None, None)
    return record.number("stream"), task_of(record)


def faults_of(records: Iterable[Record]) -> list[Fault]:
    """The faults that `records`, in order of time, tell of; entries and cores come later."""
    by_side: dict[tuple[int, int, str], list[Record]] = defaultdict(list)
    for record in records:
        stream, task = _ids(record)
        if stream is not None and task is not None and record.kind in OPENING | ADDING:
            by_side[stream, task, record.side].append(record)
    found = []
    for stream, task in dict.fromkeys(key[:2] for key in by_side):
        sides = [_clusters(by_side.get((stream, task, side), [])) for side in (DEVICE, HOST)]
        found += list(_joined(stream, task, *sides))
    return found


def _clusters(records: Sequence[Record]) -> list[_Cluster]:
    found: dict[int | None, list[_Cluster]] = defaultdict(list)
    several = len({r.device for r in records} - {None}) > 1
    device: int | None = None
    for record in records:
        device = record.device if several and record.device is not None else device
        known = found[device]
        if not known or _apart(known[-1], record):
            known.append(_Cluster())
        known[-1].add(record)
    clusters = [c for group in found.values() for c in group if any(r.kind in OPENING for r in c.records)]
    return sorted(clusters, key=lambda c: c.stamp)


def _apart(cluster: _Cluster, record: Record) -> bool:
    if record.stamp is not None and record.stamp - cluster.last > APART_NS:
        return True
    return record.kind == "interrupt" and cluster.state is not None and _queue(record) != cluster.state


def _joined(stream: int, task: int, device: list[_Cluster], host: list[_Cluster]) -> Iterator[Fault]:
    several = max(len(device), len(host)) > 1
    for parts in _paired(device, host):
        records = tuple(record for part in parts for record in part.records)
        number = next((p.device for p in reversed(parts) if p.device is not None), None)
        repeats = sum(part.repeats for part in parts)
        yield Fault(stream, task, records, number, repeats=repeats, joined=len(parts) > 1 and several)


def _paired(device: list[_Cluster], host: list[_Cluster]) -> Iterator[list[_Cluster]]:
    """Both sides in their order; those of one device number go together first."""
    by_number: dict[int | None, tuple[list[_Cluster], list[_Cluster]]] = defaultdict(lambda: ([], []))
    shared = {c.device for c in device} & {c.device for c in host} - {None}
    for k, side in enumerate((device, host)):
        for cluster in side:
            by_number[cluster.device if cluster.device in shared else None][k].append(cluster)
    for left, right in by_number.values():
        for k in range(max(len(left), len(right))):
            yield [side[k] for side in (left, right) if k < len(side)]


def offset_of(faults: Iterable[Fault]) -> int | None:
    """Host clock minus device clock: the smallest difference of joined faults, since the host reports afterwards."""
    found = []
    for fault in faults:
        device, host = fault.stamp(DEVICE), fault.stamp(HOST)
        if device is not None and host is not None:
            found.append(host - device)
    return min(found, default=None)
