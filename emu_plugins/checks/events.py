"""Whether every wait can pass and the end of the graph is the end of all streams.

Streams are walked side by side with every event that has been recorded left set: a stream that cannot go on then
cannot go on in any run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core.checks import Finding, Level
from emu_plugins.checks.operators import place
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
    if blob.unknown_shape:
        return
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
    tasks = order.blob.tasks
    at = dict.fromkeys(order.streams, 0)
    held: dict[int, list[int]] = {}
    is_set = set(order.waits) - set(order.records)
    ready = list(order.streams)
    while ready:
        stream = ready.pop()
        line = order.streams[stream]
        while at[stream] < len(line):
            task = tasks[line[at[stream]]]
            if task.type == TaskType.EVENT_WAIT and task.event_id is not None and task.event_id not in is_set:
                held.setdefault(task.event_id, []).append(stream)
                break
            if task.type == TaskType.EVENT_RECORD and task.event_id is not None and task.event_id not in is_set:
                is_set.add(task.event_id)
                ready += held.pop(task.event_id, [])
            at[stream] += 1
    return sorted(order.streams[stream][at[stream]] for streams in held.values() for stream in streams)


def _end(order: Order) -> Iterator[Finding]:
    blob = order.blob
    ends = [i for i, task in enumerate(blob.tasks) if task.type == TaskType.MODEL_END_GRAPH]
    if not ends:
        what = "has no end of graph, so nobody learns that the model has ended"
        yield Finding(Level.ERROR, "blob.no-end", f"graph {blob.name}", what, "compile the graph again")
        return
    for line in order.streams.values():
        if line and line[-1] not in ends and not order.before(line[-1], ends[-1]):
            what = f"may still run when {place(blob, ends[-1])} reports the end of the model"
            remedy = "let the stream of the end wait for an event behind this task"
            yield Finding(Level.WARNING, "check.end-early", place(blob, line[-1]), what, remedy)
