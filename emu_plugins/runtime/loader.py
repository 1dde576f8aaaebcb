"""Runtime V1: task records become entries in rings, once, in list order (`tiling_sink_compiler.md` 11).

All tasks of a static graph are distributed at load; afterwards only streams and events decide when they run. Two orders
are real and checked: the tiling task of an operator comes before its kernel (the kernel's arguments hold addresses of
the tiling context), and the kernel comes before the update (the update names the kernel's task id).

| task type | entries | call of the host API |
|---|---|---|
| PREPROCESS_KERNEL 43 | AI CPU kernel | `launch_aicpu` |
| EVENT_WAIT 2 | event wait, event reset | `wait_event`, `reset_event` |
| EVENT_RECORD 1 | event record | `record_event` |
| NOTIFY_RECORD 14, NOTIFY_WAIT 15 | notify record, notify wait | `record_notify`, `wait_notify` |
| NOP 42 | place holder 103 | `launch_nop` |
| KERNEL 0, ALL_KERNEL 26, FFTS_PLUS_TASK 29, VECTOR_(ALL_)KERNEL 39, 40 | AI Core kernel | `launch_kernel` |
| KERNEL 0 with an AI CPU kernel type | AI CPU kernel | `launch_aicpu` |
| SUPER_KERNEL 44 | AI Core kernel | `launch_super_kernel`, no call of the API |
| UPDATE 41 | place holder 101 | `model_task_update` |
| MODEL_END_GRAPH 19 | notify record | `end_graph` |

Events, NOPs and plain kernels of v100 entries take the shorter way of `emu_plugins.runtime.deferred`: the same entries,
written many at a time. Each load has a `Runtime` of its own, so that nothing of a load that fails is left behind.

Graphs of unknown shape are scheduled by the host instead (`host_scheduled`); with policy `runtime` = `v2` all graphs
are, as execution graphs (`v2`). Static models inside are loaded as above.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core.errors import InputError
from emu_core.origin import NOWHERE, Origin
from emu_plugins.runtime.arguments import Slots, argument_block, argument_words
from emu_plugins.runtime.deferred import Deferred
from emu_plugins.runtime.host.handles import DEFAULT_FLAG, HEAD_STREAM, EventStyle
from emu_plugins.runtime.host.launch import LaunchConfig
from emu_plugins.runtime.host.runtime import Runtime
from emu_plugins.runtime.host.task_update import ModelTaskUpdate
from emu_plugins.runtime.host_scheduled import HostSchedule, host_stream
from emu_plugins.runtime.operators import Operators
from emu_plugins.runtime.placement import Placement
from emu_plugins.runtime.redistribution import redistributable
from emu_plugins.runtime.run_shapes import require_shapes, run_shapes
from emu_plugins.runtime.sink_context import TilingContextAddr, TilingSinkTaskInfo, place_platform, place_sink_buffer
from emu_plugins.runtime.split_kernels import VECTOR_KERNELS, notify_ids, part_of_kernel, split_blocks
from emu_plugins.runtime.stand_in import refuse_stand_ins, stand_ins_of
from emu_plugins.runtime.super_kernels import launch_super_kernel, place_super_kernel, sub_launches
from emu_plugins.runtime.v2.schedule import ExecutionSchedule
from emu_plugins.tiling.build import refreshed_tensor
from formats.blob import KernelType, TaskType
from formats.blob.references import bad_references
from formats.runtime import AicpuArgHead, RefreshedTensor

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from emu_core.device import Device
    from emu_core.model import Model
    from emu_plugins.runtime.arguments import ArgumentBlock
    from emu_plugins.runtime.host.handles import (
        EventHandle,
        Function,
        ModelHandle,
        NotifyHandle,
        Program,
        StreamHandle,
    )
    from emu_plugins.runtime.images import KernelImage
    from formats.blob import Blob, BlobTask


def load(device: Device, blob: Blob) -> Model:
    """Load `blob` into `device`.

    Raises:
        InputError: wrong chip, unknown operator, kernel or task type, tasks in an impossible order.
        LimitError: more streams, events, tasks or memory than the chip has.
    """
    if blob.chip != device.chip.name:
        raise InputError(
            f"the blob was compiled for {blob.chip}, the device is {device.chip.name}",
            id="blob.chip",
            remedy=f"run it with --chip {blob.chip}, or compile the graph for {device.chip.name}",
        )
    for bad in bad_references(blob):
        raise InputError(
            f"{bad.section}[{bad.record}] names the {bad.what} {bad.value}, of which there are {bad.limit}",
            id="blob.reference",
            remedy="compile the graph again",
        )
    return _Loader(device, blob).load()


class _Loader:
    """State of one load: objects made so far, by index or id of the blob."""

    def __init__(self, device: Device, blob: Blob) -> None:
        self.device = device
        self.blob = blob
        self.runtime = Runtime(device)
        self.operators = Operators(device.host, blob)
        self.placement = Placement(device, blob)
        self.programs: list[Program] = [self.runtime.register_program(k.name, k.tiling_keys) for k in blob.kernels]
        self.platform = place_platform(device)
        self.runtime.stack()
        self.contexts: dict[int, TilingContextAddr] = {}
        self.launched: dict[int, TilingSinkTaskInfo] = {}
        self.target_of: dict[int, tuple[StreamHandle, Program]] = {}
        self.streams: dict[int, StreamHandle] = {}
        self.events: dict[int, EventHandle] = {}
        self.notifies: dict[int, NotifyHandle] = {}
        self.split = split_blocks(blob)
        self.origin = NOWHERE
        self.deferred = Deferred(self.runtime, resets=device.policies["wait_reset"] == "on")

    def load(self) -> Model:
        """Everything, in the vendor's order: objects, tasks in list order, end of graph."""
        runtime, blob, placement = self.runtime, self.blob, self.placement
        inputs, outputs = placement.ports(blob.inputs), placement.ports(blob.outputs)
        v2 = self.device.policies["runtime"] == "v2"
        if blob.unknown_shape or v2:
            refuse_stand_ins(blob)
            make = ExecutionSchedule if v2 else HostSchedule
            schedule = make(runtime, blob, placement, self.operators, self.programs)
            schedule.parts = self._load_parts(schedule.caller) if blob.unknown_shape else {}
            return runtime.host_scheduled(
                blob.name,
                schedule.caller,
                schedule.launch,
                inputs=inputs,
                outputs=outputs,
                scratch=placement.scratch,
                parts=tuple(schedule.parts.values()),
                reshape=run_shapes(placement, self.operators),
            )
        require_shapes(placement, range(len(blob.ops)))
        self.model = runtime.create_model(blob.name)
        for stream in blob.streams:
            made = self.streams[stream.id] = runtime.create_stream(name=stream.name)
            runtime.bind_stream(self.model, made, HEAD_STREAM if stream.head else DEFAULT_FLAG)
        self._create_events()
        for index, task in enumerate(blob.tasks):
            self._distribute(index, task)
        self.deferred.flush_all()
        if self.model.end is None:
            raise InputError("the task list has no end of graph", id="blob.no-end", remedy="compile the graph again")
        runtime.require_persistent(self.model)
        loaded = runtime.load_complete(
            self.model,
            caller=runtime.create_stream(name="caller"),
            inputs=inputs,
            outputs=outputs,
            scratch=placement.scratch,
            details=self._details(),
        )
        loaded.reshape = run_shapes(placement, self.operators)  # of inputs that no operator reads
        return loaded

    def _load_parts(self, caller: StreamHandle) -> dict[int, ModelHandle]:
        """The static models inside a host-scheduled graph, by the index of the task that ends each."""
        host = host_stream(self.blob)
        tasks = [(index, task) for index, task in enumerate(self.blob.tasks) if task.stream_id != host]
        ends = [index for index, task in tasks if task.type == TaskType.MODEL_END_GRAPH]
        if not tasks:
            return {}
        if not ends or tasks[-1][0] != ends[-1]:
            raise InputError("a static part has no end of graph", id="blob.no-end", remedy="compile the graph again")
        self._create_events()
        found: dict[int, ModelHandle] = {}
        for number, end in enumerate(ends):
            part = [(index, task) for index, task in tasks if index <= end and index > max(found, default=-1)]
            found[end] = self._load_part(f"{self.blob.name} part {number}", part, caller)
        return found

    def _create_events(self) -> None:
        notified = notify_ids(self.blob)
        runtime = self.runtime
        self.notifies = {e.id: runtime.create_notify(name=e.name) for e in self.blob.events if e.id in notified}
        others = (e.id for e in self.blob.events if e.id not in notified)
        self.events = {number: runtime.create_event(style=EventStyle.OLD) for number in others}

    def _load_part(self, name: str, tasks: list[tuple[int, BlobTask]], caller: StreamHandle) -> ModelHandle:
        used = {task.stream_id for _, task in tasks}
        require_shapes(self.placement, [task.op for _, task in tasks if task.op is not None])
        model = self.model = self.runtime.create_model(name)
        for stream in self.blob.streams:
            if stream.id in used:
                made = self.streams[stream.id] = self.runtime.create_stream(name=stream.name)
                self.runtime.bind_stream(model, made, HEAD_STREAM if stream.head else DEFAULT_FLAG)
        for index, task in tasks:
            self._distribute(index, task)
        self.deferred.flush_all()
        self.runtime.load_complete(model, caller=caller)
        return model

    def _details(self) -> Mapping[str, object]:
        """Extended attributes by operator name, which tasks may be distributed again, by type, and timed stand-ins."""
        again: dict[int, dict[str, bool]] = {}
        for task in self.blob.tasks:
            if task.op in self.contexts:
                of_op = again.setdefault(task.op, {})
                of_op[TaskType(task.type).name] = redistributable(task, self.contexts)
        found: dict[str, dict[str, object]] = {
            self.blob.ops[i].name: {
                "_tiling_context_addr": self.contexts[i],
                "_tiling_sink_task_info": self.launched.get(i),
                "redistributable": again.get(i, {}),
            }
            for i in sorted(self.contexts)
        }
        for each in stand_ins_of(self.blob):
            listed = found.setdefault(each.node, {}).setdefault("stand_ins", [])
            assert isinstance(listed, list)
            listed.append(each)
        return found

    # ---- tasks -----------------------------------------------------------------------------------------------

    def _distribute(self, index: int, task: BlobTask) -> None:
        where = f"task {index}"
        self.origin = Origin(task.node, index)
        if task.stream_id not in self.streams:
            raise InputError(f"names the stream {task.stream_id}, which does not exist", id="blob.task", where=where)
        known = {int(kind): function for kind, function in _DISTRIBUTE.items()}
        if task.type not in known:
            raise InputError(
                f"has the type {task.type}, which this loader does not know",
                id="blob.task-type",
                where=where,
                remedy=f"known types: {', '.join(str(k) for k in sorted(known))}",
            )
        if task.type not in _DEFERRED:
            self.deferred.flush(self.streams[task.stream_id])
        known[task.type](self, task, where)

    def _op(self, task: BlobTask, where: str) -> int:
        if task.op is None:
            raise InputError("names no operator", id="blob.task", where=where, remedy="compile the graph again")
        return task.op

    def _event(self, task: BlobTask, where: str) -> EventHandle:
        if task.event_id not in self.events:
            raise InputError(f"names the event {task.event_id}, which does not exist", id="blob.task", where=where)
        return self.events[task.event_id]

    def _nop(self, task: BlobTask, _where: str) -> None:
        stream = self.streams[task.stream_id]
        if not self.deferred.nop(stream, self.origin):
            self.runtime.launch_nop(stream, origin=self.origin)

    def _event_wait(self, task: BlobTask, where: str) -> None:
        event, stream = self._event(task, where), self.streams[task.stream_id]
        if self.deferred.wait(stream, event, self.origin):
            return
        self.runtime.wait_event(stream, event, origin=self.origin)
        if self.device.policies["wait_reset"] == "on":
            self.runtime.reset_event(event, stream, origin=self.origin)

    def _event_record(self, task: BlobTask, where: str) -> None:
        event, stream = self._event(task, where), self.streams[task.stream_id]
        if not self.deferred.record(stream, event, self.origin):
            self.runtime.record_event(event, stream, origin=self.origin)

    def _notify(self, task: BlobTask, where: str) -> NotifyHandle:
        if task.event_id not in self.notifies:
            raise InputError(f"names the notify {task.event_id}, which does not exist", id="blob.task", where=where)
        return self.notifies[task.event_id]

    def _notify_wait(self, task: BlobTask, where: str) -> None:
        self.runtime.wait_notify(self._notify(task, where), self.streams[task.stream_id], origin=self.origin)

    def _notify_record(self, task: BlobTask, where: str) -> None:
        self.runtime.record_notify(self._notify(task, where), self.streams[task.stream_id], origin=self.origin)

    def _end_graph(self, task: BlobTask, _where: str) -> None:
        self.runtime.end_graph(self.model, self.streams[task.stream_id], origin=self.origin)

    def _preprocess(self, task: BlobTask, where: str) -> None:
        op = self._op(task, where)
        custom = task.kernel_type == KernelType.CUST_AI_CPU
        if not custom and task.kernel_type != KernelType.AI_CPU:
            raise InputError(
                f"has the kernel type {task.kernel_type}; a tiling task has {KernelType.AI_CPU:d} or "
                f"{KernelType.CUST_AI_CPU:d}",
                id="blob.task",
                where=where,
            )
        head = AicpuArgHead.size
        depended = [i for i in self.blob.ops[op].depends if self.blob.ops[op].inputs[i] is not None]
        slot_count = len(argument_words(task.args_format, self._sized_slots(op, custom)))
        size = head + RefreshedTensor.size * len(depended) + 8 * slot_count
        block = self.device.memory.allocate(size, label=f"tiling arguments of {self.blob.ops[op].name}")
        objects = {i: block.address + head + RefreshedTensor.size * n + 640 for n, i in enumerate(depended)}
        self.contexts[op] = place_sink_buffer(
            self.device, self.operators.request(op), platform=self.platform, depended=objects, index=op
        )
        slots = Slots(self.placement, op, self.contexts[op], sized_workspaces=custom)
        words = argument_words(task.args_format, slots)
        raw = AicpuArgHead.build({"length": size, "io_count": len(words)})
        raw += b"".join(self._refreshed(op, i) for i in depended)
        raw += b"".join(word.to_bytes(8, "little") for word in words)
        self.device.memory.write(block.address, raw)
        self.runtime.launch_aicpu(
            task.so_name,
            task.kernel_name,
            self.streams[task.stream_id],
            block.address + head + RefreshedTensor.size * len(depended),
            custom=custom,
            origin=self.origin,
        )

    def _sized_slots(self, op: int, custom: bool) -> Slots:
        """Slots good enough to count them: the context does not exist yet."""
        nowhere = TilingContextAddr(0, 0, 0, 0, 0, 0, 0)
        return Slots(self.placement, op, nowhere, sized_workspaces=custom)

    def _refreshed(self, op: int, ir_index: int) -> bytes:
        """The refreshed tensor of a value-depended input: its data address is where the tensor lies in this model."""
        tensor = self.blob.ops[op].inputs[ir_index]
        assert tensor is not None
        address = self.placement.tensors[tensor]
        return refreshed_tensor(self.placement.info(tensor), address, self.blob.tensors[tensor].size)

    def _kernel(self, task: BlobTask, where: str) -> None:
        op = self._op(task, where)
        described = self.blob.ops[op]
        if task.kernel is None and task.kernel_type in _AICPU_TYPES:
            self._aicpu(task, op)
            return
        if task.kernel is None:
            raise InputError("names no kernel", id="blob.task", where=where, remedy="compile the graph again")
        program, stream = self.programs[task.kernel], self.streams[task.stream_id]
        slots = Slots(self.placement, op, self.contexts.get(op), self._static_tiling(op))
        args = self._arguments(argument_block(task.args_format, slots), described.name)
        function = self.runtime.get_function(program, described.tiling_key, where=f"operator {described.name}")
        part = self.split.get(op)
        if part is not None:
            function = part_of_kernel(self.device, function, part, second=task.type in VECTOR_KERNELS)
        simple = not task.schem and part is None
        plain = self.deferred.kernel(stream, function, task.block_dim, args, self.origin) if simple else None
        launched = self._launch(task, function, args, described.name) if plain is None else plain
        self.target_of[op] = stream, program
        if op in self.contexts:
            self.launched[op] = TilingSinkTaskInfo(launched, stream.id, stream.launched[launched].context)

    def _aicpu(self, task: BlobTask, op: int) -> None:
        """An AI CPU function that is no tiling: its arguments are what the args format says."""
        stream, name = self.streams[task.stream_id], self.blob.ops[op].name
        self.deferred.flush(stream)
        args = self._arguments(argument_block(task.args_format, Slots(self.placement, op)), name)
        custom = task.kernel_type == KernelType.CUST_AI_CPU
        self.runtime.launch_aicpu(task.so_name, task.kernel_name, stream, args, custom=custom, origin=self.origin)

    def _launch(self, task: BlobTask, function: Function, args: int, name: str) -> int:
        """A kernel by a single call."""
        stream = self.streams[task.stream_id]
        self.deferred.flush(stream)
        config = LaunchConfig(schem=task.schem)
        return self.runtime.launch_kernel(
            function, task.block_dim, stream, args, config, label=name, origin=self.origin
        )

    def _arguments(self, block: ArgumentBlock, name: str) -> int:
        def allocate(words: list[int]) -> int:
            return self.runtime.arguments(words, label=f"arguments of {name}")

        return block.place(allocate, self.device.memory.write)

    def _super_kernel(self, task: BlobTask, where: str) -> None:
        """One launch for several operators; each was given its tiling context by its own tiling task, if it sinks."""

        def slots(op: int) -> Slots:
            self._require_op(op, where)
            return Slots(self.placement, op, self.contexts.get(op), self._static_tiling(op))

        subs, block = sub_launches(task.args_format, slots, self._image, where)
        args = self._arguments(block, task.node)
        image = place_super_kernel(self.device, task.node, subs)
        launch_super_kernel(self.runtime, self.streams[task.stream_id], image, task.block_dim, args, self.origin)

    def _require_op(self, op: int, where: str) -> None:
        if op >= len(self.blob.ops):
            raise InputError(
                f"names the operator {op}, of which there are {len(self.blob.ops)}",
                id="blob.args-format",
                where=where,
                remedy="compile the graph again",
            )

    def _image(self, op: int) -> KernelImage:
        """The binary of an operator, by the kernel its registration names."""
        name = self.operators.specs[op].kernel
        for program in self.programs:
            if program.name == name and program.image is not None:
                return program.image
        raise InputError(
            f"the blob has no kernel {name!r}",
            id="kernel.missing",
            where=f"operator {self.blob.ops[op].name}",
            remedy="compile the graph again with the plugins that are loaded now",
        )

    def _static_tiling(self, op: int) -> int:
        """Address of the compiler's tiling data: 0 for an operator that sinks, an empty block where it wrote none."""
        described = self.blob.ops[op]
        if op in self.contexts:
            return 0
        size = max(len(described.tiling_data), 8)
        found = self.device.memory.allocate(size, label=f"tiling data of {described.name}")
        self.device.memory.write(found.address, described.tiling_data)
        return found.address

    def _update(self, task: BlobTask, where: str) -> None:
        op = self._op(task, where)
        name = self.blob.ops[op].name
        if op not in self.launched:
            raise InputError(
                f"updates {name}, which has not been launched; has the target task been launched?",
                id="blob.update-order",
                where=where,
                remedy="the update must come after tiling task and kernel in the list",
            )
        context = self.contexts[op]
        stream, program = self.target_of[op]
        self.runtime.model_task_update(
            stream,
            self.launched[op].task_id,
            self.streams[task.stream_id],
            ModelTaskUpdate(program, self.launched[op].ffts_task_handle, context.block_dim, context.tiling_key),
            label=name,
            origin=self.origin,
        )


