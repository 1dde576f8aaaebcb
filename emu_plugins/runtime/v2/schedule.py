"""Runs an execution graph on a device: nodes in order, values on its edges.

| node | time |
|---|---|
| CopyD2H: wait until the device is idle, then read back, tile, copy | one host round trip |
| LaunchKernel | as the device runs the entry |
| any other | none |

The round trip is charged where the values are read back, or would be if the tiling read any; tiling and copies behind
it belong to it. Entries go to one plain stream, which is run empty first when it is full.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from emu_core.errors import InputError
from emu_core.origin import Origin
from emu_plugins.engines.task_update_mix import context_values
from emu_plugins.runtime.arguments import Slots, argument_block
from emu_plugins.runtime.host.launch import LaunchConfig
from emu_plugins.runtime.host_tiling import HostTiling
from emu_plugins.runtime.run_shapes import inferred
from emu_plugins.runtime.sqes import narrow_block_dim
from emu_plugins.runtime.v2.execution_graph import Kind, Stage
from emu_plugins.runtime.v2.lowering import lower
from emu_plugins.tiling.request import TilingResult

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from emu_core.model import Model
    from emu_core.operators import TensorInfo
    from emu_plugins.runtime.host.handles import Function, ModelHandle, Program
    from emu_plugins.runtime.host.runtime import Runtime
    from emu_plugins.runtime.operators import Operators
    from emu_plugins.runtime.placement import Placement
    from emu_plugins.runtime.v2.execution_graph import Node
    from formats.blob import Blob


@dataclass(frozen=True)
class Entries:
    """Entries of a kernel for the keys of non-tail and tail; a plain kernel has the same twice."""

    non_tail: Function
    tail: Function


@dataclass(frozen=True)
class MixContext:
    """What the mix context of a launch holds: its entries, and the fields they lead to."""

    entries: Entries
    fields: Mapping[str, int]


class ExecutionSchedule:
    """The execution graph of one blob, loaded: nodes of stage *init* have been run.

    Attributes:
        graph: the nodes.
        caller: the stream that everything is submitted to.
        parts: static models inside, by the index of the task that ends each.
        tilings, entries, contexts: latest value of such nodes, by their id.
    """

    def __init__(
        self, runtime: Runtime, blob: Blob, placement: Placement, operators: Operators, programs: list[Program]
    ) -> None:
        self._runtime = runtime
        self._device = runtime.device
        self._blob = blob
        self._placement = placement
        self._operators = operators
        self._programs = programs
        self._host = HostTiling(self._device, blob, placement, operators)
        self._values: dict[int, Mapping[int, bytes]] = {}
        self._args: dict[int, int] = {}
        self._placed: dict[tuple[int, int], tuple[int, int]] = {}
        self._data: dict[int, int] = {}
        self._binaries: dict[int, Program] = {}
        self.tilings: dict[int, TilingResult] = {}
        self.entries: dict[int, Entries] = {}
        self.contexts: dict[int, MixContext] = {}
        self.graph = lower(blob, self._device.chip, self._device.host)
        self.caller = runtime.create_stream(name="main")
        self.parts: Mapping[int, ModelHandle] = {}
        for node in self.graph.of(Stage.INIT):
            _NODES[node.kind](self, node)

    def launch(self, _model: Model) -> None:
        """One execution; stops at the first fault."""
        before = len(self._device.scheduler.faults)
        for node in self.graph.of(Stage.MAIN):
            _NODES[node.kind](self, node)
            if len(self._device.scheduler.faults) > before:
                return

    # ---- nodes -----------------------------------------------------------------------------------------------

    def _sink_bin(self, node: Node) -> None:
        assert node.kernel is not None
        self._binaries[node.id] = self._programs[node.kernel]

    def _infer_shape(self, node: Node) -> None:
        """Places follow from shapes: of static ones at load, of others before an execution; the operator must agree."""
        op, place = self._blob.ops[_op(node)], self._placement
        inputs = tuple(None if tensor is None else place.info(tensor) for tensor in op.inputs)
        found = inferred(op, self._operators.specs[_op(node)], inputs)
        wanted = tuple(map(place.info, op.outputs))
        if found != wanted:
            raise InputError(
                f"the operator infers {_shapes(found)}, the blob has {_shapes(wanted)}",
                id="blob.tensor",
                where=f"operator {node.label}",
                remedy="compile the graph again",
            )

    def _run_info(self, node: Node) -> None:
        op = self._blob.ops[_op(node)]
        self.tilings[node.id] = TilingResult(
            op.tiling_key, op.tiling_block_dim, op.workspaces, op.tiling_data, node.schem
        )

    def _copy_values(self, node: Node) -> None:
        faults = len(self._device.scheduler.faults)
        self._device.scheduler.run_until_idle()
        if len(self._device.scheduler.faults) == faults:
            self._device.clock.advance(self._device.chip.latencies.host_round_trip_ns)
            self._values[node.id] = self._host.values(_op(node))

    def _tiling(self, node: Node) -> None:
        op = _op(node)
        run_time = any(edge.name == "values" for edge in node.inputs)
        values = self._values[node.source("values")] if run_time else self._host.values(op)
        self.tilings[node.id] = self._host.tile(op, values)

    def _alloc_workspace(self, node: Node) -> None:
        self._host.fit_workspaces(_op(node), self.tilings[node.source("sizes")].workspaces)

    def _copy_tiling_data(self, node: Node) -> None:
        self._data[node.id] = self._host.place_data(_op(node), self.tilings[node.source("data")].data)

    def _get_entry(self, node: Node) -> None:
        """The binary and its keys: one, or those of non-tail and tail."""
        program = self._binaries[node.source("binary")]
        keys = [self.tilings[edge.node].tiling_key for edge in node.inputs if edge.name != "binary"]
        found = [self._runtime.get_function(program, key, where=f"operator {node.label}") for key in keys]
        self.entries[node.id] = Entries(found[0], found[-1])

    def _build_args(self, node: Node) -> None:
        slots = Slots(self._placement, _op(node), static_tiling=self._data[node.source("tiling_data")])
        block = argument_block(node.args_format, slots)
        memory, place = self._device.memory, (node.task, _op(node))

        def allocate(words: list[int]) -> int:
            address, room = self._placed.get(place, (0, -1))
            if len(words) > room:
                address, room = self._runtime.arguments(words, label=f"arguments of {node.label}"), len(words)
                self._placed[place] = address, room
            memory.write(address, b"".join(w.to_bytes(8, "little") for w in words))
            return address

        self._args[node.id] = block.place(allocate, memory.write)

    def _update_context(self, node: Node) -> None:
        entries = self.entries[node.source("entry")]
        block_dim = self.tilings[node.source("block_dim")].block_dim
        image, key = entries.tail.program.image, entries.tail.tiling_key
        mix = image.mixes.get(key) if image else None
        fields: Mapping[str, int] = {}
        if image is not None and mix is not None:
            second = image.seconds.get(key, 0)
            fields = context_values(mix, entries.tail.pc, second, narrow_block_dim(max(block_dim, 1)))
        self.contexts[node.id] = MixContext(entries, fields)

    def _launch_kernel(self, node: Node) -> None:
        """The device runs non-tail and tail by the same entry: a launch has one thread."""
        kernel = node.source("kernel")
        entries = self.contexts[kernel].entries if kernel in self.contexts else self.entries[kernel]
        tiling = self.tilings[node.source("block_dim")]
        self._runtime.launch_kernel(
            entries.tail,
            tiling.block_dim,
            self.caller,
            self._args[node.source("args")],
            LaunchConfig(schem=self.tilings[node.source("schedule_mode")].schedule_mode),
            label=node.label,
            origin=Origin(self._blob.tasks[node.task].node, node.task),
        )

    def _execute_model(self, node: Node) -> None:
        self._runtime.submit_model(self.parts[node.task], self.caller)


_NODES: Mapping[Kind, Callable[[ExecutionSchedule, Node], None]] = MappingProxyType({
    Kind.SINK_BIN: ExecutionSchedule._sink_bin,  # noqa: SLF001 - a table of the class's own methods
    Kind.SINK_FFTS_BIN: ExecutionSchedule._sink_bin,  # noqa: SLF001
    Kind.SINK_MIX_BIN: ExecutionSchedule._sink_bin,  # noqa: SLF001
    Kind.INFER_SHAPE: ExecutionSchedule._infer_shape,  # noqa: SLF001
    Kind.RUN_INFO: ExecutionSchedule._run_info,  # noqa: SLF001
    Kind.COPY_VALUES: ExecutionSchedule._copy_values,  # noqa: SLF001
    Kind.TILING: ExecutionSchedule._tiling,  # noqa: SLF001
    Kind.ALLOC_WORKSPACE: ExecutionSchedule._alloc_workspace,  # noqa: SLF001
    Kind.COPY_TILING_DATA: ExecutionSchedule._copy_tiling_data,  # noqa: SLF001
    Kind.GET_ENTRY: ExecutionSchedule._get_entry,  # noqa: SLF001
    Kind.GET_FFTS_ENTRY: ExecutionSchedule._get_entry,  # noqa: SLF001
    Kind.GET_MIX_ENTRY: ExecutionSchedule._get_entry,  # noqa: SLF001
    Kind.BUILD_ARGS: ExecutionSchedule._build_args,  # noqa: SLF001
    Kind.UPDATE_CONTEXT: ExecutionSchedule._update_context,  # noqa: SLF001
    Kind.LAUNCH: ExecutionSchedule._launch_kernel,  # noqa: SLF001
    Kind.EXECUTE_MODEL: ExecutionSchedule._execute_model,  # noqa: SLF001
})  # fmt: skip


def _op(node: Node) -> int:
    assert node.op is not None
    return node.op


def _shapes(infos: tuple[TensorInfo, ...]) -> str:
    return ", ".join(f"{info.dtype}{list(info.shape)}" for info in infos) or "nothing"
