"""What `sqemu formats` does: lists of layouts, and one layout as a table and a picture of its bits."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from formats import FormatError, describe, json_schema
from tools.given_plugins import make_host
from tools.show import heading, json_line, lines, table, width
from tools.suggest import nearest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from formats import CStruct, Field, Registry
    from formats.describe import Row

_WORD = 32
_WIDEST = 120
_CELL = 3
"""Columns per bit; 2 where the terminal is narrower than the picture."""


@dataclass(frozen=True)
class Asked:
    """The command line."""

    struct: str | None
    family: str | None
    picture: bool = True
    without: tuple[str, ...] = ()
    as_json: bool = False


def formats(asked: Asked) -> None:
    """Show what was asked for; `FormatError` for a family or a struct that does not exist."""
    registry = make_host(asked.without).registry
    if asked.family is not None:
        registry.names(asked.family)
    if asked.struct is None:
        (_list_json if asked.as_json else _list)(registry, asked.family)
        return
    found = _found(registry, asked.struct, asked.family)
    for k, struct in enumerate(found):
        if asked.as_json:
            json_line(layout_record(struct))
        else:
            if k:
                click.echo()
            _layout(struct, picture=asked.picture)


def _found(registry: Registry, name: str, family: str | None) -> list[CStruct]:
    """The structs of that name, in any case of letters; each one once, where families share it."""
    families = registry.families if family is None else (family,)
    found: list[CStruct] = []
    for each in families:
        names = {n.lower(): n for n in registry.names(each)}
        if name.lower() in names:
            struct = registry.get(each, names[name.lower()])
            if struct not in found:
                found.append(struct)
    if not found:
        close = nearest(name, {n for each in families for n in registry.names(each)})
        raise FormatError(
            f"there is no struct {name!r}" + (f" in family {family}" if family else ""), id="format.unknown-struct",
            remedy=f"did you mean {', '.join(close)}?" if close else "`sqemu formats` lists them",
        )  # fmt: skip
    return found


# ---- lists -------------------------------------------------------------------------------------------------------


def _records(registry: Registry, family: str | None) -> Iterator[dict[str, object]]:
    for each in registry.families if family is None else (family,):
        for name in registry.names(each):
            struct = registry.get(each, name)
            if family is not None or struct.family == each:
                yield {
                    "section": "struct", "family": each, "struct": name, "size": struct.size,
                    "sqe_type": struct.sqe_type, "fields": len(struct.named_fields),
                    "inherited_from": None if struct.family == each else struct.family, "note": struct.note,
                }  # fmt: skip


def _list_json(registry: Registry, family: str | None) -> None:
    for record in _records(registry, family):
        json_line(record)


def _list(registry: Registry, family: str | None) -> None:
    if family is None:
        rows = []
        for each in registry.families:
            own = [registry.get(each, n) for n in registry.names(each)]
            inherited = sum(s.family != each for s in own)
            sqes = sum(s.size == 64 and bool(s.match) for s in own)
            rows.append((each, len(own) - inherited, inherited or "", sqes or ""))
        table("", ("family", "structs", "inherited", "SQE kinds"), rows, right=("structs", "inherited", "SQE kinds"))
        click.echo("\nsqemu formats --family NAME lists its structs; sqemu formats STRUCT: a layout")
        return
    listed: list[tuple[object, ...]] = [
        (r["struct"], r["size"], "" if r["sqe_type"] is None else r["sqe_type"], r["fields"], r["inherited_from"] or "",
         r["note"])
        for r in _records(registry, family)
    ]  # fmt: skip
    columns = ("struct", "bytes", "type", "fields", "from", "note")
    table("", columns, listed, right=columns[1:4], fit=True)


# ---- one layout --------------------------------------------------------------------------------------------------


def layout_record(struct: CStruct) -> dict[str, object]:
    """A layout as one JSON object: rows of the table and the JSON schema of its values."""
    return {
        "section": "layout", "family": struct.family, "struct": struct.struct_name, "size": struct.size,
        "sqe_type": struct.sqe_type, "match": {k: list(v) for k, v in struct.match.items()}, "note": struct.note,
        "rows": [row.as_json() for row in describe(struct)], "schema": json_schema(struct),
    }  # fmt: skip


def _layout(struct: CStruct, *, picture: bool) -> None:
    click.echo(click.style(f"{struct.family}.{struct.struct_name}", bold=True) + f", {struct.size} bytes")
    tests = (f"{name} {' or '.join(map(str, values))}" for name, values in struct.match.items())
    told = (struct.note, f"recognised by {', '.join(tests)}" if struct.match else "")
    for text in filter(None, told):
        click.echo("\n".join(textwrap.wrap(text, width() or _WIDEST)))
    click.echo()
    rows = [(f"{r.byte:#04x}", r.place, r.width, r.name, _meaning(r)) for r in describe(struct)]
    table("", ("byte", "bits", "width", "field", "meaning"), rows, wrap=True)
    if picture:
        heading("Bits, the most significant one of each word on the left")
        lines(draw(struct, 2 if (width() or _WIDEST) < 7 + _WORD * _CELL else _CELL))


def _meaning(row: Row) -> str:
    """The meaning with unit, table of names, and the joined value it is a half of."""
    more = [row.unit, f"names: {row.enum}" if row.enum else "", f"half of {row.joined}" if row.joined else ""]
    told = ", ".join(filter(None, more))
    return f"{row.meaning} ({told})" if told else row.meaning


def draw(struct: CStruct, cell: int = _CELL) -> Iterator[str]:
    """A picture of the bits: one row per 32-bit word, `cell` columns per bit; words of one array element are merged."""
    yield " " * 6 + "".join(f"{bit if bit % 8 in {0, 7} else '':>{cell}}" for bit in range(_WORD - 1, -1, -1))
    border = " " * 6 + "+" + "-" * (_WORD * cell - 1) + "+"
    yield border
    words, skipped = -(-struct.size * 8 // _WORD), 0
    for word in range(words):
        parts = list(_parts(struct, word))
        if 0 < word < words - 1 and _inside(struct, word) and _inside(struct, word - 1) and _inside(struct, word + 1):
            skipped += 1
            continue
        if skipped:
            yield f"{'':6}:{f'{skipped} more words of the same field':^{_WORD * cell - 1}}:"
            yield border
            skipped = 0
        yield f"w{word:<4} |" + "".join(f"{_label(name, bits * cell - 1)}|" for name, bits in parts)
        yield border


def _inside(struct: CStruct, word: int) -> str:
    """Name of the array or reserved run that fills `word` and goes on before or behind it; empty otherwise."""
    f = next((f for f in struct.fields if f.offset <= word * _WORD and f.end >= (word + 1) * _WORD), None)
    return f.name if f is not None and f.bits > 4 * _WORD else ""


def _parts(struct: CStruct, word: int) -> Iterator[tuple[str, int]]:
    """(name, bits) of the fields in a word, most significant first; bits behind the end count as none."""
    low, high = word * _WORD, (word + 1) * _WORD
    cut = [(f, max(f.offset, low), min(f.end, high)) for f in struct.fields if f.offset < high and f.end > low]
    missing = high - max((end for _, _, end in cut), default=low)
    if missing:
        yield "", missing
    for f, start, end in reversed(cut):
        yield _name(f, start, end), end - start


def _name(f: Field, start: int, end: int) -> str:
    if f.reserved:
        return "-"
    if f.count is None:
        return f.name if f.width <= end - start else f"{f.name}[{end - f.offset - 1}:{start - f.offset}]"
    first, last = (start - f.offset) // f.width, (end - f.offset - 1) // f.width
    return f"{f.name}[{first}]" if first == last else f"{f.name}[{last}..{first}]"


def _label(name: str, columns: int) -> str:
    """The name in the middle; what does not fit is cut, its place is in the table above."""
    if len(name) > columns:
        name = name[: max(columns - 1, 0)] + ("…" if columns else "")
    return f"{name:^{columns}}"
