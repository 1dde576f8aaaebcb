"""A task blob as an offline model: what the vendor's compiler would write for the same task list.

The inverse of `program_of_om` for blobs of the built-in compiler, so that readers of offline models have files with
sink tasks to try. Kernel binaries are placeholders, since there are none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_plugins.om import writer
from emu_plugins.om.known import TILING_IDS
from emu_plugins.om.layout import PartitionType
from emu_plugins.om.tensors import OUTPUT, OUTPUT_NAMES
from emu_plugins.om.tilings import Tiling
from emu_plugins.om.values import DTYPES
from formats.blob import TaskType, TensorRole
from formats.dtypes import dtype_coded

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from formats.blob import Blob, BlobOp, BlobTask, BlobTensor

    Fields = Mapping[str, object]

_CODES = {name: number for number, name in DTYPES.items()}
_BINARY = b"\x7fELF placeholder: there is no binary of this kernel"
_HANDLE = frozenset({TaskType.ALL_KERNEL, TaskType.VECTOR_ALL_KERNEL})
_KERNEL = frozenset({TaskType.KERNEL, TaskType.VECTOR_KERNEL, TaskType.PREPROCESS_KERNEL, TaskType.SUPER_KERNEL})
_EVENTS = frozenset({TaskType.EVENT_RECORD, TaskType.EVENT_WAIT})
_NOTIFIES = frozenset({TaskType.NOTIFY_RECORD, TaskType.NOTIFY_WAIT})


def om_of_blob(blob: Blob, *, wide: bool = True) -> bytes:
    """`blob` as a file; `wide`: with 64-bit tables. Raises `PluginError` (`extra.missing`) without protobuf."""
    made = _Graph(blob)
    define = writer.model_def(made.model())
    sizes = {"memory_size": made.memory(), "weight_size": len(made.weights)}
    tasks = writer.task_info([made.task(task) for task in blob.tasks], **sizes)
    kernels = writer.kernel_items((kernel.name, _BINARY) for kernel in blob.kernels)
    partitions = [
        (PartitionType.MODEL_DEF, define),
        (PartitionType.WEIGHTS_DATA, bytes(made.weights)),
        (PartitionType.TBE_KERNELS, kernels),
        (PartitionType.TASK_INFO, tasks),
        (PartitionType.TILING_DATA, writer.tiling_data(made.tilings())),
    ]
    return writer.write_om([partitions], name=blob.name, wide=wide)


class _Graph:
    """Operators of a blob with the ids they get: inputs, constants, operators, output."""

    def __init__(self, blob: Blob) -> None:
        self._blob = blob
        self.weights = bytearray()
        self._sources = [i for i, t in enumerate(blob.tensors) if t.role is not TensorRole.INTERMEDIATE]
        self._first_op = len(self._sources)
        self._producer: dict[int, str] = {i: f"{blob.tensors[i].name}:0" for i in self._sources}
        for op in blob.ops:
            self._producer |= {t: f"{op.name}:{k}" for k, t in enumerate(op.outputs)}

    def memory(self) -> int:
        """Bytes of everything that is no constant."""
        blob = self._blob
        tensors = sum(t.size for t in blob.tensors if t.role is not TensorRole.CONSTANT)
        return tensors + sum(sum(op.workspaces) for op in blob.ops)

    def model(self) -> Fields:
        """The fields of MODEL_DEF; fills the weights."""
        blob = self._blob
        ops = [*map(self._source, range(len(self._sources))), *map(self._op, range(len(blob.ops))), self._output()]
        names = [blob.tensors[i].name for i in blob.outputs]
        ids = {task.stream_id for task in blob.tasks}
        attrs = [
            writer.attribute("soc_version", blob.chip),
            writer.attribute(OUTPUT_NAMES, names),
            writer.attribute("stream_num", 1 + max(ids, default=0)),
            writer.attribute("event_num", 1 + max((e.id for e in blob.events), default=-1)),
        ]
        return {"name": blob.name.encode(), "graph": [{"name": blob.name.encode(), "op": ops}], "attr": attrs}

    def _source(self, number: int) -> Fields:
        index = self._sources[number]
        tensor = self._blob.tensors[index]
        found: dict[str, object] = {
            "name": tensor.name.encode(), "id": number, "type": b"Data", "output_desc": [_desc(tensor)],
        }  # fmt: skip
        if tensor.role is TensorRole.INPUT:
            order = self._blob.inputs.index(index) if index in self._blob.inputs else number
            return {**found, "attr": [writer.attribute("index", order)]}
        value = {"desc": {**_desc(tensor), "data_offset": len(self.weights), "weight_size": len(tensor.data)}}
        self.weights += tensor.data
        return {**found, "type": b"Const", "attr": [writer.attribute("value", {"t": value})]}

    def _op(self, index: int) -> Fields:
        op, tensors = self._blob.ops[index], self._blob.tensors
        inputs = [b"" if t is None else self._producer[t].encode() for t in op.inputs]
        return {
            "name": op.name.encode(),
            "type": op.type.encode(),
            "id": self._first_op + index,
            "input": inputs,
            "output_desc": [_desc(tensors[t]) for t in op.outputs],
            "workspace_bytes": list(op.workspaces),
            "attr": [writer.attribute(name, value) for name, value in _attributes(op, index)],
        }

    def _output(self) -> Fields:
        blob = self._blob
        inputs = [self._producer[t].encode() for t in blob.outputs]
        number = self._first_op + len(blob.ops)
        return {"name": b"Node_Output", "type": OUTPUT.encode(), "id": number, "input": inputs}

    def tilings(self) -> Iterator[Tiling]:
        """The answer of each operator's tiling, under its number."""
        for index, op in enumerate(self._blob.ops):
            yield Tiling(op.tiling_key, op.tiling_block_dim, op.tiling_data, op.workspaces, (index,))

    def task(self, task: BlobTask) -> Fields:
        """The fields of a `TaskDef`."""
        found: dict[str, object] = {"type": task.type, "stream_id": task.stream_id}
        number = self._first_op + (task.op or 0)
        context = {
            "kernel_type": task.kernel_type, "op_index": number, "args_format": task.args_format.encode(),
        }  # fmt: skip
        name = self._blob.kernels[task.kernel].name if task.kernel is not None else task.kernel_name
        if task.type in _EVENTS:
            found["event_id"] = task.event_id or 0
            found |= {"event_ex": {"op_index": number}} if task.op is not None else {}
        elif task.type in _NOTIFIES:
            found["notify_id"] = task.event_id or 0
        elif task.type in _HANDLE:
            found["kernel_with_handle"] = {
                "context": context, "block_dim": task.block_dim, "schedule_mode": task.schem,
                "original_kernel_key": name.encode(),
            }  # fmt: skip
        elif task.type in _KERNEL:
            found["kernel"] = {
                "context": context, "block_dim": task.block_dim, "schedule_mode": task.schem,
                "kernel_name": name.encode(), "so_name": task.so_name.encode(),
            }  # fmt: skip
        elif task.type == TaskType.FFTS_PLUS_TASK:
            mix = {"kernel_name": [name.encode()], "args_format": task.args_format.encode(), "schem": task.schem}
            head = {"sqe_header": {"block_dim": task.block_dim}}
            found["ffts_plus_task"] = {
                "op_index": number, "ffts_plus_sqe": head, "ffts_plus_ctx": [{"mix_aic_aiv_ctx": mix}],
            }  # fmt: skip
        elif task.type == TaskType.UPDATE:
            found["update_pc_task"] = {
                "op_index": number, "stream_id": task.stream_id, "args_format": task.args_format.encode(),
            }  # fmt: skip
        return found


def _desc(tensor: BlobTensor) -> Fields:
    dtype = _CODES[dtype_coded(tensor.dtype).name]
    return {"dtype": dtype, "shape": {"dim": list(tensor.shape)}, "layout": b"ND", "size": tensor.size}


def _attributes(op: BlobOp, index: int) -> Iterator[tuple[str, object]]:
    yield from ((name, value) for name, value in op.attrs.items() if not name.startswith("_"))
    yield TILING_IDS, [index]
    yield "op_para_size", op.tiling_capacity
    yield "compile_info_json", op.compile_info
