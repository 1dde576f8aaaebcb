"""Which faults only report another one, and which fault was first.

| line | says |
|---|---|
| report of a notify wait or model execution, status word with a result | the packed task of the packed stream failed |
| *real fault task* after a model's report | that task failed |
| kernel report with another report stream | what that stream reports is this kernel's fault |
| SQE error after a resource ran out | nothing but the entry that could not be made; inferred |
| wait that timed out while another task failed earlier | its record never came because of that; inferred |

The first of all others is the cause. The last error of a log is often repeated more than the first: counts say nothing.
"""

from __future__ import annotations

from bisect import bisect
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tools.capture.faults import APART_NS
from tools.capture.model import DEVICE, HOST, Fault
from tools.capture.packed import KNOWN_RESULT, TaskResult, task_result

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tools.capture.model import Capture, Record

NOTIFY_WAIT, CONDITION, INVALID = 7, 20, 63
WAITS = ("wait_timeout", "device_timeout")
_SW_STATUS = 0x20
MODEL_FAILED = 0x91


@dataclass(frozen=True)
class Link:
    """`fault` is a consequence of stream `stream` task `task`: why, and whether the log says so."""

    fault: Fault
    stream: int | None
    task: int | None
    why: str
    sure: bool
    records: tuple[Record, ...]


@dataclass(frozen=True)
class Order:
    """Faults in order of cause and effect.

    Attributes:
        cause: what failed first; a task that is only named by others has no records.
        named: the cause is only named, no line of its own is in the logs.
        links: consequences. others: faults that stand for themselves, later than the cause, in order of time.
    """

    cause: Fault | None
    named: bool
    links: tuple[Link, ...]
    others: tuple[Fault, ...]


def packed_of(fault: Fault) -> tuple[TaskResult, Record] | None:
    """The packed result that a fault's report holds, and the record."""
    for record in fault.records:
        word = record.number("task_result") if record.kind == "packed" else _status(record)
        if word is not None and task_result(word).result:
            return task_result(word), record
    return None


def _status(record: Record) -> int | None:
    """The status word of a report, where it is a packed result."""
    if record.kind != "cqe":
        return None
    waits = record.number("sqe_type") in (NOTIFY_WAIT, CONDITION) or record.text("type_name") in (
        "notify wait", "MODEL_EXECUTE",
    )  # fmt: skip
    failed = (record.number("error_type") or 0) & _SW_STATUS
    return record.number("status") if waits and failed else None


def moment_of(fault: Fault, capture: Capture) -> int:
    """When a fault happened by the host's clock, as far as the clocks can be compared."""
    device, host = fault.stamp(DEVICE), fault.stamp(HOST)
    if device is not None:
        return device + (capture.device_offset or 0)
    return host if host is not None else 1 << 63


class _Known:
    """What is asked about all faults, looked up once, so that very many faults take no long time."""

    def __init__(self, faults: Sequence[Fault], capture: Capture) -> None:
        self.ids = {(f.stream, f.task) for f in faults}
        self.resources = capture.of("resource")
        self.named = [r for r in capture.of("real_fault") if r.stamp is not None]
        self.stamps = [r.stamp or 0 for r in self.named]
        self.kernels: dict[int, tuple[Fault, Record]] = {}
        self.movers: dict[int, tuple[int, Fault]] = {}
        for k, fault in enumerate(faults):
            kernel = fault.first("kernel", "aicpu_kernel")
            report = None if kernel is None else kernel.number("report_stream")
            if kernel is not None and report not in (None, fault.stream):
                self.kernels.setdefault(report or 0, (fault, kernel))
            if fault.first(*WAITS) is None:
                self.movers.setdefault(fault.stream, (k, fault))
        self.first_movers = sorted(self.movers.values(), key=lambda item: item[0])[:2]


