"""`encode`: a blob as bytes. Equal blobs give equal bytes (attributes keep their order, policies are sorted)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from formats.blob import frame
from formats.blob.layout import DATA_ALIGNMENT, NO_TENSOR, SECTIONS
from formats.blob.references import bad_references
from formats.blob.values import to_cell
from formats.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from formats.blob.model import Blob, BlobKernel, BlobOp, BlobStream, BlobTask, BlobTensor

MAX_TEXT = 1 << 20
"""Longest string in bytes of UTF-8."""

_RECORDS = {s.name: s.record for s in SECTIONS if s.record is not None}


class _Writer:
    """Section bodies while they grow."""

    def __init__(self) -> None:
        self.bodies: dict[str, bytearray] = {s.name: bytearray() for s in SECTIONS}
        self._strings: dict[str, int] = {}

    def add(self, section: str, **values: int) -> None:
        """Append one record; `FormatError` names the field that does not fit."""
        self.bodies[section] += _RECORDS[section].build(values)

    def count(self, section: str) -> int:
        """Records so far."""
        return len(self.bodies[section]) // _RECORDS[section].size

    def text(self, value: str, where: str) -> int:
        """Index of a string."""
        if value not in self._strings:
            encoded = _utf8(value, where)
            self.add("strings", offset=len(self.bodies["text"]), size=len(encoded))
            self.bodies["text"] += encoded
            self._strings[value] = len(self._strings)
        return self._strings[value]

    def data(self, value: bytes) -> dict[str, int]:
        """Append bytes to `data` and tell where they are; no bytes are at 0."""
        if not value:
            return {"data_offset": 0, "data_size": 0}
        body = self.bodies["data"]
        body += bytes(frame.aligned(len(body), DATA_ALIGNMENT) - len(body))
        offset = len(body)
        body += value
        return {"data_offset": offset, "data_size": len(value)}


def _utf8(value: str, where: str) -> bytes:
    if not isinstance(value, str):
        raise FormatError(f"{value!r} is not a string", id="format.type", where=where)
    try:
        encoded = value.encode()
    except UnicodeEncodeError as error:
        raise FormatError(f"the text is not Unicode: {error.reason}", id="format.text", where=where) from None
    if len(encoded) > MAX_TEXT:
        raise FormatError(f"{len(encoded)} bytes of text, {MAX_TEXT} fit", id="format.text", where=where)
    return encoded


def encode(blob: Blob) -> bytes:
    """The bytes of a blob.

    Raises:
        FormatError: an integer that does not fit its field (id `format.range`), text that is too long or not
            Unicode (`format.text`), an attribute of another type (`format.type`), an index that points
            nowhere (`blob.index`).
    """
    bad = next(bad_references(blob), None)
    if bad is not None:
        what = f"{bad.what} {bad.value} does not exist, there are {bad.limit}"
        raise FormatError(what, id="blob.index", where=f"{bad.section}[{bad.record}]")
    w = _Writer()
    header = {"chip": w.text(blob.chip, "chip"), "name": w.text(blob.name, "name")}
    for stream in blob.streams:
        _add_stream(w, stream)
    for event in blob.events:
        w.add("events", id=event.id, name=w.text(event.name, "event"))
    for task in blob.tasks:
        _add_task(w, task)
    for op in blob.ops:
        _add_op(w, op)
    for tensor in blob.tensors:
        _add_tensor(w, tensor)
    for kernel in blob.kernels:
        _add_kernel(w, kernel)
    _add_indices(w, "inputs", blob.inputs)
    _add_indices(w, "outputs", blob.outputs)
    for name in sorted(blob.policies):
        w.add("policies", name=w.text(name, "policy"), value=w.text(blob.policies[name], f"policy {name}"))
    counts = {f"{one}_count": w.count(f"{one}s") for one in ("task", "op", "tensor", "kernel")}
    return frame.pack({**header, **counts, "unknown_shape": blob.unknown_shape}, w.bodies)


def _add_indices(w: _Writer, section: str, indices: Iterable[int]) -> None:
    for index in indices:
        w.add(section, tensor=index)


def _add_stream(w: _Writer, stream: BlobStream) -> None:
    w.add(
        "streams",
        id=stream.id,
        name=w.text(stream.name, "stream"),
        head=stream.head,
        attached=stream.serves is not None,
        serves=stream.serves or 0,
    )


def _add_task(w: _Writer, task: BlobTask) -> None:
    w.add(
        "tasks",
        type=task.type,
        stream_id=task.stream_id,
        block_dim=task.block_dim,
        has_event=task.event_id is not None,
        has_op=task.op is not None,
        has_kernel=task.kernel is not None,
        event_id=task.event_id or 0,
        op=task.op or 0,
        kernel=task.kernel or 0,
        kernel_type=task.kernel_type,
        schem=task.schem,
        args_format=w.text(task.args_format, "task"),
        so_name=w.text(task.so_name, "task"),
        kernel_name=w.text(task.kernel_name, "task"),
    )
    w.add("provenance", node=w.text(task.node, "task"), made_by=w.text(task.made_by, "task"))


def _add_op(w: _Writer, op: BlobOp) -> None:
    w.add(
        "ops",
        name=w.text(op.name, "op"),
        type=w.text(op.type, f"op {op.name}"),
        compile_info=w.text(op.compile_info, f"op {op.name}"),
        sink=op.sink,
        host_tiling=op.host_tiling,
        custom=op.custom,
        input_count=len(op.inputs),
        output_count=len(op.outputs),
        workspace_count=len(op.workspaces),
        depend_count=len(op.depends),
        attr_count=len(op.attrs),
        tiling_block_dim=op.tiling_block_dim,
        tiling_key=op.tiling_key,
        tiling_capacity=op.tiling_capacity,
        first_operand=w.count("operands"),
        first_attr=w.count("attrs"),
        **w.data(op.tiling_data),
    )
    _add_operands(w, (NO_TENSOR if x is None else x for x in op.inputs))
    _add_operands(w, (*op.outputs, *op.workspaces, *op.depends))
    for name, value in op.attrs.items():
        cell = to_cell(value, w.text, f"op {op.name}, attribute {name}")
        first = w.count("words")
        named = w.text(name, f"op {op.name}")
        w.add("attrs", name=named, kind=cell.kind, value=cell.value, first=first, count=len(cell.words))
        for word in cell.words:
            w.add("words", bits=word)


def _add_operands(w: _Writer, values: Iterable[int]) -> None:
    for value in values:
        w.add("operands", value=value)


def _add_tensor(w: _Writer, tensor: BlobTensor) -> None:
    w.add(
        "tensors",
        name=w.text(tensor.name, "tensor"),
        dtype=tensor.dtype,
        role=int(tensor.role),
        rank=len(tensor.shape),
        size=tensor.size,
        first_dim=w.count("dims"),
        **w.data(tensor.data),
    )
    for extent in tensor.shape:
        w.add("dims", extent=extent)


def _add_kernel(w: _Writer, kernel: BlobKernel) -> None:
    first = w.count("keys")
    named = w.text(kernel.name, "kernel")
    w.add("kernels", name=named, core_type=kernel.core_type, first_key=first, key_count=len(kernel.tiling_keys))
    for key in kernel.tiling_keys:
        w.add("keys", tiling_key=key)
