"""Entries as compact text (hex beside the fields that are set) and as JSON records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from tools.dump import follow
from tools.dump.items import Entry, Gap, entries
from tools.dump.kinds import facts, field_texts, no_name
from tools.show import cut, safe

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from formats.follow import Followed
    from tools.dump.items import Item
    from tools.dump.kinds import Namer

_ROW = 16
_HEX = 2 * _ROW + 3
_GAP = "  "
_NARROWEST = 24

__all__ = ["Entry", "Gap", "Names", "as_text", "entries", "entry_lines", "gap_record", "head_of", "record"]


def follows_nothing(entry: Entry) -> Iterable[Followed]:
    """What an entry leads to when there is no device memory to look into."""
    del entry
    return ()


@dataclass(frozen=True)
class Names:
    """What is known beside the bytes: names of addresses and of device offsets, and what an entry leads to."""

    address: Namer = no_name
    offset: Namer = no_name
    follow: Callable[[Entry], Iterable[Followed]] = follows_nothing


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


def gap_record(gap: Gap, size: int) -> dict[str, object]:
    """Entries of zeros, `size` bytes each, as one JSON object."""
    places = {"section": "empty", "stream_id": gap.stream_id, "slot": gap.first, "count": gap.count}
    return {**places, "bytes": gap.count * size}


def head_of(entry: Entry) -> str:
    """Where an entry is and what it is, for example `stream 3 slot 0 task 9 kernel`; unknown ids are left out."""
    stream = "" if entry.stream_id is None else f"stream {entry.stream_id} "
    task = "" if entry.task_id is None else f"task {entry.task_id} "
    return f"{stream}slot {entry.slot} {task}{entry.kind.name}"


def gap_text(gap: Gap) -> str:
    """Entries of zeros as one line."""
    stream = "" if gap.stream_id is None else f"stream {gap.stream_id} "
    slots = f"slot {gap.first}" if gap.count == 1 else f"slots {gap.first} to {gap.last}"
    return f"{stream}{slots} empty, all bytes are 0"


def as_text(shown: Iterable[Item], limit: int | None, names: Names | None = None) -> Iterator[str]:
    """The compact lines of several entries; runs of empty ones become one line. `limit`: columns of a terminal."""
    gap: Gap | None = None
    for item in shown:
        empty = item if isinstance(item, Gap) else Gap(item.stream_id, item.slot, item.slot) if item.empty else None
        if empty:
            adjacent = gap is not None and gap.last + 1 == empty.first
            if gap and not adjacent:
                yield gap_text(gap)
            gap = Gap(gap.stream_id, gap.first, empty.last) if gap and adjacent else empty
            continue
        if gap:
            yield gap_text(gap)
            gap = None
        assert isinstance(item, Entry)
        yield from entry_lines(item, limit, names or Names())
    if gap:
        yield gap_text(gap)


def entry_lines(entry: Entry, limit: int | None, names: Names) -> Iterator[str]:
    """Header with the facts, rows of hex beside the fields that start there, a line per note, what it leads to."""
    told = [safe(text) for text in facts(entry.decoded, entry.kind, names.address, names.offset)]
    for first, line in enumerate(_flow([head_of(entry), *told], limit)):
        yield click.style(_GAP * 2 + line if first else line, bold=True)
    texts = list(field_texts(entry.decoded))
    size, digits = len(entry.raw), max(2, len(f"{len(entry.raw) - 1:x}"))
    for start in range(0, size, _ROW):
        yield from _row(entry.raw, start, digits, [text for at, text in texts if start <= at < start + _ROW], limit)
    for note in entry.decoded.notes:
        yield click.style(cut(f"{_GAP}! {note}", limit), fg="yellow")
    yield from behind(entry, limit, names, _GAP)


def behind(entry: Entry, limit: int | None, names: Names, indent: str) -> Iterator[str]:
    """The program in a condition entry, and what an entry points at: lines that begin with `>`."""
    for line in follow.program(entry.decoded):
        yield cut(f"{indent}> {line}", limit)
    for found in names.follow(entry):
        yield from (cut(f"{indent}> {safe(line)}", limit) for line in follow.lines(found, entry.decoded.struct.family))


def _row(data: bytes, start: int, digits: int, texts: list[str], limit: int | None) -> Iterator[str]:
    left = f"{_GAP}{start:0{digits}x}{_GAP}{data[start : start + _ROW].hex(' ', -4):<{_HEX}}{_GAP}"
    room = None if limit is None else max(limit - len(left), _NARROWEST)
    for first, line in enumerate(_flow(texts, room)):
        yield ((" " * len(left) if first else left) + line).rstrip()


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
