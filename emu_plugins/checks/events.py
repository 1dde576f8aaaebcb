"""Whether every wait can pass and the end of the graph is the end of all streams.

Streams are walked side by side with every event that has been recorded left set: a stream that cannot go on then
cannot go on in any run. In a host-scheduled program each static model inside is walked on its own, in the order in
which the host executes them; the host's own stream has launches only, which nothing holds back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core.checks import Finding, Level
from emu_plugins.checks.operators import RECORDS, WAITS, place
from emu_plugins.checks.order import order_of
from formats.blob.model import TaskType

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emu_core.chips import Chip
    from emu_core.plugins import PluginHost
    from emu_core.policies import PolicySet
    from emu_plugins.checks.order import Order
    from formats.blob.model import Blob


def events(blob: Blob, chip: Chip, policies: PolicySet, host: PluginHost) -> Iterator[Finding]:
    """Waits without a record, records without a wait, streams that wait for each other, and a missing or early end."""
    del chip, policies, host
    order = order_of(blob)
    for event, waits in order.waits.items():
        for wait in waits if event not in order.records else ():
            what = f"waits for event {event}, which no task records"
            yield Finding(Level.ERROR, "check.wait-no-record", place(blob, wait), what, "record it on another stream")
    for event, records in order.records.items():
        for record in records if event not in order.waits else ():
            what = f"records event {event}, for which no task waits"
            yield Finding(Level.INFO, "check.record-no-wait", place(blob, record), what, "drop it")
    yield from _deadlocks(order)
    yield from _end(order)


def _deadlocks(order: Order) -> Iterator[Finding]:
    for index in stuck(order):
        event = order.blob.tasks[index].event_id
        assert event is not None
        behind = " and ".join(place(order.blob, record) for record in order.records[event])
        what = f"waits for event {event}, and its record, {behind}, waits in turn: none of them can ever run"
        yield Finding(Level.ERROR, "check.deadlock", place(order.blob, index), what, "break the circle of waits")


def stuck(order: Order) -> list[int]:
    """Waits at which a stream stays for ever although their event has a record; waits without any are let pass."""
    is_set = set(order.waits) - set(order.records)
    return sorted(wait for lines in models(order).values() for wait in _stuck(order.blob, lines, is_set))


def models(order: Order) -> dict[int, list[list[int]]]:
    """The tasks of each model by stream, in the order in which the models are executed; a static graph is one model.

    Keys are moments (of a model inside a host-scheduled graph: the index of its end). Not in it is what the host
    launches.
    """
    found: dict[int, dict[int, list[int]]] = {}
    for index, (task, moment) in enumerate(zip(order.blob.tasks, order.moment, strict=True)):
        if not order.by_host(index):
            found.setdefault(moment, {}).setdefault(task.stream_id, []).append(index)
    return {moment: list(lines.values()) for moment, lines in sorted(found.items())}


def _stuck(blob: Blob, lines: list[list[int]], is_set: set[int]) -> list[int]:
    """Waits of one model at which its streams stay; `is_set` goes on with what they record."""
    tasks, at = blob.tasks, [0] * len(lines)
    held: dict[int, list[int]] = {}
    ready = list(range(len(lines)))
    while ready:
        stream = ready.pop()
        line = lines[stream]
        while at[stream] < len(line):
            task = tasks[line[at[stream]]]
            if task.type in WAITS and task.event_id is not None and task.event_id not in is_set:
                held.setdefault(task.event_id, []).append(stream)
                break
            if task.type in RECORDS and task.event_id is not None and task.event_id not in is_set:
                is_set.add(task.event_id)
                ready += held.pop(task.event_id, [])
            at[stream] += 1
    return [lines[stream][at[stream]] for streams in held.values() for stream in streams]


def _end(order: Order) -> Iterator[Finding]:
    found = models(order)
    if not order.blob.unknown_shape and not found:
        yield _no_end(order.blob, None)
    for lines in found.values():
        yield from _end_of_model(order, lines)


def _end_of_model(order: Order, lines: list[list[int]]) -> Iterator[Finding]:
    blob = order.blob
    ends = [index for line in lines for index in line if blob.tasks[index].type == TaskType.MODEL_END_GRAPH]
    if not ends:
        yield _no_end(blob, lines[0][0])
        return
    end = max(ends)
    for line in lines:
        if line[-1] not in ends and not order.before(line[-1], end):
            what = f"may still run when {place(blob, end)} reports the end of the model"
            remedy = "let the stream of the end wait for an event behind this task"
            yield Finding(Level.WARNING, "check.end-early", place(blob, line[-1]), what, remedy)


def _no_end(blob: Blob, first: int | None) -> Finding:
    where = f"graph {blob.name}"
    what = "has no end of graph, so nobody learns that the model has ended"
    if blob.unknown_shape and first is not None:
        what = f"has no end of graph for its static part from {place(blob, first)} on, so the host never executes it"
    return Finding(Level.ERROR, "blob.no-end", where, what, "compile the graph again")
