"""The passes in order: one function from a JSON graph to a blob.

Mirrors the vendor's `GraphManager::PreRun` with `DynamicShapePartitioner::Partition` and
`GraphBuilder::BuildForKnownShapeGraph`. Problems are collected: a graph that could be read is checked to the end of
the running parameters as far as its nodes are sound, and then refused with everything that was found.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from emu_core.graph import Compiled
from emu_core.limits import require
from emu_core.policies import PolicySet
from emu_plugins.compiler.constants import load_npz
from emu_plugins.compiler.emit import build_blob, number_kernels
from emu_plugins.compiler.limits import uses_in_words
from emu_plugins.compiler.marks import Marker
from emu_plugins.compiler.names import check_names, check_uses, order_nodes
from emu_plugins.compiler.operators import bind_node
from emu_plugins.compiler.options import resolve_options
from emu_plugins.compiler.parse import parse_graph
from emu_plugins.compiler.partition import partition
from emu_plugins.compiler.program import Program
from emu_plugins.compiler.report import Report
from emu_plugins.compiler.running_params import ParamsCalculator
from emu_plugins.compiler.shapes import Shapes
from emu_plugins.compiler.sink import choose_tiling
from emu_plugins.compiler.snapshots import Snapshots
from emu_plugins.compiler.super_kernel import fuse
from emu_plugins.compiler.units import Decided, write_units

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from emu_core.chips import Chip
    from emu_core.graph import CompileOptions
    from emu_core.operators import TensorInfo
    from emu_plugins.compiler.graph import Graph
    from emu_plugins.compiler.operators import BoundNode, Registry
    from emu_plugins.compiler.options import BuildOptions
    from emu_plugins.compiler.running_params import HostTiler, RunningParams
    from emu_plugins.compiler.sink import Tiling
    from emu_plugins.compiler.units import Written
    from formats.blob.model import Blob

_T = TypeVar("_T")


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
        GraphError: the graph cannot be compiled, with every problem that was found.
        OptionError: an option (E10001, E10006) or policy value is not allowed.
        LimitError: the program needs more than the chip has.
        PluginError: the declaration of an operator is broken.
    """
    report = Report(options.source)
    seen = Snapshots(options.details or options.after_pass is not None, tell=options.after_pass)
    policies = PolicySet(host.policy_specs, options.policies)
    base = Path(options.source).parent if options.source else None
    graph = parse_graph(raw, report, partial(load_npz, base))
    readable = not report.problems
    if readable:
        seen.graph_read(graph)
    build = resolve_options(options, graph.options, report)
    seen.options_resolved(build)
    if readable:
        check_uses(graph, report)
    return _Compilation(
        graph, build, chip, policies, report, seen, options.details, options.progress or _nobody
    ).compile(host, tile, readable=readable)


def _nobody() -> None:
    """Nobody watches the progress."""


def _host_tiler() -> HostTiler:
    from emu_plugins.tiling.host import tile_on_host  # noqa: PLC0415 - keeps the plugin's import light

    return tile_on_host


