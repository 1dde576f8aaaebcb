"""What entries of a family can have: names of fields, of their values, of kinds and structs.

A name that no entry can have is a mistake of the command line, not an empty choice.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from emu_core.errors import OptionError
from formats.enums import ENUMS, FLAGS
from tools.dump.kinds import kind_names
from tools.suggest import nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from formats import CStruct, Registry

NUMBERS = ("slot", "offset", "stream", "task", "guessed", "notes")
"""Places of an entry that are numbers; `notes` counts its doubts."""
TEXTS = ("kind", "struct")
"""Places of an entry that are texts."""
PLACES = (*NUMBERS, *TEXTS)
"""Names that are not fields but say where and what an entry is."""

_UNIT = re.compile(r" \+[0-9]+$")


@dataclass(frozen=True)
class Known:
    """Names that entries of some families can have.

    Attributes:
        structs: layouts of the families.
    """

    structs: tuple[CStruct, ...]

    @cached_property
    def fields(self) -> frozenset[str]:
        """Every field and joined value."""
        return frozenset(n for s in self.structs for n in (*s.by_name, *s.joined))

    @cached_property
    def kinds(self) -> frozenset[str]:
        """Every kind, in the words of the dump."""
        return frozenset({"empty", "raw unit", *(name for s in self.structs for name in kind_names(s.struct_name))})

    def values(self, field: str) -> frozenset[str] | None:
        """Names of the values of a field; None where they are flags, whose names are put together."""
        tables = {s.by_name[field].enum for s in self.structs if field in s.by_name} - {""}
        if tables & set(FLAGS):
            return None
        return frozenset(name for table in tables for name in ENUMS[table].values())

    def kind(self, given: str) -> str:
        """A kind or struct as `--kind` names it, in the spelling of the entries.

        Raises:
            OptionError: no entry can be of that kind (id `dump.kind`).
        """
        plain = given.strip().lower()
        spaced = plain.replace("_", " ").replace("-", " ")
        names = {s.struct_name.lower() for s in self.structs}
        if plain in names:
            return plain
        if _UNIT.sub("", spaced) in self.kinds:
            return spaced
        raise OptionError(
            f"no entry is of kind {given!r}",
            id="dump.kind",
            where="--kind",
            remedy=_hint(spaced, (*self.kinds, *(s.struct_name for s in self.structs)), "the table has the kinds"),
        )

    def check_field(self, name: str, option: str) -> None:
        """`OptionError` (`dump.field`) when no entry can have a field of that name."""
        if name not in PLACES and name not in self.fields:
            hint = _hint(name, (*PLACES, *self.fields), "`sqemu formats STRUCT` lists the fields")
            raise OptionError(f"no entry has a field {name!r}", id="dump.field", where=option, remedy=hint)

    def wrong_name(self, name: str) -> tuple[str, str] | None:
        """What is wrong with a name in an expression, and what to do; None when some entry has it."""
        if name in PLACES or name in self.fields:
            return None
        hint = _hint(name, (*PLACES, *self.fields), "`sqemu formats STRUCT` lists the fields")
        return f"no entry has a field {name!r}", hint

    def wrong_literal(self, name: str, literal: int | str) -> tuple[str, str] | None:
        """What is wrong with comparing `name` with `literal`, and what to do; None when it can hold."""
        if isinstance(literal, int):
            return (f"{name} is a text", f'write {name} == "..."') if name in TEXTS else None
        names = self._texts(name)
        if names is None or literal.lower() in {each.lower() for each in names}:
            return None
        if not names:
            return f"{name} is a number", "compare it with a number"
        if name == "kind" and _UNIT.sub("", literal.lower()) in names:
            return None
        return f"{name} is never {literal!r}", _hint(literal, names, f"names: {', '.join(sorted(names)[:8])}")

    def _texts(self, name: str) -> frozenset[str] | None:
        """The texts that a name can be; empty when it is a plain number."""
        if name in NUMBERS:
            return frozenset()
        if name == "kind":
            return self.kinds
        if name == "struct":
            return frozenset({"RawUnit", "RawBytes", *(s.struct_name for s in self.structs)})
        return self.values(name)


def known_names(registry: Registry, *families: str) -> Known:
    """The names that entries of `families` can have; `FormatError` for an unknown family."""
    return Known(tuple(_structs(registry, families)))


def _structs(registry: Registry, families: Iterable[str]) -> Iterator[CStruct]:
    for family in dict.fromkeys(families):
        for name in registry.names(family):
            yield registry.get(family, name)


def _hint(name: str, known: Iterable[str], otherwise: str) -> str:
    close = nearest(name, known)
    return f"did you mean {', '.join(close)}?" if close else otherwise
