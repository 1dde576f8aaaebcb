"""Entries of 64 bytes put together from lines of any layout.

| layout | a group is |
|---|---|
| all 16 words on one line | the line, ids from the head line before it |
| a line of words 0 to 7, one of 8 to 15 | both |
| one word per line | words until their number falls, or another entry begins |
| `sqe[0] 0x …`, `sqe[8] 0x …`, `pos=…` (schedule trace) | the three lines |
| `Label: ` and eight words, twice (host) | two lines of one thread and label |

Lines are taken in order of time, per processor of the device and per thread of the host, so lines of others between
them do no harm. Words that are missing are 0 and named.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import TYPE_CHECKING

from formats import SQE_SIZE
from tools.capture.model import SYNC, CapturedSqe

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tools.capture.model import Record, Ref

KINDS = frozenset({"sqe_head", "sqe_words", "sqe_word", "sqe_half", "position", "host_half"})
"""Kinds of records that entries are made of."""
WORDS = SQE_SIZE // 4
MOST_REFS = 64
"""Lines that are remembered of one entry."""

HALVES_NS = 20_000_000
"""Both halves of a host dump are at most this far apart."""
MOST_BETWEEN = 8
"""Lines of the firmware that may stand between the words of an entry."""

_NUMBERED = re.compile(r"word\[(\d{1,2})\]=(?:0x)?([0-9a-fA-F]{8})")
_LEAST_CREDIT = 0x80
_USUAL_CREDIT = 252
_LAST_TYPE, _INVALID = 20, 63


@dataclass
class _Group:
    """An entry that is being read; `head`: number of its head line. `loose`: its words do not follow that at once."""

    side: str
    stamp: int | None
    device: int | None
    words: dict[int, int] = field(default_factory=dict)
    refs: list[Ref] = field(default_factory=list)
    stream: int | None = None
    task: int | None = None
    slot: int | None = None
    label: str = ""
    base: int | None = None
    head: int | None = None
    loose: bool = False

    def add(self, first: int, words: Iterable[int], ref: Ref) -> None:
        """Words from number `first` on."""
        self.words.update(enumerate(words, first))
        self.refs.append(ref)

    def done(self) -> CapturedSqe | None:
        """The entry; None when there is no word of it."""
        if not self.words:
            return None
        raw = b"".join(self.words.get(i, 0).to_bytes(4, "little") for i in range(WORDS))
        missing = tuple(i for i in range(WORDS) if i not in self.words)
        refs = tuple(self.refs[:MOST_REFS])
        if self.loose and self.words.get(1) != (self.task or 0) << 16 | (self.stream or 0):
            self.stream = self.task = None  # lines are missing behind the head: these are words of another entry
        return CapturedSqe(
            self.stream, self.task, raw, self.side, refs, self.stamp, missing, self.label, self.slot, self.device
        )


class Assembler:
    """Takes records in order of time and gives entries."""

    def __init__(self) -> None:
        self._open: dict[tuple[object, ...], _Group] = {}

    def take(self, record: Record) -> Iterator[CapturedSqe]:
        """Entries that are whole, or end, with this record."""
        step = _STEPS.get(record.kind)
        if step is not None:
            yield from step(self, record)

    def finish(self) -> Iterator[CapturedSqe]:
        """What was still open."""
        for key in list(self._open):
            yield from self._close(key)

    def _close(self, key: tuple[object, ...]) -> Iterator[CapturedSqe]:
        group = self._open.pop(key, None)
        found = group.done() if group else None
        if found is not None:
            yield found

    def _start(self, key: tuple[object, ...], record: Record) -> _Group:
        group = self._open[key] = _Group(record.side, record.stamp, record.device)
        return group

    def _head(self, record: Record) -> Iterator[CapturedSqe]:
        key = _key(record)
        yield from self._close(key)
        group = self._start(key, record)
        group.stream, group.task = record.number("stream"), record.number("task")
        group.head = record.seq or None
        group.refs.append(record.ref)

    def _line(self, record: Record) -> Iterator[CapturedSqe]:
        words = {int(i): int(word, 16) for i, word in _NUMBERED.findall(record.text("words"))}
        yield from self._numbered(record, {i: word for i, word in words.items() if i < WORDS})

    def _word(self, record: Record) -> Iterator[CapturedSqe]:
        index = record.number("index") or 0
        if index < WORDS:
            yield from self._numbered(record, {index: int(record.text("word"), 16)})

    def _numbered(self, record: Record, words: dict[int, int]) -> Iterator[CapturedSqe]:
        key = _key(record)
        group = self._open.get(key)
        if group is not None and group.words and words and not _goes_on(group, record, min(words)):
            yield from self._close(key)
            group = None
        group = group or self._start(key, record)
        if group.base is None and record.seq and words:
            group.base = record.seq - min(words)
            group.loose = group.head is not None and group.base > group.head + 1
        group.words.update(words)
        group.refs.append(record.ref)
        if len(group.words) == WORDS:
            yield from self._close(key)

    def _half(self, record: Record) -> Iterator[CapturedSqe]:
        key = _key(record)
        index = record.number("index") or 0
        group = self._open.get(key)
        if index == 0 or (group is not None and index in group.words):
            yield from self._close(key)
            group = None
        group = group or self._start(key, record)
        group.add(index, _hex(record), record.ref)

    def _position(self, record: Record) -> Iterator[CapturedSqe]:
        group = self._open.get(_key(record))
        if group is not None:
            stream = record.number("stream")
            group.stream = None if stream is None else stream & ~SYNC
            group.task, group.slot = record.number("task"), record.number("pos")
            group.refs.append(record.ref)
        yield from self._close(_key(record))

    def _host(self, record: Record) -> Iterator[CapturedSqe]:
        key = (*_key(record), record.text("label"))
        words = _hex(record)
        group = self._open.get(key)
        if group is not None and (_begins_again(words) or _later(group, record)):
            yield from self._close(key)
            group = None
        if group is None:
            group = self._start(key, record)
            group.label = record.text("label")
            group.add(0 if _begins(words) else WORDS // 2, words, record.ref)
            if not _begins(words):
                yield from self._close(key)
            return
        group.add(WORDS // 2, words, record.ref)
        yield from self._close(key)


_STEPS = {
    "sqe_head": Assembler._head,  # noqa: SLF001 - a table of the class's own methods
    "sqe_words": Assembler._line,  # noqa: SLF001
    "sqe_word": Assembler._word,  # noqa: SLF001
    "sqe_half": Assembler._half,  # noqa: SLF001
    "position": Assembler._position,  # noqa: SLF001
    "host_half": Assembler._host,  # noqa: SLF001
}


def _key(record: Record) -> tuple[object, ...]:
    """Lines with the same key were written by one processor or thread; rotated files of one folder belong together."""
    folder = "" if record.device is not None else str(PurePath(record.ref.file).parent)
    return record.side, record.device, folder, record.text("part")


def _goes_on(group: _Group, record: Record, index: int) -> bool:
    """Whether word `index` can belong to `group`: behind its words, and few lines of the firmware between them.

    The firmware counts its lines, so many that are missing show that the word is one of another entry.
    """
    if index <= max(group.words):
        return False
    return group.base is None or not record.seq or record.seq - index - group.base <= MOST_BETWEEN


def _later(group: _Group, record: Record) -> bool:
    """Whether the second half comes too late: both are written at once."""
    if group.stamp is None or record.stamp is None:
        return False
    return record.stamp - group.stamp > HALVES_NS


def _hex(record: Record) -> list[int]:
    return [int(word, 16) for word in record.text("words").split()]


def _begins(words: list[int]) -> bool:
    """Whether eight words can be the first of an entry: they hold a kernel credit (byte 14, `sqe_formats.md` 3)."""
    return words[3] >> 16 & 0xFF >= _LEAST_CREDIT or words[3] >> 16 & 0xFF in _SMALL_CREDITS


_SMALL_CREDITS = frozenset({7, 8, 12, 15, 16, 18})


def _begins_again(words: list[int]) -> bool:
    """Whether eight words are surely another first half: a credit of the runtime, and a type that exists."""
    kind = words[0] & 0x3F
    return words[3] >> 16 & 0xFF >= _USUAL_CREDIT and (kind <= _LAST_TYPE or kind == _INVALID)


def merged(entries: Iterable[CapturedSqe]) -> list[CapturedSqe]:
    """Entries that are the same, in order of their first mention, each with all its lines."""
    found: dict[tuple[object, ...], CapturedSqe] = {}
    for entry in entries:
        key = (entry.stream, entry.task, entry.raw, entry.side, entry.missing, entry.device)
        known = found.get(key)
        if known is None:
            found[key] = entry
        elif len(known.refs) < MOST_REFS:
            found[key] = replace(known, refs=(*known.refs, *entry.refs)[:MOST_REFS])
    return list(found.values())
