r"""Hex text as bytes: `hexdump -C`, `hexdump`, `xxd`, `od -t x1`, `od -t x4`, or just words.

| line | read as |
|---|---|
| `00000040  03 00 67 00 …  \|..g.\|` | offset, bytes in address order, ASCII column left out |
| `00000040: 0300 6700 …  ..g.` | offset with a colon: groups are bytes in address order |
| `0000100 0003 0067`, `0000100 00670003` | offset without a colon: groups of 4, 8, 16 digits are little-endian words |
| `0300 6700`, `030067000100` | bytes in address order |
| `0x00670003 0x00020001` | numbers: little-endian words |
| `*` | the line before goes on until the next offset |
| `# …` | nothing |

A line that cannot be read is reported and left out; an offset that jumps ahead leaves zeros.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

FARTHEST = 1 << 28
"""Bytes that a jump of the offset or a `*` may stand for."""

_COLON = re.compile(r"\s*(?:0[xX])?([0-9a-fA-F]{1,16}):(?:\s+|$)")
_BARE = re.compile(r"([0-9a-fA-F]{6,16})(?:\s+|$)")
_GROUP = re.compile(r"(?:[0-9a-fA-F]{2})+")
_VALUE = re.compile(r"0[xX]([0-9a-fA-F]{1,16})")
_ASCII = re.compile(r"\s*[|>].*$")
_GLANCE = 4096
_WORDS = frozenset({4, 8, 16})


@dataclass(frozen=True)
class Problem:
    """A line that could not be read: number and column from 1, what is wrong, offset in the bytes so far."""

    line: int
    column: int
    what: str
    offset: int

    def text(self) -> str:
        """The problem on one line."""
        return f"line {self.line}, column {self.column}: {self.what}; skipped at {self.offset:#x}"


@dataclass
class _State:
    data: bytearray = field(default_factory=bytearray)
    problems: list[Problem] = field(default_factory=list)
    base: int | None = None
    last: bytes = b""
    repeat: bool = False
    octal: bool = False


def looks_like_hex(data: bytes) -> bool:
    """Whether `data` is text whose first lines are hex: at least one byte, and nothing that cannot be read."""
    glance = bytes(data[:_GLANCE])
    if not glance or not all(c in b"\t\n\r" or 32 <= c < 127 for c in glance):
        return False
    lines = glance.decode("ascii").splitlines()
    whole = lines[:-1] if len(data) > _GLANCE and len(lines) > 1 else lines
    found = read(whole)
    return bool(found.data) and not found.problems


@dataclass(frozen=True)
class HexText:
    """What was read: bytes, the offset of the first one, and the lines that were left out."""

    data: bytes
    base: int
    problems: tuple[Problem, ...]


def read(lines: Sequence[str]) -> HexText:
    """The bytes of hex text."""
    style = _style(lines)
    state = _State(octal=style and _counts_in_octal(lines))
    for number, line in enumerate(lines, 1):
        _line(state, number, line, style)
    return HexText(bytes(state.data), state.base or 0, tuple(state.problems))


def _style(lines: Sequence[str]) -> bool:
    """Whether lines begin with offsets that have no colon: the first line says it by its shape, or two by counting."""
    told = [line.split() for line in lines if line.strip() and line.strip() != "*" and not line.startswith("#")][:2]
    if not told or not _BARE.match(lines[0].lstrip() if lines else ""):
        return False
    first = told[0]
    if len(first) > 1 and re.fullmatch(r"[0-9a-fA-F]+", first[1]):
        return len(first[1]) != len(first[0]) and len(first[1]) in {2, 4, 8, 16} and int(first[0], 16) % 8 == 0
    return False


def _line(state: _State, number: int, line: str, bare: bool) -> None:
    text = line.split("#", 1)[0].rstrip() if line.lstrip().startswith("#") else line.rstrip()
    if not text.strip():
        return
    if text.strip() == "*":
        state.repeat = True
        return
    colon = _COLON.match(text)
    mark = colon or (_BARE.match(text) if bare else None)
    if mark and not _place(state, number, mark[1], bool(colon)):
        return
    rest = text[mark.end() :] if mark else text
    start = mark.end() if mark else 0
    found, problem = _bytes(_without_ascii(rest, bool(colon)), little=bool(mark) and not colon)
    if problem is not None:
        at, what = problem
        state.problems.append(Problem(number, start + at + 1, what, len(state.data)))
        return
    state.data += found
    state.last = found or state.last


def _place(state: _State, number: int, digits: str, colon: bool) -> bool:
    """Take the offset of a line: fill what a `*` or a jump leaves out; False when it lies behind what was read."""
    at = _offset(state, digits, colon)
    if state.base is None:
        state.base = at
    gap = at - state.base - len(state.data)
    repeated, state.repeat = state.repeat, False
    if gap == 0:
        return True
    if not 0 < gap <= FARTHEST:
        reached = state.base + len(state.data)
        what = f"offset {at:#x} is behind {reached:#x}" if gap < 0 else f"a jump to {at:#x} is too far"
        state.problems.append(Problem(number, 1, what, len(state.data)))
        return False
    if repeated and state.last:
        state.data += (state.last * (gap // len(state.last) + 1))[:gap]
        return True
    what = f"{gap} bytes before offset {at:#x} are missing, taken as 0"
    state.problems.append(Problem(number, 1, what, len(state.data)))
    state.data += bytes(gap)
    return True


def _offset(state: _State, digits: str, colon: bool) -> int:
    """The offset of a line."""
    return int(digits, 8 if state.octal and not colon and not re.search("[89a-fA-F]", digits) else 16)


def _counts_in_octal(lines: Sequence[str]) -> bool:
    """Whether offsets without a colon are octal, as `od` writes them: two lines that follow each other say it."""
    for here, behind in pairwise(lines):
        first, second = _BARE.match(here), _BARE.match(behind)
        if first is None or second is None:
            continue
        size = sum(len(word) for word in re.findall(r"[0-9a-fA-F]+", _ASCII.sub("", here[first.end() :]))) // 2
        if int(second[1], 16) - int(first[1], 16) == size:
            return False
        if not re.search("[89a-fA-F]", first[1] + second[1]):
            return int(second[1], 8) - int(first[1], 8) == size
    return False


def _without_ascii(rest: str, colon: bool) -> str:
    if colon:
        return re.split(r"(?<=\S)\s{2,}", rest, maxsplit=1)[0]
    return _ASCII.sub("", rest)


def _bytes(text: str, *, little: bool) -> tuple[bytes, tuple[int, str] | None]:
    found = bytearray()
    for word in re.finditer(r"[^\s,]+", text):
        value = _VALUE.fullmatch(word[0])
        digits = value[1] if value else word[0]
        if value:
            size = next(n for n in (2, 4, 8, 16) if len(digits) <= n)
            found += bytes.fromhex(digits.zfill(size))[::-1]
        elif not _GROUP.fullmatch(digits):
            odd = re.fullmatch(r"[0-9a-fA-F]+", digits)
            what = f"{word[0]!r} has an odd number of digits" if odd else f"{word[0]!r} is not hexadecimal"
            return b"", (word.start(), what)
        else:
            raw = bytes.fromhex(digits)
            found += raw[::-1] if little and len(digits) in _WORDS else raw
    return bytes(found), None
