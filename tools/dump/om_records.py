"""An offline model as records and rows: one table says what each section of it shows.

Sections are models, partitions, attributes, inputs, outputs, ops, weights, kernels, libraries, tilings and tasks, each
with a record per thing, in file order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from emu_plugins.om.items import SO_TYPES
from emu_plugins.om.names import task_name
from emu_plugins.om.tensors import CONSTANT
from emu_plugins.om.values import FORMATS, Named, Tensor, TensorDesc, dtype_name
from formats.blob import BLOCK_DIM_PLACEHOLDER
from formats.dtypes import BY_CODE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from emu_plugins.om.ports import PortInfo
    from emu_plugins.om.reader import OmModel
    from emu_plugins.om.tasks import Task

    Record = dict[str, object]

SHOWN_BYTES = 64
"""Bytes of an attribute that JSON shows; longer ones are told by their length alone."""
SHOWN_TEXT = 60


@dataclass(frozen=True)
class Section:
    """How a section is shown: records for JSON, columns and rows for text, and the columns of numbers."""

    name: str
    title: str
    records: Callable[[OmModel], Iterator[Record]]
    columns: Sequence[str]
    row: Callable[[Record], Sequence[object]]
    right: Sequence[str] = ()


def plain(value: object) -> object:
    """A value of the file for JSON: bytes as hex, or as their number when there are many; tensors as records."""
    return next((show(value) for kinds, show in _SHOWN if isinstance(value, kinds)), value)


def _bytes(value: bytes) -> object:
    return value.hex() if len(value) <= SHOWN_BYTES else {"bytes": len(value)}


def _tensor(tensor: Tensor) -> Record:
    return {**_desc(tensor.desc), "data_bytes": len(tensor.data)}


def _named(named: Named) -> Record:
    return {"name": named.name, "attrs": {name: plain(each) for name, each in named.attrs.items()}}


def _desc(desc: TensorDesc) -> Record:
    return {
        "dtype": dtype_name(desc.dtype), "dtype_code": desc.dtype, "shape": list(desc.shape), "layout": desc.layout,
        "size": desc.size,
    }  # fmt: skip


_SHOWN: tuple[tuple[type | tuple[type, ...], Callable[[Any], object]], ...] = (
    (bytes, _bytes),
    (TensorDesc, _desc),
    (Tensor, _tensor),
    (Named, _named),
    ((tuple, list), lambda values: [plain(each) for each in values]),
)
"""How values of each kind are shown; all others are what JSON has."""


# ---- the model ---------------------------------------------------------------------------------------------------


def model_record(model: OmModel, index: int) -> Record:
    """One model: names, tables, figures, counts."""
    listed = model.task_list
    return {
        "section": "models",
        "index": index,
        "name": model.name,
        "table_offset": model.parts.table_offset,
        "table_bits": 64 if model.parts.wide else 32,
        "partitions": len(model.parts.partitions),
        "graphs": len(model.definition.graphs) if model.definition else 0,
        "memory_size": listed.memory_size or model.number("memory_size"),
        "weight_size": listed.weight_size or model.number("weight_size"),
        "streams": _most(model, "stream_num", [task.stream_id for task in listed.tasks]),
        "events": _most(model, "event_num", [task.event_id for task in listed.tasks if task.event_id is not None]),
        "soc_version": plain(model.attrs.get("soc_version")),
        "compressed_names": len(model.definition.compressed.names) if model.definition else 0,
        **{name: sum(1 for _ in records(model)) for name, records in _COUNTED},
    }


def _most(model: OmModel, name: str, ids: list[int]) -> int:
    return model.number(name) or 1 + max(ids, default=-1)


def _attributes(model: OmModel) -> Iterator[Record]:
    for name, value in model.attrs.items():
        yield {"section": "attributes", "name": name, "value": plain(value)}


def _attribute_row(record: Record) -> Sequence[object]:
    value = record["value"]
    if isinstance(value, dict) and set(value) == {"bytes"}:
        return record["name"], f"{value['bytes']} bytes"
    if isinstance(value, list):
        text = ", ".join(map(str, value))
        return record["name"], text if len(text) <= SHOWN_TEXT else f"{len(value)} values"
    return record["name"], "" if value is None else value


def _partitions(model: OmModel) -> Iterator[Record]:
    for each in model.parts.partitions:
        yield {
            "section": "partitions", "type": each.type, "name": each.name, "offset": each.offset,
            "stored_offset": each.stored_offset, "size": each.size,
        }  # fmt: skip


def _inputs(model: OmModel) -> Iterator[Record]:
    return (_port("inputs", each) for each in model.ports.inputs)


def _outputs(model: OmModel) -> Iterator[Record]:
    return (_port("outputs", each) for each in model.ports.outputs)


def _port(section: str, port: PortInfo) -> Record:
    known = BY_CODE.get(port.dtype)
    return {
        "section": section, "name": port.name, "dtype": known.name if known else None, "dtype_code": port.dtype,
        "format": FORMATS.get(port.format), "format_code": port.format, "shape": list(port.dims),
        "dims_v2": list(port.dims_v2), "ranges": list(port.ranges), "size": port.size,
    }  # fmt: skip


def _port_row(record: Record) -> Sequence[object]:
    kind = record["dtype"] or f"dtype {record['dtype_code']}"
    form = record["format"] or f"format {record['format_code']}"
    return record["name"], f"{kind}{_dims(record['shape'])}", form, record["size"]


def _dims(shape: object) -> str:
    return f"[{','.join(map(str, shape))}]" if isinstance(shape, list) else ""


# ---- operators, weights, binaries --------------------------------------------------------------------------------


def _ops(model: OmModel) -> Iterator[Record]:
    graphs = model.definition.graphs if model.definition else ()
    for number, graph in enumerate(graphs):
        for op in graph.ops:
            yield {
                "section": "ops",
                "graph": number,
                "id": op.id,
                "name": op.name,
                "type": op.type,
                "stream_id": op.stream_id,
                "inputs": list(op.inputs),
                "outputs": [_desc(each) for each in op.output_descs],
                "workspaces": list(op.workspace_bytes),
                "attrs": {name: plain(value) for name, value in op.attrs.items()},
            }


def _op_row(record: Record) -> Sequence[object]:
    outputs, inputs, sizes = record["outputs"], record["inputs"], record["workspaces"]
    assert isinstance(outputs, list)
    assert isinstance(inputs, list)
    assert isinstance(sizes, list)
    made = ", ".join(f"{each['dtype']}{_dims(each['shape'])}" for each in outputs)
    text = f"{', '.join(each or '-' for each in inputs)} -> {made}".strip() if inputs or made else ""
    return record["id"], record["name"], record["type"], record["stream_id"], text, ", ".join(map(str, sizes))


def _weights(model: OmModel) -> Iterator[Record]:
    for op in model.ops:
        value = op.attrs.get("value")
        if op.type in CONSTANT and isinstance(value, Tensor):
            inside = len(value.data)
            desc = _desc(value.desc)
            place = None if inside else value.desc.data_offset
            size = inside or value.desc.weight_size
            yield {"section": "weights", "op": op.name, "offset": place, "bytes": size, **desc}


def _weight_row(record: Record) -> Sequence[object]:
    offset = "in the graph" if record["offset"] is None else record["offset"]
    return record["op"], f"{record['dtype']}{_dims(record['shape'])}", record["layout"], offset, record["bytes"]


def _kernels(model: OmModel) -> Iterator[Record]:
    for kind, items in (
        ("AI Core", model.kernels), ("AI CPU", model.aicpu_kernels), ("custom operator", model.custom_ops),
    ):  # fmt: skip
        for item in items:
            yield {
                "section": "kernels", "kind": kind, "name": item.name, "offset": item.offset, "size": len(item.data),
            }  # fmt: skip


def _kernel_row(record: Record) -> Sequence[object]:
    return str(record["kind"]).replace(" ", "\xa0"), record["offset"], record["size"], record["name"]


def _libraries(model: OmModel) -> Iterator[Record]:
    for each in model.libraries:
        yield {
            "section": "libraries", "name": each.name, "vendor": each.vendor, "type": each.type,
            "kind": SO_TYPES.get(each.type), "flag": each.flag, "offset": each.offset, "size": len(each.data),
        }  # fmt: skip


def _tilings(model: OmModel) -> Iterator[Record]:
    for each in model.tilings:
        yield {
            "section": "tilings", "tiling_key": each.key, "block_dim": each.block_dim, "tiling_data": each.data.hex(),
            "workspaces": list(each.workspaces), "ids": list(each.ids), "schedule_mode": each.schedule_mode,
            "clear_atomic": each.clear_atomic, "tiling_cond": each.condition, "local_memory_size": each.local_memory,
        }  # fmt: skip


def _tiling_row(record: Record) -> Sequence[object]:
    data, ids, sizes = record["tiling_data"], record["ids"], record["workspaces"]
    assert isinstance(data, str)
    assert isinstance(ids, list)
    assert isinstance(sizes, list)
    listed = ", ".join(map(str, ids)), ", ".join(map(str, sizes))
    return record["tiling_key"], record["block_dim"], len(data) // 2, *listed


# ---- tasks -------------------------------------------------------------------------------------------------------


def _tasks(model: OmModel) -> Iterator[Record]:
    names = {op.id: op.name for op in model.ops}
    return (task_record(task, names) for task in model.task_list.tasks)


def task_record(task: Task, names: dict[int, str]) -> Record:
    """A task with everything in its part; `names` are those of the operators by id."""
    return {
        "section": "tasks",
        "index": task.index,
        "type": task.type,
        "kind": task_name(task.type),
        "stream_id": task.stream_id,
        "event_id": task.event_id,
        "notify_id": task.notify_id,
        "op_index": task.op_index,
        "op": None if task.op_index is None else names.get(task.op_index),
        "block_dim": task.block_dim,
        "kernel_type": task.kernel_type,
        "schem": task.schedule_mode,
        "so_name": task.so_name,
        "kernel_name": task.kernel_name,
        "args_format": task.args_format,
        "args_bytes": len(task.args),
        "ext_info_bytes": len(task.ext_info),
        "part": task.part,
        "fields": _whole(dict(task.fields)),
    }


def _whole(value: object) -> object:
    """A value for JSON, bytes in full as hex."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, dict):
        return {name: _whole(each) for name, each in value.items()}
    return [_whole(each) for each in value] if isinstance(value, list) else value


