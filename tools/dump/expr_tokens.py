"""Tokens of `--where` expressions, each with its column."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from emu_core.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_TEXT = 4096
"""Characters an expression may have."""

_TOKEN = re.compile(
    r"(?P<space>\s+)"
    r"|(?P<number>0[xX][0-9a-fA-F_]+|[0-9][0-9_]*)(?![\w])"
    r"|(?P<text>\"[^\"]*\"|'[^']*')"
    r"|(?P<word>[A-Za-z_]\w*)"
    r"|(?P<op>==|!=|<=|>=|<|>|&|\(|\)|\[|\]|,|-)"
)
_NO_SPACE = re.compile(r"[^\s()<>=!,]+")
KEYWORDS = frozenset({"and", "or", "not", "in"})


@dataclass(frozen=True)
class Token:
    """One token: its kind (`number`, `text`, `word`, `op`, `key`, `end`), its text, and its column from 1."""

    kind: str
    text: str
    column: int


def bad(what: str, column: int, remedy: str = "") -> OptionError:
    """The error for an expression, with the column where it goes wrong."""
    hint = remedy or 'for example: block_dim > 8 and kind == "kernel"'
    return OptionError(what, id="dump.where", where=f"--where, column {column}", remedy=hint)


def tokens(text: str) -> Iterator[Token]:
    """The tokens of `text`, an `end` token last; `OptionError` (`dump.where`) at a character that fits nothing."""
    if len(text) > MAX_TEXT:
        raise bad(f"the expression has {len(text)} characters, {MAX_TEXT} are allowed", MAX_TEXT + 1)
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise bad(_strange(text, at), at + 1)
        kind = found.lastgroup or ""
        if kind != "space":
            word = found[0]
            yield Token("key" if kind == "word" and word in KEYWORDS else kind, word, at + 1)
        at = found.end()
    yield Token("end", "", len(text) + 1)


def _strange(text: str, at: int) -> str:
    if text[at] in "\"'":
        return "the text in quotes does not end"
    if text[at] == "=":
        return "a single = compares nothing, write =="
    if text[at].isdigit():
        word = _NO_SPACE.match(text, at)
        return f"{word[0] if word else text[at]!r} is not a number"
    return f"{text[at]!r} has no place here"
