"""Entries and whole blobs as editable text; reading it back gives the same bytes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from formats import render_value
from formats.blob.frame import checksum
from formats.blob.layout import SECTIONS, BlobHeader, SectionEntry
from formats.enums import name_of
from tools.dump.items import Gap
from tools.dump.sqes import head_of
from tools.show import safe

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from formats import CStruct, Field
    from formats.blob import SectionInfo
    from tools.dump.items import Entry, Item

_PER_LINE = 32
_COMMENT = 44
_MOST_DECIMAL = 1 << 16


def lines(items: Iterable[Item], family: str, size: int) -> Iterator[str]:
    """The text of entries of `size` bytes; runs of zeros become one `.zero`."""
    yield f".family {family}"
    for item in items:
        if isinstance(item, Gap):
            yield f".zero {item.count * size}  # slots {item.first} to {item.last}"
        else:
            yield from _entry(item)


def _entry(entry: Entry) -> Iterator[str]:
    struct = entry.decoded.struct
    if struct.family == "raw":
        yield from byte_lines(entry.raw, f"slot {entry.slot}: {entry.kind.name}")
    else:
        yield from record_lines(struct, entry.decoded.values, head_of(entry), entry.decoded.notes)
        yield from _filled(memoryview(entry.raw), struct.size, len(entry.raw))


def record_lines(
    struct: CStruct, values: Mapping[str, int | list[int]], comment: str, notes: Iterable[str] = ()
) -> Iterator[str]:
    """One record: a field per line, those that are 0 left out, what the value means as a comment."""
    yield f"{struct.struct_name} {{  # {safe(comment)}"
    halves = {f.name: pair for pair in struct.joined.values() for f in (pair.low, pair.high)}
    for f in struct.fields:
        pair, value = halves.get(f.name), values[f.name]
        if isinstance(value, list):
            yield from (f"    {f.name}[{k}] = {_number(f, x)}" for k, x in enumerate(value) if x)
        elif pair is None:
            if value:
                yield _commented(f"    {f.name} = {_number(f, value)}", _meaning(f, value))
        elif f is pair.low:
            whole = value | int(values[pair.high.name]) << pair.low.width  # type: ignore[arg-type]  # halves are scalars
            if whole:
                yield f"    {pair.name} = {whole:#x}"
    yield from (f"    # {safe(note)}" for note in notes)
    yield "}"


def _number(f: Field, value: int) -> str:
    plain = value < _MOST_DECIMAL and not f.reserved and f.unit != "address"
    return str(value) if plain or value < 10 else f"{value:#x}"


def _meaning(f: Field, value: int) -> str:
    if f.reserved:
        return "reserved"
    text = name_of(f.enum, value) if f.enum else render_value(f, value)
    return "" if text in {str(value), f"{value:#x}"} else text


def _commented(text: str, comment: str) -> str:
    return f"{text:<{_COMMENT}}# {comment}" if comment else text


def byte_lines(raw: bytes | memoryview[int], comment: str = "") -> Iterator[str]:
    """Bytes as they are, 32 to a line."""
    for at in range(0, len(raw), _PER_LINE):
        said = f"  # {safe(comment)}" if comment and not at else ""
        yield f".bytes {bytes(raw[at : at + _PER_LINE]).hex(' ', -4)}{said}"


# ---- blobs -------------------------------------------------------------------------------------------------------


def blob_lines(data: memoryview[int], sections: Iterable[SectionInfo]) -> Iterator[str]:
    """A whole blob whose frame is in order: header, section table, every record, every gap."""
    found = tuple(sections)
    header = dict(BlobHeader.parse(data))
    right = header["crc32"] == checksum(data)
    if right:
        header["crc32"] = 0
    yield ".family blob"
    yield from record_lines(BlobHeader, header, "header; the checksum is computed" if right else "header")
    at = BlobHeader.size
    table = int(header["section_table"])
    yield from _filled(data, at, table)
    for k, info in enumerate(found):
        row = SectionEntry.parse(data[table + k * SectionEntry.size :])
        yield from record_lines(SectionEntry, row, f"section {info.name}")
    at = table + len(found) * SectionEntry.size
    for info in found:
        yield from _filled(data, at, info.offset)
        yield from _section(data, info)
        at = info.offset + info.size
    yield from _filled(data, at, len(data))
    if right:
        yield ".checksum"


def _filled(data: memoryview[int], start: int, end: int) -> Iterator[str]:
    """The bytes between two parts."""
    if start < end:
        part = bytes(data[start:end])
        yield from (byte_lines(part) if any(part) else iter([f".zero {end - start}"]))


def _section(data: memoryview[int], info: SectionInfo) -> Iterator[str]:
    layout = next(s.record for s in SECTIONS if s.name == info.name)
    part = data[info.offset : info.offset + info.size]
    if layout is not None:
        for k in range(info.count):
            row = layout.parse(part[k * layout.size :])
            yield from record_lines(layout, row, f"{info.name} {k}")
    elif info.name == "text":
        yield from _texts(bytes(part))
    else:
        yield from byte_lines(part, info.name)


def _texts(raw: bytes) -> Iterator[str]:
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        yield from byte_lines(raw, "text")
        return
    for at in range(0, len(text), _COMMENT * 2):
        yield f".text {json.dumps(text[at : at + _COMMENT * 2])}"
