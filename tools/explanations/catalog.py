"""All explanations together, and how what a user typed is read.

| typed | taken for |
|---|---|
| `0x91`, `145` | every table that has the number; digits that could be hexadecimal are tried as such, too |
| `TS 0x91`, `TS0x91`, `retCode=0x91` | task scheduler codes only |
| `ACL 507011` | return codes only |
| `error type 0x8` | bits of the error type |
| `MODEL_STREAM_EXE_FAILED` | a task scheduler code by its name |
| anything else | an id, in any case |
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from tools.explanations.acl import ACL
from tools.explanations.entry import Explanation
from tools.explanations.error_type import BITS
from tools.explanations.ids import IDS
from tools.explanations.messages import MESSAGES
from tools.explanations.text import Parts, plugin_parts
from tools.explanations.ts import TS
from tools.explanations.ts_full import FULL
from tools.suggest import nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    Finder = Callable[["Catalog", int], "Iterator[Explanation]"]

_QUERY = re.compile(r"(?:(?P<table>[a-z]+)[-_:=]*)?(?P<number>0x[0-9a-f]+|[0-9]+)")
_LOWEST_ACL = 100_000


class Catalog:
    """Every explanation; `extra` are the texts that plugins add: name of the plugin, and texts by id or code."""

    def __init__(self, extra: Iterable[tuple[str, Mapping[str, str]]] = ()) -> None:
        own = [*_messages(), *_ids()]
        self._by_id = {each.code.lower(): each for each in own}
        self._ts = {code: _ts(code) for code in TS}
        self._acl = {code: _acl(code) for code in ACL}
        for plugin, texts in extra:
            for code, text in dict(texts).items():
                self._add(plugin, str(code), str(text))

    def _add(self, plugin: str, code: str, text: str) -> None:
        """Merge the text of a plugin: a new entry, or more about one that is there."""
        known, parts = self._by_id.get(code.lower()), plugin_parts(text)
        if known:
            said = " ".join(part for part in (parts.meaning, parts.cause, parts.action) if part)
            also = f"{known.also} " if known.also else ""
            self._by_id[code.lower()] = replace(known, also=f"{also}plugin {plugin}: {said}")
        else:
            action = parts.action or f"Ask the author of plugin {plugin}; sqemu plugins list shows where it is from."
            found = replace(_explained(code, f"id of plugin {plugin}", parts), action=action)
            self._by_id[code.lower()] = found

    def __iter__(self) -> Iterator[Explanation]:
        return iter((*self._by_id.values(), *self._acl.values(), *map(error_bit, range(len(BITS))), *self._ts.values()))

    def find(self, query: str) -> list[Explanation]:
        """Everything that `query` may mean; empty when nothing does."""
        wanted = re.sub(r"\s+", "", query).lower()
        found = [self._by_id[wanted]] if wanted in self._by_id else []
        name = wanted.upper().removeprefix("TS_")
        found += [each for each in self._ts.values() if name in (each.name, each.name.removeprefix("ERROR_"))]
        return found + [each for each in self._numbers(wanted) if each not in found]

    def find_all(self, words: Sequence[str]) -> tuple[list[Explanation], list[str]]:
        """What each query among `words` means, and the queries that mean nothing.

        A query is one word, or a table and a number (`TS 0x91`, `error type 0x8`).
        """
        found: list[Explanation] = []
        unknown: list[str] = []
        rest = list(words)
        while rest:
            length = next((n for n in (3, 2) if _one_query(rest[:n]) and self.find(" ".join(rest[:n]))), 1)
            query, rest = " ".join(rest[:length]), rest[length:]
            meanings = self.find(query)
            found += [each for each in meanings if each not in found]
            unknown += [] if meanings else [query]
        return found, unknown

    def _numbers(self, wanted: str) -> Iterator[Explanation]:
        read = _QUERY.fullmatch(wanted)
        finder = _TABLES.get(read["table"]) if read else None
        if read and finder:
            for number in _readings(read["number"]):
                yield from finder(self, number)

    def _of_ts(self, number: int) -> Iterator[Explanation]:
        if number in self._ts:
            yield self._ts[number]

    def _of_acl(self, number: int) -> Iterator[Explanation]:
        if number in self._acl:
            yield self._acl[number]

    def _of_error_type(self, number: int) -> Iterator[Explanation]:
        if number < 1 << len(BITS):
            yield from (error_bit(bit) for bit in range(len(BITS)) if number >> bit & 1)

    def _anywhere(self, number: int) -> Iterator[Explanation]:
        yield from self._of_ts(number)
        yield from self._of_acl(number)
        if number.bit_count() == 1:  # a mask of several bits is hardly ever typed alone
            yield from self._of_error_type(number)

    def suggest(self, query: str) -> list[str]:
        """Codes, ids and names that resemble `query`."""
        names = [each.code for each in self] + [each.name for each in self._ts.values()]
        return nearest(query.strip(), names)


_TABLES: Mapping[str | None, Finder] = {
    None: Catalog._anywhere,  # noqa: SLF001 - a table of the class's own methods
    "ts": Catalog._of_ts,  # noqa: SLF001
    "retcode": Catalog._of_ts,  # noqa: SLF001
    "acl": Catalog._of_acl,  # noqa: SLF001
    "errortype": Catalog._of_error_type,  # noqa: SLF001
}


def _one_query(words: Sequence[str]) -> bool:
    """Whether only the last of several words has digits: a table and a number, and not two numbers."""
    return len(words) > 1 and not any(c.isdigit() for word in words[:-1] for c in word)


def _readings(digits: str) -> list[int]:
    """The numbers that digits may stand for: with 0x one, short decimal ones may be hexadecimal without it."""
    if digits.startswith("0x"):
        return [int(digits, 16)]
    read = [int(digits)] if len(digits) < 20 else []
    if read and read[0] < _LOWEST_ACL and int(digits, 16) not in read:
        read.append(int(digits, 16))
    return read


def error_bit(bit: int) -> Explanation:
    """One bit of the error type of a completion entry."""
    name, becomes = BITS[bit]
    return Explanation(
        f"error type {1 << bit:#x}",
        f"bit {bit} of the error type of a completion entry",
        f"{name}: {becomes}",
        action="The lowest bit that is set decides. Explain the TS code, or the fault of the report, next.",
        value=1 << bit,
    )


def _explained(code: str, kind: str, parts: Parts, value: int | None = None) -> Explanation:
    return Explanation(code, kind, parts.meaning, "", parts.cause, parts.action, value=value)


def _ts(code: int) -> Explanation:
    name, meaning = TS[code]
    more = FULL.get(code, Parts())
    return Explanation(f"TS {code:#x}", "task scheduler code", meaning, name, more.cause, more.action, value=code)


def _acl(code: int) -> Explanation:
    return _explained(str(code), "ACL return code", ACL[code], code)


def _messages() -> Iterator[Explanation]:
    for code, parts in MESSAGES.items():
        sender = "runtime" if code.startswith("EE") else "graph engine"
        yield _explained(code, f"message of the {sender}", parts)


def _ids() -> Iterator[Explanation]:
    return (_explained(code, "id of sqemu", parts) for code, parts in IDS.items())
