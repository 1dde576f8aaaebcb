"""Loading a blob: memory for everything it names, then one entry (two for a wait) per task, in list order.

| task | entries |
|---|---|
| PREPROCESS_KERNEL | tile, with a question in device memory |
| EVENT_WAIT | wait, clear |
| EVENT_RECORD | record |
| NOP | idle |
| KERNEL, ALL_KERNEL | kernel |
| UPDATE | patch of the operator's kernel |
| MODEL_END_GRAPH | record of the flag that the caller waits for |
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from emu_core import InputError, Model, Origin, Port
from emu_plugins.compiler import ArgKind, parse_args_format
from formats.blob import TaskType, TensorRole
from formats.blob.references import bad_references
from formats.dtypes import dtype_coded
from formats.runtime import KERNEL_MAGIC, KernelDescriptor

from .flags import flag
from .layouts import (
    CLEAR,
    FLAG,
    IDLE,
    KERNEL,
    PATCH,
    RECORD,
    START,
    TILE,
    WAIT,
    EduPlan,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from emu_core import Device, Stream, TaskBlob
    from formats.blob import BlobKernel, BlobOp, BlobTask

AGAIN = "compile the graph again for this chip, with the plugins that are loaded now"


def load(device: Device, blob: TaskBlob) -> Model:
    """Load `blob` into `device`.

    Raises:
        InputError: another chip, a damaged blob, an operator or kernel that no plugin has, an unknown task.
        LimitError: more of something than the chip has.
    """
    if blob.chip != device.chip.name:
        raise _bad(f"the blob was compiled for {blob.chip}, the device is {device.chip.name}")
    for bad in bad_references(blob):
        raise _bad(f"{bad.section}[{bad.record}] names the {bad.what} {bad.value}, of which there are {bad.limit}")
    return _Loader(device, blob).load()


def _bad(what: str, where: str = "", error_id: str = "edu.blob") -> InputError:
    return InputError(what, id=error_id, where=where, remedy=AGAIN)


@dataclass
class _Placed:
    """Addresses of one operator: argument memory, tiling data, plan, and its kernel entry once there is one."""

    workspaces: list[int]
    tiling_data: int
    plan: int
    target: tuple[int, int] | None = None


class _Loader:
    """State of one load."""

    def __init__(self, device: Device, blob: TaskBlob) -> None:
        self.device, self.blob = device, blob
        self.scratch: list[int] = []
        self.tensors = [self._tensor(i) for i in range(len(blob.tensors))]
        self.keys = [sorted(kernel.tiling_keys) for kernel in blob.kernels]
        self.images = [self._image(kernel, keys) for kernel, keys in zip(blob.kernels, self.keys, strict=True)]
        self.placed = [self._place(op) for op in blob.ops]
        self.streams: dict[int, Stream] = {}
        self.flags: dict[int, int] = {}
        self.end = device.create_notify()

    def load(self) -> Model:
        """All entries, and the model."""
        device, blob = self.device, self.blob
        self.streams = {s.id: device.create_stream(s.name, bound=True) for s in blob.streams}
        # Notifies and events share one set of flags here; the flags of events come behind all notifies.
        self.flags = {e.id: device.chip.max_notifies + device.create_event() for e in blob.events}
        for index, task in enumerate(blob.tasks):
            where = f"task {index}"
            if task.type not in _TASKS:
                raise _bad(f"has the type {task.type}", where, "edu.task-type")
            if task.stream_id not in self.streams or (task.event_id is not None and task.event_id not in self.flags):
                raise _bad("names a stream or an event that does not exist", where)
            for kind, name, values in _TASKS[task.type](self, task):
                self._append(self.streams[task.stream_id], kind, name, values, Origin(task.node, index))
        caller = device.create_stream("caller", bound=False)
        return device.add_model(lambda model_id: self._model(model_id, caller))

    def _model(self, model_id: int, caller: Stream) -> Model:
        return Model(
            device=self.device,
            model_id=model_id,
            name=self.blob.name,
            streams=tuple(self.streams.values()),
            head_streams=tuple(self.streams[s.id] for s in self.blob.streams if s.head),
            caller=caller,
            end=flag(self.end),
            inputs=self._ports(self.blob.inputs),
            outputs=self._ports(self.blob.outputs),
            scratch=self.scratch,
            launch=self._launch,
        )

    def _launch(self, model: Model) -> None:
        """One execution: the calling stream starts the model, waits for its end and clears the flag."""
        self._append(model.caller, START, "EduStartSqe", {"model": model.id})
        for action in (WAIT, CLEAR):
            self._append(model.caller, FLAG, "EduFlagSqe", {"action": action, "flag": self.end})
        self.device.scheduler.ring_doorbell(model.caller)

    def _append(
        self, stream: Stream, kind: int, name: str, values: Mapping[str, int], origin: Origin | None = None
    ) -> tuple[int, int]:
        queue = stream.queue
        task_id = queue.next_task_id()
        header = {"type": kind, "task_id": task_id, "rt_stream_id": stream.id}
        queue.append(self.device.layout(name).build({**header, **values}), origin or Origin())
        return stream.id, task_id

    # ---- memory ----------------------------------------------------------------------------------------------

    def _store(self, data: bytes, label: str) -> int:
        """`data` in memory of its own."""
        address = self.device.memory.allocate(max(len(data), 1), label=label).address
        self.device.memory.write(address, data)
        return address

    def _reserve(self, size: int, label: str) -> int:
        """Memory whose contents do not survive an execution."""
        address = self.device.memory.allocate(max(size, 1), label=label).address
        self.scratch.append(address)
        return address

    def _tensor(self, index: int) -> int:
        tensor = self.blob.tensors[index]
        label = f"tensor {tensor.name}"
        if tensor.role is TensorRole.CONSTANT:
            return self._store(tensor.data, label)
        return self._reserve(tensor.size, label)

    def _image(self, kernel: BlobKernel, keys: list[int]) -> int:
        spec = self.device.host.kernels.get(kernel.name)
        if spec is None:
            raise _bad(f"no plugin has the kernel {kernel.name}")
        name = self._store(kernel.name.encode() + b"\0", f"name of {kernel.name}")
        same = {"magic": KERNEL_MAGIC, "kernel_key": spec.key, "core_type": int(spec.core_type), "name_addr": name}
        descriptors = (KernelDescriptor.build({**same, "tiling_key": key}) for key in keys)
        return self._store(b"".join(descriptors), f"kernel {kernel.name}")

    def _place(self, op: BlobOp) -> _Placed:
        if op.type not in self.device.host.operators:
            raise _bad(f"no plugin has the operator type {op.type}", f"operator {op.name}")
        workspaces = [self._reserve(size, f"workspace {i} of {op.name}") for i, size in enumerate(op.workspaces)]
        data = op.tiling_data.ljust(op.tiling_capacity if op.sink else 0, b"\0")
        plan = self._store(bytes(EduPlan.size), f"plan of {op.name}")
        self.device.memory.protect(plan, EduPlan.size, f"plan of {op.name}")
        return _Placed(workspaces, self._store(data, f"tiling data of {op.name}"), plan)

    def _ports(self, indices: tuple[int, ...]) -> tuple[Port, ...]:
        found = ((self.blob.tensors[i], self.tensors[i]) for i in indices)
        return tuple(Port(t.name, dtype_coded(t.dtype).name, t.shape, at, t.size) for t, at in found)

    # ---- tasks: (type, struct, values) of each entry ---------------------------------------------------------

    def _tile(self, task: BlobTask) -> _Entries:
        op, placed = self._op(task)
        spec = self.device.host.operators[op.type]
        question = {
            "type": op.type,
            "name": op.name,
            "inputs": [None if i is None else self._asked(i) for i in op.inputs],
            "outputs": [self._asked(i) for i in op.outputs],
            "attrs": [op.attrs.get(a.name, a.default) for a in spec.attrs],
            "depends": list(op.depends),
            "workspaces": list(op.workspaces),
            "capacity": op.tiling_capacity,
            "data": placed.tiling_data,
            "plan": placed.plan,
        }
        return [
            (
                TILE,
                "EduTileSqe",
                {
                    "library": self._store(task.so_name.encode() + b"\0", f"text {task.so_name!r}"),
                    "function": self._store(task.kernel_name.encode() + b"\0", f"text {task.kernel_name!r}"),
                    "question": self._store(json.dumps(question).encode() + b"\0", f"question of {op.name}"),
                },
            )
        ]

    def _asked(self, index: int) -> dict[str, Any]:
        tensor = self.blob.tensors[index]
        return {
            "dtype": tensor.dtype,
            "shape": list(tensor.shape),
            "address": self.tensors[index],
            "size": tensor.size,
        }

    def _kernel(self, task: BlobTask) -> _Entries:
        op, placed = self._op(task)
        kernel = task.kernel
        if kernel is None or op.tiling_key not in self.keys[kernel]:
            raise _bad(f"has no entry for the tiling key {op.tiling_key}", f"operator {op.name}")
        args = b"".join(word.to_bytes(8, "little") for word in self._words(task, op, placed))
        values = {
            "image": self.images[kernel],
            "args": self._store(args, f"arguments of {op.name}"),
            "blocks": task.block_dim,
            "variant": self.keys[kernel].index(op.tiling_key),
        }
        stream = self.streams[task.stream_id]
        placed.target = stream.id, stream.queue.next_task_id()
        return [(KERNEL, "EduKernelSqe", values)]

    def _words(self, task: BlobTask, op: BlobOp, placed: _Placed) -> list[int]:
        """The argument words that the args format of a kernel asks for."""
        addresses = {
            ArgKind.INPUT: [0 if i is None else self.tensors[i] for i in op.inputs],
            ArgKind.OUTPUT: [self.tensors[i] for i in op.outputs],
            ArgKind.WORKSPACE: placed.workspaces,
        }
        words = []
        for entry in parse_args_format(task.args_format):
            listed = addresses.get(entry.kind, ())
            if entry.kind in {ArgKind.TILING, ArgKind.TILING_DATA}:
                words.append(placed.tiling_data)
            elif 0 <= entry.index < len(listed):
                words.append(listed[entry.index])
            else:
                there = f", of which there are {len(listed)}" if listed else ", which this chip does not have"
                raise _bad(f"asks for {entry.token()}{there}", f"operator {op.name}")
        return words

    def _patch(self, task: BlobTask) -> _Entries:
        op, placed = self._op(task)
        if placed.target is None:
            raise _bad("is updated before its kernel was loaded", f"operator {op.name}")
        spec = self.device.host.operators[op.type]
        keys = next(keys for keys, k in zip(self.keys, self.blob.kernels, strict=True) if k.name == spec.kernel)
        raw = b"".join(key.to_bytes(8, "little") for key in keys)
        stream_id, task_id = placed.target
        values = {
            "wr_cqe": 1,
            "plan": placed.plan,
            "keys": self._store(raw, f"tiling keys of {op.name}"),
            "keys_num": len(keys),
            "target_stream": stream_id,
            "target_task": task_id,
        }
        return [(PATCH, "EduPatchSqe", values)]

    def _wait(self, task: BlobTask) -> _Entries:
        return [self._flag(action, self._event(task)) for action in (WAIT, CLEAR)]

    def _record(self, task: BlobTask) -> _Entries:
        return [self._flag(RECORD, self._event(task))]

    def _end(self, _task: BlobTask) -> _Entries:
        return [self._flag(RECORD, self.end)]

    def _idle(self, _task: BlobTask) -> _Entries:
        return [(IDLE, "EduIdleSqe", {})]

    def _event(self, task: BlobTask) -> int:
        if task.event_id is None:
            raise _bad("a task names no event")
        return self.flags[task.event_id]

    @staticmethod
    def _flag(action: int, number: int) -> tuple[int, str, Mapping[str, int]]:
        return FLAG, "EduFlagSqe", {"action": action, "flag": number}

    def _op(self, task: BlobTask) -> tuple[BlobOp, _Placed]:
        if task.op is None:
            raise _bad("a task names no operator")
        return self.blob.ops[task.op], self.placed[task.op]


if TYPE_CHECKING:
    _Entries = list[tuple[int, str, Mapping[str, int]]]

_TASKS: dict[int, Callable[[_Loader, BlobTask], _Entries]] = {
    TaskType.KERNEL: _Loader._kernel,
    TaskType.ALL_KERNEL: _Loader._kernel,
    TaskType.EVENT_RECORD: _Loader._record,
    TaskType.EVENT_WAIT: _Loader._wait,
    TaskType.MODEL_END_GRAPH: _Loader._end,
    TaskType.NOP: _Loader._idle,
    TaskType.PREPROCESS_KERNEL: _Loader._tile,
    TaskType.UPDATE: _Loader._patch,
}
