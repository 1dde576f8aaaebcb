r"""Hex text as bytes: `hexdump -C`, `hexdump`, `xxd`, `od -t x1`, `od -t x4`, words in a log, or just words.

| line | read as |
|---|---|
| `00000040  03 00 67 00 …  \|..g.\|` | offset, bytes in address order, ASCII column left out |
| `00000040: 0300 6700 …  ..g.` | offset with a colon: groups are bytes in address order |
| `00000040: 00670003 …  ..g.` | little-endian words when the ASCII column shows it (`xxd -e`), or `words` says so |
| `0000100 0003 0067`, `0000100 00670003` | offset without a colon: groups of 4, 8, 16 digits are little-endian words |
| `0300 6700`, `030067000100` | bytes in address order, or little-endian words when `words` says so |
| `0x00670003 0x00020001` | numbers: little-endian words of as many bytes as their digits make |
| `0x5 0x0 0xff0000` | numbers of uneven length: words of 4 bytes, of 8 when one has more than 8 digits |
| `[INFO] app: sqe[0]: 0x00000003 …` | the run of hex behind the prefix, see :mod:`tools.dump.hexline` |
| `*` | the line before goes on until the next offset |
| `# …` | nothing |

The style is that of most of the first lines. A line that cannot be read is reported and left out; an offset that
jumps ahead leaves zeros.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import TYPE_CHECKING

from tools.dump.hexline import parts
from tools.dump.hexstyle import WORDS, Style, skipped, style_of
from tools.dump.textual import GLANCE, text_start

if TYPE_CHECKING:
    from collections.abc import Iterable

FARTHEST = 1 << 28
"""Bytes that all jumps of the offset and all `*` of a text may stand for together."""
MOST_PROBLEMS = 100
"""Lines that are reported one by one; further ones are counted."""
HEAD = 1024
"""Lines that say the style."""

_GROUP = re.compile(r"(?:[0-9a-fA-F]{2})+")
_VALUE = re.compile(r"0[xX]([0-9a-fA-F]{1,16})")
_LONGEST_SHOWN = 40


@dataclass(frozen=True)
class Problem:
    """A line that could not be read: number and column from 1, what is wrong, offset in the bytes so far."""

    line: int
    column: int
    what: str
    offset: int
    left_out: bool = True

    def text(self) -> str:
        """The problem on one line."""
        end = f"; skipped at {self.offset:#x}" if self.left_out else ""
        return f"line {self.line}, column {self.column}: {self.what}{end}"


@dataclass(frozen=True)
class HexText:
    """What was read.

    Attributes:
        data: the bytes; `base`: the offset of the first one.
        problems: the first `MOST_PROBLEMS` lines with a fault; `bad`: how many lines were left out in all.
        lines: lines that gave bytes; `prefixed`: those of them that had a prefix.
        style: the form that the first lines have.
    """

    data: bytes
    base: int
    problems: tuple[Problem, ...]
    bad: int = 0
    lines: int = 0
    prefixed: int = 0
    style: Style = field(default_factory=Style)


@dataclass
class _State:
    style: Style
    words: bool | None
    data: bytearray = field(default_factory=bytearray)
    problems: list[Problem] = field(default_factory=list)
    bad: int = 0
    lines: int = 0
    prefixed: int = 0
    base: int | None = None
    last: bytes = b""
    repeat: bool = False
    filled: int = 0

    def report(self, line: int, column: int, what: str, *, left_out: bool = True) -> None:
        """Note a problem at the present end of the bytes."""
        self.bad += left_out
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(Problem(line, column, what, len(self.data), left_out))


def looks_like_hex(data: bytes) -> bool:
    """Whether `data` is text of whose first lines most can be read as hex."""
    text = text_start(data)
    if text is None:
        return False
    lines = text.splitlines()
    whole = lines[:-1] if len(data) > GLANCE and len(lines) > 1 else lines
    found = read(whole)
    return bool(found.data) and found.lines > sum(problem.left_out for problem in found.problems)


def read(lines: Iterable[str], *, words: bool | None = None) -> HexText:
    """The bytes of hex text.

    `words` says that groups of 4, 8, 16 digits are little-endian words (True) or bytes in address order (False);
    None leaves it to the style. Lines are taken one by one, only the first `HEAD` are kept.
    """
    left = iter(lines)
    head = list(islice(left, HEAD))
    style = style_of(head)
    state = _State(style, words)
    for number, line in enumerate(chain(head, left), 1):
        _line(state, number, line.rstrip())
    return HexText(
        bytes(state.data), state.base or 0, tuple(state.problems), state.bad, state.lines, state.prefixed, style
    )


def _line(state: _State, number: int, text: str) -> None:
    if skipped(text):
        return
    if text.strip() == "*":
        state.repeat = True
        return
    line = parts(text, bare=state.style.bare)
    if line.ambiguous:
        state.report(number, 1, "more than one run of hex; keep one, for example with sed 's/.*: //'")
        return
    little = state.words
    if little is None:
        little = state.style.swapped or (line.offset is not None and not line.colon)
    found, problem = _bytes(line.groups, state.style.number, little=little)
    if problem is not None:
        at, what = problem
        state.report(number, line.at + at + 1, what)
        return
    if line.offset is not None and not _place(state, number, line.offset, line.colon):
        return
    state.data += found
    state.last = found or state.last
    state.lines += bool(found)
    state.prefixed += line.prefixed


def _place(state: _State, number: int, digits: str, colon: bool) -> bool:
    """Take the offset of a line: fill what a `*` or a jump leaves out; False when it lies behind what was read."""
    at = _offset(state, digits, colon)
    if state.base is None:
        state.base = at - len(state.data) if at >= len(state.data) else at
    gap = at - state.base - len(state.data)
    repeated, state.repeat = state.repeat, False
    if gap == 0:
        return True
    if gap < 0:
        reached = state.base + len(state.data)
        state.report(number, 1, f"offset {at:#x} goes back, {reached:#x} was reached")
        return False
    if state.filled + gap > FARTHEST:
        state.report(number, 1, f"a jump to {at:#x} is too far: more than {FARTHEST >> 20} MiB are left out in all")
        return False
    state.filled += gap
    if repeated and state.last:
        state.data += (state.last * (gap // len(state.last) + 1))[:gap]
        return True
    state.report(number, 1, f"{gap} bytes before offset {at:#x} are missing, taken as 0", left_out=False)
    state.data += bytes(gap)
    return True


def _offset(state: _State, digits: str, colon: bool) -> int:
    """The offset of a line."""
    return int(digits, 8 if state.style.octal and not colon and not re.search("[89a-fA-F]", digits) else 16)


def _bytes(text: str, number: int, *, little: bool) -> tuple[bytes, tuple[int, str] | None]:
    """The bytes of groups and numbers of `number` bytes, or the column and fault of one that cannot be read."""
    if not little:
        try:
            return bytes.fromhex(text), None
        except ValueError:  # numbers, commas, or a fault
            pass
    found = bytearray()
    for word in re.finditer(r"[^\s,]+", text):
        value = _VALUE.fullmatch(word[0])
        digits = value[1] if value else word[0]
        if value and int(digits, 16) >> 8 * number:
            return b"", (word.start(), f"{word[0]} is longer than the {number} bytes of the numbers before")
        if value:
            found += int(digits, 16).to_bytes(number, "little")
        elif not _GROUP.fullmatch(digits):
            odd = re.fullmatch(r"[0-9a-fA-F]+", digits)
            cut = digits if len(digits) <= _LONGEST_SHOWN else digits[:_LONGEST_SHOWN] + "…"
            return b"", (word.start(), f"{cut!r} {'has an odd number of digits' if odd else 'is not hexadecimal'}")
        else:
            raw = bytes.fromhex(digits)
            found += raw[::-1] if little and len(digits) in WORDS else raw
    return bytes(found), None
