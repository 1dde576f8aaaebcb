"""Which struct some bytes are: rules made from `CStruct.match`, looked up by the type number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from formats.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from formats.cstruct import CStruct

    _Test: TypeAlias = tuple[int, int, frozenset[int]]
    _Place: TypeAlias = tuple[int, int]


@dataclass(frozen=True)
class Rule:
    """One struct and the bits by which an entry is recognised as it: (offset, mask, values)."""

    struct: CStruct
    tests: tuple[_Test, ...]

    def holds(self, whole: int) -> bool:
        """Whether the entry, read as one little-endian integer, passes every test."""
        return all(whole >> offset & mask in values for offset, mask, values in self.tests)


def rule(struct: CStruct) -> Rule:
    """The rule of one struct; `FormatError` (id `format.table`) when `match` names no scalar field."""
    tests = []
    for name, values in struct.match.items():
        f = struct.by_name.get(name)
        if f is None or f.count is not None:
            raise FormatError(
                f"match names {name!r}, which is not a scalar field", id="format.table", where=struct.struct_name
            )
        tests.append((f.offset, (1 << f.width) - 1, frozenset(values)))
    return Rule(struct, tuple(tests))


class Rules:
    """The rules for entries of one size, grouped by the values of their first test (the type number).

    Among rules that hold, the one with the most tests wins, then the one registered first.
    """

    __slots__ = ("_groups",)

    def __init__(self, structs: Iterable[CStruct], size: int) -> None:
        groups: dict[_Place, dict[int, list[Rule]]] = {}
        made = [rule(s) for s in structs if s.match and s.size == size]
        for one in sorted(made, key=lambda r: -len(r.tests)):
            offset, mask, values = one.tests[0]
            by_value = groups.setdefault((offset, mask), {})
            for value in values:
                by_value.setdefault(value, []).append(one)
        self._groups: Mapping[_Place, Mapping[int, list[Rule]]] = groups

    def find(self, entry: bytes) -> CStruct | None:
        """The struct that `entry` is, or `None`."""
        whole = int.from_bytes(entry, "little")
        best: Rule | None = None
        for (offset, mask), by_value in self._groups.items():
            for one in by_value.get(whole >> offset & mask, ()):
                if one.holds(whole):
                    if best is None or len(one.tests) > len(best.tests):
                        best = one
                    break
        return best.struct if best else None
