"""Two entries that belong together, field by field."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, TypeAlias

from formats import render_value
from formats.enums import name_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from formats import CStruct
    from tools.dump.items import Entry

    Value: TypeAlias = "int | list[int] | None"


@dataclass(frozen=True)
class Difference:
    """One field: value and text on each side, None and empty where a side has no such field."""

    name: str
    a: Value
    b: Value
    text_a: str
    text_b: str

    @property
    def both(self) -> list[object]:
        """The values of both sides, for JSON; the names of two structs."""
        return [self.text_a, self.text_b] if self.name == "struct" else [self.a, self.b]


def differences(a: Entry, b: Entry, ignored: frozenset[str]) -> Iterator[Difference]:
    """The fields whose values differ, without those that are `ignored`; reserved ones come last."""
    if a.raw == b.raw and a.decoded.struct is b.decoded.struct:
        return
    if "struct" not in ignored and a.decoded.struct.struct_name != b.decoded.struct.struct_name:
        names = a.decoded.struct.struct_name, b.decoded.struct.struct_name
        yield Difference("struct", None, None, *names)
    for name in _candidates(a, b):
        if name in ignored:
            continue
        mine, theirs = _value(a, name), _value(b, name)
        if not _equal(a, b, name, mine, theirs):
            yield Difference(name, mine, theirs, _text(a, name, mine), _text(b, name, theirs))


def _candidates(a: Entry, b: Entry) -> Iterable[str]:
    """Names that may differ: of one layout those with bits that do, else those of both; reserved bits come last."""
    if a.decoded.struct is b.decoded.struct:
        bits = int.from_bytes(a.raw, "little") ^ int.from_bytes(b.raw, "little")
        return [name for name, mask in _masks(a.decoded.struct) if bits & mask]
    named = [name for entry in (a, b) for name in entry.decoded.struct.join(entry.decoded.values)]
    return dict.fromkeys([*named, *(f.name for e in (a, b) for f in e.decoded.struct.fields if f.reserved)])


@cache
def _masks(struct: CStruct) -> tuple[tuple[str, int], ...]:
    """Named and joined values with their bits in an entry, then the reserved ones."""
    halves = {f.name: pair.name for pair in struct.joined.values() for f in (pair.low, pair.high)}
    found: dict[str, int] = {}
    for f in sorted(struct.fields, key=lambda f: f.reserved):
        name = halves.get(f.name, f.name)
        found[name] = found.get(name, 0) | ((1 << f.bits) - 1) << f.offset
    return tuple(found.items())


def _value(entry: Entry, name: str) -> Value:
    """A named or joined value, reserved bits when they are set; None where the layout has no such field."""
    struct, values = entry.decoded.struct, entry.decoded.values
    if name in struct.joined:
        pair = struct.joined[name]
        return int(values[pair.low.name] | values[pair.high.name] << pair.low.width)
    field = struct.by_name.get(name)
    if field is None:
        return None
    value: Value = values[name]
    return None if field.reserved and not _any(value) else value


def _equal(a: Entry, b: Entry, name: str, mine: Value, theirs: Value) -> bool:
    """Same number, or same name of the value; a field that one side lacks equals 0."""
    if mine is None or theirs is None:
        return not _any(theirs if mine is None else mine)
    if mine == theirs:
        return True
    said = [_name(entry, name, value) for entry, value in ((a, mine), (b, theirs))]
    across = a.decoded.struct.family != b.decoded.struct.family
    return across and bool(said[0]) and said[0] == said[1]


def _name(entry: Entry, name: str, value: Value) -> str:
    field = entry.decoded.struct.by_name.get(name)
    return name_of(field.enum, value) if field is not None and field.enum and isinstance(value, int) else ""


def _text(entry: Entry, name: str, value: Value) -> str:
    if value is None:
        return "-"
    struct = entry.decoded.struct
    field = struct.joined.get(name) or struct.by_name[name]
    if getattr(field, "reserved", False) and isinstance(value, int):
        return f"{value:#x}"
    return render_value(field, value)


def _any(value: Value) -> bool:
    return any(value) if isinstance(value, list) else bool(value)
