"""Writing offline models: for tests, and for everybody who wants to try a reader on a file that nobody has.

No public file has the tasks of a tiling sink (types 41 to 43); made here, they are. `write_om` puts partitions into a
file with either form of table; the other functions make the bytes of partitions. Everything is written as
`reference/om_format.md` says, so that what is read back is equal.

```
tasks = task_info([{"type": 0, "kernel": {"context": {"kernel_type": 2}, "block_dim": 8}}, {"type": 19}])
data = write_om([[(PartitionType.MODEL_DEF, model_def({"name": b"m"})), (PartitionType.TASK_INFO, tasks)]], name="m")
```
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from emu_plugins.om.attributes import encoded_index
from emu_plugins.om.layout import (
    ALIGNMENT,
    ITEM_MAGIC,
    MAGIC,
    TILING_MAGIC,
    TILING_VERSION,
    VERSION_2,
    Entry,
    Entry64,
    KernelItem,
    OmHeader,
    SoItem,
    TableHead,
    TableHead64,
    TensorBase,
    TilingHead,
    TilingRun,
)
from emu_plugins.om.messages import build
from emu_plugins.om.ports import BATCH, DIMS, HEIGHT_WIDTH, INPUTS, ORDER, OUTPUTS, SHAPES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from emu_plugins.om.ports import PortInfo, Ports
    from emu_plugins.om.tilings import Tiling

    Fields = Mapping[str, object]
    Partitions = Sequence[tuple[int, bytes]]


def write_om(
    models: Sequence[Partitions],
    *,
    name: str = "",
    wide: bool = False,
    aligned: bool = False,
    header: Mapping[str, int] | None = None,
) -> bytes:
    """A file with the partitions of `models`, each a list of partition type and bytes.

    Args:
        name: model name of the header, at most 32 bytes of UTF-8.
        wide: tables with 64-bit offsets and sizes; else 32-bit ones.
        aligned: partitions start at multiples of 32 within the file.
        header: numbers of the header that are to be otherwise, by field name.
    """
    body = bytearray()
    for partitions in models:
        body += _model(partitions, OmHeader.size + len(body), wide=wide, aligned=aligned)
    values = {
        "magic": MAGIC, "headsize": OmHeader.size, "version": VERSION_2, "is_checksum": 1, "name": _padded(name, 32),
        "length": 0 if wide else len(body), "model_length": len(body) if wide else 0, "model_num": len(models),
    }  # fmt: skip
    return OmHeader.build({**values, **(header or {})}) + bytes(body)


def _model(partitions: Partitions, at: int, *, wide: bool, aligned: bool) -> bytes:
    """Table and data of a model that begins at byte `at` of the file."""
    head, entry = (TableHead64, Entry64) if wide else (TableHead, Entry)
    table_end = at + head.size + entry.size * len(partitions)
    table = bytearray(head.build({"num": len(partitions)}))
    data = bytearray()
    for kind, body in partitions:
        if aligned:
            data += bytes(-(table_end + len(data)) % ALIGNMENT)
        table += entry.build({"type": kind, "offset": len(data), "size": len(body)})
        data += body
    if aligned:
        data += bytes(-(table_end + len(data)) % ALIGNMENT)
    return bytes(table + data)


def _padded(text: str, size: int) -> list[int]:
    return list(text.encode()[:size].ljust(size, b"\0"))


def model_def(values: Fields) -> bytes:
    """MODEL_DEF from field values by name (`schema`): `{"name": b"m", "graph": [{"op": [...]}], "attr": [...]}`."""
    return bytes(build("ModelDef", values).SerializeToString())


def task_info(tasks: Iterable[Fields], **figures: int | bytes) -> bytes:
    """TASK_INFO from the fields of each `TaskDef`, and figures of the list such as `stream_num`."""
    return bytes(build("ModelTaskDef", {**figures, "task": list(tasks)}).SerializeToString())


def attribute(name: str | bytes, value: object) -> Fields:
    """An attribute: bool, int, float, str, bytes, or a list of one of them; a mapping is an `AttrDef` as it is."""
    key = name.encode() if isinstance(name, str) else name
    return {"key": key, "value": _attr(value)}


def _attr(value: object) -> Fields:
    if isinstance(value, dict):
        return value
    if isinstance(value, (list, tuple)):
        kind = _kind(value[0])[0] if value else ""
        return {"list": {kind: [_kind(each)[1] for each in value]} if kind else {}}
    name, found = _kind(value)
    return {name: found}


def _kind(value: object) -> tuple[str, object]:
    """Field of an `AttrDef` for a scalar, and what goes there."""
    if isinstance(value, bool):
        return "b", value
    if isinstance(value, str):
        return "s", value.encode()
    return {int: "i", float: "f", bytes: "bt"}[type(value)], value


def compressed(names: Sequence[str], values: Sequence[str], use_values: Sequence[bool]) -> list[Fields]:
    """The attributes of a model that say how attributes are compressed (`om_format.md` 8.3)."""
    listed = {"attr_name_enum": names, "attr_value_enum": values, "attrs_use_string_value": use_values}
    return [attribute("om_compress_version", 1), *(attribute(name, list(each)) for name, each in listed.items())]


def compressed_attribute(index: int, value: object) -> Fields:
    """An attribute whose name is number `index` of `attr_name_enum`."""
    return attribute(encoded_index(index), value)


def kernel_items(items: Iterable[tuple[str, bytes]], *, magic: int = ITEM_MAGIC) -> bytes:
    """A kernel partition, or CUSTOM_OPS with its magic: names and binaries."""
    return b"".join(
        KernelItem.build({"magic": magic, "name_len": len(name.encode()), "bin_len": len(data)}) + name.encode() + data
        for name, data in items
    )


def so_bins(libraries: Sequence[tuple[str, str, int, bytes]]) -> bytes:
    """SO_BINS from file name, vendor, type and bytes of each library."""
    found = bytearray(len(libraries).to_bytes(4, "little"))
    for name, vendor, kind, data in libraries:
        head = {
            "magic": ITEM_MAGIC, "so_name_len": len(name.encode()), "so_bin_type": kind,
            "vendor_name_len": len(vendor.encode()), "bin_len": len(data),
        }  # fmt: skip
        found += SoItem.build(head) + name.encode() + vendor.encode() + data
    return bytes(found)


def tiling_data(tilings: Iterable[Tiling]) -> bytes:
    """TILING_DATA."""
    records = bytearray()
    for tiling in tilings:
        run = TilingRun.build({
            "tiling_key": tiling.key, "tiling_size": len(tiling.data), "block_dim": tiling.block_dim,
            "clear_atomic": int(tiling.clear_atomic), "tiling_cond": tiling.condition,
            "schedule_mode": tiling.schedule_mode, "workspace_num": len(tiling.workspaces),
            "local_memory_size": tiling.local_memory,
        })  # fmt: skip
        for kind, data in enumerate((run + _i64s(tiling.workspaces), tiling.data, _i64s(tiling.ids))):
            records += struct.pack("<BI", kind, len(data)) + data
    head = {"magic": TILING_MAGIC, "version": TILING_VERSION, "data_len": len(records)}
    return TilingHead.build(head) + bytes(records)


def inout_info(ports: Ports) -> bytes:
    """MODEL_INOUT_INFO; lists that are empty are not written."""
    records = (
        (INPUTS, _tensors(ports.inputs), ports.inputs),
        (OUTPUTS, _tensors(ports.outputs), ports.outputs),
        (BATCH, _u32s([len(ports.batches)]) + _i64s(ports.batches), ports.batches),
        (HEIGHT_WIDTH, _groups(ports.sizes), ports.sizes),
        (DIMS, _groups(ports.dims), ports.dims),
        (SHAPES, _texts(ports.output_shapes), ports.output_shapes),
        (ORDER, _texts(ports.input_order), ports.input_order),
        *((kind, data, True) for kind, data in ports.other),
    )
    return b"".join(struct.pack("<iI", kind, len(data)) + data for kind, data, there in records if there)


def _tensors(ports: Sequence[PortInfo]) -> bytes:
    return _u32s([len(ports)]) + b"".join(map(_tensor, ports))


def _tensor(port: PortInfo) -> bytes:
    name, lists = port.name.encode(), (port.dims, port.dims_v2, port.ranges)
    lengths = dict(zip(("dims_len", "dims_v2_len", "range_len"), (8 * len(each) for each in lists), strict=True))
    base = {"size": port.size, "format": port.format, "dtype": port.dtype, "name_len": len(name), **lengths}
    return TensorBase.build(base) + name + b"".join(map(_i64s, lists))


def _groups(groups: Sequence[Sequence[int]]) -> bytes:
    return _u32s([len(groups), *map(len, groups)]) + b"".join(map(_i64s, groups))


def _texts(texts: Sequence[str]) -> bytes:
    raw = [text.encode() for text in texts]
    return _u32s([len(raw), *map(len, raw)]) + b"".join(raw)


def _u32s(values: Sequence[int]) -> bytes:
    return struct.pack(f"<{len(values)}I", *values)


def _i64s(values: Sequence[int]) -> bytes:
    return struct.pack(f"<{len(values)}q", *values)
