"""Entries as C: designated initialisers of the structs that `sqemu header` writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tools.dump.items import Gap

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from formats import Field
    from tools.dump.items import Entry, Item


def lines(items: Iterable[Item], family: str) -> Iterator[str]:
    """One initialiser per entry, named after its slot; fields that are 0 are left out, as C leaves them 0.

    Stray bits of long reserved runs are bytes in the header, so they are given as bytes here.
    """
    yield f"/* needs the header of: sqemu header --family {family} */"
    for item in items:
        if isinstance(item, Gap):
            yield f"/* slots {item.first} to {item.last}: all bytes are 0 */"
        else:
            yield from _entry(item)


def _entry(entry: Entry) -> Iterator[str]:
    struct, values = entry.decoded.struct, entry.decoded.values
    if struct.family == "raw":
        yield f"static const unsigned char raw_{entry.slot}[{len(entry.raw)}] = {{{_bytes(entry.raw)}}};"
        return
    set_fields = [f for f in struct.fields if _any(values[f.name])]
    where = f"slot {entry.slot}" + ("" if entry.stream_id is None else f", stream {entry.stream_id}")
    task = "" if entry.task_id is None else f", task {entry.task_id}"
    yield f"static const {struct.struct_name} {_variable(entry)} = {{ /* {where}{task} */"
    for f in set_fields:
        yield f"    .{f.name} = {_value(f, values[f.name], entry.raw)},"
    yield "};"


def _variable(entry: Entry) -> str:
    name = entry.decoded.struct.struct_name
    stream = "" if entry.stream_id is None else f"_s{entry.stream_id}"
    return f"{name[0].lower()}{name[1:]}{stream}_{entry.slot}"


def _value(f: Field, value: int | list[int], raw: bytes) -> str:
    if f.reserved and f.bits > 64 and not f.bits % 8 and not f.offset % 8:
        return f"{{{_bytes(raw[f.offset // 8 : f.end // 8])}}}"
    if isinstance(value, list):
        return f"{{{', '.join(_number(x, f) for x in value)}}}"
    return _number(value, f)


def _number(value: int, f: Field) -> str:
    if f.kind == "float":
        return float(_as_float(value, f.width)).hex() if _finite(value, f.width) else _nan(value)
    if value < 0:
        return str(value) if value > -(1 << 63) else "(-9223372036854775807 - 1)"
    suffix = "u" if f.width <= 32 else "ull"
    return f"{value:#x}{suffix}" if value > 9 else str(value)


def _as_float(bits: int, width: int) -> float:
    import struct  # noqa: PLC0415 - floats are rare

    number: float = struct.unpack("<f" if width == 32 else "<d", bits.to_bytes(width // 8, "little"))[0]
    return number


def _finite(bits: int, width: int) -> bool:
    exponent = bits >> (23 if width == 32 else 52) & (0xFF if width == 32 else 0x7FF)
    return exponent != (0xFF if width == 32 else 0x7FF)


def _nan(bits: int) -> str:
    return f"0.0 /* bit pattern {bits:#x}, which has no C literal */"


def _bytes(raw: bytes) -> str:
    return ", ".join(f"{b:#04x}" for b in raw)


def _any(value: int | list[int]) -> bool:
    return any(value) if isinstance(value, list) else bool(value)
