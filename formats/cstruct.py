"""`CStruct`: a C layout as a construct object, with everything that follows from its table.

It composes with stock construct (`Array`, `Struct`, `Switch`, `Pointer`, …). Called directly, it
raises :class:`FormatError`; inside other constructs a short stream is construct's `StreamError`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import construct

from formats.access import FieldAccess
from formats.buffers import flat
from formats.codec import Codec
from formats.enums import enum_of
from formats.errors import FormatError
from formats.fields import Field, Joined, joined_pairs, layout
from formats.meanings import MEANINGS, UNITS
from formats.parsing import Parser

if TYPE_CHECKING:
    from typing import IO

    import numpy as np
    import numpy.typing as npt

    from formats.buffers import Buffer
    from formats.view import View

    _Base: TypeAlias = construct.Construct[construct.Container[Any], Mapping[str, Any] | None]
else:
    _Base = construct.Construct


class CStruct(_Base):
    """A packed little-endian C struct of fixed size.

    Args:
        family: family of layouts it belongs to, for example `v100`.
        struct_name: name in the C header.
        fields: the table, without gaps, in memory order; or a function that gives it, called when it is first needed.
        note: what else a reader should know; empty when there is nothing.
        sqe_type: SQE type number, `None` when it is not an SQE of its own.
        match: values of its own fields by which an SQE of this kind is recognised.
        size: bytes, if they are known beforehand; else the table says, which is then read at once.

    Attributes:
        family, struct_name, fields, note, sqe_type, match, size: as above.

    Raises:
        FormatError: the table has gaps, its size is not a whole number of bytes or not `size` (id `format.table`);
            with `size`, when the fields are first asked for.
    """

    def __init__(
        self,
        family: str,
        struct_name: str,
        fields: Sequence[Field] | Callable[[], Sequence[Field]],
        *,
        note: str = "",
        sqe_type: int | None = None,
        match: Mapping[str, tuple[int, ...]] | None = None,
        size: int | None = None,
    ) -> None:
        super().__init__()
        self.family = family
        self.struct_name = struct_name
        self.note = note
        self.sqe_type = sqe_type
        self.match = dict(match or {})
        self._table = fields
        self._stated = size
        self.size = self._measured(self.fields) if size is None else size

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """The table, in memory order."""
        found = tuple(self._table() if callable(self._table) else self._table)
        measured = self._measured(found)
        if self._stated not in (None, measured):
            what = f"the table has {measured} bytes, not {self._stated}"
            raise FormatError(what, id="format.table", where=self.struct_name)
        return found

    def _measured(self, fields: Sequence[Field]) -> int:
        end = 0
        for f in fields:
            if f.offset != end:
                raise FormatError(f"starts at bit {f.offset}, not {end}", id="format.table", where=self._at(f.name))
            end = f.end
        if end % 8 or not end:
            raise FormatError(f"{end} bits are not whole bytes", id="format.table", where=self.struct_name)
        return end // 8

    @cached_property
    def by_name(self) -> dict[str, Field]:
        """Field by name."""
        return {f.name: f for f in self.fields}

    @cached_property
    def joined(self) -> dict[str, Joined]:
        """Values split over two fields, by their common name."""
        return {j.name: j for j in joined_pairs(self.fields)}

    @cached_property
    def _stray(self) -> int:
        return sum(((1 << f.bits) - 1) << f.offset for f in self.fields if f.reserved)

    @cached_property
    def _scalars(self) -> dict[str, tuple[int, int, int, int]]:
        """Rows of plain numbers (limits, mask, offset), so that build looks nothing up."""
        return {f.name: (*f.limits, (1 << f.width) - 1, f.offset) for f in self.fields if f.count is None}

    def _at(self, name: str) -> str:
        return f"{self.struct_name}.{name}"

    def __repr__(self) -> str:
        return f"<CStruct {self.family}.{self.struct_name}, {self.size} bytes>"

    @property
    def named_fields(self) -> tuple[Field, ...]:
        """The fields that are not reserved."""
        return tuple(f for f in self.fields if not f.reserved)

    def has_stray_bits(self, data: bytes) -> bool:
        """Whether a reserved bit of a whole record is not 0."""
        return bool(int.from_bytes(data, "little") & self._stray)

    # -- construct ------------------------------------------------------------------------------

    def _parse(self, stream: IO[bytes], context: object, path: str) -> construct.Container[Any]:  # noqa: ARG002 - construct's signature
        return self._values(construct.stream_read(stream, self.size, path))

    def _build(self, obj: Mapping[str, Any] | None, stream: IO[bytes], context: object, path: str) -> Any:  # noqa: ANN401, ARG002 - construct's signature
        construct.stream_write(stream, self._bytes({} if obj is None else obj), self.size, path)
        return obj

    def _sizeof(self, context: object, path: str) -> int:  # noqa: ARG002 - construct's signature
        return self.size

    def parse(self, data: Buffer, **contextkw: object) -> construct.Container[Any]:  # noqa: ARG002 - construct's signature
        """All fields of the first `size` bytes: ints, lists for arrays, reserved fields included.

        Raises:
            FormatError: fewer than `size` bytes (id `format.size`).
        """
        if type(data) is bytes and len(data) == self.size:
            return self._values(data)
        view = flat(data)
        if len(view) < self.size:
            what = f"needs {self.size} bytes, got {len(view)}"
            raise FormatError(what, id="format.size", where=self.struct_name, offset=len(view))
        return self._values(bytes(view[: self.size]))

    def build(self, obj: Mapping[str, Any] | None = None, **contextkw: object) -> bytes:  # noqa: ARG002 - construct's signature
        """The bytes of a record: absent fields are 0, a joined name stands for its two halves.

        Raises:
            FormatError: unknown name (id `format.unknown-field`), a value that does not fit or is not an
                integer (`format.range`), a wrong number of elements (`format.count`).
        """
        return self._bytes({} if obj is None else obj)

    def parse_stream(self, stream: IO[bytes], **contextkw: object) -> construct.Container[Any]:
        """As `parse`, from a stream; a short stream is `FormatError`."""
        try:
            return super().parse_stream(stream, **contextkw)
        except construct.StreamError as error:
            raise FormatError("the stream ends early", id="format.size", where=self.struct_name) from error

    # -- values ---------------------------------------------------------------------------------

    @cached_property
    def _parser(self) -> Parser:
        return Parser(self.fields, self.size)

    def _values(self, data: bytes) -> construct.Container[Any]:
        parser = self._parser
        return construct.Container(zip(parser.names, parser.values(data), strict=True))

    def _bytes(self, obj: Mapping[str, Any]) -> bytes:
        if not isinstance(obj, Mapping):
            what = f"a mapping of field names is needed, got {type(obj).__name__}"
            raise FormatError(what, id="format.type", where=self.struct_name)
        whole = 0
        for name, value in obj.items():
            scalar = self._scalars.get(name)
            if scalar is not None and type(value) is int and scalar[0] <= value <= scalar[1]:
                whole |= (value & scalar[2]) << scalar[3]
            elif name != "_io":  # construct leaves its stream in containers
                whole |= self._checked_bits(name, value, obj)
        return whole.to_bytes(self.size, "little")

    def _checked_bits(self, name: str, value: object, obj: Mapping[str, Any]) -> int:
        """Bits of a joined value, an array, an integer of another type; or the error that names the field."""
        pair = self.joined.get(name)
        if pair is None:
            return self._field_bits(self._known(name), value)
        if pair.low.name in obj or pair.high.name in obj:
            raise FormatError(
                f"is given beside {pair.low.name} or {pair.high.name}",
                id="format.unknown-field",
                where=self._at(name),
                remedy="give the joined value or the halves",
            )
        whole = _integer(value, pair, self._at(name))
        low = whole & ((1 << pair.low.width) - 1)
        return low << pair.low.offset | whole >> pair.low.width << pair.high.offset

    def _known(self, name: str) -> Field:
        if name not in self.by_name:
            raise FormatError(
                "there is no such field",
                id="format.unknown-field",
                where=self._at(str(name)),
                remedy=f"fields: {', '.join(f.name for f in self.named_fields)}",
            )
        return self.by_name[name]

    def _field_bits(self, f: Field, value: object) -> int:
        where = self._at(f.name)
        mask = (1 << f.width) - 1
        if f.count is None:
            return (_integer(value, f, where) & mask) << f.offset
        if isinstance(value, str | Mapping) or not hasattr(value, "__len__") or not hasattr(value, "__getitem__"):
            raise FormatError(f"needs a list of {f.count} integers", id="format.count", where=where)
        if len(value) != f.count:
            raise FormatError(f"needs {f.count} elements, got {len(value)}", id="format.count", where=where)
        cells = (_integer(value[k], f, f"{where}[{k}]") & mask for k in range(f.count))
        return sum(x << (f.offset + k * f.width) for k, x in enumerate(cells))

    def join(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Named values for a reader: halves replaced by their joined value, reserved fields left out."""
        shown: dict[str, Any] = {}
        for name, low, high, width in self._shown:
            shown[name] = values[low] | values[high] << width if high else values[low]
        return shown

    @cached_property
    def _shown(self) -> tuple[tuple[str, str, str, int], ...]:
        """What a reader sees: name, field or low half, high half or nothing, bits of the low half."""
        halves = {
            f.name: (p.name, p.low.name, p.high.name, p.low.width)
            for p in self.joined.values()
            for f in (p.low, p.high)
        }
        rows = (halves.get(f.name, (f.name, f.name, "", 0)) for f in self.named_fields)
        return tuple(dict.fromkeys(rows))

    # -- fast paths -----------------------------------------------------------------------------

    def view(self, buffer: Buffer) -> View:
        """A ring of these records as numpy columns; see :class:`formats.view.View`."""
        from formats.view import View  # noqa: PLC0415 - numpy is loaded only by those who use columns

        return View(self, buffer)

    def encode_columns(self, columns: Mapping[str, npt.ArrayLike], count: int) -> npt.NDArray[np.uint8]:
        """Many records at once: the inverse of :meth:`view`.

        Args:
            columns: by field or joined name, integers of shape (count,), (count, elements) for an array
                field, or a scalar for all records; fields that are not named are 0.
            count: number of records.

        Returns:
            The bytes, shape (count, size), uint8; `.tobytes()` gives them in one piece.

        Raises:
            FormatError: unknown name (id `format.unknown-field`), a value that does not fit or is not an
                integer (`format.range`), a column of another shape (`format.count`), a negative count
                (`format.index`).
        """
        from formats.columns import encode_columns  # noqa: PLC0415 - numpy is loaded only by those who use columns

        return encode_columns(self, columns, count)

    def field(self, name: str) -> FieldAccess:
        """Read and patch one field (or joined value) in place.

        Raises:
            FormatError: no such field (id `format.unknown-field`).
        """
        found = self._accessors.get(name)
        if found is None:
            found = FieldAccess(self, self.joined.get(name) or self._known(name))
            self._accessors[name] = found
        return found

    @cached_property
    def _accessors(self) -> dict[str, FieldAccess]:
        return {}

    @cached_property
    def codec(self) -> Codec:
        """Generated scalar parse and build of the named fields; see :class:`formats.codec.Codec`."""
        return Codec(self)


