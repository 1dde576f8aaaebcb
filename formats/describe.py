"""What a table says, for readers: documentation rows, JSON schema, values as text."""

from __future__ import annotations

import struct as _struct
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from formats.enums import ENUMS, FLAGS, name_of
from formats.fields import Field, Joined

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from formats.cstruct import CStruct

_FLOATS = {16: "<e", 32: "<f", 64: "<d"}


@dataclass(frozen=True)
class Row:
    """One line of the documentation table of a struct.

    Attributes:
        byte: byte of the first bit.
        place: words and bits, for example `w2[15:12]`.
        width: `3`, or `12×32` for an array.
        name: field name, `–` for reserved bits.
        enum, unit, meaning: as in :class:`formats.fields.Field`.
        joined: name of the joined value it is a half of, or empty.
    """

    byte: int
    place: str
    width: str
    name: str
    enum: str
    unit: str
    meaning: str
    joined: str = ""

    def as_json(self) -> dict[str, int | str]:
        """The row as one JSON object."""
        return asdict(self)


def describe(struct: CStruct) -> tuple[Row, ...]:
    """The documentation table of a struct, one row per field in memory order."""
    joined = {half.name: pair.name for pair in struct.joined.values() for half in (pair.low, pair.high)}
    return tuple(
        Row(
            byte=f.offset // 8,
            place=f.place,
            width=str(f.width) if f.count is None else f"{f.count}×{f.width}",
            name="–" if f.reserved else f.name,
            enum=f.enum,
            unit=f.unit,
            meaning=f.meaning,
            joined=joined.get(f.name, ""),
        )
        for f in struct.fields
    )


def json_schema(struct: CStruct) -> dict[str, Any]:
    """JSON schema (draft 2020-12) of the mapping that `struct.build` takes: every field optional, no other keys."""
    properties = {f.name: _property(f) for f in struct.fields}
    properties |= {pair.name: _property(pair) for pair in struct.joined.values()}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"{struct.family}.{struct.struct_name}",
        "description": struct.note or f"{struct.size} bytes",
        "type": "object",
        "additionalProperties": False,
        "properties": properties,
    }


def _property(f: Field | Joined) -> dict[str, Any]:
    low, high = f.limits
    number: dict[str, Any] = {"type": "integer", "minimum": low, "maximum": high}
    if isinstance(f, Joined) or f.count is None:
        return {**number, "description": f.meaning}
    return {"type": "array", "items": number, "minItems": f.count, "maxItems": f.count, "description": f.meaning}


def render_value(field: Field | Joined, value: Any) -> str:  # noqa: ANN401 - an int or a list of ints
    """A value as text: `3 (PLACE_HOLDER)`, `0x12c0c0200000`, `0.111803`, `8 blocks`, `[1, 2]`.

    Names come from the field's table (bits are joined by `|`), floats from their bit pattern,
    addresses and joined values in hexadecimal.
    """
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_scalar(field, x) for x in value) + "]"
    return _scalar(field, value)


def _scalar(field: Field | Joined, value: int) -> str:
    if isinstance(field, Joined):
        return f"{value:#x}"
    if field.kind == "float" and field.width in _FLOATS:
        return f"{_struct.unpack(_FLOATS[field.width], value.to_bytes(field.width // 8, 'little'))[0]:.6g}"
    if field.enum in ENUMS:
        name = name_of(field.enum, value) or ("" if field.enum in FLAGS else "unknown")
        return f"{value} ({name})" if name else str(value)
    if field.unit == "address":
        return f"{value:#x}"
    return f"{value} {field.unit}" if field.unit else str(value)


def render(struct: CStruct, values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """`(name, text)` of every named value of a record; the halves of joined values are shown as one."""
    for name, value in struct.join(values).items():
        yield name, render_value(struct.joined.get(name) or struct.by_name[name], value)
