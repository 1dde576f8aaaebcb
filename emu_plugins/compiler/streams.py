"""Streams and events: which stream each task goes to, and what orders the streams.

Mirrors the vendor's `LogicalStreamAllocator` (main streams), `AssignAttachedStreamPass` (through
:mod:`emu_plugins.compiler.resources`) and the events of `StreamAllocator` (`reference/tiling_sink_compiler.md` 9).
Splitting and the join at the graph's end work on the finished list: :mod:`emu_plugins.compiler.stream_ends`.

Main streams: operators without `_stream_label` are on stream 0, each label has a stream of its own, in order of first
use. Attached streams come behind all main ones. Events: first those between main streams, then those of value
dependencies, then one per sinking operator.

| producer of a depended input | event |
|---|---|
| graph input, constant | none |
| operator without an attached stream | record on its main stream, wait on the consumer's attached stream |
| operator with another attached stream | record on that one, wait on the consumer's; the user is warned |
| operator with the same attached stream | none; the user is warned, since its kernel runs elsewhere |
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from emu_plugins.compiler.attributes import DISABLE_ATTACHED
from emu_plugins.compiler.resources import INVALID, RESOURCE_NAME, Asking, assign_attached, sink_resources
from formats.blob.model import BlobEvent, BlobStream

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from emu_plugins.compiler.marks import Marks
    from emu_plugins.compiler.operators import BoundNode
    from emu_plugins.compiler.report import Report
    from emu_plugins.compiler.resources import Assigned

STAGE = "streams"
MAIN_STREAM = 0
VECTOR_STREAM = "mix_core"
"""Name of the attached stream of parts of kernels on the vector cores, in front of that of its main stream."""


@dataclass(frozen=True)
class Resources:
    """Stream and event ids of one operator.

    Attributes:
        main: stream of its kernel.
        attached: stream of its tiling, or None when it does not sink or was given none.
        vector: stream of the part of its kernel on the vector cores, or None when the kernel is not split.
        notifies: notifies that start that part and end it.
        event: event of its tiling, or None.
        waits: events that its tiling waits for on the attached stream (from producers of depended inputs).
        records: events that it records on the main stream after its kernel.
        main_waits: events that its kernel waits for on the main stream (from producers on other main streams).
        attached_records: events that it records on the attached stream after its update.
    """

    main: int = MAIN_STREAM
    attached: int | None = None
    vector: int | None = None
    notifies: tuple[int, int] = (-1, -1)
    event: int | None = None
    waits: tuple[int, ...] = ()
    records: tuple[int, ...] = ()
    main_waits: tuple[int, ...] = ()
    attached_records: tuple[int, ...] = ()


@dataclass(frozen=True)
class Allocation:
    """Streams and events of the graph, and the resources of each node by name."""

    streams: tuple[BlobStream, ...]
    events: tuple[BlobEvent, ...]
    of_node: Mapping[str, Resources]


@dataclass(frozen=True)
class _Edge:
    """An event from `source` to `target`; the flags say which of the two streams of each it is on."""

    source: str
    target: str
    from_attached: bool
    to_attached: bool

    def event_name(self) -> str:
        return f"{self.source}_to_{RESOURCE_NAME if self.to_attached else 'main'}_{self.target}"


def main_streams(nodes: Sequence[BoundNode]) -> dict[str, int]:
    """Main stream of each node by name; stream 0 is there even when every node has a label."""
    labels = dict.fromkeys(bound.stream_label for bound in nodes)
    labels.pop("", None)
    number = {label: at for at, label in enumerate(("", *labels))}
    return {bound.node.name: number[bound.stream_label] for bound in nodes}


def allocate(
    nodes: Sequence[BoundNode],
    sinking: Mapping[str, Marks],
    producers: Mapping[str, BoundNode],
    report: Report,
    *,
    split: Collection[str] = (),
) -> Allocation:
    """Assign streams and events.

    Args:
        nodes: in execution order.
        sinking: marks of the operators that sink, by node name.
        producers: producing node by tensor name.
        split: names of the operators whose kernel is split over AI Cores and vector cores.
        report: gets a decision per sinking node, and a warning per order that nothing enforces.
    """
    mains = main_streams(nodes)
    asking = [
        Asking(
            name,
            mains[name],
            sink_resources(bound.ir_indices(sinking[name].depends)).streams,
            DISABLE_ATTACHED in bound.ge_attrs,
        )
        for bound in nodes
        if (name := bound.node.name) in sinking
    ]
    assigned = assign_attached(asking, max(mains.values(), default=MAIN_STREAM) + 1)
    attached = {name: ids[0] for name, ids in assigned.of_node.items() if ids[0] != INVALID}
    edges = [*_main_edges(nodes, mains, producers), *_value_edges(nodes, sinking, producers, attached, report)]
    events = [BlobEvent(i, edge.event_name()) for i, edge in enumerate(edges)]
    of_node = {
        name: replace(found, attached=attached.get(name)) for name, found in _with_edges(nodes, mains, edges).items()
    }
    for name in sinking:
        if name in attached:
            of_node[name] = replace(of_node[name], event=len(events))
            events.append(BlobEvent(len(events), f"{RESOURCE_NAME}_{name}"))
        _say(name, of_node[name], report)
    streams = _streams(assigned)
    more = _with_vector_streams([bound.node.name for bound in nodes if bound.node.name in split], of_node, streams)
    for name in more:
        start, end = len(events), len(events) + 1
        of_node[name] = replace(more[name], notifies=(start, end))
        events += [BlobEvent(start, f"{VECTOR_STREAM}_start_{name}"), BlobEvent(end, f"{VECTOR_STREAM}_end_{name}")]
        report.decide(name, STAGE, f"kernel split: vector cores on stream {more[name].vector}")
    serving = dict.fromkeys((found.vector, found.main) for found in more.values())
    vectors = (BlobStream(i, f"{VECTOR_STREAM}_stream_{main}", serves=main) for i, main in serving if i is not None)
    return Allocation((*streams, *vectors), tuple(events), of_node)


def _with_vector_streams(
    names: Sequence[str], of_node: Mapping[str, Resources], streams: Sequence[BlobStream]
) -> dict[str, Resources]:
    """Resources of the operators whose kernel is split: one more stream for each of their main streams."""
    mains = dict.fromkeys(of_node[name].main for name in names)
    stream = {main: len(streams) + at for at, main in enumerate(mains)}
    return {name: replace(of_node[name], vector=stream[of_node[name].main]) for name in names}


def _say(name: str, found: Resources, report: Report) -> None:
    text = f"attached stream {found.attached}, event {found.event}, waits for events {list(found.waits)}"
    report.decide(name, STAGE, text if found.attached is not None else f"no attached stream: {DISABLE_ATTACHED} is set")


def _streams(assigned: Assigned) -> tuple[BlobStream, ...]:
    mains = (BlobStream(i, f"main_{i}") for i in range(assigned.first))
    attached = (BlobStream(i, key, serves=main) for i, (key, main) in enumerate(assigned.keys, assigned.first))
    return (*mains, *attached)


def _with_edges(nodes: Sequence[BoundNode], mains: Mapping[str, int], edges: Sequence[_Edge]) -> dict[str, Resources]:
    """Resources of every node with the events of its edges."""
    ends: dict[tuple[str, str], list[int]] = {}
    for event, edge in enumerate(edges):
        ends.setdefault((edge.source, "attached_records" if edge.from_attached else "records"), []).append(event)
        ends.setdefault((edge.target, "waits" if edge.to_attached else "main_waits"), []).append(event)
    return {
        name: Resources(
            mains[name],
            waits=tuple(ends.get((name, "waits"), ())),
            records=tuple(ends.get((name, "records"), ())),
            main_waits=tuple(ends.get((name, "main_waits"), ())),
            attached_records=tuple(ends.get((name, "attached_records"), ())),
        )
        for bound in nodes
        for name in (bound.node.name,)
    }


def _main_edges(
    nodes: Sequence[BoundNode], mains: Mapping[str, int], producers: Mapping[str, BoundNode]
) -> Iterator[_Edge]:
    """An edge per producer whose kernel is on another main stream."""
    if not any(mains.values()):
        return
    for bound in nodes:
        target = bound.node.name
        for source in _sources(bound.node.inputs, producers):
            if mains[source] != mains[target]:
                yield _Edge(source, target, from_attached=False, to_attached=False)


def _value_edges(
    nodes: Sequence[BoundNode],
    sinking: Mapping[str, Marks],
    producers: Mapping[str, BoundNode],
    attached: Mapping[str, int],
    report: Report,
) -> Iterator[_Edge]:
    """Edges of value dependencies, one per producer (`tiling_sink_compiler.md` 9.3)."""
    for bound in nodes:
        target = bound.node.name
        if target not in attached:
            continue
        inputs = (bound.node.inputs[k] for k in sinking[target].depends)
        for source in _sources(inputs, producers):
            if source in attached:
                shared = attached[source] == attached[target]
                _warn_of_race(source, target, report, shared=shared)
                if shared:
                    continue
            yield _Edge(source, target, from_attached=source in attached, to_attached=True)


def _sources(inputs: Iterable[str | None], producers: Mapping[str, BoundNode]) -> Iterable[str]:
    return dict.fromkeys(producers[name].node.name for name in inputs if name is not None and name in producers)


def _warn_of_race(source: str, target: str, report: Report, *, shared: bool) -> None:
    where = "on one attached stream" if shared else "on two attached streams"
    report.warn(
        f"node {target}: its tiling reads what {source} computes, and both sink {where}; "
        f"no event orders this tiling behind the kernel of {source}"
    )
