"""Looking through protobuf bytes before they are parsed: lengths, nesting, and how many messages there are.

A message object takes far more memory than its bytes; so nothing is parsed before everything in it was counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_plugins.om.cursor import om_error
from emu_plugins.om.schema import children

if TYPE_CHECKING:
    from collections.abc import Mapping

    from formats.errors import FormatError

MOST_MESSAGES = 4_000_000
"""Messages of one partition, at all depths."""
MOST_OF: Mapping[str, int] = {"TaskDef": 1 << 18, "OpDef": 1 << 18, "GraphDef": 1 << 14}
"""Messages of some kinds in one partition."""
MOST_BYTES = 1 << 30
"""Bytes of a partition that is parsed."""
DEPTH = 60
"""Messages inside each other; protobuf itself stops at 100."""

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
_VARINT_BYTES = 10


def look_through(data: memoryview[int], message: str, where: str, base: int = 0) -> Mapping[str, int]:
    """How many messages of each kind `data`, a `message`, has inside.

    Args:
        data: the bytes; only lengths and tags are looked at.
        message: a message of the schema.
        where, base: name of the partition and its offset, for messages.

    Raises:
        FormatError: `om.message` (a length or a number that does not end, groups, too deep), `om.too-many`.
    """
    if len(data) > MOST_BYTES:
        raise om_error("om.too-many", f"has {len(data)} bytes, at most {MOST_BYTES} are parsed", where, base)
    return _Scan(bytes(data), where, base).all(message)


class _Scan:
    """One look through."""

    def __init__(self, data: bytes, where: str, base: int) -> None:
        self._data, self._where, self._base = data, where, base
        self._counts: dict[str, int] = {}
        self._left = MOST_MESSAGES

    def all(self, message: str) -> Mapping[str, int]:
        """Every message inside, depth first without recursion: what is kept at any time is one line of messages.

        What has no messages inside is left to protobuf. Most fields have one byte of tag and one of length; these
        two are read here, since a call for each would take twice the time.
        """
        data, around = self._data, [(message, 0, len(self._data))]
        while around:
            kind, at, end = around.pop()
            inside = children(kind)
            while at < end:
                tag, size = data[at], data[at + 1] if at + 1 < end else 128
                if tag < 128 and tag & 7 == BYTES and tag > 7 and size < end - at - 1 and size < 128:
                    number, first, at = tag >> 3, at + 2, at + 2 + size
                else:
                    number, first, at = self._field(at, end)
                child = inside.get(number)
                if child is None or first < 0:
                    continue
                self._count(child, first, len(around))
                if first < at and children(child):
                    around += [(kind, at, end), (child, first, at)]
                    break
        return self._counts

    def _count(self, kind: str, at: int, depth: int) -> None:
        """One more message of a kind, at a place and a depth."""
        found = self._counts[kind] = self._counts.get(kind, 0) + 1
        self._left -= 1
        if found > MOST_OF.get(kind, MOST_MESSAGES) or self._left < 0:
            what = f"{MOST_OF[kind]} {kind}" if self._left >= 0 else f"{MOST_MESSAGES} messages"
            raise self._error("om.too-many", f"has more than {what}", at)
        if depth >= DEPTH:
            raise self._error("om.message", f"messages are nested more than {DEPTH} deep", at)

    def _field(self, at: int, end: int) -> tuple[int, int, int]:
        """Number of the field at `at`, start of its bytes (-1 when it has none), and the place behind it."""
        start = at
        tag, at = self._varint(at, end)
        number, wire = tag >> 3, tag & 7
        if not number:
            raise self._error("om.message", "a field has the number 0", start)
        if wire == VARINT:
            return number, -1, self._varint(at, end)[1]
        if wire == BYTES:
            size, at = self._varint(at, end)
            if size > end - at:
                raise self._error("om.message", f"field {number} has {size} bytes, {end - at} are left", start)
            return number, at, at + size
        if wire not in _FIXED:
            raise self._error("om.message", f"field {number} has the wire type {wire}, which is not used", start)
        if _FIXED[wire] > end - at:
            raise self._error("om.message", f"field {number} is cut off", start)
        return number, -1, at + _FIXED[wire]

    def _varint(self, at: int, end: int) -> tuple[int, int]:
        """A number, and the place behind it."""
        if at < end and self._data[at] < 128:
            return self._data[at], at + 1
        start, value, shift = at, 0, 0
        while at < end and at - start < _VARINT_BYTES:
            byte = self._data[at]
            at += 1
            value |= (byte & 127) << shift
            if byte < 128:
                return value, at
            shift += 7
        raise self._error("om.message", "a number does not end", start)

    def _error(self, id: str, what: str, at: int) -> FormatError:  # noqa: A002 - as in FormatError
        return om_error(id, what, self._where, self._base + at)


_FIXED = {FIXED64: 8, FIXED32: 4}
