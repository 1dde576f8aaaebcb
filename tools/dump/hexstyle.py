"""How hex text is written, as most of its first lines say."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from tools.dump.hexline import BARE, has_hex, parts, shown_as

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tools.dump.hexline import Line

WORDS = frozenset({4, 8, 16})
"""Digits of a group that may be a word."""
_BYTES = frozenset({2, *WORDS})
_MOSTLY = 0.9


@dataclass(frozen=True)
class Style:
    """The form of hex text.

    Attributes:
        bare: lines begin with offsets that have no colon; `octal`: those are octal.
        number: bytes of a number with `0x`; `uneven`: their digits differ in number.
        group: digits of the groups without `0x` when nearly all have 4, 8 or 16; else 0.
        swapped: the ASCII column says that groups are little-endian words, as `xxd -e` writes them.
        settled: the ASCII column, or offsets without a colon, say the order of the bytes.
    """

    bare: bool = False
    octal: bool = False
    number: int = 4
    uneven: bool = False
    group: int = 0
    swapped: bool = False
    settled: bool = False


def skipped(text: str) -> bool:
    """Whether a line is blank or a comment."""
    return not text.strip() or text.lstrip().startswith("#")


def style_of(lines: Sequence[str]) -> Style:
    """The style of the lines that hold hex; others have no say."""
    texts = [text for text in lines if not skipped(text) and text.strip() != "*" and has_hex(text)]
    plain = [parts(text, bare=False) for text in texts]
    bare = _offsets_first(plain)
    found = [parts(text, bare=True) for text in texts] if bare else plain
    words = [word for line in found for word in re.split(r"[\s,]+", line.groups) if word]
    digits = Counter(len(word) - 2 for word in words if word[:2] in {"0x", "0X"})
    even = len(digits) == 1 and next(iter(digits)) in _BYTES
    right, swapped = _shown(found)
    return Style(
        bare=bare,
        octal=bare and _counted(plain, 8) > _counted(plain, 16),
        number=next(iter(digits)) // 2 if even else 8 if digits and max(digits) > 8 else 4,
        uneven=bool(digits) and not even,
        group=0 if digits else _usual([len(word) for word in words]),
        swapped=swapped > right,
        settled=bare or right != swapped,
    )


def _usual(lengths: Sequence[int]) -> int:
    """The number of digits of nearly all groups, when they may be words."""
    digits, count = Counter(lengths).most_common(1)[0] if lengths else (0, 0)
    return digits if digits in WORDS and count >= _MOSTLY * len(lengths) else 0


def _offsets_first(lines: Sequence[Line]) -> bool:
    """Whether most lines begin with an offset that has no colon: their shape says it, or counting from line to line."""
    told = [line for line in lines if line.offset is None]
    if not told:
        return False
    shaped = sum(_has_shape(line.groups.split()) for line in told)
    most = sum(len(line.groups.split()) > 1 for line in told)
    counted = max(_counted(lines, 8), _counted(lines, 16))
    return 2 * shaped > most > 0 or 2 * counted > len(told) - 1 > 0


def _has_shape(words: Sequence[str]) -> bool:
    """Whether the first of `words` looks like an offset: other digits than the second, and a multiple of 8."""
    if len(words) < 2 or not BARE.fullmatch(words[0]) or not re.fullmatch(r"[0-9a-fA-F]+", words[1]):
        return False
    return len(words[1]) != len(words[0]) and len(words[1]) in _BYTES and int(words[0], 16) % 8 == 0


def _counted(lines: Sequence[Line], base: int) -> int:
    """How many lines begin with the offset, in `base`, that the line before makes it."""
    return sum(_follows(here.groups.split(), behind.groups.split(), base) for here, behind in pairwise(lines))


def _follows(here: Sequence[str], behind: Sequence[str], base: int) -> bool:
    if not here or not behind or not BARE.fullmatch(here[0]) or not BARE.fullmatch(behind[0]):
        return False
    size = sum(map(len, here[1:])) // 2
    try:
        return size > 0 and int(behind[0], base) - int(here[0], base) == size
    except ValueError:
        return False


def _shown(lines: Sequence[Line]) -> tuple[int, int]:
    """How many ASCII columns show the bytes in address order only, and how many in the order of words only."""
    right = swapped = 0
    for line in lines:
        if line.shown:
            bytewise, wordwise = shown_as(line.groups)
            right += line.shown == bytewise != wordwise
            swapped += line.shown == wordwise != bytewise
    return right, swapped
