"""The task list of a whole graph from those of its units: one static graph, or host-scheduled nodes and static models.

Mirrors the vendor's build of each subgraph on its own (`GraphBuilder::BuildForKnownShapeGraph` and
`BuildForUnknownShapeGraph`). Stream 0 of a host-scheduled graph is the one the host submits to; a static model has
streams and events of its own, stands in the list where the host runs it, and ends with an end of graph of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from emu_plugins.compiler.split_kernels import refusal, shares
from emu_plugins.compiler.stream_ends import SPLIT_MARGIN, TaskList, join_ends, shifted, split_streams
from emu_plugins.compiler.streams import MAIN_STREAM, Resources, allocate
from emu_plugins.compiler.tasks import NodePlan, TaskWriter
from formats.blob.model import BlobStream

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from emu_plugins.compiler.operators import BoundNode
    from emu_plugins.compiler.program import Program
    from emu_plugins.compiler.report import Report
    from emu_plugins.compiler.running_params import RunningParams
    from emu_plugins.compiler.sink import Tiling
    from emu_plugins.compiler.super_kernel import SuperKernel
    from formats.blob.model import BlobEvent, BlobTask

STAGES = ("tasks", "join", "split")
"""The states of a task list: as generated, with the joins at its end, with its long streams split."""


@dataclass(frozen=True)
class Decided:
    """What the passes before decided about each node, by name; `ops` and `kernels` are indices into the blob."""

    ways: Mapping[str, Tiling]
    params: Mapping[str, RunningParams]
    ops: Mapping[str, int]
    kernels: Mapping[str, int]
    fused: tuple[SuperKernel, ...]


@dataclass(frozen=True)
class Written:
    """Plans in execution order, and the task list after each of :data:`STAGES` that was run."""

    plans: tuple[NodePlan, ...]
    lists: Mapping[str, TaskList]

    @property
    def last(self) -> TaskList:
        """The list that goes into the blob."""
        return list(self.lists.values())[-1]


def write_units(program: Program, decided: Decided, report: Report) -> Written:
    """Streams, events and tasks of every unit, put together; what cannot be written is noted as a problem."""
    units = [_write(program, nodes, decided, report) for nodes in program.units()]
    plans = tuple(plan for unit in units for plan in unit.plans)
    if not program.unknown_shape:
        return Written(plans, units[0].lists if units else {})
    any_static = any(len(unit.lists) > 1 for unit in units)
    stages = [stage for stage in STAGES if any_static or stage == STAGES[0]]
    return Written(plans, {stage: _together([_at(unit, stage) for unit in units]) for stage in stages})


def _write(program: Program, nodes: Sequence[BoundNode], decided: Decided, report: Report) -> Written:
    """One unit, with numbers of its own."""
    sinking = {bound.node.name: program.marks[bound.node.name] for bound in nodes if program.sinks(bound)}
    producers = {name: bound for bound in nodes for name in bound.node.outputs}
    host = bool(nodes) and program.owner_unknown(nodes[0])
    found = allocate([] if host else nodes, sinking, producers, report, split=_split(program, nodes, decided))
    plans = tuple(_plan(bound, found.of_node.get(bound.node.name, Resources()), decided) for bound in nodes)
    tasks = TaskWriter(program, report, () if host else _of(decided.fused, nodes)).graph_tasks(plans)
    listed = TaskList(tasks, found.streams, found.events)
    if host:
        return Written(plans, {STAGES[0]: listed})
    joined = join_ends(listed, always=program.policies["end_join"] == "always")
    lists = {STAGES[0]: listed, STAGES[1]: joined}
    if program.policies["stream_split"] == "on":
        lists[STAGES[2]] = split_streams(joined, program.chip.usable_tasks - SPLIT_MARGIN)
    return Written(plans, lists)


def _split(program: Program, nodes: Sequence[BoundNode], decided: Decided) -> frozenset[str]:
    """Operators whose kernel is split over AI Cores and vector cores, each of them getting at least one block."""
    return frozenset(
        bound.node.name
        for bound in nodes
        if bound.split_type is not None and program.chip.vector_cores
        if not refusal(bound, program.chip, sinks=program.sinks(bound))[0]
        if shares(decided.params[bound.node.name].tiling.block_dim, program.chip)[1] > 0
    )


def _plan(bound: BoundNode, resources: Resources, decided: Decided) -> NodePlan:
    name = bound.node.name
    kernel = decided.kernels[bound.kernel.name]
    return NodePlan(bound, decided.ways[name], decided.params[name], resources, decided.ops[name], kernel)


def _of(fused: tuple[SuperKernel, ...], nodes: Sequence[BoundNode]) -> tuple[SuperKernel, ...]:
    names = {bound.node.name for bound in nodes}
    return tuple(kernel for kernel in fused if kernel.members[0] in names)


def _at(unit: Written, stage: str) -> tuple[TaskList, bool]:
    """The list of a unit at a stage, and whether it is a static model."""
    return unit.lists.get(stage, unit.last), len(unit.lists) > 1


def _together(units: Sequence[tuple[TaskList, bool]]) -> TaskList:
    """One list: host tasks on stream 0, each static model behind the numbers of those before, one end for all."""
    streams = [BlobStream(MAIN_STREAM, f"main_{MAIN_STREAM}")]
    tasks: list[BlobTask] = []
    events: list[BlobEvent] = []
    parts = 0
    for found, static in units:
        moved = shifted(found, len(streams), len(events)) if static else found
        tasks.extend(moved.tasks if static else moved.tasks[:-1])
        if static:
            streams.extend(replace(stream, name=f"part_{parts}_{stream.name}") for stream in moved.streams)
            parts += 1
            events.extend(moved.events)
    end = next(found.tasks[-1] for found, _ in units)
    return TaskList((*tasks, end), tuple(streams), tuple(events))
