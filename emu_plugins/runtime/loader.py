"""Runtime V1: task records become entries in rings, once, in list order (`tiling_sink_compiler.md` 11).

All tasks of a static graph are distributed at load; afterwards only streams and events decide when they run. Two orders
are real and checked: the tiling task of an operator comes before its kernel (the kernel's arguments hold addresses of
the tiling context), and the kernel comes before the update (the update names the kernel's task id).

| task type | entries | function |
|---|---|---|
| PREPROCESS_KERNEL 43 | AI CPU kernel | `_preprocess` |
| EVENT_WAIT 2 | event wait, event reset | `_event_wait` |
| EVENT_RECORD 1 | event record | `_event_record` |
| NOP 42 | place holder 103 | `_nop` |
| KERNEL 0, ALL_KERNEL 26 | AI Core kernel | `_kernel` |
| UPDATE 41 | place holder 101 | `_update` |
| MODEL_END_GRAPH 19 | notify record | `_end_graph` |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core.errors import InputError, LimitError
from emu_core.model import Model
from emu_core.origin import NOWHERE, Origin
from emu_core.signals import Signal
from emu_plugins.runtime.arguments import Slots, argument_words
from emu_plugins.runtime.host_scheduled import HostSchedule
from emu_plugins.runtime.images import KernelImage, load_kernel, write_tiling_table
from emu_plugins.runtime.operators import Operators
from emu_plugins.runtime.placement import Placement
from emu_plugins.runtime.sink_context import TilingContextAddr, TilingSinkTaskInfo, place_platform, place_sink_buffer
from emu_plugins.runtime.sqes import Place, SqeBuilder
from emu_plugins.tiling.build import tensor_object
from formats.blob import KernelType, TaskType
from formats.blob.references import bad_references
from formats.runtime import AicpuArgHead, RefreshedTensor

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from emu_core.device import Device
    from emu_core.streams import Stream
    from formats.blob import Blob, BlobTask

STACK_POOL = 32 * 1024


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
        self.build = SqeBuilder(device.host.registry, device.chip.family)
        self.operators = Operators(device.host, blob)
        self.placement = Placement(device, blob)
        self.images: list[KernelImage] = [load_kernel(device, kernel) for kernel in blob.kernels]
        self.platform = place_platform(device)
        self.stack = device.memory.allocate(STACK_POOL, label="stack pool").address
        self.contexts: dict[int, TilingContextAddr] = {}
        self.launched: dict[int, TilingSinkTaskInfo] = {}
        self.image_of: dict[int, KernelImage] = {}
        self.streams: dict[int, Stream] = {}
        self.events: dict[int, int] = {}
        self.end: int | None = None
        self.origin = NOWHERE

    def load(self) -> Model:
        """Everything, in the vendor's order: objects, tasks in list order, end of graph."""
        if self.blob.unknown_shape:
            return self._host_scheduled()
        self.streams = {s.id: self.device.create_stream(s.name, bound=True) for s in self.blob.streams}
        self.events = {e.id: self.device.create_event() for e in self.blob.events}
        for index, task in enumerate(self.blob.tasks):
            self._distribute(index, task)
        if self.end is None:
            raise InputError("the task list has no end of graph", id="blob.no-end", remedy="compile the graph again")
        self._check_persistent()
        caller = self.device.create_stream("caller", bound=False)
        end = self.end
        return self.device.add_model(
            lambda model_id: Model(
                device=self.device,
                model_id=model_id,
                name=self.blob.name,
                streams=tuple(self.streams.values()),
                head_streams=tuple(self.streams[s.id] for s in self.blob.streams if s.head),
                caller=caller,
                end=Signal("notify", end),
                inputs=self.placement.ports(self.blob.inputs),
                outputs=self.placement.ports(self.blob.outputs),
                scratch=tuple(self.placement.scratch),
                launch=lambda model: self._launch(model, end),
                details=self._details(),
            )
        )

    def _launch(self, model: Model, end: int) -> None:
        """Submit model execute and the wait for its end to the calling stream."""
        queue = model.caller.queue
        queue.append(self.build.model_execute(Place(queue.stream_id, queue.next_task_id()), model.id))
        queue.append(self.build.notify_wait(Place(queue.stream_id, queue.next_task_id()), end))
        self.device.scheduler.ring_doorbell(model.caller)

    def _details(self) -> Mapping[str, object]:
        """Extended attributes by operator name."""
        return {
            self.blob.ops[i].name: {
                "_tiling_context_addr": self.contexts[i],
                "_tiling_sink_task_info": self.launched.get(i),
            }
            for i in sorted(self.contexts)
        }

    def _check_persistent(self) -> None:
        used = sum(len(s.queue.task_at) for s in self.streams.values())
        limit = self.device.chip.persistent_tasks
        if used > limit:
            raise LimitError(
                f"the model has {used} tasks, {self.device.chip.name} keeps at most {limit}",
                id="limit.persistent-tasks",
                remedy="split the graph",
            )

    def _host_scheduled(self) -> Model:
        caller = self.device.create_stream("main", bound=False)
        schedule = HostSchedule(
            self.device, self.blob, self.placement, self.operators, self.images, self.build, self.stack
        )
        return self.device.add_model(
            lambda model_id: Model(
                device=self.device,
                model_id=model_id,
                name=self.blob.name,
                streams=(),
                head_streams=(),
                caller=caller,
                end=None,
                inputs=self.placement.ports(self.blob.inputs),
                outputs=self.placement.ports(self.blob.outputs),
                scratch=self.placement.scratch,
                launch=schedule.launch,
            )
        )

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
        known[task.type](self, task, where)

    def _place(self, task: BlobTask) -> Place:
        queue = self.streams[task.stream_id].queue
        return Place(queue.stream_id, queue.next_task_id())

    def _append(self, task: BlobTask, sqe: bytes) -> None:
        self.streams[task.stream_id].queue.append(sqe, self.origin)

    def _op(self, task: BlobTask, where: str) -> int:
        if task.op is None:
            raise InputError("names no operator", id="blob.task", where=where, remedy="compile the graph again")
        return task.op

    def _event(self, task: BlobTask, where: str) -> int:
        if task.event_id not in self.events:
            raise InputError(f"names the event {task.event_id}, which does not exist", id="blob.task", where=where)
        return self.events[task.event_id]

    def _nop(self, task: BlobTask, _where: str) -> None:
        self._append(task, self.build.nop(self._place(task)))

    def _event_wait(self, task: BlobTask, where: str) -> None:
        event = self._event(task, where)
        self._append(task, self.build.event_wait(self._place(task), event))
        if self.device.policies["wait_reset"] == "on":
            self._append(task, self.build.event_reset(self._place(task), event))

    def _event_record(self, task: BlobTask, where: str) -> None:
        self._append(task, self.build.event_record(self._place(task), self._event(task, where)))

    def _end_graph(self, task: BlobTask, _where: str) -> None:
        self.end = self.device.create_notify()
        self._append(task, self.build.notify_record(self._place(task), self.end))

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
            self.device, self.operators.request(op), platform=self.platform, depended=objects
        )
        slots = Slots(self.placement, op, self.contexts[op], sized_workspaces=custom)
        words = argument_words(task.args_format, slots)
        raw = AicpuArgHead.build({"length": size, "io_count": len(words)})
        raw += b"".join(self._refreshed(op, i) for i in depended)
        raw += b"".join(word.to_bytes(8, "little") for word in words)
        self.device.memory.write(block.address, raw)
        sqe = self.build.aicpu(
            self._place(task),
            library=self.placement.text(task.so_name),
            function=self.placement.text(task.kernel_name),
            args=block.address + head + RefreshedTensor.size * len(depended),
            custom=custom,
        )
        self._append(task, sqe)

    def _sized_slots(self, op: int, custom: bool) -> Slots:
        """Slots good enough to count them: the context does not exist yet."""
        nowhere = TilingContextAddr(0, 0, 0, 0, 0, 0, 0)
        return Slots(self.placement, op, nowhere, sized_workspaces=custom)

    def _refreshed(self, op: int, ir_index: int) -> bytes:
        """The refreshed tensor of a value-depended input: its data address is where the tensor lies in this model."""
        tensor = self.blob.ops[op].inputs[ir_index]
        assert tensor is not None
        address = self.placement.tensors[tensor]
        body = tensor_object(self.placement.info(tensor), address, self.blob.tensors[tensor].size)
        return RefreshedTensor.build({"device_addr": address, "tensor": list(body)})

    def _kernel(self, task: BlobTask, where: str) -> None:
        op = self._op(task, where)
        described = self.blob.ops[op]
        if task.kernel is None:
            raise InputError("names no kernel", id="blob.task", where=where, remedy="compile the graph again")
        image = self.images[task.kernel]
        words = argument_words(
            task.args_format, Slots(self.placement, op, self.contexts.get(op), self._static_tiling(op))
        )
        args = self.device.memory.allocate(max(8 * len(words), 8), label=f"arguments of {described.name}")
        self.device.memory.write(args.address, b"".join(w.to_bytes(8, "little") for w in words))
        place = self._place(task)
        self._append(
            task,
            self.build.kernel(
                place,
                core_type=image.core_type,
                block_dim=task.block_dim,
                schem=task.schem,
                pc=image.pc(described.tiling_key, described.name),
                args=args.address,
                stack=self.stack,
            ),
        )
        self.image_of[op] = image
        if op in self.contexts:
            self.launched[op] = TilingSinkTaskInfo(place.task_id, place.stream_id)

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
        context, target = self.contexts[op], self.launched[op]
        table, rows = write_tiling_table(self.device, self.image_of[op], name)
        offset = self.device.memory.offset_of
        sqe = self.build.update(
            self._place(task),
            key_offset=offset(context.tiling_key),
            block_dim_offset=offset(context.block_dim),
            table_offset=offset(table),
            rows=rows,
            target=Place(target.stream_id, target.task_id),
        )
        self._append(task, sqe)


_DISTRIBUTE: dict[TaskType, Callable[[_Loader, BlobTask, str], None]] = {
    TaskType.KERNEL: _Loader._kernel,  # noqa: SLF001 - a table of the class's own methods
    TaskType.ALL_KERNEL: _Loader._kernel,  # noqa: SLF001
    TaskType.EVENT_RECORD: _Loader._event_record,  # noqa: SLF001
    TaskType.EVENT_WAIT: _Loader._event_wait,  # noqa: SLF001
    TaskType.MODEL_END_GRAPH: _Loader._end_graph,  # noqa: SLF001
    TaskType.NOP: _Loader._nop,  # noqa: SLF001
    TaskType.PREPROCESS_KERNEL: _Loader._preprocess,  # noqa: SLF001
    TaskType.UPDATE: _Loader._update,  # noqa: SLF001
}
