"""Waits that timed out: limit and ids, and who should have set the flag."""

from __future__ import annotations

from typing import TYPE_CHECKING

from formats import BUILTIN
from tools.dump.kinds import kind_of
from tools.postmortem.report import Statement, inferred, sure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tools.capture.model import Capture, CapturedSqe, Record

MOST = 8
"""Waits that are told one by one."""

_SETTERS = {"event_id": ("EventRecordSqe", "event_id"), "notify_id": ("NotifyRecordSqe", "notify_id")}
_EVENT_RECORD, _EVENT_WAIT = 4, 5


def about_waits(capture: Capture, family: str) -> Iterator[Statement]:
    """Statements on every wait that timed out."""
    seen: dict[tuple[object, ...], Record] = {}
    for record in capture.of("wait_timeout", "device_timeout"):
        seen.setdefault((record.kind, *sorted(record.values.items(), key=str)), record)
    for record in list(seen.values())[:MOST]:
        yield _told(record, capture, family)
        yield from _setter(record, capture, family)
    if len(seen) > MOST:
        yield Statement(f"{len(seen) - MOST} more waits timed out.")


def _told(record: Record, capture: Capture, family: str) -> Statement:
    stream, task, sq = (record.number(name) for name in ("stream", "task", "sq"))
    limit = record.number("timeout")
    name, number = _flag(record, capture, family)
    flag = f"{name[:-3]} {number}" if name is not None else _waited_for(record)
    where = f"stream {stream} task {task}" if stream is not None else f"task {task}"
    waited = record.number("waited")
    times = "" if limit is None else f" after its limit of {limit} s"
    if waited is not None and limit is not None:
        times = f" after {waited} s; its limit is {limit} s"
    queue = "" if sq is None else f" (SQ {sq})"
    if record.shape == "hwts-timeout":
        return sure(
            f"Task {task} took longer than the firmware allows on {record.number('ai_cores_count')} cores.", record
        )
    return sure(f"{where}{queue} gave up waiting for {flag}{times}.", record)


def _waited_for(record: Record) -> str:
    return f"a {record.text('sort')}" if record.text("sort") else "what its entry waits for"


def _setter(record: Record, capture: Capture, family: str) -> Iterator[Statement]:
    """The task that sets the flag, when its entry is in the logs, and whether its queue got there."""
    name, number = _flag(record, capture, family)
    if name is None:
        return
    struct, field = _SETTERS[name]
    flag = f"{name[:-3]} {number}"
    setters = [s for s in capture.sqes if s.whole and _value(s, family, struct, field) == number]
    if not setters:
        yield Statement(
            f"No entry that sets {flag} is in the logs: look on the other streams, or on the other device.", False
        )
        return
    setter = setters[0]
    text = f"stream {setter.stream} task {setter.task} is what sets {flag}"
    queue = next((r for r in reversed(capture.of("snapshot")) if r.number("stream") == setter.stream), None)
    if queue is not None and setter.slot is not None and queue.number("head") is not None:
        head = queue.number("head") or 0
        if head <= setter.slot:
            yield inferred(
                f"{text}; its queue stands at head {head}, before position {setter.slot}: it has not run.", queue
            )
            yield from _holder(setter, head, capture, family)
        else:
            yield inferred(f"{text}; its queue stands at head {head}, behind it: it has run.", queue)
        return
    yield Statement(f"{text}; the logs do not say whether it ran.", False, setter.refs[:1])


def _holder(setter: CapturedSqe, head: int, capture: Capture, family: str) -> Iterator[Statement]:
    """The entry at the head of the queue that does not move."""
    for sqe in capture.sqes:
        if sqe.whole and sqe.stream == setter.stream and sqe.slot == head:
            kind = kind_of(BUILTIN.decode(family, sqe.raw)).name
            text = f"What holds it up is stream {sqe.stream} task {sqe.task} ({kind}): it has not ended."
            yield Statement(text, False, sqe.refs[-1:])


def _flag(record: Record, capture: Capture, family: str) -> tuple[str | None, int]:
    """Which flag a wait is for: the line's own words, else the entry of the task."""
    for name in _SETTERS:
        value = record.number(name)
        if value is not None:
            return name, value
    ids = (record.number("stream"), record.number("task"))
    for sqe in capture.sqes:
        if sqe.whole and (sqe.stream, sqe.task) == ids:
            for name, struct in (("event_id", "EventWaitSqe"), ("notify_id", "NotifyWaitSqe")):
                value = _value(sqe, family, struct, name)
                if value is not None:
                    return name, value
    return None, 0


def _value(sqe: CapturedSqe, family: str, struct: str, field: str) -> int | None:
    decoded = BUILTIN.decode(family, sqe.raw)
    if decoded.struct.struct_name != struct:
        return None
    found = decoded.values.get(field)
    return found if isinstance(found, int) else None