@dataclass(frozen=True)
class _Compilation:
    """What every pass of one compilation has at hand."""

    graph: Graph
    build: BuildOptions
    chip: Chip
    policies: PolicySet
    report: Report
    seen: Snapshots
    details: bool
    progress: Callable[[], object]

    def compile(self, host: Registry, tile: HostTiler | None, *, readable: bool) -> Compiled:
        """All passes; `readable`: every name and shape of the graph could be read."""
        nodes, infos = self._understand(host)
        if not readable:
            self.report.stop_if_bad()
        program = self._marked(nodes, infos)
        written = self._written(program, tile or _host_tiler())
        blob = self._finished(program, written)
        return Compiled(
            blob,
            tuple(self.report.warnings),
            tuple(self.report.decisions),
            self.seen.explanation() if self.details else {},
            tuple(self.seen.taken) if self.details else (),
        )

    def _understand(self, host: Registry) -> tuple[tuple[BoundNode, ...], dict[str, TensorInfo]]:
        """Sound nodes with their operators in execution order, and the info of every tensor that has one."""
        graph, report = self.graph, self.report
        check_names(graph, report)
        bound = [self._counted(bind_node(graph, i, host, self.chip, report)) for i in range(len(graph.nodes))]
        shapes = Shapes(graph, self.chip, report)
        ordered = [bound[i] for i in order_nodes(graph, report)]
        for each in ordered:
            if each is not None:
                shapes.infer(each)
        infos = {name: info for name, info in shapes.known.items() if info is not None}
        return tuple(each for each in ordered if each is not None and _sound(each, infos)), infos

    def _marked(self, nodes: tuple[BoundNode, ...], infos: Mapping[str, TensorInfo]) -> Program:
        """Marks, gates and partition."""
        if not self.report.problems:
            self.seen.shapes_inferred(nodes, infos)
        constants = {each.name: each.data for each in self.graph.constants}
        marker = Marker(self.build, self.chip, self.policies, constants, infos)
        marks = {bound.node.name: marker.mark(bound, self.report) for bound in nodes}
        parts = partition(nodes, marks, constants, self.report, keep=self.policies["graph_partition"] == "parts")
        if not self.report.problems:
            self.seen.marked(marks)
            self.seen.partitioned(parts)
        return Program(self.graph, self.chip, self.policies, nodes, infos, marks, parts)

    def _written(self, program: Program, tile: HostTiler) -> Written:
        """How each node is tiled, its stream and event, and the tasks."""
        report, seen = self.report, self.seen
        ways = self._ways(program)
        params = self._params(program, tile)
        fused = fuse(program, report)
        report.stop_if_bad()
        seen.tilings_chosen(zip(program.nodes, ways.values(), strict=True), program)
        seen.params_calculated(params, program)
        seen.fused(fused)
        ops = {bound.node.name: op for op, bound in enumerate(program.nodes)}
        written = write_units(program, Decided(ways, params, ops, number_kernels(program.nodes), fused), report)
        report.stop_if_bad()
        return written

    def _ways(self, program: Program) -> dict[str, Tiling]:
        """Where and when each node is tiled, by name."""
        return {
            bound.node.name: choose_tiling(
                bound,
                program.marks[bound.node.name],
                program.policies,
                self.report,
                unknown_graph=program.owner_unknown(bound),
            )
            for bound in program.nodes
        }

    def _counted(self, done: _T) -> _T:
        """`done`, and the progress goes on."""
        self.progress()
        return done

    @property
    def _flags(self) -> tuple[int, int]:
        return self.build.deterministic, self.build.deterministic_level

    def _params(self, program: Program, tile: HostTiler) -> dict[str, RunningParams]:
        """Running parameters by node name; those that cannot be used are missing, and noted."""
        constants = {each.name: each.data for each in self.graph.constants}
        calculator = ParamsCalculator(tile, self.chip, program.infos, constants, self._flags)
        found = {
            bound.node.name: self._counted(
                calculator.calculate(
                    bound, program.marks[bound.node.name], self.report, unknown_graph=program.owner_unknown(bound)
                )
            )
            for bound in program.nodes
        }
        return {name: params for name, params in found.items() if params is not None}

    def _finished(self, program: Program, written: Written) -> Blob:
        """The blob, when the chip has room for it."""
        self.seen.streams_allocated({plan.bound.node.name: plan.resources for plan in written.plans}, program)
        for stage, listed in written.lists.items():
            self.seen.tasks_written(written.plans, listed, program, stage)
        blob = build_blob(program, written.plans, written.last, self._flags)
        require(uses_in_words(blob, self.chip, self.policies), self.chip, where=f"graph {program.graph.name}")
        return blob


def _sound(bound: BoundNode, infos: Mapping[str, TensorInfo]) -> bool:
    """Whether element type and shape of every tensor of the node are known."""
    named = (name for name in (*bound.node.inputs, *bound.node.outputs) if name is not None)
    return all(name in infos for name in named)
