"""Protobuf's text form, as GE writes it into `ge_proto_*_Build.txt`: a small parser of its own, without a schema.

```text
field   = name [":"] ( value | message ) [";" | ","]
message = "{" field* "}" | "<" field* ">"
value   = text+ | number | word | "[" value ("," value)* "]"
```

A message is a mapping of field name to the list of its values in order, so that repeated and single fields look alike.
Texts are bytes with their escapes resolved; words (`DT_FLOAT`, `true`) are strings.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

Value: TypeAlias = "int | float | str | bytes | Message"
Message: TypeAlias = "dict[str, list[Value]]"

MAX_DEPTH = 200
_TOKEN = re.compile(
    r"""(?P<space>(?:\s|\#[^\n]*)+)
      | (?P<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
      | (?P<number>[-+]?(?:0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?f?|inf\b|nan\b))
      | (?P<word>-?[A-Za-z_][\w.]*)
      | (?P<mark>[{}<>:;,\[\]])""",
    re.VERBOSE,
)
_ESCAPE = re.compile(rb"\\(?:([0-7]{1,3})|[xX]([0-9a-fA-F]{1,2})|(.))", re.DOTALL)
_SIMPLE = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"a": b"\a", b"b": b"\b", b"f": b"\f", b"v": b"\v"}
_CLOSES = {"{": "}", "<": ">"}


class TextError(Exception):
    """The text is no message: `what` is wrong in line `line`, counted from 1."""

    def __init__(self, what: str, line: int) -> None:
        self.what = what
        self.line = line
        super().__init__(what)


def parse_text(text: str) -> Message:
    """The message in `text`.

    Raises:
        TextError: at the first thing that is not understood.
    """
    return _Parser(text).message("", 0)


class _Parser:
    """One text on its way to a message; `_kind`, `_piece` and `_at` are the token to come."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = self._scan()
        self._kind, self._piece, self._at = next(self._tokens)

    def message(self, closes: str, depth: int) -> Message:
        """Fields up to the mark `closes`, or to the end of the text."""
        if depth > MAX_DEPTH:
            raise self._error(f"messages are nested more than {MAX_DEPTH} deep")
        found: Message = {}
        while self._piece != closes or self._kind not in ("mark", "end"):
            name = self._take("word", "a field name")
            found.setdefault(name, []).extend(self._values(depth))
            if self._kind == "mark" and self._piece in ";,":
                self._next()
        self._next()
        return found

    def _values(self, depth: int) -> list[Value]:
        colon = self._kind == "mark" and self._piece == ":"
        if colon:
            self._next()
        if self._kind == "mark" and self._piece in _CLOSES:
            return [self._nested(depth)]
        if not colon:
            raise self._error("':' or '{' must follow a field name")
        if self._kind == "mark" and self._piece == "[":
            return self._list(depth)
        return [self._scalar()]

    def _nested(self, depth: int) -> Message:
        closes = _CLOSES[self._piece]
        self._next()
        return self.message(closes, depth + 1)

    def _list(self, depth: int) -> list[Value]:
        self._next()
        found: list[Value] = []
        while not (self._kind == "mark" and self._piece == "]"):
            nested = self._kind == "mark" and self._piece in _CLOSES
            found.append(self._nested(depth) if nested else self._scalar())
            if self._kind == "mark" and self._piece == ",":
                self._next()
        self._next()
        return found

    def _scalar(self) -> Value:
        if self._kind == "text":
            parts = []
            while self._kind == "text":
                parts.append(_unescaped(self._piece[1:-1]))
                self._next()
            return b"".join(parts)
        if self._kind == "number":
            return _number(self._next())
        return self._take("word", "a value")

    def _take(self, kind: str, wanted: str) -> str:
        if self._kind != kind:
            found = "the text ends" if self._kind == "end" else f"{self._piece[:40]!r} stands"
            raise self._error(f"{found} where {wanted} must be")
        return self._next()

    def _next(self) -> str:
        piece = self._piece
        self._kind, self._piece, self._at = next(self._tokens, ("end", "", len(self._text)))
        return piece

    def _scan(self) -> Iterator[tuple[str, str, int]]:
        """(kind, text, offset) of each token, then the end."""
        at = 0
        while at < len(self._text):
            found = _TOKEN.match(self._text, at)
            if found is None:
                self._at = at
                raise self._error(f"{self._text[at]!r} begins nothing that is known")
            at = found.end()
            if found.lastgroup not in (None, "space"):
                yield str(found.lastgroup), found.group(), found.start()
        yield "end", "", at

    def _error(self, what: str) -> TextError:
        return TextError(what, self._text.count("\n", 0, self._at) + 1)


def _number(token: str) -> int | float:
    digits = token.lstrip("+-")
    sign = -1 if token.startswith("-") else 1
    if digits[:2].lower() == "0x":
        return sign * int(digits, 16)
    if digits.isdigit() and len(digits) < 40:
        return sign * int(digits)
    return float(token.removesuffix("f") if digits != "inf" else token)


def _unescaped(body: str) -> bytes:
    return _ESCAPE.sub(_escape, body.encode())


def _escape(found: re.Match[bytes]) -> bytes:
    octal, hexadecimal, other = found.groups()
    if octal is not None:
        return bytes([int(octal, 8) & 0xFF])
    if hexadecimal is not None:
        return bytes([int(hexadecimal, 16)])
    return _SIMPLE.get(other, other)
