"""Assembler text as bytes. Every error names line and column; nothing is written unless all of it can be read."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from formats import FormatError
from formats.blob.layout import BlobHeader
from formats.enums import ENUMS
from tools.asm.lexer import Place, Token, integer, quoted, tokens
from tools.suggest import nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from formats import CStruct, Field, Joined, Registry

MOST_ZEROS = 1 << 32
_DIRECTIVES = (".family", ".zero", ".bytes", ".text", ".checksum")


class Assembler:
    """Reads text line by line and collects the bytes.

    Args:
        registry: layouts.
        source: name of the input for messages.
        family: layouts until a `.family` says otherwise; None when the text has to say it.
    """

    def __init__(self, registry: Registry, source: str, family: str | None = None) -> None:
        self._registry = registry
        self._source = source
        self._family = family
        self._out = bytearray()
        self._tokens: Iterator[Token] = iter(())
        self._held: Token | None = None
        self._end = Place(source, 1, 1)
        self._checksum: Place | None = None
        self._elements: set[tuple[str, int]] = set()

    def assemble(self, lines: Iterable[str]) -> bytes:
        """The bytes of the text; `InputError` (`asm.syntax`, `asm.field`, `asm.value`, `asm.family`)."""
        self._tokens = self._all(lines)
        while (token := self._take()).kind != "end":
            self._statement(token)
        if self._checksum is not None:
            self._write_checksum(self._checksum)
        return bytes(self._out)

    def _all(self, lines: Iterable[str]) -> Iterator[Token]:
        number = 0
        for number, line in enumerate(lines, 1):
            raw = re.match(r"\s*\.bytes\b", line)
            if raw:
                yield Token("word", ".bytes", Place(self._source, number, raw.end() - 5))
                yield Token("rest", line[raw.end() :].rstrip("\r"), Place(self._source, number, raw.end() + 1))
            else:
                yield from tokens(self._source, number, line.rstrip("\r"))
        self._end = Place(self._source, max(number, 1), 1)

    def _take(self) -> Token:
        if self._held is not None:
            token, self._held = self._held, None
            return token
        return next(self._tokens, None) or Token("end", "", self._end)

    def _accept(self, text: str) -> bool:
        token = self._take()
        if token.kind == "op" and token.text == text:
            return True
        self._held = token
        return False

    def _expect(self, text: str, why: str) -> Token:
        token = self._take()
        if token.kind != "op" or token.text != text:
            raise token.place.bad(f"{text!r} is expected {why}, {token.said()} is there")
        return token

    # -- statements -----------------------------------------------------------------------------

    def _statement(self, token: Token) -> None:
        if token.kind != "word":
            raise token.place.bad(f"a struct or a directive is expected, {token.said()} is there")
        if token.text.startswith("."):
            self._directive(token)
        else:
            self._record(token)

    def _directive(self, token: Token) -> None:
        actions: dict[str, Callable[[Token], None]] = {
            ".family": self._set_family, ".zero": self._zeros, ".bytes": self._bytes, ".text": self._text,
            ".checksum": self._mark_checksum,
        }  # fmt: skip
        action = actions.get(token.text)
        if action is None:
            known = ", ".join(_DIRECTIVES)
            raise token.place.bad(f"there is no directive {quoted(token.text)}", remedy=f"directives: {known}")
        action(token)

    def _set_family(self, _token: Token) -> None:
        name = self._take()
        if name.text not in self._registry.families:
            known = ", ".join(self._registry.families)
            what = f"there is no family {quoted(name.text)}"
            raise name.place.bad(what, id="asm.family", remedy=f"families: {known}")
        self._family = name.text

    def _zeros(self, _token: Token) -> None:
        count = self._take()
        if count.kind != "number":
            raise count.place.bad(f"a number of bytes is expected, {count.said()} is there")
        if integer(count) > MOST_ZEROS:
            raise count.place.bad(
                f"{count.said()} zeros are more than the {MOST_ZEROS} that are allowed",
                id="asm.value",
                remedy="give fewer; a ring has at most 2^18 entries of 64 bytes",
            )
        self._out += bytes(integer(count))

    def _bytes(self, _token: Token) -> None:
        rest = self._take()
        text = re.split("[#;]", rest.text, maxsplit=1)[0]
        for word in re.finditer(r"\S+", text):
            if not re.fullmatch(r"(?:[0-9a-fA-F]{2})+", word[0]):
                place = Place(rest.place.source, rest.place.line, rest.place.column + word.start())
                raise place.bad(f"{quoted(word[0])} is not bytes in hexadecimal")
            self._out += bytes.fromhex(word[0])

    def _text(self, _token: Token) -> None:
        found = self._take()
        if found.kind != "text":
            raise found.place.bad(f"a text in quotes is expected, {found.said()} is there")
        try:
            self._out += json.loads(found.text).encode()
        except ValueError:
            raise found.place.bad(
                "the text in quotes cannot be read",
                remedy='escape as in JSON: \\n, \\t, \\", \\\\, \\u0041; single surrogates are no text',
            ) from None

    def _mark_checksum(self, token: Token) -> None:
        self._checksum = token.place

    def _write_checksum(self, place: Place) -> None:
        from formats.blob.frame import checksum  # noqa: PLC0415 - blobs only

        if len(self._out) < BlobHeader.size:
            raise place.bad("a checksum needs a blob header in front", id="asm.value")
        BlobHeader.field("crc32").patch(self._out, 0, checksum(memoryview(self._out)))

    # -- records --------------------------------------------------------------------------------

    def _record(self, name: Token) -> None:
        struct = self._struct(name)
        self._expect("{", f"behind {name.text}")
        values: dict[str, int | list[int]] = {}
        self._elements.clear()
        while not self._accept("}"):
            self._field(struct, values)
            self._accept(",")
        try:
            self._out += struct.build(values)
        except FormatError as error:
            raise name.place.bad(error.what, id="asm.value", remedy=error.remedy) from None

    def _struct(self, name: Token) -> CStruct:
        if self._family is None:
            raise name.place.bad(
                "no family was named",
                id="asm.family",
                remedy="begin with a line such as .family v100, or give --family",
            )
        try:
            return self._registry.get(self._family, name.text)
        except FormatError:
            close = nearest(name.text, self._registry.names(self._family))
            hint = f"did you mean {', '.join(close)}?" if close else f"see sqemu formats --family {self._family}"
            raise name.place.bad(
                f"family {self._family} has no struct {quoted(name.text)}", id="asm.field", remedy=hint
            ) from None

    def _field(self, struct: CStruct, values: dict[str, int | list[int]]) -> None:
        name = self._take()
        if name.kind != "word":
            raise name.place.bad(f"a field or '}}' is expected, {name.said()} is there")
        field = struct.joined.get(name.text) or struct.by_name.get(name.text)
        if field is None:
            close = nearest(name.text, (*struct.by_name, *struct.joined))
            hint = f"did you mean {', '.join(close)}?" if close else f"see sqemu formats {struct.struct_name}"
            raise name.place.bad(f"{struct.struct_name} has no field {quoted(name.text)}", id="asm.field", remedy=hint)
        count = getattr(field, "count", None)
        if count is not None:
            self._array(name, field, count, values)
            return
        self._once(name, struct, values)
        self._expect("=", f"behind {name.text}")
        values[name.text] = self._value(field)

    def _once(self, name: Token, struct: CStruct, values: dict[str, int | list[int]]) -> None:
        """Refuse a field that was given before, also as joined value and half."""
        pairs = [p for p in struct.joined.values() if name.text in {p.name, p.low.name, p.high.name}]
        rivals = {name.text} | {p.name for p in pairs}
        if name.text in struct.joined:
            rivals |= {pairs[0].low.name, pairs[0].high.name}
        twice = rivals & set(values)
        if twice:
            raise name.place.bad(f"{name.text} was given before, as {', '.join(sorted(twice))}", id="asm.field")

    def _array(self, name: Token, field: Field | Joined, count: int, values: dict[str, int | list[int]]) -> None:
        before = name.text in values
        cells = values.setdefault(name.text, [0] * count)
        assert isinstance(cells, list)
        if not self._accept("["):
            if before:
                raise name.place.bad(f"{name.text} was given before", id="asm.field", remedy="give it once")
            self._elements |= {(name.text, each) for each in range(count)}
            opened = self._expect("=", f"behind {name.text}")
            self._expect("[", f"for the {count} elements of {name.text}")
            self._list(opened, name.text, field, cells)
            return
        index = self._take()
        if index.kind != "number" or integer(index) >= count:
            raise index.place.bad(f"{name.text} has elements 0 to {count - 1}, not {index.said()}", id="asm.value")
        element = (name.text, integer(index))
        if element in self._elements:
            said = f"{name.text}[{integer(index)}]"
            raise index.place.bad(f"{said} was given before", id="asm.field", remedy="give it once")
        self._elements.add(element)
        self._expect("]", "behind the index")
        self._expect("=", f"behind {name.text}[{index.text}]")
        cells[integer(index)] = self._value(field)

    def _list(self, opened: Token, name: str, field: Field | Joined, cells: list[int]) -> None:
        found: list[int] = []
        while not self._accept("]"):
            found.append(self._value(field))
            self._accept(",")
        if len(found) != len(cells):
            raise opened.place.bad(f"{name} has {len(cells)} elements, {len(found)} are given", id="asm.value")
        cells[:] = found

    def _value(self, field: Field | Joined) -> int:
        negative = self._accept("-")
        token = self._take()
        if token.kind == "number":
            value = -integer(token) if negative else integer(token)
        elif token.kind == "word" and not negative:
            value = _named(token, field)
        else:
            raise token.place.bad(f"a value for {field.name} is expected, {token.said()} is there")
        low, high = field.limits
        if not low <= value <= high:
            shown = hex(value) if abs(value) >> 64 else str(value)
            raise token.place.bad(f"{shown} does not fit {field.name}, {low} to {high} do", id="asm.value")
        return value


def _named(token: Token, field: Field | Joined) -> int:
    table = ENUMS.get(getattr(field, "enum", ""), {})
    by_name = {name.lower(): number for number, name in table.items()}
    if token.text.lower() not in by_name:
        close = nearest(token.text, table.values()) if table else []
        hint = f"did you mean {', '.join(close)}?" if close else "give a number"
        raise token.place.bad(f"{field.name} has no value called {quoted(token.text)}", id="asm.value", remedy=hint)
    return by_name[token.text.lower()]


def assemble(registry: Registry, text: str, source: str, family: str | None = None) -> bytes:
    """The bytes of `text`; errors as :meth:`Assembler.assemble`."""
    return Assembler(registry, source, family).assemble(text.split("\n"))
