"""A task blob as text and as JSON records: one table says what each section shows.

| section | one row per |
|---|---|
| header | blob |
| streams, events, ops, tensors, kernels, policies, tasks | record, in file order |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from emu_core.kernels import CoreType
from formats.blob import BLOCK_DIM_PLACEHOLDER, TaskType, TensorRole
from formats.blob.layout import BlobHeader
from formats.dtypes import BY_CODE
from tools.dump.tasks import arguments, blocks, does, op_name, task_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from formats.blob import Blob, BlobOp, BlobTensor

    Record = dict[str, object]

_RECORDS = (TaskType.EVENT_RECORD, TaskType.NOTIFY_RECORD)
_WAITS = (TaskType.EVENT_WAIT, TaskType.NOTIFY_WAIT)


@dataclass(frozen=True)
class Section:
    """How one section is shown: records for JSON, columns and rows for text, and the columns of numbers."""

    name: str
    title: str
    records: Callable[[Blob], Iterator[Record]]
    columns: Sequence[str]
    rows: Callable[[Blob], Iterator[Sequence[object]]]
    right: Sequence[str] = ()


def header(blob: Blob, data: bytes) -> Record:
    """The header as a record: names, layout version, sizes, counts."""
    raw = BlobHeader.parse(data)
    return {
        "section": "header",
        "chip": blob.chip,
        "name": blob.name,
        "version": raw["version"],
        "bytes": len(data),
        "crc32": raw["crc32"],
        "unknown_shape": blob.unknown_shape,
        "inputs": [blob.tensors[i].name for i in blob.inputs],
        "outputs": [blob.tensors[i].name for i in blob.outputs],
        **{section.name: len(list(section.records(blob))) for section in SECTIONS},
    }


def summary(blob: Blob, data: bytes) -> Iterator[str]:
    """The header in three lines of text."""
    values = header(blob, data)
    yield f"{blob.name}: task blob for {blob.chip}, {len(data)} bytes, version {values['version']}, checksum right"
    counts = [(len(blob.tasks), "task"), (len(blob.streams), "stream"), (len(blob.events), "event")]
    counts += [(len(blob.ops), "operator"), (len(blob.tensors), "tensor"), (len(blob.kernels), "kernel")]
    yield "  " + ", ".join(f"{n} {what}{'s' * (n != 1)}" for n, what in counts)
    shapes = (
        "unknown shapes: the host tiles and launches" if blob.unknown_shape else "static shapes: sunk to the device"
    )
    yield f"  {_ports(blob, blob.inputs)} -> {_ports(blob, blob.outputs)}; {shapes}"


def _ports(blob: Blob, indices: Sequence[int]) -> str:
    return ", ".join(f"{blob.tensors[i].name} {_type(blob.tensors[i])}" for i in indices) or "nothing"


def _type(tensor: BlobTensor) -> str:
    known = BY_CODE.get(tensor.dtype)
    return (known.name if known else f"dtype {tensor.dtype}") + f"[{','.join(map(str, tensor.shape))}]"


# ---- streams and events ------------------------------------------------------------------------------------------


def _stream_records(blob: Blob) -> Iterator[Record]:
    for s in blob.streams:
        yield {"section": "streams", "id": s.id, "name": s.name, "serves": s.serves, "head": s.head}


def _stream_rows(blob: Blob) -> Iterator[Sequence[object]]:
    for s in blob.streams:
        role = "main" if s.serves is None else f"attached to {s.serves}"
        count = sum(t.stream_id == s.id for t in blob.tasks)
        yield s.id, s.name, role, "the model" if s.head else "another stream", count


def _event_records(blob: Blob) -> Iterator[Record]:
    for e in blob.events:
        users = {"recorded_by": _users(blob, e.id, _RECORDS), "waited_by": _users(blob, e.id, _WAITS)}
        yield {"section": "events", "id": e.id, "name": e.name, **users}


def _event_rows(blob: Blob) -> Iterator[Sequence[object]]:
    for e in blob.events:
        yield e.id, e.name, _numbers(_users(blob, e.id, _RECORDS)), _numbers(_users(blob, e.id, _WAITS))


def _users(blob: Blob, event: int, types: Sequence[int]) -> list[int]:
    return [i for i, t in enumerate(blob.tasks) if t.event_id == event and t.type in types]


def _numbers(values: Sequence[int]) -> str:
    return ", ".join(map(str, values))


# ---- operators, tensors, kernels ---------------------------------------------------------------------------------


def _op_records(blob: Blob) -> Iterator[Record]:
    for i, op in enumerate(blob.ops):
        yield {
            "section": "ops",
            "index": i,
            "name": op.name,
            "type": op.type,
            "inputs": [None if t is None else blob.tensors[t].name for t in op.inputs],
            "outputs": [blob.tensors[t].name for t in op.outputs],
            "workspaces": list(op.workspaces),
            "attrs": dict(op.attrs),
            "depends": list(op.depends),
            "sink": op.sink,
            "host_tiling": op.host_tiling,
            "custom": op.custom,
            "tiling_key": op.tiling_key,
            "tiling_block_dim": op.tiling_block_dim,
            "tiling_data": op.tiling_data.hex(),
            "tiling_capacity": op.tiling_capacity,
            "compile_info": op.compile_info,
        }


def _op_rows(blob: Blob) -> Iterator[Sequence[object]]:
    for i, op in enumerate(blob.ops):
        names = [blob.tensors[t].name if t is not None else "-" for t in op.inputs]
        outputs = ", ".join(blob.tensors[t].name for t in op.outputs)
        yield i, op.name, op.type, _tiled(op), f"{', '.join(names)} -> {outputs}", _numbers(op.workspaces), _attrs(op)


def _tiled(op: BlobOp) -> str:
    if op.sink:
        return "on the device" + (", custom" if op.custom else "")
    if op.host_tiling:
        return "by the host, each run"
    return f"when compiled: key {op.tiling_key}, {op.tiling_block_dim} blocks"


def _attrs(op: BlobOp) -> str:
    return " ".join(f"{name}={list(v) if isinstance(v, tuple) else v}" for name, v in op.attrs.items())


def _tensor_records(blob: Blob) -> Iterator[Record]:
    for i, t in enumerate(blob.tensors):
        known = BY_CODE.get(t.dtype)
        yield {
            "section": "tensors",
            "index": i,
            "name": t.name,
            "dtype": known.name if known else None,
            "dtype_code": t.dtype,
            "shape": list(t.shape),
            "role": _role(blob, i),
            "size": t.size,
            "data_bytes": len(t.data),
        }


def _role(blob: Blob, index: int) -> str:
    """Where a tensor's bytes come from; a graph output is named as such."""
    tensor = blob.tensors[index]
    output = index in blob.outputs and tensor.role is TensorRole.INTERMEDIATE
    return "output" if output else tensor.role.name.lower()


