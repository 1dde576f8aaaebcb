"""`--sweep NAME=RANGE`: the same tiling with one number over a range."""

from __future__ import annotations

import re
from dataclasses import dataclass

from emu_core.errors import OptionError
from emu_plugins.cgdr.infer import LARGEST_DIM
from tools.tiling.ask import PLATFORM_OPTIONS, SHAPE_OPTIONS

NAMES = (*SHAPE_OPTIONS, *PLATFORM_OPTIONS)
MOST_VALUES = 8192
"""Values of one sweep."""

_RANGE = re.compile(r"(\d{1,19})\.\.(\d{1,19})(?::(\d{1,19}))?")
_LIST = re.compile(r"\d{1,19}(?:,\d{1,19})*")


@dataclass(frozen=True)
class Sweep:
    """The option that changes and its values, in order."""

    name: str
    values: range | tuple[int, ...]


def parse_sweep(text: str) -> Sweep:
    """`dk=1..256`, `dk=16..256:16` (step 16) or `dk=64,80,96`.

    Raises:
        OptionError: `option.sweep`: another form, an unknown name, an empty or too long range, a value out of range.
    """
    name, _, given = text.partition("=")
    if name not in NAMES:
        raise _refused(text, "names nothing that can be swept", f"use one of {', '.join(NAMES)}")
    values = _values(given)
    if values is None:
        raise _refused(text, "is no range", f"write {name}=1..256, {name}=16..256:16 or {name}=64,80,96")
    if not values:
        raise _refused(text, "has no values", "write the smaller end first, and a step above 0")
    if len(values) > MOST_VALUES:
        raise _refused(text, f"has {len(values)} values", f"at most {MOST_VALUES} are shown; add a step, as in 1..9:2")
    if min(values) < 1 or max(values) > LARGEST_DIM:
        raise _refused(text, "goes out of range", f"{name} is from 1 to {LARGEST_DIM}")
    return Sweep(name, values)


def _values(given: str) -> range | tuple[int, ...] | None:
    if found := _RANGE.fullmatch(given):
        first, last, step = (int(part) if part else 1 for part in found.groups())
        return range(first, last + 1, step) if step else range(0)
    return tuple(map(int, given.split(","))) if _LIST.fullmatch(given) else None


def _refused(text: str, what: str, remedy: str) -> OptionError:
    return OptionError(f"{text!r} {what}", id="option.sweep", where="--sweep", remedy=remedy)
