"""The registry of layouts: family -> name -> struct, and which struct the bytes of an entry are.

An immutable :class:`Registry` answers; `extend` makes a new one, so a plugin can add layouts
without touching anybody else's. Families given as loaders are imported when they are first asked for.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

from formats.buffers import flat
from formats.decoded import Decoded, decode_as
from formats.errors import FormatError
from formats.guess import FamilyGuess, guess_family
from formats.raw import CONTEXT_SIZE, SQE_SIZE
from formats.rules import Rules
from formats.stream import decode_stream
from formats.unit import SqeUnit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from formats.buffers import Buffer
    from formats.cstruct import CStruct

    Loader: TypeAlias = Callable[[], Iterable[CStruct]]

INHERITS: Mapping[str, str] = MappingProxyType({"v201": "v200", "arch9201": "v200"})
"""Families that list only what differs from another one."""

_GENERIC = "CommonSqe"
_GENERIC_CONTEXT = "FftsPlusComCtx"
_NO_LOADERS: Mapping[str, Loader] = MappingProxyType({})


class Registry:
    """An immutable set of structs.

    Args:
        structs: layouts to hold.
        loaders: by family, a function that gives the layouts of that family when they are first needed.

    Raises:
        FormatError: two structs of one family share a name (id `format.struct-clash`), or a rule names a
            field that does not exist (`format.table`).
    """

    def __init__(self, structs: Iterable[CStruct] = (), *, loaders: Mapping[str, Loader] = _NO_LOADERS) -> None:
        self._added = tuple(s for s in structs if s.fields)  # reads their tables: a wrong one is found now
        self._loaders = loaders
        self._families = tuple(dict.fromkeys((*loaders, *(s.family for s in self._added))))
        self._tables: dict[str, dict[str, CStruct]] = {}
        self._rules: dict[tuple[str, int], Rules] = {}
        for family in dict.fromkeys(s.family for s in self._added):
            self._rules_of(family, SQE_SIZE)

    def __repr__(self) -> str:
        return f"<Registry of {', '.join(self._families)}>"

    # -- look-up --------------------------------------------------------------------------------

    @property
    def structs(self) -> tuple[CStruct, ...]:
        """All structs, family by family; loads every family."""
        return tuple(s for family in self._families for s in self._own(family).values())

    @property
    def families(self) -> tuple[str, ...]:
        """Names of the families, in registration order."""
        return self._families

    @property
    def sqe_families(self) -> tuple[str, ...]:
        """The families that have 64-byte SQEs; loads every family."""
        return tuple(f for f in self._families if _GENERIC in self._members(f))

    def names(self, family: str) -> tuple[str, ...]:
        """Struct names of a family, inherited ones included; `FormatError` for an unknown family."""
        self._check_family(family)
        return tuple(self._members(family))

    def get(self, family: str, name: str) -> CStruct:
        """The struct `name` of `family`.

        Raises:
            FormatError: unknown family (id `format.unknown-family`) or struct (`format.unknown-struct`).
        """
        self._check_family(family)
        found = self._own(family).get(name) or self._members(family).get(name)
        if found is None:
            raise FormatError(
                f"family {family} has no struct {name!r}",
                id="format.unknown-struct",
                remedy=_names_near(name, self.names(family)),
            )
        return found

    def extend(self, structs: Iterable[CStruct]) -> Registry:
        """A new registry with `structs` added; `FormatError` (id `format.struct-clash`) if a name is taken."""
        return Registry((*self._added, *structs), loaders=self._loaders)

    def _own(self, family: str) -> dict[str, CStruct]:
        table = self._tables.get(family)
        if table is None:
            loader = self._loaders.get(family)
            table = {}
            for struct in (*(loader() if loader else ()), *(s for s in self._added if s.family == family)):
                _add(table, struct)
            self._tables[family] = table
        return table

    def _members(self, family: str) -> dict[str, CStruct]:
        parent = INHERITS.get(family)
        return {**(self._members(parent) if parent else {}), **self._own(family)}

    def _check_family(self, family: str) -> None:
        if family not in self._families:
            raise FormatError(
                f"unknown family {family!r}", id="format.unknown-family", remedy=f"known: {', '.join(self._families)}"
            )

    # -- decoding -------------------------------------------------------------------------------

    def sqe_unit(self, family: str) -> SqeUnit:
        """The construct object that reads and writes any SQE of `family`."""
        return SqeUnit(self, family)

    def decode(self, family: str, data: Buffer, *, offset: int = 0) -> Decoded:
        """The SQE in exactly 64 bytes; `offset` is only remembered.

        Kinds without a layout decode as `CommonSqe` (or the bare place holder) and are marked `guessed`.

        Raises:
            FormatError: not 64 bytes (id `format.size`), or a family without SQEs (`format.unknown-family`).
        """
        entry = bytes(flat(data))
        if len(entry) != SQE_SIZE:
            what = f"an SQE has {SQE_SIZE} bytes, got {len(entry)}"
            raise FormatError(what, id="format.size", where=family, offset=offset)
        generic = self.generic(family)
        struct = self._rules_of(family, SQE_SIZE).find(entry) or generic
        return decode_as(struct, generic, entry, offset)

    def decode_stream(self, family: str, data: Buffer, *, offset: int = 0) -> Iterator[Decoded]:
        """The SQEs that follow each other in `data`, tasks of several units as one record each.

        Args:
            family: family of the SQEs.
            data: any number of bytes; read lazily, in linear time.
            offset: added to every `Decoded.offset`.

        Bad content never raises: what cannot be read is shown raw, with notes.

        Raises:
            FormatError: a family without SQEs (id `format.unknown-family`), no buffer (`format.type`).
        """
        self.generic(family)
        return decode_stream(self, family, flat(data), offset)

    def decode_context(self, data: Buffer, *, offset: int = 0, family: str = "v100") -> Decoded:
        """The FFTS+ context in exactly 128 bytes, by its context type (`reference/sqe_formats.md` 5).

        Raises:
            FormatError: not 128 bytes (id `format.size`), or a family without contexts (`format.unknown-family`).
        """
        entry = bytes(flat(data))
        if len(entry) != CONTEXT_SIZE:
            what = f"a context has {CONTEXT_SIZE} bytes, got {len(entry)}"
            raise FormatError(what, id="format.size", where=family, offset=offset)
        self._check_family(family)
        generic = self._members(family).get(_GENERIC_CONTEXT)
        if generic is None:
            raise FormatError(f"family {family} has no contexts", id="format.unknown-family", remedy="use v100")
        struct = self._rules_of(family, CONTEXT_SIZE).find(entry) or generic
        return decode_as(struct, generic, entry, offset)

    def guess_family(self, data: Buffer) -> FamilyGuess:
        """The most plausible family of the SQEs in `data`; see :mod:`formats.guess`."""
        return guess_family(self, flat(data))

    def generic(self, family: str) -> CStruct:
        """The layout of an SQE of which only the header is known; `FormatError` for a family without SQEs."""
        self._check_family(family)
        found = self._members(family).get(_GENERIC)
        if found is None:
            raise FormatError(
                f"family {family} has no SQEs",
                id="format.unknown-family",
                remedy=f"use one of {', '.join(self.sqe_families)}",
            )
        return found

    def _rules_of(self, family: str, size: int) -> Rules:
        found = self._rules.get((family, size))
        if found is None:
            found = self._rules[family, size] = Rules(self._members(family).values(), size)
        return found


def _names_near(name: str, known: tuple[str, ...]) -> str:
    """A remedy for a mistyped name: the names near to it in any case of letters, else all."""
    from difflib import get_close_matches  # noqa: PLC0415 - for an error only

    lower = {each.lower(): each for each in known}
    close = [lower[each] for each in get_close_matches(name.lower(), lower, 3, 0.6)]
    return f"did you mean {', '.join(close)}?" if close else f"known: {', '.join(known)}"


def _add(table: dict[str, CStruct], struct: CStruct) -> None:
    if struct.struct_name in table:
        raise FormatError(
            f"{struct.struct_name} is registered twice in family {struct.family}",
            id="format.struct-clash",
            where=f"{struct.family}.{struct.struct_name}",
            remedy="give the struct another name or the plugin its own family",
        )
    table[struct.struct_name] = struct
