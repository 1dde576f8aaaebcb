"""The passes in order: one function from a JSON graph to a blob.

Mirrors the vendor's `GraphManager::PreRun` with `DynamicShapePartitioner::Partition` and
`GraphBuilder::BuildForKnownShapeGraph`. Three phases, each reporting all of its problems together: the graph
itself (structure, names, operators, shapes), what is decided per node (marks, gates, sink, tiling), and
what the whole needs of the chip.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from emu_core.errors import LimitError
from emu_core.graph import Compiled
from emu_core.policies import PolicySet
from emu_plugins.compiler.constants import load_npz
from emu_plugins.compiler.emit import build_blob, number_kernels
from emu_plugins.compiler.marks import Marker, merge_unknown
from emu_plugins.compiler.names import check_names, check_uses, order_nodes
from emu_plugins.compiler.operators import bind_node
from emu_plugins.compiler.options import resolve_options
from emu_plugins.compiler.parse import parse_graph
from emu_plugins.compiler.program import Program
from emu_plugins.compiler.report import Report
from emu_plugins.compiler.running_params import ParamsCalculator
from emu_plugins.compiler.shapes import Shapes
from emu_plugins.compiler.sink import Tiling, choose_tiling
from emu_plugins.compiler.streams import allocate, check_limits
from emu_plugins.compiler.tasks import NodePlan, TaskWriter

if TYPE_CHECKING:
    from emu_core.chips import Chip
    from emu_core.graph import CompileOptions
    from emu_core.operators import TensorInfo
    from emu_plugins.compiler.graph import Graph
    from emu_plugins.compiler.operators import BoundNode, Registry
    from emu_plugins.compiler.running_params import HostTiler
    from emu_plugins.compiler.streams import Allocation
    from formats.blob.model import Blob


def compile_graph(
    raw: object, chip: Chip, options: CompileOptions, host: Registry, *, tile: HostTiler | None = None
) -> Compiled:
    """Compile the JSON form of a graph for `chip`.

    Args:
        raw: the graph's mapping; npz constants are looked up beside `options.source`.
        chip: the chip to compile for.
        options: options and policies.
        host: operators, kernels and policies that the plugins supply.
        tile: runs a tiling function on the host; by default that of the tiling plugin.

    Raises:
        GraphError: the graph cannot be compiled, with every problem of the phase that failed.
        OptionError: an option (E10001, E10006) or policy value is not allowed.
        LimitError: the program needs more than the chip has.
        PluginError: the declaration of an operator is broken.
    """
    report = Report(options.source)
    policies = PolicySet(host.policy_specs, options.policies)
    base = Path(options.source).parent if options.source else None
    graph = parse_graph(raw, report, partial(load_npz, base))
    build = resolve_options(options, graph.options, report)
    nodes, infos = _understand(graph, chip, host, report)
    constants = {each.name: each.data for each in graph.constants}
    marker = Marker(build, chip, policies, constants)
    marks = {bound.node.name: marker.mark(bound, report) for bound in nodes}
    program = Program(graph, chip, policies, nodes, infos, marks, merge_unknown(marks, report))
    plans, allocation = _plan(program, ParamsCalculator(tile or _host_tiler(), chip, infos, constants), report)
    tasks = TaskWriter(chip, policies).graph_tasks(plans)
    check_limits(allocation, tasks, chip)
    blob = build_blob(program, plans, allocation, tasks)
    _check_memory(blob, chip)
    return Compiled(blob, tuple(report.warnings), tuple(report.decisions))


def _host_tiler() -> HostTiler:
    from emu_plugins.tiling.host import tile_on_host  # noqa: PLC0415 - keeps the plugin's import light

    return tile_on_host


def _understand(
    graph: Graph, chip: Chip, host: Registry, report: Report
) -> tuple[tuple[BoundNode, ...], dict[str, TensorInfo]]:
    """Nodes with their operators in execution order, and the info of every tensor."""
    readable = not report.problems
    check_names(graph, report)
    if readable:
        check_uses(graph, report)
    bound = [bind_node(graph, i, host, chip, report) for i in range(len(graph.nodes))]
    shapes = Shapes(graph, chip, report)
    ordered = [bound[i] for i in order_nodes(graph, report)]
    for each in ordered:
        if each is not None:
            shapes.infer(each)
    report.stop_if_bad()
    nodes = tuple(each for each in ordered if each is not None)
    return nodes, {name: info for name, info in shapes.known.items() if info is not None}


def _plan(program: Program, calculator: ParamsCalculator, report: Report) -> tuple[tuple[NodePlan, ...], Allocation]:
    """How each node is tiled, and its stream and event; problems of all nodes together."""
    chosen = []
    for bound in program.nodes:
        marks = program.marks[bound.node.name]
        way = choose_tiling(bound, marks, program.policies, report, unknown_graph=program.unknown_shape)
        chosen.append((bound, way, calculator.calculate(bound, marks, way, report)))
    report.stop_if_bad()
    sinking = {b.node.name: program.marks[b.node.name] for b, way, _ in chosen if way is Tiling.DEVICE}
    producers = {name: bound for bound in program.nodes for name in bound.node.outputs}
    allocation = allocate(program.nodes, sinking, producers, report)
    kernels = number_kernels(program.nodes)
    plans = tuple(
        NodePlan(bound, way, params, allocation.of_node[bound.node.name], op, kernels[bound.kernel.name])
        for op, (bound, way, params) in enumerate(chosen)
        if params is not None
    )
    return plans, allocation


def _check_memory(blob: Blob, chip: Chip) -> None:
    needed = sum(tensor.size for tensor in blob.tensors) + sum(sum(op.workspaces) for op in blob.ops)
    if needed > chip.memory_bytes:
        raise LimitError(
            f"tensors and workspaces need {needed} bytes, {chip.name} has {chip.memory_bytes}",
            id="limit.memory",
            where="graph",
            remedy="make the tensors smaller or split the graph",
        )