def _task_row(record: Record) -> Sequence[object]:
    flag = record["event_id"] if record["notify_id"] is None else record["notify_id"]
    kernel = "/".join(str(each) for each in (record["so_name"], record["kernel_name"]) if each)
    args = record["args_format"] or (f"{record['args_bytes']} bytes" if record["args_bytes"] else "")
    return (
        record["index"], record["kind"], record["stream_id"], record["op"] or "", "" if flag is None else flag,
        _blocks(record["block_dim"]), kernel, args,
    )  # fmt: skip


def _blocks(number: object) -> str:
    """A block dim; in hexadecimal when an update brings it, empty when the type has none."""
    return f"{number:#x}" if number == BLOCK_DIM_PLACEHOLDER else str(number or "")


def _by(*names: str) -> Callable[[Record], Sequence[object]]:
    """A row that is the values of some keys."""
    return lambda record: [record[name] for name in names]


_PORT = ("name", "type", "format", "bytes")
SECTIONS = (
    Section(
        "partitions", "Partitions", _partitions,
        ("type", "name", "offset", "stored offset", "bytes"), _by("type", "name", "offset", "stored_offset", "size"),
        ("type", "offset", "stored offset", "bytes"),
    ),
    Section("attributes", "Attributes of the model", _attributes, ("name", "value"), _attribute_row),
    Section("inputs", "Inputs", _inputs, _PORT, _port_row, ("bytes",)),
    Section("outputs", "Outputs", _outputs, _PORT, _port_row, ("bytes",)),
    Section(
        "ops", "Operators", _ops,
        ("id", "name", "type", "stream", "tensors", "workspaces, bytes"), _op_row, ("id", "stream"),
    ),
    Section(
        "weights", "Weights", _weights, ("op", "type", "layout", "offset", "bytes"), _weight_row, ("offset", "bytes"),
    ),
    Section(
        "kernels", "Kernels", _kernels,
        ("for", "offset", "bytes", "name"), _kernel_row, ("offset", "bytes"),
    ),
    Section(
        "libraries", "Libraries", _libraries,
        ("name", "vendor", "holds", "offset", "bytes"), _by("name", "vendor", "kind", "offset", "size"),
        ("offset", "bytes"),
    ),
    Section(
        "tilings", "Tilings", _tilings,
        ("key", "blocks", "bytes", "ids", "workspaces, bytes"), _tiling_row, ("key", "blocks", "bytes"),
    ),
    Section(
        "tasks", "Tasks", _tasks,
        ("#", "type", "stream", "op", "event", "blocks", "kernel", "arguments"), _task_row,
        ("#", "stream", "event", "blocks"),
    ),
)  # fmt: skip
"""The sections in the order they are shown; the tasks come last, where a reader's eye ends up."""
_COUNTED = tuple((section.name, section.records) for section in SECTIONS if section.name != "partitions")
