"""`decode`: bytes as a blob. Whatever the bytes are, the outcome is a blob or a `FormatError`.

Spans (dimensions of a tensor, operands of an operator, …) must follow each other without gaps, as
`encode` writes them. So no byte of the file is read into two values, and memory stays within a small
multiple of the file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from formats.blob import frame, values
from formats.blob.layout import DATA_ALIGNMENT, NO_TENSOR, SECTIONS, BlobHeader, TaskRecord
from formats.blob.model import (
    Blob,
    BlobEvent,
    BlobKernel,
    BlobOp,
    BlobStream,
    BlobTask,
    BlobTensor,
    KernelType,
    TaskType,
    TensorRole,
)
from formats.blob.references import bad_references
from formats.buffers import flat
from formats.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from formats.blob.frame import SectionInfo
    from formats.blob.model import AttrValue
    from formats.buffers import Buffer

_RECORDS = {s.name: s.record for s in SECTIONS if s.record is not None}
_ROLES = frozenset(int(role) for role in TensorRole)


class _Span:
    """The records of a section, given out in order."""

    def __init__(self, reader: _Reader, section: str) -> None:
        self._reader = reader
        self._section = section
        self._next = 0

    def take(self, first: int, count: int, place: _Place) -> list[Any]:
        """Records `first` to `first + count`; they must be the next ones."""
        have = self._reader.info(self._section).count
        if first != self._next or count > have - self._next:
            raise place.bad(
                "blob.index", f"{count} {self._section} from {first} on, the next one is {self._next} of {have}"
            )
        self._next += count
        return list(self._reader.rows(self._section, first, count))

    def finish(self) -> None:
        """Check that every record was taken."""
        info = self._reader.info(self._section)
        if self._next != info.count:
            raise FormatError(
                f"{info.count - self._next} records belong to nothing",
                id="blob.index",
                where=f"section {self._section}",
                offset=info.offset,
            )


class _Place:
    """A record of a section, for error messages."""

    def __init__(self, info: SectionInfo, record: int) -> None:
        self._info = info
        self._record = record

    def bad(self, id: str, what: str, field: str = "") -> FormatError:  # noqa: A002 - as in FormatError
        """A `FormatError` about this record, or one field of it."""
        layout = _RECORDS[self._info.name]
        inside = layout.by_name[field].offset // 8 if field else 0
        where = f"section {self._info.name}, record {self._record}" + (f", {field}" if field else "")
        return FormatError(what, id=id, where=where, offset=self._info.offset + self._record * layout.size + inside)


class _Reader:
    """A checked frame and the tables that records point into."""

    def __init__(self, data: Buffer) -> None:
        self.data = flat(data)
        self.frame = frame.read(self.data)
        self._data_end = 0
        self.strings = self._read_strings()
        spans = ("operands", "attrs", "words", "dims", "keys")
        self.spans = {name: _Span(self, name) for name in spans}

    def info(self, section: str) -> SectionInfo:
        return self.frame.sections[section]

    def rows(self, section: str, first: int = 0, count: int | None = None) -> Iterator[Any]:
        """Records of a section as slots objects."""
        info, layout = self.info(section), _RECORDS[section]
        start = info.offset + first * layout.size
        parse = layout.codec.parse
        return (parse(self.data, start + k * layout.size) for k in range(info.count if count is None else count))

    def places(self, section: str) -> Iterator[tuple[_Place, Any]]:
        """Records of a section with their places."""
        info = self.info(section)
        return ((_Place(info, k), row) for k, row in enumerate(self.rows(section)))

    def _read_strings(self) -> list[str]:
        text = self.info("text")
        raw = self.data[text.offset : text.offset + text.size]
        found: list[str] = []
        end = 0
        for place, row in self.places("strings"):
            if row.offset != end or row.size > text.size - end:
                raise place.bad("blob.index", f"{row.size} bytes from {row.offset} on, the next one is {end}")
            end += row.size
            try:
                found.append(str(raw[row.offset : end], "utf-8"))
            except UnicodeDecodeError as error:
                raise place.bad("blob.text", f"the text is not UTF-8: {error.reason}") from None
        return found

    def text(self, index: int, place: _Place, field: str) -> str:
        """The string with that index."""
        if index >= len(self.strings):
            raise place.bad("blob.index", f"string {index} does not exist, there are {len(self.strings)}", field)
        return self.strings[index]

    def bytes_of(self, row: Any, place: _Place) -> bytes:  # noqa: ANN401 - a record with data_offset, data_size
        """The bytes of a constant or of tiling data; they must be the next ones of `data`."""
        info = self.info("data")
        expected = frame.aligned(self._data_end, DATA_ALIGNMENT) if row.data_size else 0
        if row.data_offset != expected or row.data_size > info.size - expected:
            raise place.bad(
                "blob.index",
                f"{row.data_size} bytes from {row.data_offset} on, the next ones are at {expected} of {info.size}",
                "data_offset",
            )
        start = info.offset + expected
        if row.data_size:
            self._data_end = expected + row.data_size
        return bytes(self.data[start : start + row.data_size])


def decode(data: Buffer) -> Blob:
    """The blob in `data`; `decode(encode(b)) == b`.

    Raises:
        FormatError: `blob.magic`, `blob.version`, `blob.truncated`, `blob.crc`, `blob.section`, `blob.index`,
            `blob.text`, `blob.value`; section, record and byte offset say where.
    """
    r = _Reader(data)
    header = r.frame.header
    head = _Header(r)
    blob = Blob(
        chip=head.text("chip"),
        name=head.text("name"),
        unknown_shape=bool(header["unknown_shape"]),
        streams=tuple(_stream(r, place, row) for place, row in r.places("streams")),
        events=tuple(BlobEvent(row.id, r.text(row.name, place, "name")) for place, row in r.places("events")),
        tasks=tuple(_tasks(r)),
        ops=tuple(_op(r, place, row) for place, row in r.places("ops")),
        tensors=tuple(_tensor(r, place, row) for place, row in r.places("tensors")),
        kernels=tuple(_kernel(r, place, row) for place, row in r.places("kernels")),
        inputs=tuple(row.tensor for row in r.rows("inputs")),
        outputs=tuple(row.tensor for row in r.rows("outputs")),
        policies=_policies(r),
    )
    for span in r.spans.values():
        span.finish()
    for bad in bad_references(blob):
        place = _Place(r.info(bad.section), bad.record)
        raise place.bad("blob.index", f"{bad.what} {bad.value} does not exist, there are {bad.limit}", bad.field)
    return blob


class _Header:
    """Strings and counts of the header."""

    def __init__(self, r: _Reader) -> None:
        self._r = r
        counts = {"tasks": "task_count", "ops": "op_count", "tensors": "tensor_count", "kernels": "kernel_count"}
        for section, field in counts.items():
            if r.frame.header[field] != r.info(section).count:
                raise self._bad(field, f"{r.frame.header[field]} announced, the section has {r.info(section).count}")
        if r.info("provenance").count != r.info("tasks").count:
            raise self._bad("task_count", "the section `provenance` needs one record per task")

    def text(self, field: str) -> str:
        index = self._r.frame.header[field]
        if index >= len(self._r.strings):
            raise self._bad(field, f"string {index} does not exist, there are {len(self._r.strings)}")
        return self._r.strings[int(index)]

    @staticmethod
    def _bad(field: str, what: str) -> FormatError:
        offset = BlobHeader.by_name[field].offset // 8
        return FormatError(what, id="blob.index", where=f"header, {field}", offset=offset)


def _stream(r: _Reader, place: _Place, row: Any) -> BlobStream:  # noqa: ANN401 - a parsed record
    serves = row.serves if row.attached else None
    return BlobStream(row.id, r.text(row.name, place, "name"), serves, bool(row.head))


_TASK_TYPES: dict[int, int] = {int(each): each for each in TaskType}
_KERNEL_TYPES: dict[int, int] = {int(each): each for each in KernelType}
"""Numbers with a name; others stay as they are."""


def _tasks(r: _Reader) -> Iterator[BlobTask]:
    for (place, row), (made, source) in zip(r.places("tasks"), r.places("provenance"), strict=True):
        yield BlobTask(
            type=_TASK_TYPES.get(row.type, row.type),
            stream_id=row.stream_id,
            event_id=row.event_id if row.has_event else None,
            op=row.op if row.has_op else None,
            kernel=row.kernel if row.has_kernel else None,
            block_dim=row.block_dim,
            kernel_type=_KERNEL_TYPES.get(row.kernel_type, row.kernel_type),
            schem=row.schem,
            args_format=r.text(row.args_format, place, "args_format"),
            so_name=r.text(row.so_name, place, "so_name"),
            kernel_name=r.text(row.kernel_name, place, "kernel_name"),
            node=r.text(source.node, made, "node"),
            made_by=r.text(source.made_by, made, "made_by"),
        )


def _op(r: _Reader, place: _Place, row: Any) -> BlobOp:  # noqa: ANN401 - a parsed record
    counts = (row.input_count, row.output_count, row.workspace_count, row.depend_count)
    taken = [x.value for x in r.spans["operands"].take(row.first_operand, sum(counts), place)]
    parts = []
    for count in counts:
        parts.append(tuple(taken[:count]))
        del taken[:count]
    inputs, outputs, workspaces, depends = parts
    return BlobOp(
        name=r.text(row.name, place, "name"),
        type=r.text(row.type, place, "type"),
        inputs=tuple(None if x == NO_TENSOR else x for x in inputs),
        outputs=outputs,
        workspaces=workspaces,
        attrs=_attrs(r, place, row),
        depends=depends,
        sink=bool(row.sink),
        host_tiling=bool(row.host_tiling),
        custom=bool(row.custom),
        tiling_key=row.tiling_key,
        tiling_block_dim=row.tiling_block_dim,
        tiling_data=r.bytes_of(row, place),
        tiling_capacity=row.tiling_capacity,
        compile_info=r.text(row.compile_info, place, "compile_info"),
    )


def _attrs(r: _Reader, owner: _Place, op: Any) -> dict[str, AttrValue]:  # noqa: ANN401 - a parsed record
    found: dict[str, AttrValue] = {}
    for k, row in enumerate(r.spans["attrs"].take(op.first_attr, op.attr_count, owner)):
        place = _Place(r.info("attrs"), op.first_attr + k)
        name = r.text(row.name, place, "name")
        if name in found:
            raise place.bad("blob.value", f"attribute {name!r} is there twice", "name")
        words = [w.bits for w in r.spans["words"].take(row.first, row.count, place)]
        found[name] = _attr_value(r, place, row, words)
    return found


def _attr_value(r: _Reader, place: _Place, row: Any, words: list[int]) -> AttrValue:  # noqa: ANN401 - a parsed record
    try:
        return values.from_cell(row.kind, row.value, words, lambda index: r.text(index, place, "value"))
    except FormatError as error:
        raise error if error.where else place.bad(error.id, error.what, "kind") from None


def _tensor(r: _Reader, place: _Place, row: Any) -> BlobTensor:  # noqa: ANN401 - a parsed record
    if row.role not in _ROLES:
        raise place.bad("blob.value", f"tensor role {row.role} is not known", "role")
    return BlobTensor(
        name=r.text(row.name, place, "name"),
        dtype=row.dtype,
        shape=tuple(d.extent for d in r.spans["dims"].take(row.first_dim, row.rank, place)),
        role=TensorRole(row.role),
        size=row.size,
        data=r.bytes_of(row, place),
    )


def _kernel(r: _Reader, place: _Place, row: Any) -> BlobKernel:  # noqa: ANN401 - a parsed record
    keys = tuple(k.tiling_key for k in r.spans["keys"].take(row.first_key, row.key_count, place))
    return BlobKernel(r.text(row.name, place, "name"), row.core_type, keys)


def _policies(r: _Reader) -> dict[str, str]:
    found: dict[str, str] = {}
    for place, row in r.places("policies"):
        name = r.text(row.name, place, "name")
        if name in found:
            raise place.bad("blob.value", f"policy {name!r} is there twice", "name")
        found[name] = r.text(row.value, place, "value")
    return found


def sections(data: Buffer, *, check_crc: bool = True) -> tuple[SectionInfo, ...]:
    """The sections of a blob in file order; with `check_crc` off a damaged file can still be listed.

    Raises:
        FormatError: the frame is damaged (`blob.magic`, `blob.version`, `blob.truncated`, `blob.crc`, `blob.section`).
    """
    return tuple(frame.read(flat(data), check_crc=check_crc).sections.values())


def task_record(data: Buffer, i: int) -> Mapping[str, Any]:
    """Task record `i` as the file holds it, all fields of `TaskRecord`.

    Raises:
        FormatError: the frame is damaged (as `sections`), or there is no task `i` (id `blob.index`).
    """
    view = flat(data)
    info = frame.read(view).sections["tasks"]
    if not 0 <= i < info.count:
        raise FormatError(f"task {i} does not exist, there are {info.count}", id="blob.index", where="section tasks")
    start = info.offset + i * TaskRecord.size
    return TaskRecord.parse(bytes(view[start : start + TaskRecord.size]))
