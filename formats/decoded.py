"""What an SQE or context was taken for, and the remarks a reader should see."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from formats.enums import name_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from formats.cstruct import CStruct

_LAUNCH_TOPICS = frozenset({0, 3})
_KEYS = {"task_type": "task type", "sqe_sub_type": "sub type"}


@dataclass(frozen=True)
class Decoded:
    """One SQE (or context) and what it was taken for.

    Attributes:
        struct: layout used.
        values: all fields, as `struct.parse` gives them.
        offset: where the bytes were, in the caller's terms.
        guessed: the layout is a generic one, because no layout for exactly this kind is known.
        notes: remarks for a reader: why it was guessed, reserved bits that are set.
        units: the further 64-byte units of the same task, in order; only `decode_stream` fills it.
    """

    struct: CStruct
    values: Mapping[str, Any]
    offset: int = 0
    guessed: bool = False
    notes: tuple[str, ...] = ()
    units: tuple[Decoded, ...] = ()

    @property
    def size(self) -> int:
        """Bytes of the whole record, further units included."""
        return self.struct.size + sum(unit.size for unit in self.units)

    def raw(self) -> bytes:
        """The bytes of the whole record, rebuilt from the values."""
        return self.struct.build(self.values) + b"".join(unit.raw() for unit in self.units)

    def noting(self, *notes: str, guessed: bool = False) -> Decoded:
        """The same with more notes in front."""
        return replace(self, notes=(*notes, *self.notes), guessed=self.guessed or guessed)


def decode_as(struct: CStruct, generic: CStruct | None, entry: bytes, offset: int) -> Decoded:
    """`entry` read as `struct`; `generic` is the layout that stands for an unknown kind."""
    values = struct.parse(entry)
    doubts = _doubts(struct, generic, values)
    stray = stray_bits(struct, entry) if struct.has_stray_bits(entry) else ()
    return Decoded(struct, values, offset, bool(doubts), (*doubts, *stray))


def stray_bits(struct: CStruct, entry: bytes) -> tuple[str, ...]:
    """One remark per reserved field of `entry` that is not 0."""
    whole = int.from_bytes(entry, "little")
    dirty = (f for f in struct.fields if f.reserved and whole >> f.offset & ((1 << f.bits) - 1))
    return tuple(f"reserved bits {f.place} are not 0" for f in dirty)


def _doubts(struct: CStruct, generic: CStruct | None, values: Mapping[str, Any]) -> tuple[str, ...]:
    if struct is generic:
        return (_unknown_kind(struct, values),)
    if "payload" in values:
        return _place_holder_doubts(struct, values)
    if struct.struct_name == "AicpuKernelSqe" and values["topic_id"] not in _LAUNCH_TOPICS:
        topic = values["topic_id"]
        return (f"topic {topic} is not that of a kernel launch; topic entries have the same type",)
    return ()


def _unknown_kind(struct: CStruct, values: Mapping[str, Any]) -> str:
    key = "context_type" if "context_type" in values else "type"
    name = name_of(struct.by_name[key].enum, values[key]) or "not a known type"
    if key == "context_type":
        return f"context type {values[key]:#x} ({name}): no layout for this kind, only the common words are shown"
    return f"type {values[key]} ({name}): no layout for this kind, words 2 to 15 are shown as they are"


def _place_holder_doubts(struct: CStruct, values: Mapping[str, Any]) -> tuple[str, ...]:
    """A place holder without a layout for its payload is doubtful when it has one, or when nobody knows the task."""
    key = next((k for k in _KEYS if k in values), "")
    if not key:
        return ()
    name = name_of(struct.by_name[key].enum, values[key])
    if name and not any(values["payload"]):
        return ()
    known = name or f"not a known {_KEYS[key]}"
    return (f"{_KEYS[key]} {values[key]} ({known}): no layout for its payload, the words are shown as they are",)
