r"""The parts of one line of hex text: prefix of a log, offset, groups, ASCII column.

| line | parts |
|---|---|
| `00000040: 0300 6700  ..g.` | offset with a colon, groups, ASCII column behind two spaces or more |
| `00000040  03 00 67 00  \|..g.\|` | offset without a colon if the style says so, groups, ASCII column behind a bar |
| `[INFO] app(12): sqe[0]: 0x00000003 0x…` | prefix up to a sign like `:`, then one long run of groups of one form |

A prefix is only left out when the rest is hex from end to end and long enough, and holds no other run itself.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import NamedTuple

_HEX = r"[0-9a-fA-F]"
_TOKEN = rf"(?:0[xX])?{_HEX}+"
_OFFSET = rf"(?:0[xX])?{_HEX}{{1,16}}:"
_COLON = re.compile(rf"\s*(?:0[xX])?({_HEX}{{1,16}}):(?:\s+|$)")
BARE = re.compile(rf"\s*({_HEX}{{6,16}})(?:\s+|$)")
"""An offset without a colon."""
_ASCII = re.compile(r"\s*[|>].*$")
_SPACES = re.compile(r"\s{2,}")
_GROUPS = re.compile(rf"{_TOKEN}(?:[\s,]+{_TOKEN})*[\s,]*")
_PLAIN = (
    re.compile(rf"\s*{_OFFSET}(?:\s*$|\s+{_TOKEN}(?:[\s,]+{_TOKEN})*(?:\s{{2,}}.*|[\s,]*[|>].*|[\s,]*)$)"),
    re.compile(rf"\s*{_TOKEN}(?:[\s,]+{_TOKEN})*[\s,]*(?:[|>].*)?$"),
)
"""Lines without a prefix: with an offset and a colon, and others."""
_PREFIX_END = re.compile(r"[:=\])>|]\s+|[:=](?=0[xX])")
_RUN = re.compile(
    rf"(?:{_OFFSET}\s+|{_HEX}{{6,16}}\s+)?"
    rf"(?:0[xX]{_HEX}{{1,16}}(?:[\s,]+0[xX]{_HEX}{{1,16}}){{3,}}"
    rf"|{_HEX}{{2}}(?:[\s,]+{_HEX}{{2}}){{7,}}"
    rf"|{_HEX}{{4}}(?:[\s,]+{_HEX}{{4}}){{3,}}"
    rf"|{_HEX}{{8}}(?:[\s,]+{_HEX}{{8}}){{3,}}"
    rf"|{_HEX}{{16}}(?:[\s,]+{_HEX}{{16}})+"
    rf"|(?:{_HEX}{{2}}){{16,}})[\s,]*(?:\s{{2,}}.*|[|>].*)?$"
)
"""What may stand behind a prefix: at least four words, eight bytes, or sixteen bytes without spaces."""
_OTHER_RUN = re.compile(
    rf"(?:\b0[xX]{_HEX}+[\s,]+){{2}}|(?:\b{_HEX}{{8}}[\s,]+){{2}}|(?:\b{_HEX}{{4}}[\s,]+){{3}}|(?:\b{_HEX}{{2}}[\s,]+){{4}}"
)
_MOST_TRIED = 32
"""Places of a line where its prefix may end or its ASCII column begin, so that a strange line takes no long time."""


class Line(NamedTuple):
    """A line in parts.

    Attributes:
        offset: digits of the offset, None without one; `colon`: whether a colon follows them.
        groups: the text of the groups; `at` is its first column, from 0.
        shown: the ASCII column without blanks around it.
        prefixed: a prefix was left out; `ambiguous`: there is one, but hex in it, too.
    """

    offset: str | None
    colon: bool
    groups: str
    at: int
    shown: str = ""
    prefixed: bool = False
    ambiguous: bool = False


def has_hex(text: str) -> bool:
    """Whether a line holds hex from its beginning, or behind a prefix."""
    return _is_plain(text) or _prefix(text) > 0


def parts(text: str, *, bare: bool) -> Line:
    """`text` in parts; `bare` says that lines begin with an offset without a colon."""
    start = 0 if _is_plain(text) else _prefix(text)
    if start < 0:
        return Line(None, colon=False, groups=text, at=0, ambiguous=True)
    colon = _COLON.match(text, start)
    mark = colon or (BARE.match(text, start) if bare else None)
    at = mark.end() if mark else start
    groups, shown = _columns(text[at:]) if colon else _barred(text[at:])
    return Line(mark[1] if mark else None, colon is not None, groups, at, shown, prefixed=start > 0)


def _is_plain(text: str) -> bool:
    return bool(_PLAIN[0].match(text) or _PLAIN[1].match(text))


def _prefix(text: str) -> int:
    """Where hex begins behind a prefix; 0 without a prefix that can be told, -1 when the prefix holds hex, too."""
    for end in islice(_PREFIX_END.finditer(text), _MOST_TRIED):
        if _RUN.match(text, end.end()):
            return -1 if _OTHER_RUN.search(text, 0, end.end()) else end.end()
    return 0


def _barred(rest: str) -> tuple[str, str]:
    found = _ASCII.search(rest)
    return (rest[: found.start()], "") if found else (rest, "")


def _columns(rest: str) -> tuple[str, str]:
    """Groups and ASCII column behind an offset with a colon; a double space between groups is no end of them."""
    for gap in islice(_SPACES.finditer(rest), _MOST_TRIED):
        left, right = rest[: gap.start()], rest[gap.end() :].rstrip()
        if not right:
            return left, ""
        piece = _SPACES.split(right, maxsplit=1)[0]
        if not _GROUPS.fullmatch(piece) or right in shown_as(left):
            return left, right
    return _barred(rest)


def shown_as(groups: str) -> tuple[str, str]:
    """What an ASCII column shows for groups that are bytes in address order, and for little-endian words."""
    words = [word for word in re.split(r"[\s,]+", groups) if word]
    if any(len(word) % 2 or not re.fullmatch(rf"{_HEX}+", word) for word in words):
        return "", ""
    raw = [bytes.fromhex(word) for word in words]
    return _printable(b"".join(raw)), _printable(b"".join(part[::-1] for part in raw))


def _printable(data: bytes) -> str:
    return "".join(chr(b) if 32 <= b < 127 else "." for b in data).strip()
