"""How numbers, places and stops are written in commands.

| written | means |
|---|---|
| `12`, `0x1F` | an integer |
| `0:12` | task id 12 of stream 0 |
| `0:slot 12` | the entry in slot 12 of stream 0 |
| `0:12.block_dim` | that field of it |
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NoReturn, SupportsIndex, overload

from emu_core.errors import InputError
from emu_core.snapshot.stops import AtTask, OfFault, OfField, OfFlag, OfHazard, OfKey, OfKind, OfPatch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from emu_core.snapshot.stops import Stop

_NUMBER = re.compile(r"(?:0[xX][0-9a-fA-F]+|[0-9]+)")
_PLACE = re.compile(r"(?P<stream>[0-9]+):(?:(?P<slot>slot) ?)?(?P<number>[0-9]+)(?:\.(?P<field>\w+))?")
LARGEST = (1 << 64) - 1


class MissingWordError(Exception):
    """A command has fewer words than it needs."""


class Words(tuple[str, ...]):
    """The words behind a command; asking for one that is not there is a `MissingWordError`."""

    __slots__ = ()

    @overload
    def __getitem__(self, at: SupportsIndex) -> str: ...

    @overload
    def __getitem__(self, at: slice) -> Words: ...

    def __getitem__(self, at: SupportsIndex | slice) -> str | Words:
        """A word, or some of them."""
        if isinstance(at, slice):
            return Words(super().__getitem__(at))
        if int(at) >= len(self):
            raise MissingWordError
        return super().__getitem__(at)


def refuse(what: str, remedy: str) -> NoReturn:
    """`InputError` (`debug.command`)."""
    raise InputError(what, id="debug.command", remedy=remedy)


def number(text: str, what: str) -> int:
    """An integer of up to 64 bits, decimal or with 0x."""
    if not _NUMBER.fullmatch(text) or (value := int(text, 0 if text[:2] in ("0x", "0X") else 10)) > LARGEST:
        refuse(f"{text[:40]!r} is no {what}", "write an integer from 0 to 2^64 - 1, decimal or with 0x")
    return value


def place(text: str, *, field: bool | None = None) -> OfField:
    """An entry, with a field if `field` says so (None: either)."""
    found = _PLACE.fullmatch(text)
    if not found or (field is not None and field != bool(found["field"])):
        form = "STREAM:TASK.field" if field else "STREAM:TASK" if field is False else "STREAM:TASK or STREAM:TASK.field"
        refuse(f"{text[:60]!r} is no {form}", "for example 0:12.block_dim, or 0:slot 12.block_dim")
    return OfField(int(found["stream"]), int(found["number"]), found["field"] or "", bool(found["slot"]))


STOPS: dict[str, tuple[str, Callable[[Sequence[str]], Stop]]] = {
    "stream": ("stream S task T", lambda w: AtTask(number(w[0], "stream"), number(w[2], "task"))),
    "kind": ("kind KIND", lambda w: OfKind(w[0])),
    "event": ("event N", lambda w: OfFlag(f"event {number(w[0], 'event')}")),
    "notify": ("notify N", lambda w: OfFlag(f"notify {number(w[0], 'notify')}")),
    "patch": ("patch", lambda _: OfPatch()),
    "tiling_key": ("tiling_key N", lambda w: OfKey(number(w[0], "tiling key"))),
    "fault": ("fault", lambda _: OfFault()),
    "hazard": ("hazard", lambda _: OfHazard()),
}
"""What `break` takes: the first word, how the whole is written, and what makes the stop."""


def stop(words: Sequence[str]) -> Stop:
    """The stop that the words of `break` name."""
    forms = ", ".join(form for form, _ in STOPS.values())
    if not words or words[0] not in STOPS:
        refuse(f"break cannot stop at {' '.join(words)[:40]!r}", f"it takes: {forms}")
    form, make = STOPS[words[0]]
    wanted = form.split()
    fixed = all(want == word for want, word in zip(wanted, words, strict=False) if want.islower())
    if len(words) != len(wanted) or not fixed:
        refuse(f"break {' '.join(words)[:60]} is incomplete", f"write break {form}")
    return make(words[1:])