def _tensor_rows(blob: Blob) -> Iterator[Sequence[object]]:
    for i, t in enumerate(blob.tensors):
        yield i, t.name, _type(t), _role(blob, i), t.size


def _core_type(number: int) -> str:
    return CoreType(number).name if number in set(CoreType) else str(number)


def _kernel_records(blob: Blob) -> Iterator[Record]:
    for i, k in enumerate(blob.kernels):
        shown = {"core_type": k.core_type, "core": _core_type(k.core_type), "tiling_keys": list(k.tiling_keys)}
        yield {"section": "kernels", "index": i, "name": k.name, **shown}


def _kernel_rows(blob: Blob) -> Iterator[Sequence[object]]:
    for i, k in enumerate(blob.kernels):
        yield i, k.name, _core_type(k.core_type), _numbers(k.tiling_keys)


def _policy_records(blob: Blob) -> Iterator[Record]:
    for name, value in blob.policies.items():
        yield {"section": "policies", "name": name, "value": value}


# ---- tasks -------------------------------------------------------------------------------------------------------


def _task_records(blob: Blob) -> Iterator[Record]:
    for i, t in enumerate(blob.tasks):
        yield {
            "section": "tasks",
            "index": i,
            "type": int(t.type),
            "kind": task_name(t.type),
            "stream_id": t.stream_id,
            "event_id": t.event_id,
            "op": op_name(blob, t.op),
            "block_dim": t.block_dim,
            "block_dim_placeholder": t.block_dim == BLOCK_DIM_PLACEHOLDER,
            "args_format": t.args_format,
            "kernel": None if t.kernel is None else blob.kernels[t.kernel].name,
            "kernel_type": int(t.kernel_type),
            "schem": t.schem,
            "so_name": t.so_name,
            "kernel_name": t.kernel_name,
            "node": t.node,
            "made_by": t.made_by,
        }


def _task_rows(blob: Blob) -> Iterator[Sequence[object]]:
    for i, t in enumerate(blob.tasks):
        event = "" if t.event_id is None else t.event_id
        what = does(blob, t), arguments(t)
        yield i, task_name(t.type), t.stream_id, op_name(blob, t.op) or "", event, blocks(t), *what


SECTIONS = (
    Section(
        "streams", "Streams", _stream_records,
        ("id", "name", "role", "started by", "tasks"), _stream_rows, ("id", "tasks"),
    ),
    Section(
        "events", "Events", _event_records,
        ("id", "name", "recorded by #", "waited for by #"), _event_rows, ("id",),
    ),
    Section(
        "ops", "Operators", _op_records,
        ("#", "name", "type", "tiled", "tensors", "workspaces, bytes", "attributes"), _op_rows, ("#",),
    ),
    Section(
        "tensors", "Tensors", _tensor_records,
        ("#", "name", "type", "role", "bytes"), _tensor_rows, ("#", "bytes"),
    ),
    Section("kernels", "Kernels", _kernel_records, ("#", "name", "core", "tiling keys"), _kernel_rows, ("#",)),
    Section(
        "policies", "Policies of compilation", _policy_records,
        ("name", "value"), lambda blob: iter(blob.policies.items()),
    ),
    Section(
        "tasks", "Tasks", _task_records,
        ("#", "type", "stream", "op", "event", "blocks", "what it does", "arguments"), _task_rows,
        ("#", "stream", "event"),
    ),
)  # fmt: skip
"""The sections in the order they are shown; the tasks come last, where a reader's eye ends up."""
