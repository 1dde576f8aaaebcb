"""SQEs as text (hex beside fields) and as JSON records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from formats import SQE_SIZE
from tools.dump.kinds import facts, field_texts, kind_of, no_name
from tools.show import cut, safe

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from formats import Decoded, Registry
    from tools.dump.kinds import Kind, Namer

_ROW = 16
_HEX = 2 * _ROW + 3
_GAP = "  "
_LEFT = len(_GAP) + 2 + len(_GAP) + _HEX + len(_GAP)
_NARROWEST = 24
_SYNC = 0x8000


@dataclass(frozen=True)
class Entry:
    """One SQE: where it is, its bytes, what they were taken for."""

    stream_id: int
    slot: int
    raw: bytes
    decoded: Decoded
    kind: Kind

    @property
    def offset(self) -> int:
        """Byte offset in its ring or file."""
        return self.slot * SQE_SIZE

    @property
    def task_id(self) -> int:
        """Task id by the entry's header."""
        return int(self.decoded.values["task_id"])

    @property
    def empty(self) -> bool:
        """Whether all bytes are 0."""
        return not any(self.raw)


@dataclass(frozen=True)
class Names:
    """Names of addresses and of device offsets; empty when nothing is known."""

    address: Namer = no_name
    offset: Namer = no_name


def entries(registry: Registry, family: str, ring: bytes, stream_id: int | None = None) -> Iterator[Entry]:
    """The whole entries of a ring. Without `stream_id` each entry's own header says the stream."""
    for slot in range(len(ring) // SQE_SIZE):
        raw = ring[slot * SQE_SIZE : (slot + 1) * SQE_SIZE]
        decoded = registry.decode(family, raw, offset=slot * SQE_SIZE)
        named = decoded.values.get("rt_stream_id", 0) & ~_SYNC  # v200 headers name no stream
        yield Entry(named if stream_id is None else stream_id, slot, raw, decoded, kind_of(decoded))


def record(entry: Entry) -> dict[str, object]:
    """One entry as a JSON object; `fields` holds the named fields and the values joined of two halves."""
    struct, values = entry.decoded.struct, entry.decoded.values
    named = {f.name: values[f.name] for f in struct.named_fields}
    return {
        "section": "sqes",
        "stream_id": entry.stream_id,
        "slot": entry.slot,
        "task_id": entry.task_id,
        "kind": entry.kind.name,
        "struct": struct.struct_name,
        "fields": named | {k: v for k, v in struct.join(values).items() if k in struct.joined},
        "hex": entry.raw.hex(),
        "offset": entry.offset,
        "guessed": entry.decoded.guessed,
        "notes": list(entry.decoded.notes),
    }


def as_text(shown: Iterable[Entry], limit: int | None, names: Names | None = None) -> Iterator[str]:
    """The lines of several entries; runs of empty ones become one line. `limit`: columns of a terminal."""
    empty: list[Entry] = []
    for entry in shown:
        if entry.empty:
            empty.append(entry)
            continue
        yield from _skipped(empty)
        empty.clear()
        yield from entry_lines(entry, limit, names or Names())
    yield from _skipped(empty)


def _skipped(empty: list[Entry]) -> Iterator[str]:
    if empty:
        first, last = empty[0], empty[-1]
        slots = f"slot {first.slot}" if first is last else f"slots {first.slot} to {last.slot}"
        yield f"stream {first.stream_id} {slots} empty, all bytes are 0"


def entry_lines(entry: Entry, limit: int | None, names: Names) -> Iterator[str]:
    """Header with the facts, four rows of hex beside the fields that start there, and a line per note."""
    head = f"stream {entry.stream_id} slot {entry.slot} task {entry.task_id} {entry.kind.name}"
    told = [safe(text) for text in facts(entry.decoded, entry.kind, names.address, names.offset)]
    for first, line in enumerate(_flow([head, *told], limit)):
        yield click.style(_GAP * 2 + line if first else line, bold=True)
    texts = list(field_texts(entry.decoded))
    for start in range(0, SQE_SIZE, _ROW):
        yield from _row(entry, start, [text for at, text in texts if start <= at < start + _ROW], limit)
    for note in entry.decoded.notes:
        yield click.style(cut(f"{_GAP}! {note}", limit), fg="yellow")


def _row(entry: Entry, start: int, texts: list[str], limit: int | None) -> Iterator[str]:
    raw = entry.raw[start : start + _ROW]
    left = f"{_GAP}{start:02x}{_GAP}{raw.hex(' ', 4)}{_GAP}"
    room = None if limit is None else max(limit - _LEFT, _NARROWEST)
    for first, line in enumerate(_flow(texts, room)):
        yield ((" " * _LEFT if first else left) + line).rstrip()


def _flow(texts: list[str], room: int | None) -> list[str]:
    """`texts` with gaps between, in lines of at most `room` columns where that is possible."""
    found = [""]
    for text in texts:
        joined = found[-1] + _GAP + text if found[-1] else text
        if room is None or not found[-1] or len(joined) <= room:
            found[-1] = joined
        else:
            found.append(text)
    return found