def order_of(capture: Capture) -> Order:
    """Cause and effect of the faults of a capture."""
    faults = sorted(capture.faults, key=lambda f: (moment_of(f, capture), f.stream, f.task))
    known = _Known(faults, capture)
    links: dict[int, Link] = {}
    for k, fault in enumerate(faults):
        link = next(_links(fault, k, known), None)
        if link is not None:
            links[k] = link
    standing = [k for k in range(len(faults)) if k not in links]
    named = next((k for k, link in links.items() if _only_named(link, known)), None)
    if named is not None and (not standing or named < standing[0]):
        link = links[named]
        cause = Fault(link.stream or 0, link.task or 0, (), link.fault.device)
        return Order(cause, named=True, links=tuple(links.values()), others=tuple(faults[k] for k in standing))
    others = tuple(faults[k] for k in standing[1:])
    return Order(faults[standing[0]] if standing else None, named=False, links=tuple(links.values()), others=others)


def _only_named(link: Link, known: _Known) -> bool:
    """Whether a link names a task of which the logs have no fault."""
    return link.stream is not None and link.task is not None and (link.stream, link.task) not in known.ids


def _links(fault: Fault, place: int, known: _Known) -> Iterator[Link]:
    yield from _packed(fault, known)
    yield from _real(fault, known)
    yield from _reported(fault, known)
    yield from _refused(fault, known)
    yield from _starved(fault, place, known)


def _packed(fault: Fault, known: _Known) -> Iterator[Link]:
    """Sure when the named task has lines of its own: with software queues the word holds a queue's number instead."""
    found = packed_of(fault)
    if found is None:
        return
    result, record = found
    ids = (result.stream, result.task)
    if ids != (fault.stream, fault.task):
        why = f"its status word names stream {result.stream} task {result.task}: {result.meaning}"
        sure = ids in known.ids and result.result == KNOWN_RESULT
        yield Link(fault, *ids, why, sure=sure, records=(record,))


def _real(fault: Fault, known: _Known) -> Iterator[Link]:
    own = fault.first("model_failed") or next(
        (r for r in fault.records if r.kind == "exception" and r.number("code") == MODEL_FAILED), None
    )
    if own is None or not known.named:
        return
    place = bisect(known.stamps, own.stamp or 0)
    near = known.named[max(place - 4, 0) : place + 4]
    record = min(near, key=lambda r: abs((r.stamp or 0) - (own.stamp or 0)))
    ids = (record.number("stream"), record.number("task"))
    if ids != (fault.stream, fault.task):
        yield Link(fault, *ids, "the runtime names the real fault", sure=True, records=(own, record))


def _reported(fault: Fault, known: _Known) -> Iterator[Link]:
    if fault.first("kernel", "aicpu_kernel") is not None or DEVICE in fault.sides:
        return
    other, kernel = known.kernels.get(fault.stream, (None, None))
    if other is None or kernel is None or abs((fault.stamp(HOST) or 0) - (kernel.stamp or 0)) > APART_NS:
        return
    why = "the kernel's fault is reported on this stream"
    yield Link(fault, other.stream, other.task, why, sure=True, records=(kernel,))


def _refused(fault: Fault, known: _Known) -> Iterator[Link]:
    report = next((r for r in fault.records if r.kind == "cqe" and r.number("sqe_type") == INVALID), None)
    if report is not None and known.resources and (known.resources[0].stamp or 0) <= (report.stamp or 0):
        why = "an entry was refused (type 63, invalid) after a resource had run out"
        yield Link(fault, None, None, why, sure=False, records=(known.resources[0], report))


def _starved(fault: Fault, place: int, known: _Known) -> Iterator[Link]:
    own = fault.first(*WAITS)
    if own is None or fault.first("kernel", "interrupt") is not None:
        return
    first = next((other for k, other in known.first_movers if k < place and other.stream != fault.stream), None)
    if first is not None:
        why = f"its record may never have come because stream {first.stream} task {first.task} failed before"
        yield Link(fault, first.stream, first.task, why, sure=False, records=(own,))
