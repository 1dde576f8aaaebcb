"""What stands behind an entry: the program in a condition entry, and what entries point at in device memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core.errors import DeviceFault
from formats import FormatError, render_value
from formats.cond_isa import disassemble, inline_program, listing
from formats.follow import follow as follow_pointers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emu_core.device import Device
    from formats import Decoded
    from formats.follow import Followed
    from tools.dump.items import Entry

MOST = 64
"""Records behind one pointer that are shown."""

_LIST, _LENGTH = "successor_list", "successor_num"
_OFFSETS = "desc_buf_offset"
"""Entries with this field give device offsets, the others addresses."""


def program(decoded: Decoded) -> Iterator[str]:
    """The disassembly of a condition entry, line by line; nothing for other kinds."""
    if not is_condition(decoded):
        return
    found = inline_program(decoded)
    used = max((k + 1 for k, one in enumerate(found) if any(one.words)), default=0)
    yield from listing(found[:used])
    if used < len(found):
        yield f"{found[used].index:4}  {len(found) - used} more words, all 0"


def is_condition(decoded: Decoded) -> bool:
    """Whether an entry carries instructions."""
    return decoded.struct.size == 64 and "csc" in decoded.struct.by_name


def follow(device: Device, entry: Entry) -> tuple[Followed, ...]:
    """What `entry` points at in the memory of `device`; nothing for kinds that point at nothing known."""
    if entry.unit:
        return ()
    memory = device.memory
    offsets = _OFFSETS in entry.decoded.struct.by_name

    def read(address: int, size: int) -> bytes | None:
        try:
            return memory.read(memory.address_of_offset(address) if offsets else address, size)
        except DeviceFault:
            return None

    return follow_pointers(entry.decoded, read, registry=device.host.registry, limit=MOST)


def lines(found: Followed, family: str) -> Iterator[str]:
    """A record behind an entry as text: what it is, where it lies, the values that are set; or its instructions."""
    where = f"{found.role} at {found.address:#x}"
    if found.record is None:
        yield f"{where}: {found.note}"
        return
    if found.role == "program":
        yield where
        yield from _instructions(found.record.raw(), family)
    else:
        yield f"{where}: {'  '.join(_values(found.record)) or 'all 0'}"
    yield from (f"  ! {note}" for note in (*found.record.notes, *([found.note] if found.note else ())))


def _instructions(raw: bytes, family: str) -> Iterator[str]:
    try:
        yield from listing(disassemble(raw, family))
    except FormatError as error:
        yield f"{raw.hex(' ', -4)}  ({error.what})"


def _values(decoded: Decoded) -> Iterator[str]:
    struct = decoded.struct
    for name, value in struct.join(decoded.values).items():
        if isinstance(value, list):
            kept = value[: int(decoded.values[_LENGTH])] if name == _LIST else value
            if any(kept):
                yield f"{name}={kept}"
        elif value:
            yield f"{name}={render_value(struct.joined.get(name) or struct.by_name[name], value)}"


def record(found: Followed, entry: Entry) -> dict[str, object]:
    """A record behind `entry` as a JSON object."""
    told: dict[str, object] = {
        "section": "follows", "stream_id": entry.stream_id, "slot": entry.slot, "role": found.role,
        "address": found.address, "note": found.note,
    }  # fmt: skip
    if found.record is None:
        return {**told, "struct": None, "fields": None}
    struct = found.record.struct
    return {**told, "struct": struct.struct_name, "fields": struct.join(found.record.values)}
