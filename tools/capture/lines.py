"""One candidate line as records: who wrote it and when, and what the grammar reads in it."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from tools.capture.model import DEVICE, HOST, Record, Ref
from tools.capture.shapes import ALIASES, shapes_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tools.capture.model import Value
    from tools.capture.shapes import Shape

LONGEST = 1 << 14
"""Bytes of a line that are looked at."""

MOST_LABEL = 60
"""Characters of the label of a host dump."""

_STAMP = re.compile(r"(\d{4}-\d\d-\d\d)[-T ](\d\d):(\d\d):(\d\d)[.,](\d{3})\.?(\d{3})?(?: (\d{1,9}) \()?")
_PAIR = re.compile(r"(?<![A-Za-z0-9_])([A-Za-z][A-Za-z0-9_]{0,30}) ?[=:] ?(0x[0-9a-fA-F]{1,16}|\d{1,20})s?(?!\w|\.\d)")
_NAMED = re.compile(r"(?:sqe_type|task_type|type)=\d+ ?[(\[]([^)\]]{1,40})[)\]]|errType=\w+\(([^)]{1,60})\)")
_NUMBER = re.compile(r"0x[0-9a-fA-F]{1,16}|\d{1,20}")
_ALWAYS_TEXT = frozenset({"words", "word", "text", "label", "kernel", "op", "name", "states", "bits", "library"})
_WITHOUT_IDS = frozenset({"resource", "packed"})
"""Kinds of lines that say something without naming a stream."""
_DEVICE_OF_PATH = re.compile(r"(?:^|/)(?:device|dev)-(\d{1,4})(?:[/_.]|$)")
_TSCH = "TSCH("
_PART = re.compile(r"\(dieid:(\d{1,3}),cpuid:(\d{1,3})\)|\](\d{1,10}) ")
"""Which processor of the device, or which thread of the host, wrote a line."""


def device_of(path: str) -> int | None:
    """The device number that a path names (`device-3/…`, `device-3_….log`), None without."""
    found = _DEVICE_OF_PATH.search(path)
    return int(found[1]) if found else None


class LineReader:
    """Reads the candidate lines of one file, in their order.

    A line without a stamp belongs to the device line before it; that is all that is remembered.
    """

    def __init__(self, file: str) -> None:
        self._file = file
        self._device = device_of(file)
        self._last: tuple[int | None, int] = (None, 0)

    def read(self, number: int, raw: bytes) -> Iterator[Record]:
        """The records of line `number`, at most one per kind; none when no shape fits."""
        line = raw[:LONGEST].decode("utf-8", "backslashreplace").rstrip("\r\n")
        shapes = shapes_of(line)
        if not shapes:
            return
        kinds: set[str] = set()
        for shape in shapes:
            if shape.kind in kinds:
                continue
            values = _values(shape, line)
            if values is None:
                continue
            kinds.add(shape.kind)
            yield self._record(shape, line, values, Ref(self._file, number))

    def _record(self, shape: Shape, line: str, values: dict[str, Value], ref: Ref) -> Record:
        stamp, seq = _stamp(line)
        stamped = stamp is not None
        side = DEVICE if shape.device or _TSCH in line else HOST
        if side == DEVICE and stamped:
            self._last = (stamp, seq)
        elif not stamped:
            stamp, seq = self._last if side == DEVICE else (None, 0)
        named = values.get("device")
        device = named if isinstance(named, int) else self._device
        part = _PART.search(line, 0, 600)
        if part is not None:
            values.setdefault("part", part[1] + ":" + part[2] if part[1] else part[3])
        return Record(shape.name, shape.kind, MappingProxyType(values), ref, side, stamp, seq, device, stamped)


def _values(shape: Shape, line: str) -> dict[str, Value] | None:
    """What `shape` takes from `line`; None when its pattern does not match, or it names no value at all."""
    found: dict[str, Value] = {}
    if shape.pairs:
        for name, text in _PAIR.findall(line):
            key = ALIASES.get(name.lower(), name.lower())
            if key in shape.pairs:
                found.setdefault(key, int(text, 0) if text[:2] == "0x" else int(text))
        for sqe_type, errors in _NAMED.findall(line):
            found.setdefault("type_name" if sqe_type else "error_text", sqe_type or errors)
        if "stream" in shape.pairs and shape.kind not in _WITHOUT_IDS and "stream" not in found:
            return None  # cut, or a text about such lines
    if shape.pattern is not None:
        match = shape.pattern.search(line)
        if match is None:
            return None
        for name, text in match.groupdict().items():
            if text is not None:
                found[name] = _value(name, text)
    _more(shape, line, found)
    return found or None


def _more(shape: Shape, line: str, found: dict[str, Value]) -> None:
    """AI CPU kernels name library, function and operator in two spellings; the label of words stands before them."""
    if shape.kind == "host_half":
        before = line[: line.index(str(found["words"]))].rstrip(": ")
        found["label"] = before.rpartition(":")[2].strip()[-MOST_LABEL:]
    if shape.kind != "aicpu_kernel":
        return
    for key, names in _AICPU_NAMES.items():
        match = names.search(line)
        if match:
            found[key] = match[1]


_AICPU_NAMES = {
    "library": re.compile(r"(?:fault so_name|soName)=([^,\s\[]+)"),
    "kernel": re.compile(r"(?:fault kernel_name|funcName)=([^,\s\[]+)"),
    "op": re.compile(r"(?:fault op_name|kernelName)=([^,\s\[.]+)"),
}


def _value(name: str, text: str) -> Value:
    if name in _ALWAYS_TEXT or not _NUMBER.fullmatch(text):
        return text.strip()
    return int(text, 16) if text[:2] == "0x" else int(text)


def _stamp(line: str) -> tuple[int | None, int]:
    """Nanoseconds since 1970 and the firmware's number of the line; (None, 0) without a stamp that makes sense."""
    found = _STAMP.search(line, 0, 400)
    if found is None:
        return None, 0
    day, hour, minute, second, milli, micro, seq = found.groups()
    start = _day(day)
    if start is None:
        return None, 0
    seconds = start + int(hour) * 3600 + int(minute) * 60 + int(second)
    return (seconds * 1000 + int(milli)) * 1_000_000 + int(micro or 0) * 1000, int(seq or 0)


@lru_cache(maxsize=64)
def _day(text: str) -> int | None:
    try:
        return int(datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC).timestamp())
    except ValueError:
        return None
