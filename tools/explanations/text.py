"""The text form of the tables of this package.

A code on a line of its own, then indented parts, each with its label; deeper lines go on with the part before::

    0x95
      cause  The model read to the end of its input.
      do     Stop executing;
             nothing is broken.

Lines that start with `#` are headings for the reader of the table.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

LABELS: Mapping[str, str] = MappingProxyType({"means": "meaning", "cause": "cause", "do": "action"})
"""Label of each part and the attribute of an explanation that it fills."""
_PLUGIN_LABELS = frozenset({"cause", "do"})


@dataclass(frozen=True)
class Parts:
    """The parts of one code; those the table does not give are empty."""

    meaning: str = ""
    cause: str = ""
    action: str = ""


def parse(text: str) -> dict[str, Parts]:
    """Parts by code; `ValueError` for a line that is neither code nor part."""
    return {code: Parts(**parts) for code, parts in _read(text).items()}


def plugin_parts(text: str) -> Parts:
    """The parts of a plugin's text: the meaning, then what follows lines that start with `cause:` and `do:`."""
    found = {"meaning": ""}
    part = "meaning"
    for line in text.splitlines():
        said = line.strip()
        label, colon, rest = said.partition(":")
        if colon and label in _PLUGIN_LABELS:
            part, said = LABELS[label], rest.strip()
        found[part] = f"{found.get(part, '')} {said}".strip()
    return Parts(**found)


def _read(text: str) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    code = part = ""
    for line in text.splitlines():
        label, _, rest = line.strip().partition(" ")
        if not line.strip() or line.startswith("#"):
            continue
        if not line.startswith(" "):
            code, part = line, ""
            found[code] = {}
        elif not line.startswith("   ") and label in LABELS:
            part = LABELS[label]
            found[code][part] = rest.strip()
        elif line.startswith("   ") and part:
            found[code][part] += " " + line.strip()
        else:
            raise ValueError(f"not a line of a table: {line!r}")
    return found
