"""The objects of `sqemu dump --json` as bytes.

| object | bytes |
|---|---|
| `file`, `rings` | none; says the family |
| `follows` | none; what an entry points at lies elsewhere |
| `sqes`, `cqes`, `records` | `fields` over `hex`: a field that differs from `hex` is an edit; absent `hex` is 0 |
| `empty` | zeros |
| `bytes` | `hex` as it is |
| others, such as those of `--summary`, `--query` or a task blob | refused: they stand for no bytes |
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from formats import FormatError
from tools.asm.lexer import Place, quoted
from tools.asm.reader import MOST_ZEROS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from formats import CStruct, Registry

_RECORDS = frozenset({"sqes", "cqes", "records"})
_SILENT = frozenset({"file", "rings", "follows"})
_REMEDY = "give what `sqemu dump --json` says about entries (of a task blob: with --sqes), or the text of --asm"


@dataclass(frozen=True)
class _Line:
    """One object with the text it was read from, to say where something stands."""

    source: str
    number: int
    text: str
    values: dict[str, Any]

    def at(self, key: str) -> Place:
        found = self.text.find(f'"{key}"', max(self.text.find('"fields"'), 0)) if key else 0
        return Place(self.source, self.number, max(found, 0) + 1)


def assemble(registry: Registry, text: str, source: str, family: str | None = None) -> bytes:
    """The bytes of JSON lines; `InputError` (`asm.syntax`, `.field`, `.value`, `.family`) with line and column."""
    out = bytearray()
    used = family
    for line in _lines(text.split("\n"), source):
        section = line.values.get("section")
        section = section if isinstance(section, str) else repr(section)
        if section in {"file", "rings"} and isinstance(line.values.get("family"), str):
            used = family or line.values["family"]
        elif section in _RECORDS:
            out += _record(registry, used, line)
        elif section == "empty":
            out += bytes(_zeros(line))
        elif section == "bytes":
            out += _hex(line) or b""
        elif section not in _SILENT:
            what = f"section {quoted(section)} stands for no bytes"
            raise line.at("section").bad(what, id="asm.value", remedy=_REMEDY)
    if not out:
        raise Place(source, 1, 1).bad("there is nothing to assemble", id="asm.value", remedy=_REMEDY)
    return bytes(out)


def _lines(lines: Iterable[str], source: str) -> Iterable[_Line]:
    for number, text in enumerate(lines, 1):
        if not text.strip():
            continue
        try:
            values = json.loads(text)
        except json.JSONDecodeError as error:
            raise Place(source, number, error.colno).bad(f"not JSON: {error.msg}") from None
        except (RecursionError, ValueError):
            what = "not usable JSON: a number is too long, or it is nested too deeply"
            raise Place(source, number, 1).bad(what) from None
        if not isinstance(values, dict):
            raise Place(source, number, 1).bad("an object is expected on each line")
        yield _Line(source, number, text, values)


def _zeros(line: _Line) -> int:
    count = line.values.get("bytes")
    if type(count) is not int or not 0 <= count <= MOST_ZEROS:
        raise line.at("bytes").bad(f"{count!r} is not a number of bytes", id="asm.value")
    return count


def _hex(line: _Line) -> bytes | None:
    if "hex" not in line.values:
        return None
    try:
        return bytes.fromhex(line.values["hex"])
    except (TypeError, ValueError):
        raise line.at("hex").bad("is not hexadecimal", id="asm.value") from None


def _record(registry: Registry, family: str | None, line: _Line) -> bytes:
    raw, name = _hex(line), str(line.values.get("struct"))
    fields = line.values.get("fields", {})
    if not isinstance(fields, dict):
        raise line.at("fields").bad("fields must be an object", id="asm.value")
    if raw is not None and (not fields or name in {"RawUnit", "RawBytes"}):
        return raw
    if family is None:
        raise line.at("").bad(
            "no family was named", id="asm.family", remedy="give --family, or keep the first object of the dump"
        )
    try:
        struct = registry.get(family, name)
    except FormatError:
        raise line.at("struct").bad(f"family {family} has no struct {name!r}", id="asm.field") from None
    return _built(struct, raw, fields, line)


def _built(struct: CStruct, raw: bytes | None, fields: dict[str, Any], line: _Line) -> bytes:
    base = raw if raw is not None else bytes(struct.size)
    tail = base[struct.size :]
    if len(base) < struct.size:
        what = f"{struct.struct_name} has {struct.size} bytes, hex has {len(base)}"
        raise line.at("hex").bad(what, id="asm.value")
    before = dict(struct.parse(base))
    joined = struct.join(before)
    edits = {n: v for n, v in fields.items() if n not in struct.joined and (n not in before or before[n] != v)}
    for name, value in edits.items():
        _check(struct, name, value, line)
    for name, pair in struct.joined.items():
        low, high = (edits.get(half.name, before[half.name]) for half in (pair.low, pair.high))
        whole = low | high << pair.low.width
        if fields.get(name, whole) in (whole, joined[name]):
            continue
        if {pair.low.name, pair.high.name} & set(edits):
            both = f"{name} and its halves {pair.low.name}, {pair.high.name}"
            raise line.at(name).bad(f"{both} were changed differently", id="asm.field", remedy="change one of them")
        _check(struct, name, fields[name], line)
        del before[pair.low.name], before[pair.high.name]
        edits[name] = fields[name]
    return struct.build({**before, **edits}) + tail


def _check(struct: CStruct, name: str, value: object, line: _Line) -> None:
    """Build the one field alone, so that an error is about it."""
    if isinstance(value, bool):
        raise line.at(name).bad(f"{struct.struct_name}.{name}: {value} is not an integer", id="asm.value")
    try:
        struct.build({name: value})
    except FormatError as error:
        kind = "asm.field" if error.id == "format.unknown-field" else "asm.value"
        raise line.at(name).bad(f"{struct.struct_name}.{name}: {error.what}", id=kind, remedy=error.remedy) from None
