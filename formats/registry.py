"""The registry of layouts: family -> name -> struct, and which struct the 64 bytes of an SQE are.

An immutable :class:`Registry` answers; `extend` makes a new one, so a plugin can add layouts
without touching anybody else's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

import construct

from formats.buffers import flat
from formats.enums import name_of
from formats.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import IO

    from formats.buffers import Buffer
    from formats.cstruct import CStruct

    _UnitBase: TypeAlias = construct.Construct["Decoded", "Decoded | Mapping[str, Any]"]
else:
    _UnitBase = construct.Construct

SQE_SIZE = 64
"""Bytes of one submission queue entry, in every family."""

INHERITS: Mapping[str, str] = MappingProxyType({"v201": "v200", "arch9201": "v200"})
"""Families that list only what differs from another one."""

_GENERIC = "CommonSqe"


@dataclass(frozen=True)
class Decoded:
    """One SQE and what it was taken for.

    Attributes:
        struct: layout used.
        values: all fields, as `struct.parse` gives them.
        offset: where the 64 bytes were, in the caller's terms.
        guessed: the layout is a generic one, because no layout for exactly this kind is known.
        notes: remarks for a reader: why it was guessed, reserved bits that are set.
    """

    struct: CStruct
    values: Mapping[str, Any]
    offset: int = 0
    guessed: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Rule:
    """One struct and the bits by which an SQE is recognised as it."""

    struct: CStruct
    tests: tuple[tuple[int, int, frozenset[int]], ...]

    def holds(self, whole: int) -> bool:
        return all(whole >> offset & mask in values for offset, mask, values in self.tests)


def _rule(struct: CStruct) -> _Rule:
    tests = []
    for name, values in struct.match.items():
        f = struct.by_name.get(name)
        if f is None or f.count is not None:
            raise FormatError(
                f"match names {name!r}, which is not a scalar field", id="format.table", where=struct.struct_name
            )
        tests.append((f.offset, (1 << f.width) - 1, frozenset(values)))
    return _Rule(struct, tuple(tests))


@dataclass(frozen=True)
class Registry:
    """An immutable set of structs.

    Attributes:
        structs: all of them, in registration order.

    Raises:
        FormatError: two structs of one family share a name (id `format.struct-clash`).
    """

    structs: tuple[CStruct, ...] = ()
    _table: dict[str, dict[str, CStruct]] = field(init=False, repr=False, compare=False, default_factory=dict)
    _rules: dict[str, tuple[_Rule, ...]] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        for struct in self.structs:
            members = self._table.setdefault(struct.family, {})
            if struct.struct_name in members:
                raise FormatError(
                    f"{struct.struct_name} is registered twice in family {struct.family}",
                    id="format.struct-clash",
                    where=f"{struct.family}.{struct.struct_name}",
                    remedy="give the struct another name or the plugin its own family",
                )
            members[struct.struct_name] = struct
        for family in self._table:
            known = self._members(family).values()
            rules = [_rule(s) for s in known if s.match and s.size == SQE_SIZE]
            self._rules[family] = tuple(sorted(rules, key=lambda r: -len(r.tests)))

    def _members(self, family: str) -> dict[str, CStruct]:
        parent = INHERITS.get(family)
        return {**(self._members(parent) if parent else {}), **self._table.get(family, {})}

    @property
    def families(self) -> tuple[str, ...]:
        """Names of the families, in registration order."""
        return tuple(self._table)

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
        found = self._table[family].get(name) or self._members(family).get(name)
        if found is None:
            raise FormatError(
                f"family {family} has no struct {name!r}",
                id="format.unknown-struct",
                remedy=f"known: {', '.join(self.names(family))}",
            )
        return found

    def extend(self, structs: Iterable[CStruct]) -> Registry:
        """A new registry with `structs` added; `FormatError` (id `format.struct-clash`) if a name is taken."""
        return Registry(self.structs + tuple(structs))

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
        generic = self._generic(family)
        whole = int.from_bytes(entry, "little")
        struct = next((rule.struct for rule in self._rules[family] if rule.holds(whole)), generic)
        values = struct.parse(entry)
        doubts = _doubts(struct, generic, values)
        return Decoded(struct, values, offset, bool(doubts), (*doubts, *_stray_bits(struct, values)))

    def _generic(self, family: str) -> CStruct:
        self._check_family(family)
        found = self._members(family).get(_GENERIC)
        if found is None:
            raise FormatError(
                f"family {family} has no SQEs",
                id="format.unknown-family",
                remedy=f"use one of {', '.join(f for f in self._table if _GENERIC in self._members(f))}",
            )
        return found

    def _check_family(self, family: str) -> None:
        if family not in self._table:
            raise FormatError(
                f"unknown family {family!r}", id="format.unknown-family", remedy=f"known: {', '.join(self._table)}"
            )


def _doubts(struct: CStruct, generic: CStruct, values: Mapping[str, Any]) -> tuple[str, ...]:
    if struct is generic:
        name = name_of(generic.by_name["type"].enum, values["type"]) or "not a known type"
        return (f"type {values['type']} ({name}): no layout for this kind, words 2 to 15 are shown as they are",)
    if any(values.get("payload", ())):
        task = values["task_type"]
        name = name_of(struct.by_name["task_type"].enum, task) or "not a known task type"
        return (f"task type {task} ({name}): no layout for its payload, the words are shown as they are",)
    return ()


def _stray_bits(struct: CStruct, values: Mapping[str, Any]) -> tuple[str, ...]:
    dirty = [f for f in struct.fields if f.reserved and _any_set(values[f.name])]
    return tuple(f"reserved bits {f.place} are not 0" for f in dirty)


def _any_set(value: int | list[int]) -> bool:
    return any(value) if isinstance(value, list) else bool(value)


class SqeUnit(_UnitBase):
    """A construct object of fixed size (64 bytes) for any SQE of one family.

    `parse` gives a :class:`Decoded`; `build` takes one, or a mapping whose `_struct` names the layout.
    The layout is chosen by bits of the 64 bytes themselves, so building and sizing work too (a stock
    `Switch` on a peeked header can do neither).
    """

    def __init__(self, registry: Registry, family: str) -> None:
        super().__init__()
        registry.decode(family, bytes(SQE_SIZE))
        self.registry = registry
        self.family = family

    def _parse(self, stream: IO[bytes], context: object, path: str) -> Decoded:  # noqa: ARG002 - construct's signature
        start = construct.stream_tell(stream, path)
        return self.registry.decode(self.family, construct.stream_read(stream, SQE_SIZE, path), offset=start)

    def _build(self, obj: Decoded | Mapping[str, Any], stream: IO[bytes], context: object, path: str) -> Any:  # noqa: ANN401, ARG002 - construct's signature
        construct.stream_write(stream, self._bytes(obj), SQE_SIZE, path)
        return obj

    def _bytes(self, obj: Decoded | Mapping[str, Any]) -> bytes:
        if isinstance(obj, Decoded):
            struct, values = obj.struct, obj.values
        elif isinstance(obj, Mapping) and isinstance(obj.get("_struct"), str):
            struct = self.registry.get(self.family, obj["_struct"])
            values = {name: value for name, value in obj.items() if name != "_struct"}
        else:
            raise FormatError(
                "an SQE is built from a Decoded or a mapping with `_struct`", id="format.type", where=self.family
            )
        if struct.size != SQE_SIZE:
            raise FormatError(f"{struct.struct_name} has {struct.size} bytes, not {SQE_SIZE}", id="format.size")
        return struct.build(values)

    def _sizeof(self, context: object, path: str) -> int:  # noqa: ARG002 - construct's signature
        return SQE_SIZE