def _integer(value: object, field: Field | Joined, where: str) -> int:
    low, high = field.limits
    try:
        number = operator.index(value)  # type: ignore[arg-type]  # anything else raises TypeError
    except TypeError:
        raise FormatError(f"{value!r} is not an integer", id="format.range", where=where) from None
    if not low <= number <= high:
        raise FormatError(f"{number} does not fit, {low} to {high} do", id="format.range", where=where)
    return number


def define(
    family: str,
    struct_name: str,
    size: int,
    *tables: str,
    note: str = "",
    sqe_type: int | None = None,
    match: Mapping[str, tuple[int, ...]] | None = None,
    meanings: Mapping[str, str] | None = None,
    enums: Mapping[str, str] | None = None,
) -> CStruct:
    """A struct from its text table (:mod:`formats.fields`), with meanings, units and enums filled in.

    The meaning of a field is the one in the table, else in `meanings`, else that of
    :mod:`formats.meanings`, else `not documented`; `enums` names tables of :mod:`formats.enums`
    (an empty name for none). The table is read when the struct is first used or added to a registry; if it is
    wrong or not `size` bytes long, that raises FormatError (id `format.table`).
    """
    own, named = meanings or {}, enums or {}

    def details(name: str, written: str) -> tuple[str, str, str]:
        meaning = written or own.get(name) or MEANINGS.get(name, "not documented")
        return meaning, UNITS.get(name, ""), named[name] if name in named else enum_of(family, name)

    def table() -> tuple[Field, ...]:
        return layout(*tables, details=details)

    return CStruct(family, struct_name, table, note=note, sqe_type=sqe_type, match=match, size=size)
