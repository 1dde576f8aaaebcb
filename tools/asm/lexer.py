"""A line of assembler text as tokens with columns."""

from __future__ import annotations

import re
from dataclasses import dataclass

from emu_core.errors import InputError

_TOKEN = re.compile(
    r"(?P<space>\s+)|(?P<comment>[#;].*)"
    r"|(?P<number>0[xX][0-9a-fA-F_]+(?!\w)|0[bB][01_]+(?!\w)|[0-9][0-9_]*(?!\w))"
    r"|(?P<word>\.?[A-Za-z_]\w*)"
    r"|(?P<text>\"(?:[^\"\\]|\\.)*\")"
    r"|(?P<op>[{}\[\]=,-])"
)


_LONGEST_NUMBER = 128
"""Characters of a number; no field needs more, and the message about a longer one could not be read."""
_QUOTED = 40
_EXAMPLE = "`sqemu dump --asm` writes text of the right form to compare with"


def quoted(text: str) -> str:
    """A piece of the text as messages show it, cut when it is long."""
    return repr(text) if len(text) <= _QUOTED else f"{text[:_QUOTED]!r}..."


@dataclass(frozen=True)
class Place:
    """A place in the text: name of the input, line and column from 1."""

    source: str
    line: int
    column: int

    def bad(self, what: str, *, id: str = "asm.syntax", remedy: str = "") -> InputError:  # noqa: A002 - as in SqemuError
        """An error here."""
        where = f"{self.source}: line {self.line}, column {self.column}"
        hint = remedy or (_EXAMPLE if id == "asm.syntax" else "")
        return InputError(what, id=id, where=where, remedy=hint)


@dataclass(frozen=True)
class Token:
    """One token: `number`, `word` (with a dot in front: a directive), `text`, `op`, or `end`."""

    kind: str
    text: str
    place: Place

    def said(self) -> str:
        """The token as messages show it."""
        return quoted(self.text) if self.text else "the end"


def tokens(source: str, number: int, line: str) -> list[Token]:
    """The tokens of one line; `InputError` (`asm.syntax`) at the first character that fits nothing."""
    found, at = [], 0
    while at < len(line):
        match = _TOKEN.match(line, at)
        if match is None:
            raise Place(source, number, at + 1).bad(_strange(line, at))
        if match.lastgroup not in {"space", "comment"}:
            found.append(Token(match.lastgroup or "", match[0], Place(source, number, at + 1)))
        at = match.end()
    return found


def _strange(line: str, at: int) -> str:
    if line[at] == '"':
        return "the text in quotes does not end on its line"
    word = re.match(r"[^\s{}\[\]=,#]*", line[at:])
    return f"{quoted(word[0] if word and word[0] else line[at])} cannot be read"


def integer(token: Token) -> int:
    """The number a token stands for; `InputError` (`asm.syntax`) when it is none, or too long to be one."""
    if len(token.text) > _LONGEST_NUMBER:
        raise token.place.bad(f"a number of {len(token.text)} characters is more than any field holds", id="asm.value")
    try:
        return int(token.text, 0) if token.text[:2].lower() in {"0x", "0b"} else int(token.text, 10)
    except ValueError:
        raise token.place.bad(f"{quoted(token.text)} is not a number") from None
