"""What the passes made of a graph, ready for JSON: one account per node, and the graph after each pass.

No vendor counterpart but in purpose: GE writes `ge_proto_*.txt` files between its passes. Everything here is computed
from the values that the passes hand on, and only when `CompileOptions.details` asks for it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from emu_plugins.compiler.args_format import format_args
from emu_plugins.compiler.attributes import DISABLE_ATTACHED
from emu_plugins.compiler.resources import INVALID, sink_resources
from emu_plugins.compiler.tasks import kernel_format
from formats.blob.model import TaskType

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from emu_core.operators import TensorInfo
    from emu_plugins.compiler.graph import Graph
    from emu_plugins.compiler.marks import Marks
    from emu_plugins.compiler.operators import BoundNode
    from emu_plugins.compiler.options import BuildOptions
    from emu_plugins.compiler.partition import Partition
    from emu_plugins.compiler.program import Program
    from emu_plugins.compiler.running_params import RunningParams
    from emu_plugins.compiler.sink import Tiling
    from emu_plugins.compiler.stream_ends import TaskList
    from emu_plugins.compiler.streams import Resources
    from emu_plugins.compiler.super_kernel import SuperKernel
    from emu_plugins.compiler.tasks import NodePlan
    from formats.blob.model import BlobTask

PASSES = (
    "graph", "options", "shapes", "marks", "partition", "sink", "running_params", "streams", "tasks", "join", "split",
)  # fmt: skip
"""Passes after which there is a snapshot, in order."""


@dataclass
class Snapshots:
    """Collects snapshots; without `wanted` it does nothing.

    Each pass adds keys to the account of a node or of the graph; a snapshot is all that is known by then.

    Attributes:
        tell: is told the name of each pass and the snapshot after it.
    """

    wanted: bool
    graph: dict[str, object] = field(default_factory=dict)
    nodes: dict[str, dict[str, object]] = field(default_factory=dict)
    taken: list[tuple[str, Mapping[str, object]]] = field(default_factory=list)
    tell: Callable[[str, Mapping[str, object]], object] | None = None

    def after(self, name: str) -> None:
        """Keep what is known after pass `name`; accounts are replaced, never changed in place."""
        nodes = [dict(account) for account in self.nodes.values()]
        self.taken.append((name, {"pass": name, **self.graph, "nodes": nodes}))
        if self.tell is not None:
            self.tell(*self.taken[-1])

    def add(self, node: str, **known: object) -> None:
        """Add to the account of `node`."""
        self.nodes[node] = {**self.nodes.get(node, {"node": node}), **known}

    def explanation(self) -> dict[str, object]:
        """All that is known in the end; empty unless wanted."""
        return {**self.graph, "nodes": list(self.nodes.values())} if self.wanted else {}

    # ---- one method per pass -----------------------------------------------------------------------------------

    def graph_read(self, graph: Graph) -> None:
        """After reading: nodes as given."""
        if not self.wanted:
            return
        self.graph = {
            "name": graph.name,
            "inputs": [_declared(each.name, each.info) for each in graph.inputs],
            "constants": [_declared(each.name, each.info) for each in graph.constants],
            "outputs": list(graph.outputs),
        }
        for node in graph.nodes:
            self.add(
                node.name,
                type=node.type,
                inputs=list(node.inputs),
                outputs=list(node.outputs),
                attributes=_plain(node.attrs),
            )
        self.after("graph")

    def options_resolved(self, build: BuildOptions) -> None:
        """After the options."""
        if not self.wanted:
            return
        value = "1" if build.tiling_schedule_optimize else "0"
        found = {"ge.tiling_schedule_optimize": value, "given by": build.given_by}
        self.graph["options"] = {**found, "ge.buildGraphMode": "offline" if build.offline else "online"}
        self.after("options")

    def shapes_inferred(self, nodes: Iterable[BoundNode], infos: Mapping[str, TensorInfo]) -> None:
        """After shape inference: nodes in execution order, defaults filled in."""
        if not self.wanted:
            return
        given, self.nodes = self.nodes, {}
        for bound in nodes:
            name = bound.node.name
            self.nodes[name] = given[name]
            shapes = [None if each is None else _declared(each, infos[each]) for each in bound.node.inputs]
            self.add(
                name,
                inputs=shapes,
                outputs=[_declared(each, infos[each]) for each in bound.node.outputs],
                attributes=_plain({**bound.attrs, **bound.ge_attrs}),
                custom=bound.custom,
                package=bound.prefix,
                kernel=bound.kernel.name,
            )
        self.after("shapes")

    def marked(self, marks: Mapping[str, Marks]) -> None:
        """After the marks and gates."""
        if not self.wanted:
            return
        for name, each in marks.items():
            gates = [{"gate": g.gate, "state": str(g.state), "reason": g.reason} for g in each.gates]
            self._attributes(name, each.attributes())
            self.add(name, **{"depends on values of inputs": list(each.depends), "gates": gates})
        self.after("marks")

    def partitioned(self, found: Partition) -> None:
        """After the partition."""
        if not self.wanted:
            return
        self.graph["host scheduled"] = found.unknown_graph
        self.graph["parts"] = [
            {"unknown shape": part.unknown, "kept": part.kept, "nodes": list(part.nodes)} for part in found.parts
        ]
        self.graph["constants moved"] = list(found.constants)
        for name in self.nodes:
            self.add(name, **{"unknown shape because": found.reasons.get(name, "")})
        self.after("partition")

    def tilings_chosen(self, chosen: Iterable[tuple[BoundNode, Tiling]], program: Program) -> None:
        """After FE's own condition."""
        if not self.wanted:
            return
        for bound, way in chosen:
            marks = program.marks[bound.node.name]
            condition = {
                "graph is static": not program.owner_unknown(bound),
                "_tiling_sink_op": marks.sink,
                "compile_info_json is not empty": bool(bound.compile_info),
            }
            self.add(bound.node.name, tiled=str(way), sinks=program.sinks(bound), condition=condition)
        self.after("sink")

    def params_calculated(self, params: Mapping[str, RunningParams], program: Program) -> None:
        """After the running parameters: compile-time tiling and resources that are asked for."""
        if not self.wanted:
            return
        for bound in program.nodes:
            found = params[bound.node.name]
            tiling = found.tiling
            self.add(
                bound.node.name,
                tiling={
                    "tiling key": tiling.tiling_key,
                    "block dim": tiling.block_dim,
                    "tiling data bytes": len(tiling.data),
                    "workspaces": list(found.workspaces),
                    "log workspace": found.log_workspace,
                },
                engine="ffts_plus" if found.ffts_plus else "AIcoreEngine",
            )
            if found.ffts_plus:
                self._attributes(bound.node.name, found.ffts_plus.attributes())
                context = {"context": found.ffts_plus.core_type, "ratio": found.ffts_plus.ratio}
                self.add(bound.node.name, ffts_plus=context)
            if program.sinks(bound):
                self._resources(bound, program, INVALID, INVALID)
        self.after("running_params")

    def fused(self, kernels: Sequence[SuperKernel]) -> None:
        """After the fusion into super kernels; part of what is seen after the streams."""
        if self.wanted and kernels:
            listed = [{"name": kernel.name, "members": list(kernel.members)} for kernel in kernels]
            self.graph["super kernels"] = listed
            for kernel in kernels:
                for name in kernel.members:
                    sinks = self.nodes[name]["sinks"]
                    self.add(name, **{"super kernel": kernel.name, **({"SPK_task_type": "dynamic"} if sinks else {})})

    def streams_allocated(self, of_node: Mapping[str, Resources], program: Program) -> None:
        """After streams and events."""
        if not self.wanted:
            return
        for bound in program.nodes:
            found = of_node[bound.node.name]
            self.add(
                bound.node.name,
                stream=found.main,
                **{
                    "attached stream": found.attached,
                    "event": found.event,
                    "waits for": [*found.main_waits, *found.waits],
                    "records": [*found.records, *found.attached_records],
                },
            )
            if program.sinks(bound):
                attached = INVALID if found.attached is None else found.attached
                self._resources(bound, program, attached, INVALID if found.event is None else found.event)
        self.after("streams")

    def tasks_written(self, plans: Sequence[NodePlan], listed: TaskList, program: Program, name: str) -> None:
        """After task generation (`tasks`), the join and the split: every task with its final stream."""
        if not self.wanted:
            return
        by_node: dict[str, list[dict[str, object]]] = {}
        others: list[dict[str, object]] = []
        before = {p.bound.node.name: format_args(kernel_format(p, sinks=program.sinks(p.bound))) for p in plans}
        for index, task in enumerate(listed.tasks):
            account = _task(index, task, before.get(task.node, ""))
            by_node.setdefault(task.node, others if task.node not in self.nodes else []).append(account)
        for node in self.nodes:
            self.add(node, tasks=by_node.get(node, []))
        self.graph["other tasks"] = others
        self.graph["streams"] = [{"id": each.id, "name": each.name, "serves": each.serves} for each in listed.streams]
        self.graph["events"] = [{"id": each.id, "name": each.name} for each in listed.events]
        self.after(name)

    def _attributes(self, node: str, more: Mapping[str, object]) -> None:
        known = self.nodes[node].get("attributes")
        self.add(node, attributes={**(known if isinstance(known, dict) else {}), **more})

    def _resources(self, bound: BoundNode, program: Program, stream: int, event: int) -> None:
        asked = sink_resources(bound.ir_indices(program.marks[bound.node.name].depends))
        self._attributes(
            bound.node.name,
            {
                "_attached_stream_info_list": [each.attributes(stream) for each in asked.streams],
                "_attached_sync_res_info_list": [each.attributes(event) for each in asked.syncs],
                **({DISABLE_ATTACHED: True} if DISABLE_ATTACHED in bound.ge_attrs else {}),
            },
        )


def _declared(name: str, info: TensorInfo) -> dict[str, object]:
    return {"name": name, "dtype": info.dtype, "shape": list(info.shape)}


def _plain(attrs: Mapping[str, object]) -> dict[str, object]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in attrs.items()}


def _task(index: int, task: BlobTask, before: str) -> dict[str, object]:
    found: dict[str, object] = {"index": index, "task": TaskType(task.type).name, "stream": task.stream_id}
    if task.event_id is not None:
        found["event"] = task.event_id
    if task.args_format:
        kernel = task.kernel is not None
        found |= {"args format before": before if kernel else "", "args format": task.args_format}
    if task.kernel is not None:
        found["block dim"] = task.block_dim
    return found | {"made by": task.made_by}
