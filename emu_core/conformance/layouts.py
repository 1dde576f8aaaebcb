"""Layouts of a plugin: bytes survive a round trip, each field keeps every bit, entries are told apart."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from formats import FormatError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emu_core.conformance.records import Subject
    from formats import CStruct, Registry

PATTERNS = 16
"""Buffers of bytes without a pattern that each layout is tried on, beside all zeros and all ones."""
SQE_BYTES = 64


def structs(subject: Subject) -> Iterator[list[str]]:
    """What is wrong with each layout."""
    for struct in subject.structs:
        yield [f"{struct.family}.{struct.struct_name}: {what}" for what in _wrong(struct, subject.host.registry)]


def buffers(size: int) -> Iterator[bytes]:
    """All zeros, all ones, and bytes without a pattern, the same each time."""
    yield bytes(size)
    yield b"\xff" * size
    for seed in range(PATTERNS):
        yield hashlib.shake_128(bytes([seed])).digest(size)


def _wrong(struct: CStruct, registry: Registry) -> Iterator[str]:
    for raw in buffers(struct.size):
        if struct.build(struct.parse(raw)) != raw:
            yield f"build(parse(b)) differs from b = {raw[:16].hex()}…"
            break
    for name, bits in _fields(struct):
        record, largest = bytearray(struct.size), (1 << bits) - 1
        field = struct.field(name)
        field.patch(record, 0, largest)
        if field.read(record) != largest or sum(map(int.bit_count, record)) != bits:
            yield f"field {name} does not keep {bits} bits"
    if struct.sqe_type is not None:
        yield from _recognised(struct, registry)


def _fields(struct: CStruct) -> list[tuple[str, int]]:
    """Names and widths of the fields that are one unsigned number."""
    return [(f.name, f.width) for f in struct.named_fields if f.count is None and f.width <= 64 and f.kind != "int"]


def _recognised(struct: CStruct, registry: Registry) -> Iterator[str]:
    """An entry with its type and the fields of `match` set must be taken for this layout."""
    try:
        found = registry.decode(struct.family, entry_of(struct))
    except FormatError as error:
        yield f"an entry of it cannot be decoded: {error}"
        return
    if found.struct.struct_name != struct.struct_name:
        yield f"an entry of it is taken for {found.struct.struct_name}; check sqe_type and match"


def entry_of(struct: CStruct) -> bytes:
    """64 bytes with nothing set but what tells the kind."""
    return struct.build({name: values[0] for name, values in struct.match.items()}).ljust(SQE_BYTES, b"\0")
