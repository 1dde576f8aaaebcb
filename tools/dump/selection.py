"""Which entries are shown: streams, tasks, kinds, slots, and an expression over the fields."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from emu_core.errors import OptionError
from formats.enums import name_of
from tools.dump.items import Entry, Gap

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tools.dump.expr import Node, Value
    from tools.dump.items import Item
    from tools.dump.known import Known

_RANGE = re.compile(r"(0[xX][0-9a-fA-F]{1,32}|[0-9]{1,32})?(:)?(0[xX][0-9a-fA-F]{1,32}|[0-9]{1,32})?")
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]{1,32}|[0-9]{1,32}")
_QUOTED = 40


@dataclass(frozen=True)
class Selection:
    """Filters of the command line; empty ones let everything through."""

    streams: frozenset[int] = field(default_factory=frozenset)
    tasks: frozenset[int] = field(default_factory=frozenset)
    kinds: frozenset[str] = field(default_factory=frozenset)
    where: Node | None = None

    @property
    def everything(self) -> bool:
        """Whether nothing is left out."""
        return not (self.streams or self.tasks or self.kinds or self.where)

    def of(self, items: Iterable[Item]) -> Iterator[Item]:
        """The items that are let through; gaps only when nothing but streams is asked for."""
        if self.everything:
            yield from items
            return
        for item in items:
            if isinstance(item, Gap):
                if not (self.tasks or self.kinds or self.where) and item.stream_id in self.streams:
                    yield item
            elif self.admits(item):
                yield item

    def admits(self, entry: Entry) -> bool:
        """Whether every filter lets `entry` through."""
        return (
            (not self.streams or entry.stream_id in self.streams)
            and (not self.tasks or entry.task_id in self.tasks)
            and (not self.kinds or not self.kinds.isdisjoint(_called(entry)))
            and (self.where is None or self.where.holds(lambda name: value_of(entry, name)))
        )


def _called(entry: Entry) -> tuple[str, str]:
    """Kind and struct of an entry, as `--kind` may name them."""
    return entry.kind.name, entry.decoded.struct.struct_name.lower()


def value_of(entry: Entry, name: str) -> tuple[Value | None, str]:
    """Value of a field or place of an entry, and the name of the value; None when the entry has no such field."""
    struct = entry.decoded.struct
    if name in struct.joined:
        pair = struct.joined[name]
        return entry.decoded.values[pair.low.name] | entry.decoded.values[pair.high.name] << pair.low.width, ""
    found = struct.by_name.get(name)
    if found is not None:
        value = entry.decoded.values[name]
        if isinstance(value, list):
            return tuple(value), ""
        return value, name_of(found.enum, value) if found.enum else ""
    return _place(entry, name), ""


def _place(entry: Entry, name: str) -> int | str | None:
    return {
        "slot": entry.slot,
        "offset": entry.offset,
        "stream": entry.stream_id,
        "task": entry.task_id,
        "kind": entry.kind.name,
        "struct": entry.decoded.struct.struct_name,
        "guessed": int(entry.decoded.guessed),
        "notes": len(entry.decoded.notes),
    }.get(name)


def where(text: str, known: Known) -> Node:
    """The expression `text`, names and texts checked; `OptionError` (`dump.where`) with the column."""
    from tools.dump.expr import parse, tests  # noqa: PLC0415 - a dump without --where does without
    from tools.dump.expr_tokens import bad  # noqa: PLC0415

    node = parse(text)
    for test in tests(node):
        wrong = known.wrong_name(test.name.text)
        for literal in test.literals:
            wrong = wrong or known.wrong_literal(test.name.text, literal)
        if wrong:
            raise bad(wrong[0], test.name.column, wrong[1])
    return node


def numbers(given: Iterable[str], option: str) -> frozenset[int]:
    """Numbers such as `3`, `0x1f`, `1,2`, `4-7` of an option given any number of times."""
    return frozenset(n for text in given for part in text.split(",") for n in _numbers(part.strip(), option))


def _numbers(part: str, option: str) -> range:
    first, dash, last = (text.strip() for text in part.partition("-"))
    low, high = 1, 0
    if _NUMBER.fullmatch(first) and (not dash or _NUMBER.fullmatch(last)):
        low = _integer(first)
        high = _integer(last) if dash else low
    if not 0 <= low <= high <= 0xFFFFFFFF or high - low > 0xFFFF:
        raise OptionError(
            f"{_cut(part)} is not a number",
            id="dump.number",
            where=option,
            remedy=f"write, for example, {option} 3,5-8",
        )
    return range(low, high + 1)


def slots(text: str | None, count: int) -> list[tuple[int, int]]:
    """Runs of slots (first, end) that `A:B` means; two when A lies beyond B and the range goes round the end.

    Raises:
        OptionError: not a range (`dump.range`), or one that begins behind the last entry.
    """
    if text is None:
        return [(0, count)]
    found = _RANGE.fullmatch(text.strip())
    if not found or not text.strip():
        raise OptionError(
            f"{_cut(text)} is not a range of slots", id="dump.range", where="--range",
            remedy="write A:B (B is not shown any more), A:, :B or A; A beyond B goes round the end of the ring",
        )  # fmt: skip
    first = _integer(found[1]) if found[1] else 0
    end = (_integer(found[3]) if found[3] else count) if found[2] else first + 1
    if first >= count and (count or first):
        raise OptionError(
            f"slot {first} is behind the last one, there are {count} entries", id="dump.range", where="--range",
            remedy=f"give slots from 0 to {max(count - 1, 0)}",
        )  # fmt: skip
    if first <= end:
        return [(first, min(end, count))]
    return [(first, count), (0, end)]


def _integer(text: str) -> int:
    return int(text, 16 if text[:2] in {"0x", "0X"} else 10)


def _cut(text: str) -> str:
    return repr(text) if len(text) <= _QUOTED else f"{text[:_QUOTED]!r}..."
