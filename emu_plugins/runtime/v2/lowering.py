"""From a task blob to an execution graph.

Nothing of it depends on whether an operator sinks: the tiling is run by the host before the launch that needs it,
unless it is known at load.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict, Unpack

from emu_plugins.runtime.v2.calls import Part, calls
from emu_plugins.runtime.v2.execution_graph import Edge, ExecutionGraph, Kind, Node, Stage
from emu_plugins.runtime.v2.keys import TilingSource, resolver, tiling_source, unknown_shape

if TYPE_CHECKING:
    from emu_core.chips import Chip
    from emu_core.plugins import PluginHost
    from emu_plugins.runtime.v2.calls import Call
    from formats.blob import Blob

_TILED = ("tiling_key", "block_dim", "schedule_mode", "tiling_data", "workspaces")


def lower(blob: Blob, chip: Chip, host: PluginHost) -> ExecutionGraph:
    """The execution graph of `blob` on `chip`.

    Raises:
        InputError: as `calls`; no plugin supplies a kernel.
    """
    lowering = _Lowering(blob, chip, host)
    for call in calls(blob, host):
        if isinstance(call, Part):
            lowering.part(call)
        else:
            lowering.kernel(call)
    return ExecutionGraph(blob.name, tuple(lowering.nodes))


class _More(TypedDict, total=False):
    inputs: tuple[Edge, ...]
    after: tuple[int, ...]
    outputs: tuple[str, ...]
    args_format: str
    schem: int
    note: str


class _Lowering:
    """The graph so far."""

    def __init__(self, blob: Blob, chip: Chip, host: PluginHost) -> None:
        self._blob = blob
        self._chip = chip
        self._host = host
        self.nodes: list[Node] = []
        self._last: tuple[int, ...] = ()
        self._shapes: dict[int, int] = {}

    def part(self, part: Part) -> None:
        """A static model inside, behind what was launched before."""
        number = sum(node.kind is Kind.EXECUTE_MODEL for node in self.nodes)
        label = f"{self._blob.name} part {number}"
        note = "a static model, run by V1: its tiling may sink"
        node = Node(len(self.nodes), Kind.EXECUTE_MODEL, Stage.MAIN, label, part.task, after=self._last, note=note)
        self.nodes.append(node)
        self._last = (node.id,)

    def kernel(self, call: Call) -> None:
        """All nodes of one launch."""
        source = tiling_source(self._blob, call.op)
        nodes = resolver(self._blob.kernels[call.kernel], self._chip, self._host)
        stage = Stage.MAIN if source.each_run else Stage.INIT
        binary = self._add(call, nodes.binary, Stage.INIT, outputs=("binary",))
        shapes = self._infer(call)
        tiling = self._tiling(call, source, shapes)
        room = self._add(
            call, Kind.ALLOC_WORKSPACE, stage, inputs=(Edge("sizes", tiling, "workspaces"),), outputs=("addresses",)
        )
        data = self._add(
            call, Kind.COPY_TILING_DATA, stage, inputs=(Edge("data", tiling, "tiling_data"),), outputs=("address",)
        )
        keys = tuple(Edge(name, tiling, "tiling_key") for name in nodes.keys)
        entry = self._add(
            call, nodes.entry, stage, inputs=(Edge("binary", binary, "binary"), *keys), outputs=("entry",),
            note=f"key {source.value}",
        )  # fmt: skip
        args = self._add(
            call, Kind.BUILD_ARGS, Stage.MAIN, args_format=call.args_format, outputs=("args",),
            inputs=(Edge("workspaces", room, "addresses"), Edge("tiling_data", data, "address")),
        )  # fmt: skip
        block_dim = Edge("block_dim", tiling, "block_dim")
        kernel = Edge("kernel", entry, "entry")
        if nodes.context:
            context = self._add(
                call, Kind.UPDATE_CONTEXT, Stage.MAIN, inputs=(Edge("entry", entry, "entry"), block_dim),
                outputs=("context",),
            )  # fmt: skip
            kernel = Edge("kernel", context, "context")
        inputs = (kernel, block_dim, Edge("schedule_mode", tiling, "schedule_mode"), Edge("args", args, "args"))
        self._last = (self._add(call, Kind.LAUNCH, Stage.MAIN, inputs=inputs, after=self._last),)

    def _infer(self, call: Call) -> int:
        """The node that infers the outputs' shapes, from those of the operators that produce the inputs."""
        op = self._blob.ops[call.op]
        inputs = tuple(
            Edge(f"input{i}", self._shapes[tensor], "shapes")
            for i, tensor in enumerate(op.inputs)
            if tensor is not None and tensor in self._shapes
        )
        stage = Stage.MAIN if unknown_shape(self._blob, call.op) else Stage.INIT
        found = self._add(call, Kind.INFER_SHAPE, stage, inputs=inputs, outputs=("shapes",))
        self._shapes |= dict.fromkeys(op.outputs, found)
        return found

    def _tiling(self, call: Call, source: TilingSource, shapes: int) -> int:
        """The node that the tiling is had from."""
        if source is TilingSource.STORED:
            return self._add(call, Kind.RUN_INFO, Stage.INIT, outputs=_TILED, schem=call.schem)
        inputs: tuple[Edge, ...] = (Edge("shapes", shapes, "shapes"),)
        if source.each_run:
            values = self._add(call, Kind.COPY_VALUES, Stage.MAIN, after=self._last, outputs=("values",))
            inputs = (*inputs, Edge("values", values, "values"))
        stage = Stage.MAIN if source.each_run else Stage.INIT
        return self._add(call, Kind.TILING, stage, inputs=inputs, outputs=_TILED)

    def _add(self, call: Call, kind: Kind, stage: Stage, **more: Unpack[_More]) -> int:
        node = Node(len(self.nodes), kind, stage, self._blob.ops[call.op].name, call.task, call.op, call.kernel, **more)
        self.nodes.append(node)
        return node.id
