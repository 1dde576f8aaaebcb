"""One field per line: byte, hex, bits, name, value; set fields stand out, stray reserved bits are flagged."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from formats import render_value
from tools.dump.items import Gap
from tools.dump.kinds import facts
from tools.dump.sqes import Names, behind, gap_text, head_of
from tools.show import cut, safe

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from formats import CStruct, Field
    from tools.dump.items import Entry, Item

_WORD = 4
_PLACE = 15
_MARKS = {"set": "*", "stray": "!", "zero": " "}


def lines(items: Iterable[Item], limit: int | None, names: Names | None = None) -> Iterator[str]:
    """A block of lines per entry, an empty line behind each."""
    for item in items:
        if isinstance(item, Gap):
            yield gap_text(item)
        else:
            yield from _entry(item, limit, names or Names())
        yield ""


def _entry(entry: Entry, limit: int | None, names: Names) -> Iterator[str]:
    struct = entry.decoded.struct
    told = [safe(text) for text in facts(entry.decoded, entry.kind, names.address, names.offset)]
    head = "  ".join([f"{head_of(entry)} at {entry.offset:#x}", struct.struct_name, *told])
    yield click.style(cut(head, limit), bold=True)
    width = max((len(f.name) + (len(str(f.count)) + 2 if f.count else 0) for f in struct.fields), default=0)
    for place, name, text, state in _rows(struct, entry):
        left = f"{_MARKS[state]} {place.offset // 8:02x}  {_hex(entry.raw, place):<11}  {_bits(place):<{_PLACE}}"
        line = f"{left}  {name:<{width}}  {text}"
        yield _coloured(cut(line.rstrip(), limit), state)
    for note in entry.decoded.notes:
        yield click.style(cut(f"! {note}", limit), fg="yellow")
    yield from behind(entry, limit, names, "")


def _rows(struct: CStruct, entry: Entry) -> Iterator[tuple[Field, str, str, str]]:
    """(place, name, value, state) of every field; reserved bits only when they are set, arrays element by element."""
    joined = {pair.high.name: pair for pair in struct.joined.values()}
    halves = {half.name for pair in struct.joined.values() for half in (pair.low, pair.high)}
    for f in struct.fields:
        value = entry.decoded.values[f.name]
        if isinstance(value, list):
            if not f.reserved or any(value):
                yield from _elements(f, value)
            continue
        if f.reserved and not value:
            continue
        text = f"{value:#x}" if f.reserved or f.name in halves else render_value(f, value)
        yield f, f.name, text, _state(f, value)
        if f.name in joined:
            pair = joined[f.name]
            whole = entry.decoded.values[pair.low.name] | value << pair.low.width
            yield f, pair.name, render_value(pair, whole), _state(f, whole)


def _elements(f: Field, values: list[int]) -> Iterator[tuple[Field, str, str, str]]:
    """The elements that are set; one line for an array of zeros."""
    if not any(values):
        yield f, f"{f.name}[{f.count}]", "all 0", "zero"
    for k, x in enumerate(values):
        if x:
            one = replace(f, offset=f.offset + k * f.width, count=None)
            yield one, f"{f.name}[{k}]", f"{x:#x}", _state(f, x)


def _state(f: Field, value: int) -> str:
    if not value:
        return "zero"
    return "stray" if f.reserved else "set"


def _hex(raw: bytes, f: Field) -> str:
    """The bytes the field begins in: its own ones up to four, at least the whole byte."""
    first = f.offset // 8
    last = min((f.end + 7) // 8, first + _WORD)
    return raw[first:last].hex(" ")


def _bits(f: Field) -> str:
    return f.place.replace("…", "..")


def _coloured(line: str, state: str) -> str:
    if state == "set":
        return click.style(line, fg="cyan")
    return click.style(line, fg="yellow", bold=True) if state == "stray" else click.style(line, dim=True)
