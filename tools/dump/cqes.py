"""Completion entries (`reference/sqe_formats.md` 8): 16 bytes on v100, on v200 20 bytes in slots of 32."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core.errors import OptionError
from formats import BUILTIN, Decoded, FormatError
from formats.completion import decode_cqe
from formats.decoded import stray_bits
from formats.enums import name_of
from tools.dump.items import Entry, stored, with_gaps
from tools.dump.kinds import kind_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from formats import CStruct, Registry
    from formats.completion import Completion
    from tools.dump.data import Data
    from tools.dump.items import Item

_SIZES = (16, 32)
"""Bytes a slot may have."""
_PLAIN = "CqeError"
"""The form of completion entries that every family has."""
_GLANCE = 256
_MOST_HEAD = 4096


class Completions:
    """Decodes the completion entries of one family; `OptionError` (`dump.cqes`) when it has none.

    A family of a plugin has the one form `CqeError`, in slots of the next power of two, as its device writes them.

    Attributes:
        size: bytes of a slot.
    """

    def __init__(self, family: str, registry: Registry = BUILTIN) -> None:
        self._family = family
        self.size = next((n for n in _SIZES if self._takes(n)), 0)
        self._own: CStruct | None = None
        if not self.size and _PLAIN in (registry.names(family) if family in registry.families else ()):
            self._own = registry.get(family, _PLAIN)
            self.size = 1 << (self._own.size - 1).bit_length()
        if not self.size:
            raise OptionError(
                f"family {family} has no completion entries", id="dump.cqes", where="--cqes", remedy="use v100 or v200"
            )

    def _takes(self, size: int) -> bool:
        try:
            decode_cqe(self._family, bytes(size))
        except FormatError:
            return False
        return True

    def decoded(self, raw: bytes, offset: int) -> Decoded:
        """One slot; what its error bits say is among the notes."""
        own = self._own
        if own is None:
            found = decode_cqe(self._family, raw, offset=offset)
            decoded, told = found.decoded, [*_told(found)]
        else:
            entry = raw[: own.size]
            decoded, told = Decoded(own, own.parse(entry), offset, notes=stray_bits(own, entry)), []
        rest = raw[decoded.struct.size :]
        if any(rest):
            told.append(f"bytes {decoded.struct.size} to {self.size - 1} of the slot are not 0")
        return decoded.noting(*told)

    def scan(self, data: Data, first: int, last: int) -> Iterator[Item]:
        """Entries and gaps of slots `first` to `last` (exclusive)."""

        def entry(slot: int) -> Entry:
            raw = bytes(data.view[slot * self.size : (slot + 1) * self.size])
            decoded = self.decoded(raw, slot * self.size)
            values = decoded.values
            return Entry(values["stream_id"], slot, raw, decoded, kind_of(decoded), values["task_id"])

        return with_gaps(stored(data, self.size, first, last), first, last, entry)


def _told(found: Completion) -> Iterator[str]:
    """The error in words."""
    if found.code is not None:
        yield f"TS {found.code:#x} {found.code_name}".rstrip()
    if found.meaning:
        yield found.meaning
    if found.fault is not None:
        yield f"the task that failed is stream {found.fault.stream_id} task {found.fault.task_id}"


def plausible(family: str, data: Data) -> bool:
    """Whether the first used slots look like completions: error bit and type agree, numbers are small, types known."""
    reader = Completions(family)
    whole = min(len(data) // reader.size, _GLANCE)
    slots = (bytes(data.view[k * reader.size : (k + 1) * reader.size]) for k in range(whole))
    used = [raw for raw in slots if any(raw)]
    return bool(used) and not len(data) % reader.size and all(_fits(reader, raw) for raw in used)


def _fits(reader: Completions, raw: bytes) -> bool:
    decoded = reader.decoded(raw, 0)
    values = decoded.values
    if values["sq_head"] > _MOST_HEAD or values["warn"] or any(raw[decoded.struct.size :]):
        return False
    if "error_type" not in values:
        return True
    known = bool(name_of(decoded.struct.by_name["sqe_type"].enum, values["sqe_type"]))
    return known and bool(values["error_type"]) == bool(values["error_bit"])
