"""Streams and events: which stream each task goes to, and what orders the streams.

Mirrors the vendor's `AssignAttachedStreamPass`, the sync-resource part of `StreamAllocator`, and
`SetTilingSinkCalcResources` (`reference/tiling_sink_compiler.md` 6.2, 9). One main stream here; splitting and
the join of attached streams at the graph's end come later.

| producer of a depended input | event |
|---|---|
| graph input, constant | none |
| operator without an attached stream | record on its main stream, wait on the consumer's attached stream |
| operator with the same attached stream | none; the user is warned, since its kernel runs elsewhere |
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from emu_core.errors import LimitError
from formats.blob.model import BlobEvent, BlobStream, BlobTask, TaskType

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from emu_core.chips import Chip
    from emu_plugins.compiler.marks import Marks
    from emu_plugins.compiler.operators import BoundNode
    from emu_plugins.compiler.report import Report

STAGE = "streams"
MAIN_STREAM = 0
RESOURCE_NAME = "tiling"
"""Name of the attached stream and of the event that a sinking operator asks for."""


@dataclass(frozen=True)
class Resources:
    """Stream and event ids of one operator.

    Attributes:
        main: stream of its kernel.
        attached: stream of its tiling, or None when it does not sink.
        event: event of its tiling, or None.
        waits: events that its tiling waits for on the attached stream (from producers of depended inputs).
        records: events that it records on the main stream after its kernel (for the tiling of consumers).
    """

    main: int = MAIN_STREAM
    attached: int | None = None
    event: int | None = None
    waits: tuple[int, ...] = ()
    records: tuple[int, ...] = ()


@dataclass(frozen=True)
class Allocation:
    """Streams and events of the graph, and the resources of each node by name."""

    streams: tuple[BlobStream, ...]
    events: tuple[BlobEvent, ...]
    of_node: Mapping[str, Resources]


def attached_stream_key(main: int) -> str:
    """Key under which sinking operators share an attached stream: name, then the main stream they serve."""
    return f"{RESOURCE_NAME}_stream_{main}"


def allocate(
    nodes: Sequence[BoundNode], sinking: Mapping[str, Marks], producers: Mapping[str, BoundNode], report: Report
) -> Allocation:
    """Assign streams and events.

    Args:
        nodes: in execution order.
        sinking: marks of the operators that sink, by node name.
        producers: producing node by tensor name.
        report: gets a decision per sinking node, and a warning per order that nothing enforces.
    """
    attached = 1 if sinking else None
    edges = [
        edge for bound in nodes if bound.node.name in sinking for edge in _edges(bound, sinking, producers, report)
    ]
    waits, records = _by_name(edges, 1), _by_name(edges, 0)
    events = [BlobEvent(i, f"{source}_to_{RESOURCE_NAME}_{target}") for i, (source, target) in enumerate(edges)]
    of_node: dict[str, Resources] = {}
    for bound in nodes:
        name = bound.node.name
        found = Resources(records=tuple(records.get(name, ())))
        if name in sinking:
            found = replace(found, attached=attached, event=len(events), waits=tuple(waits.get(name, ())))
            events.append(BlobEvent(len(events), f"{RESOURCE_NAME}_{name}"))
            report.decide(
                name, STAGE, f"attached stream {attached}, event {found.event}, waits for events {list(found.waits)}"
            )
        of_node[name] = found
    return Allocation(_streams(attached), tuple(events), of_node)


def _streams(attached: int | None) -> tuple[BlobStream, ...]:
    main = BlobStream(MAIN_STREAM, f"main_{MAIN_STREAM}")
    if attached is None:
        return (main,)
    return (main, BlobStream(attached, attached_stream_key(MAIN_STREAM), serves=MAIN_STREAM))


def _by_name(edges: Sequence[tuple[str, str]], side: int) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for event, edge in enumerate(edges):
        found.setdefault(edge[side], []).append(event)
    return found


def _edges(
    bound: BoundNode, sinking: Mapping[str, Marks], producers: Mapping[str, BoundNode], report: Report
) -> Iterable[tuple[str, str]]:
    """Pairs (producer, consumer) that need an event, one per producer."""
    target = bound.node.name
    inputs = (bound.node.inputs[k] for k in sinking[target].depends)
    sources = dict.fromkeys(producers[name].node.name for name in inputs if name is not None and name in producers)
    for source in sources:
        if source in sinking:
            report.warn(
                f"node {target}: its tiling reads what {source} computes, and both sink on one attached stream; "
                f"no event orders this tiling behind the kernel of {source}"
            )
        else:
            yield source, target


def check_limits(allocation: Allocation, tasks: Sequence[BlobTask], chip: Chip) -> None:
    """Compare what the program needs with what the chip has; an event wait is two entries (wait and reset).

    Raises:
        LimitError: too many streams, events, tasks on a stream, or tasks in all; the id names the limit.
    """
    entries = dict.fromkeys((stream.id for stream in allocation.streams), 0)
    for task in tasks:
        entries[task.stream_id] += 2 if task.type == TaskType.EVENT_WAIT else 1
    needs = [
        ("streams", "streams", len(allocation.streams), chip.max_streams),
        ("events", "events", len(allocation.events), chip.max_events),
        *(
            ("tasks", f"entries on stream {stream.id} ({stream.name})", entries[stream.id], chip.usable_tasks)
            for stream in allocation.streams
        ),
        ("persistent-tasks", "entries on all streams", sum(entries.values()), chip.persistent_tasks),
    ]
    for limit, what, needed, available in needs:
        if needed > available:
            raise LimitError(
                f"the graph needs {needed} {what}, {chip.name} has {available}",
                id=f"limit.{limit}",
                where="graph",
                remedy="split the graph",
            )
