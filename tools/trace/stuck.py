"""Why an entry never started: what stands at the head of its queue, what that waits for, and so on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tools.trace.tasks import Tasks

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tools.trace.source import RecordedRun, Recording
    from tools.trace.tasks import Name, Task


def why_never(recording: Recording, run: RecordedRun, tasks: Tasks, name: Name) -> list[str]:
    """Sentences, the entry first, then link by link."""
    return list(_sentences(recording, run, tasks, name))


def _sentences(recording: Recording, run: RecordedRun, tasks: Tasks, name: Name) -> Iterator[str]:
    yield f"{name[0]}:{name[1]} never started in execution {run.index}"
    graph = ((run.report.get("deadlock") or {}).get("graph") or {}) if run.report else {}
    stream, seen = name[0], set[int]()
    while stream not in seen:
        seen.add(stream)
        queue = tasks.by_stream.get(stream, [])
        head = queue[-1] if queue else None
        if head is None:
            yield f"stream {stream} never began: nothing came to its head"
            return
        yield _standing(stream, head)
        if not _waits(head):
            return
        wait = _of_stream(graph.get("waits"), stream)
        yield from _who_sets(recording, run, head, wait)
        following = _behind(wait)
        if following is None:
            yield from _ways_out(graph, stream)
            return
        stream = following
    yield f"which closes the circle: stream {stream} again"
    yield from _ways_out(graph, stream)


def _waits(task: Task) -> bool:
    return task.started is None and task.waits_since is not None


def _standing(stream: int, head: Task) -> str:
    """What stands at the head of a stream."""
    if head.fault:
        return f"stream {stream} stopped at {head.place}, which failed at {head.failed} ns: {head.fault}"
    if _waits(head):
        return f"stream {stream} stands at {head.place}, which waits for {head.signal} since {head.waits_since} ns"
    if head.ended is None:
        return f"stream {stream} stands at {head.place}, which had not ended when the trace ends"
    return f"stream {stream} went up to {head.place}, which ended at {head.ended} ns; no event says what held it there"


def _who_sets(
    recording: Recording, run: RecordedRun, head: Task, wait: Mapping[str, Any] | None
) -> Iterator[str]:  # fmt: skip
    """Who would set the flag of a wait: what the report says, or who did in another execution."""
    if wait is not None and wait.get("why"):
        yield f"{head.signal}: {wait['why']}"
        return
    for other in recording.runs:
        setters = [e for _, e in Tasks(other.events).signals.get(head.signal, []) if e.value and e.stream >= 0]
        if other is not run and setters:
            yield f"in execution {other.index} it was {setters[-1].stream}:{setters[-1].task} that set {head.signal}"
            return
    yield f"no task set {head.signal} in this execution"


def _of_stream(waits: object, stream: int) -> Mapping[str, Any] | None:
    found: Sequence[Any] = waits if isinstance(waits, list) else ()
    return next((each for each in found if isinstance(each, dict) and each.get("stream") == stream), None)


def _behind(wait: Mapping[str, Any] | None) -> int | None:
    """The stream in which the setter lies behind a wait."""
    for setter in (wait or {}).get("setters") or ():
        if isinstance(setter, dict) and setter.get("state") == "behind" and isinstance(setter.get("stream"), int):
            found: int = setter["stream"]
            return found
    return None


def _ways_out(graph: Mapping[str, Any], stream: int) -> Iterator[str]:
    for verdict in graph.get("verdicts") or ():
        if isinstance(verdict, dict) and stream in (verdict.get("streams") or ()):
            yield f"because: {verdict.get('what')}; do: {verdict.get('remedy')}"
