"""Host scheduling of an unknown-shape graph: tiling on the host before each launch that needs it.

For each kernel, in list order:

| step | time |
|---|---|
| an operator tiled on the host: wait until the device is idle | |
| read depended values back, run the tiling, copy its data | one host round trip |
| `launch_kernel` on the plain stream, which is run empty first when it is full | |

Operators without a value dependency are launched with what the compiler computed, those of unknown shape are tiled for
the shapes of each execution (`emu_plugins.runtime.run_shapes`). A static model inside is executed
from the plain stream where its end stands in the list; what follows waits for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core.origin import Origin
from emu_plugins.runtime.arguments import Slots, argument_block
from emu_plugins.runtime.host.launch import LaunchConfig
from emu_plugins.runtime.host_tiling import HostTiling
from emu_plugins.tiling.request import TilingResult
from formats.blob import TaskType

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emu_core.model import Model
    from emu_plugins.runtime.host.handles import ModelHandle, Program
    from emu_plugins.runtime.host.runtime import Runtime
    from emu_plugins.runtime.operators import Operators
    from emu_plugins.runtime.placement import Placement
    from formats.blob import Blob

KERNELS = (TaskType.KERNEL, TaskType.ALL_KERNEL, TaskType.FFTS_PLUS_TASK, TaskType.VECTOR_ALL_KERNEL)
"""Tasks that launch one kernel."""


def host_stream(blob: Blob) -> int:
    """The stream of a host-scheduled blob that the host submits to: that of its last task, the end of the graph."""
    return blob.tasks[-1].stream_id if blob.tasks else 0


class HostSchedule:
    """Launches the kernels of one blob, one execution at a time.

    Attributes:
        caller: the stream that everything is submitted to.
        parts: static models inside, by the index of the task that ends each.
    """

    def __init__(
        self, runtime: Runtime, blob: Blob, placement: Placement, operators: Operators, programs: list[Program]
    ) -> None:
        self._runtime = runtime
        self._device = runtime.device
        self._blob = blob
        self._placement = placement
        self._host = HostTiling(self._device, blob, placement, operators)
        self._programs = programs
        self._args: dict[int, tuple[int, int]] = {}
        self.caller = runtime.create_stream(name="main")
        self.parts: Mapping[int, ModelHandle] = {}

    def launch(self, _model: Model) -> None:
        """One execution; stops at the first fault."""
        scheduler = self._device.scheduler
        before = len(scheduler.faults)
        host = host_stream(self._blob)
        for index, task in enumerate(self._blob.tasks):
            if index in self.parts:
                self._runtime.submit_model(self.parts[index], self.caller)
            if task.stream_id != host:
                continue
            if task.type not in KERNELS or task.op is None or task.kernel is None:
                continue
            if self._blob.ops[task.op].host_tiling:
                scheduler.run_until_idle()
                self._device.clock.advance(self._device.chip.latencies.host_round_trip_ns)
            if len(scheduler.faults) > before:
                return
            self._submit(index, self._programs[task.kernel], self._tile(task.op))

    def _tile(self, index: int) -> TilingResult:
        op = self._blob.ops[index]
        if not op.host_tiling:
            return TilingResult(op.tiling_key, op.tiling_block_dim, op.workspaces, op.tiling_data)
        found = self._host.tile(index, self._host.values(index))
        self._host.fit_workspaces(index, found.workspaces)
        return found

    def _submit(self, index: int, program: Program, tiling: TilingResult) -> None:
        memory, runtime = self._device.memory, self._runtime
        task = self._blob.tasks[index]
        op = task.op
        assert op is not None
        name = self._blob.ops[op].name
        data = self._host.place_data(op, tiling.data)
        block = argument_block(task.args_format, Slots(self._placement, op, static_tiling=data))

        def allocate(words: list[int]) -> int:
            address, room = self._args.get(index, (0, -1))
            if len(words) > room:
                address, room = runtime.arguments(words, label=f"arguments of {name}"), len(words)
                self._args[index] = address, room
            memory.write(address, b"".join(w.to_bytes(8, "little") for w in words))
            return address

        block.place(allocate, memory.write)
        runtime.launch_kernel(
            runtime.get_function(program, tiling.tiling_key, where=f"operator {name}"),
            tiling.block_dim,
            self.caller,
            self._args[index][0],
            LaunchConfig(schem=tiling.schedule_mode if self._blob.ops[op].host_tiling else task.schem),
            label=name,
            origin=Origin(task.node, index),
        )
