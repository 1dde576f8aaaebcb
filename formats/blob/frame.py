"""The frame of a task blob: header, section table, checksum. What the sections mean is not known here."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from formats.blob.layout import ALIGNMENT, MAGIC, SECTIONS, VERSION, BlobHeader, Section, SectionEntry
from formats.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_CRC = BlobHeader.by_name["crc32"]
_CRC_AT = slice(_CRC.offset // 8, _CRC.end // 8)

SUPPORTED: Mapping[int, tuple[Section, ...]] = {VERSION: SECTIONS}
"""Sections by layout version: ours, and the previous one when there is one."""


@dataclass(frozen=True)
class SectionInfo:
    """Where a section lies: file offset, bytes, number of records."""

    name: str
    offset: int
    size: int
    count: int


@dataclass(frozen=True)
class Frame:
    """A checked frame: header values and sections by name."""

    header: Mapping[str, Any]
    sections: Mapping[str, SectionInfo]


def aligned(n: int, to: int) -> int:
    """The smallest multiple of `to` that is at least `n`."""
    return -(-n // to) * to


def checksum(data: memoryview[int]) -> int:
    """CRC-32 of the whole file with the CRC field taken as 0."""
    crc = zlib.crc32(data[: _CRC_AT.start])
    crc = zlib.crc32(bytes(_CRC_AT.stop - _CRC_AT.start), crc)
    return zlib.crc32(data[_CRC_AT.stop :], crc)


def pack(header: Mapping[str, int], bodies: Mapping[str, bytes | bytearray]) -> bytes:
    """The file: header, section table, sections at 8-byte boundaries, checksum."""
    table_at = BlobHeader.size
    file = bytearray(table_at + SectionEntry.size * len(SECTIONS))
    for kind, section in enumerate(SECTIONS):
        body = bodies[section.name]
        entry = {"kind": kind, "record_size": section.record_size, "offset": len(file)}
        entry |= {"size": len(body), "count": len(body) // section.record_size}
        at = table_at + SectionEntry.size * kind
        file[at : at + SectionEntry.size] = SectionEntry.build(entry)
        file += body
        file += bytes(aligned(len(file), ALIGNMENT) - len(file))
    fixed = {"magic": MAGIC, "version": VERSION, "header_size": BlobHeader.size, "section_count": len(SECTIONS)}
    fixed |= {"file_size": len(file), "section_table": table_at}
    file[:table_at] = BlobHeader.build({**header, **fixed})
    file[_CRC_AT] = checksum(memoryview(file)).to_bytes(_CRC.width // 8, "little")
    return bytes(file)


_REMEDIES = MappingProxyType({
    "blob.truncated": "copy the file again, or compile the graph again",
    "blob.section": "compile the graph again; `sqemu dump` shows what is whole",
})  # fmt: skip


def _bad(id: str, what: str, where: str, offset: int, remedy: str = "") -> FormatError:  # noqa: A002 - as in FormatError
    return FormatError(what, id=id, where=where, offset=offset, remedy=remedy or _REMEDIES.get(id, ""))


def read(data: memoryview[int], *, check_crc: bool = True) -> Frame:
    """Header and sections of a blob, all places checked against the bytes at hand.

    Raises:
        FormatError: `blob.magic`, `blob.version`, `blob.truncated`, `blob.crc` or `blob.section`.
    """
    header = _read_header(data)
    if check_crc and header["crc32"] != checksum(data):
        raise _bad(
            "blob.crc",
            f"the checksum is {checksum(data):#010x}, the header says {header['crc32']:#010x}",
            "header",
            _CRC_AT.start,
            "the file is damaged; write it again",
        )
    expected = SUPPORTED[header["version"]]
    return Frame(header, {s.name: s for s in _read_table(data, header, expected)})


def _read_header(data: memoryview[int]) -> Mapping[str, Any]:
    have = len(data)
    magic = data[: BlobHeader.by_name["magic"].width // 8]
    if bytes(magic) != MAGIC.to_bytes(8, "little")[: len(magic)] or not have:
        raise _bad("blob.magic", "this is not a task blob", "header", 0, "a blob starts with SQEMUBLB")
    if have < BlobHeader.size:
        raise _bad("blob.truncated", f"{have} bytes are too few for a header of {BlobHeader.size}", "header", have)
    header = BlobHeader.parse(bytes(data[: BlobHeader.size]))
    if header["version"] not in SUPPORTED:
        readable = " and ".join(str(v) for v in SUPPORTED)
        raise _bad(
            "blob.version",
            f"version {header['version']} is not readable",
            "header",
            8,
            f"this release reads version {readable}; compile the graph again",
        )
    if header["file_size"] > have:
        raise _bad("blob.truncated", f"the file has {have} of {header['file_size']} bytes", "header", have)
    if header["file_size"] < have:
        raise _bad("blob.section", f"{have - header['file_size']} bytes follow the blob", "header", header["file_size"])
    return header


def _read_table(
    data: memoryview[int], header: Mapping[str, Any], expected: tuple[Section, ...]
) -> Iterator[SectionInfo]:
    start, count = header["section_table"], header["section_count"]
    end = start + SectionEntry.size * count
    if header["header_size"] != BlobHeader.size or start < BlobHeader.size or end > len(data):
        raise _bad("blob.section", "the section table is outside the file", "header", 24)
    if count != len(expected):
        raise _bad("blob.section", f"{count} sections, {len(expected)} belong to this version", "header", 12)
    for kind, section in enumerate(expected):
        at = start + SectionEntry.size * kind
        entry = SectionEntry.parse(bytes(data[at : at + SectionEntry.size]))
        reason = _entry_fault(entry, kind, section, end, len(data))
        if reason:
            raise _bad("blob.section", reason, f"section table, entry {kind} ({section.name})", at)
        end = entry["offset"] + entry["size"]
        yield SectionInfo(section.name, entry["offset"], entry["size"], entry["count"])


def _entry_fault(entry: Mapping[str, Any], kind: int, section: Section, free: int, have: int) -> str:
    """What is wrong with a table entry; `free` is the first byte that no earlier part of the file holds."""
    offset, size, count, record_size = (entry[name] for name in ("offset", "size", "count", "record_size"))
    tests = (
        (entry["kind"] != kind, f"kind {entry['kind']} stands in the place of {kind}"),
        (record_size != section.record_size, f"records have {section.record_size} bytes, not {record_size}"),
        (size != count * section.record_size, f"{count} records do not make {size} bytes"),
        (offset % ALIGNMENT, f"offset {offset} is not a multiple of {ALIGNMENT}"),
        (offset < free, f"offset {offset} overlaps what ends at {free}"),
        (offset + size > have, f"{size} bytes from {offset} exceed the file of {have}"),
    )
    return next((text for failed, text in tests if failed), "")
