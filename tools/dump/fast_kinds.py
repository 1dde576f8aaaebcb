"""Which struct and kind each entry of a window is, without decoding every one of them.

The struct of an entry follows from the bits that any rule of its type looks at; one entry per pattern of these bits is
decoded, the others are like it. An entry is *plain* when all bits that are set lie in named scalar fields of its struct
and its struct is no guess: then its text has no remarks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import numpy.typing as npt

from formats import SQE_SIZE
from tools.dump.follow import is_condition
from tools.dump.kinds import KINDS, kind_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from formats import CStruct, Registry
    from tools.dump.fast_text import Chars
    from tools.dump.kinds import Kind

    Rows = npt.NDArray[np.intp]
    Words = npt.NDArray[np.uint64]

_Scalar = TypeVar("_Scalar", bound=np.generic)
_WORDS = SQE_SIZE // 8
_MOST_PATTERNS = 1 << 16
_HEADER = {"rt_stream_id", "task_id"}


@dataclass(frozen=True)
class Group:
    """Plain entries of one struct and kind: their rows in the window, ascending."""

    struct: CStruct
    kind: Kind
    rows: Rows


@dataclass(frozen=True)
class _Known:
    """A struct with the bits of its named scalar fields."""

    struct: CStruct
    named: Words


class Classifier:
    """Sorts entries of one family into groups."""

    def __init__(self, registry: Registry, family: str) -> None:
        self._registry = registry
        self._family = family
        known = [registry.get(family, name) for name in registry.names(family)]
        self._rules = [s for s in known if s.match and s.size == SQE_SIZE]
        self._masks: dict[int, Words] = {}
        self._structs: dict[tuple[int, bytes], _Known | None] = {}

    def groups(self, raw: Chars, used: Rows) -> tuple[list[Group], list[int]]:
        """Groups of the plain entries among rows `used`, and the other ones of these rows."""
        words = raw.view("<u8")
        types = raw[used, 0] & 0x3F
        groups: dict[tuple[str, str], list[Group]] = {}
        slow: list[int] = []
        for number in np.flatnonzero(np.bincount(types, minlength=64)).tolist():
            rows = used[types == number]
            for known, some in self._by_struct(words, rows, int(number)):
                if known is None:
                    slow += some.tolist()
                    continue
                plain, stray = _sorted_out(words, some, known)
                slow += stray
                for group in _by_kind(known.struct, raw, plain):
                    groups.setdefault((group.struct.struct_name, group.kind.name), []).append(group)
        return [_merged(each) for each in groups.values()], slow

    def _by_struct(self, words: Words, rows: Rows, number: int) -> Iterator[tuple[_Known | None, Rows]]:
        """Rows of one type number by their struct."""
        mask = self._mask(number)
        columns = np.flatnonzero(mask)
        deciding = words[:, columns] if len(rows) == len(words) else words[np.ix_(rows, columns)]
        patterns = deciding & mask[columns]
        for sample, some in _alike(patterns, rows):
            pattern = np.zeros(_WORDS, "<u8")
            pattern[columns] = sample
            yield self._struct(number, pattern.tobytes()), some

    def _mask(self, number: int) -> Words:
        """The bits that rules of this type look at."""
        if number not in self._masks:
            bits = 0x3F
            for struct in self._rules:
                if number in struct.match.get("type", (number,)):
                    for name in struct.match:
                        f = struct.by_name[name]
                        bits |= ((1 << f.width) - 1) << f.offset
            self._masks[number] = np.frombuffer(bits.to_bytes(SQE_SIZE, "little"), "<u8")
        return self._masks[number]

    def _struct(self, number: int, pattern: bytes) -> _Known | None:
        """The struct of entries with these deciding bits; None when they are no plain ones whatever else they hold."""
        key = number, pattern
        if key not in self._structs:
            if len(self._structs) > _MOST_PATTERNS:
                self._structs.clear()
            self._structs[key] = self._decided(pattern)
        return self._structs[key]

    def _decided(self, pattern: bytes) -> _Known | None:
        decoded = self._registry.decode(self._family, pattern)
        struct = decoded.struct
        if decoded.notes or is_condition(decoded) or not set(struct.by_name) >= _HEADER:
            return None
        bits = 0
        for f in struct.named_fields:
            if f.count is None and f.width <= 64 and f.kind == "uint":
                bits |= ((1 << f.width) - 1) << f.offset
        return _Known(struct, np.frombuffer(bits.to_bytes(SQE_SIZE, "little"), "<u8"))


def _sorted_out(words: Words, rows: Rows, known: _Known) -> tuple[Rows, list[int]]:
    """Rows whose bits all lie in named fields, and the others."""
    entries = taken(words, rows)
    if not np.any(np.bitwise_or.reduce(entries, axis=0) & ~known.named):
        return rows, []
    stray = (entries & ~known.named).any(axis=1)
    return rows[~stray], rows[stray].tolist()


def taken(window: npt.NDArray[_Scalar], rows: Rows) -> npt.NDArray[_Scalar]:
    """The given rows of a window; the window itself when that is all of them."""
    return window if len(rows) == len(window) else window[rows]


def _merged(groups: list[Group]) -> Group:
    """Groups of the same struct and kind as one."""
    if len(groups) == 1:
        return groups[0]
    return Group(groups[0].struct, groups[0].kind, np.sort(np.concatenate([g.rows for g in groups])))


def _alike(patterns: Words, rows: Rows) -> Iterator[tuple[Words, Rows]]:
    """Rows with the same pattern together, with that pattern."""
    left = patterns
    while len(rows):
        same = (left == left[0]).all(axis=1)
        if same.all():
            yield left[0], rows
            return
        yield left[0], rows[same]
        left, rows = left[~same], rows[~same]


def _by_kind(struct: CStruct, raw: Chars, rows: Rows) -> Iterator[Group]:
    """Rows of one struct by their kind."""
    for kind in KINDS:
        if kind.struct != struct.struct_name or not len(rows):
            continue
        if not kind.field:
            yield Group(struct, kind, rows)
            return
        if kind.field not in struct.by_name and kind.field not in struct.joined:
            continue
        view = struct.view(np.ascontiguousarray(taken(raw, rows)))
        same = view.column(kind.field) == kind.value
        if same.any():
            yield Group(struct, kind, rows[same])
            rows = rows[~same]
    if len(rows):
        from formats import Decoded  # noqa: PLC0415 - kinds without a table of their own

        sample = struct.parse(raw[int(rows[0])].tobytes())
        yield Group(struct, kind_of(Decoded(struct, sample)), rows)
