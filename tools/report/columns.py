"""Data of the page: texts once each, numbers as columns, and JSON that cannot end the element it stands in."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from formats import FormatError
from tools.show import safe

if TYPE_CHECKING:
    from collections.abc import Iterable

LARGEST = 2**53 - 1
"""The largest integer that a script of a page has exactly."""


class Strings:
    """Texts by number, in the order in which they were first asked for; number 0 is the empty text."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {"": 0}

    def number(self, text: str) -> int:
        """The number of a text; what cannot be printed in it becomes backslash escapes."""
        return self._numbers.setdefault(safe(text), len(self._numbers))

    def all(self) -> list[str]:
        """Every text, by number."""
        return list(self._numbers)


def deltas(values: Iterable[int]) -> list[int]:
    """The first value, and of each other one the difference to the one before."""
    found, last = [], 0
    for value in values:
        found.append(value - last)
        last = value
    return found


def exact(value: int, where: str) -> int:
    """`value` if the page's script can hold it.

    Raises:
        FormatError: `record.damaged`: no record of a run has such a number.
    """
    if -1 <= value <= LARGEST:
        return value
    raise FormatError(
        f"holds a time or number out of bounds, {value if abs(value) < 1 << 80 else 'of many digits'}",
        id="record.damaged", where=where, remedy="record the run again with sqemu run --record",
    )  # fmt: skip


def as_script(data: object) -> str:
    """`data` as ASCII JSON for a `script` element: no `<`, `>` or `&` is in it."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text