_KERNELS = (TaskType.KERNEL, TaskType.ALL_KERNEL, TaskType.FFTS_PLUS_TASK, *VECTOR_KERNELS)
_AICPU_TYPES = frozenset({KernelType.AI_CPU, KernelType.CUST_AI_CPU})
_DEFERRED = frozenset({*_KERNELS, TaskType.EVENT_RECORD, TaskType.EVENT_WAIT, TaskType.NOP})
"""Tasks whose entries may be kept back; the others find the ring as it is in the end."""

_DISTRIBUTE: dict[TaskType, Callable[[_Loader, BlobTask, str], None]] = {
    TaskType.KERNEL: _Loader._kernel,  # noqa: SLF001 - a table of the class's own methods
    TaskType.ALL_KERNEL: _Loader._kernel,  # noqa: SLF001
    TaskType.FFTS_PLUS_TASK: _Loader._kernel,  # noqa: SLF001
    TaskType.VECTOR_KERNEL: _Loader._kernel,  # noqa: SLF001
    TaskType.VECTOR_ALL_KERNEL: _Loader._kernel,  # noqa: SLF001
    TaskType.NOTIFY_RECORD: _Loader._notify_record,  # noqa: SLF001
    TaskType.NOTIFY_WAIT: _Loader._notify_wait,  # noqa: SLF001
    TaskType.EVENT_RECORD: _Loader._event_record,  # noqa: SLF001
    TaskType.EVENT_WAIT: _Loader._event_wait,  # noqa: SLF001
    TaskType.MODEL_END_GRAPH: _Loader._end_graph,  # noqa: SLF001
    TaskType.NOP: _Loader._nop,  # noqa: SLF001
    TaskType.PREPROCESS_KERNEL: _Loader._preprocess,  # noqa: SLF001
    TaskType.SUPER_KERNEL: _Loader._super_kernel,  # noqa: SLF001
    TaskType.UPDATE: _Loader._update,  # noqa: SLF001
}
