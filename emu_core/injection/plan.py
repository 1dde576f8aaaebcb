"""A plan of what goes wrong, as a file holds it: records that msgspec checks when it reads them.

Times are virtual nanoseconds since the device was made, as traces show them.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal, TypeAlias

from msgspec import Meta, Struct

FORMAT: Final = "sqemu-injection"
VERSION: Final = 1

Count: TypeAlias = Annotated[int, Meta(ge=1, le=(1 << 63) - 1)]
Natural: TypeAlias = Annotated[int, Meta(ge=0, le=(1 << 63) - 1)]
Text: TypeAlias = Annotated[str, Meta(min_length=1)]
Hex: TypeAlias = Annotated[str, Meta(pattern="^([0-9a-fA-F]{2})+$")]
Bits: TypeAlias = Annotated[tuple[Annotated[int, Meta(ge=0, le=1023)], ...], Meta(min_length=1)]
Role: TypeAlias = Literal["tiling", "kernel", "update", "record", "wait", "reset", "nop"]
Cell: TypeAlias = Literal["tiling_key", "block_dim"]
LimitName: TypeAlias = Literal[
    "streams", "events", "notifies", "tasks", "all_tasks", "ring", "completions", "cores", "ai_cpus", "memory"
]
MOMENTS = "give one of entry (just before it starts) and at_ns (a time)"


class Entry(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, kw_only=True):
    """Which entries are meant: those for which everything holds that is given.

    Attributes:
        stream, task: ids. node: of the graph. role: what the entry is for. kind, engine: as traces name them.
        nth: only the nth such entry that starts in an execution, from 1; all of them without it.
        run: only in this execution, from 1; in all of them without it.
    """

    stream: Natural | None = None
    task: Natural | None = None
    node: Text | None = None
    role: Role | None = None
    kind: Text | None = None
    engine: Text | None = None
    nth: Count | None = None
    run: Count | None = None

    def __post_init__(self) -> None:
        if self.task is not None and self.stream is None:
            raise ValueError("a task id is counted on a stream: give stream, too")
        if all(v is None for v in (self.stream, self.node, self.role, self.kind, self.engine)):
            raise ValueError("names no entry: give stream and task, node, role, kind or engine")

    def text(self) -> str:
        """What was asked for, in words."""
        given = ((name, getattr(self, name)) for name in self.__struct_fields__)
        return ", ".join(f"{name} {value}" for name, value in given if value is not None)


def _one_of(what: str, *values: object) -> None:
    if sum(value is not None for value in values) != 1:
        raise ValueError(what)


class DropRecord(
    Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, tag_field="do", tag="drop-record"
):
    """The entry runs, and what it sets is not set."""

    entry: Entry


class DelayRecord(
    Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, tag_field="do", tag="delay-record"
):
    """What the entry sets is set `ns` later; the entry itself ends as ever."""

    entry: Entry
    ns: Count


class FlipField(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, tag_field="do", tag="flip-field"):
    """`bits` of `field` turn over (0 is the lowest), or it gets `value`.

    `when`: `execute`, only the bytes that execute change; `fetch`, the ring changes just before the entry is fetched;
    `at_ns` is instead of it: the ring changes then.
    """

    entry: Entry
    field: Text
    bits: Bits | None = None
    value: Natural | None = None
    when: Literal["execute", "fetch"] | None = None
    at_ns: Natural | None = None

    def __post_init__(self) -> None:
        _one_of("give one of bits (they turn over) and value (the field becomes it)", self.bits, self.value)
        if self.when is not None and self.at_ns is not None:
            raise ValueError("give when or at_ns, not both")


class FlipContext(
    Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, tag_field="do", tag="flip-context"
):
    """Likewise in the context that the entry points at: just before it starts, or at a time."""

    entry: Entry
    field: Text
    bits: Bits | None = None
    value: Natural | None = None
    at_ns: Natural | None = None

    def __post_init__(self) -> None:
        _one_of("give one of bits (they turn over) and value (the field becomes it)", self.bits, self.value)


class FailTask(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, tag_field="do", tag="fail-task"):
    """The entry fails with task scheduler code `code` when it starts."""

    entry: Entry
    code: Annotated[int, Meta(ge=1, le=0xFFFF)]


class Stall(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, tag_field="do", tag="stall"):
    """The entry takes `ns` longer; without `ns` for ever, which is until its time limit."""

    entry: Entry
    ns: Count | None = None


class CorruptCell(
    Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, tag_field="do", tag="corrupt-cell"
):
    """A cell of operator `node` changes just before its update starts, or just before `entry`."""

    node: Text
    cell: Cell
    bits: Bits | None = None
    value: Natural | None = None
    entry: Entry | None = None

    def __post_init__(self) -> None:
        _one_of("give one of bits (they turn over) and value (the cell becomes it)", self.bits, self.value)


class CorruptBuffer(
    Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, tag_field="do", tag="corrupt-buffer"
):
    """Bytes of an allocation from `offset` on become `bytes`, or are combined with `xor` (hexadecimal)."""

    buffer: Text
    offset: Natural = 0
    bytes: Hex | None = None
    xor: Hex | None = None
    entry: Entry | None = None
    at_ns: Natural | None = None

    def __post_init__(self) -> None:
        _one_of("give one of bytes (they are written) and xor (they are combined)", self.bytes, self.xor)
        _one_of(MOMENTS, self.entry, self.at_ns)

    @property
    def size(self) -> int:
        """How many bytes change."""
        return len(self.bytes or self.xor or "") // 2


class ShrinkLimit(
    Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, tag_field="do", tag="shrink-limit"
):
    """The chip has only `to` of `limit`."""

    limit: LimitName
    to: Natural


AtEntry: TypeAlias = DropRecord | DelayRecord | FlipField | FlipContext | FailTask | Stall | CorruptCell | CorruptBuffer
Injection: TypeAlias = AtEntry | ShrinkLimit


KINDS = tuple(
    str(kind.__struct_config__.tag)
    for kind in (
        DropRecord, DelayRecord, FlipField, FlipContext, FailTask, Stall, CorruptCell, CorruptBuffer, ShrinkLimit
    )
)  # fmt: skip
"""All kinds of injections, as plans name them."""


class Plan(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Everything that goes wrong, in the order of the file."""

    format: Literal["sqemu-injection"]
    version: Literal[1]
    injections: Annotated[tuple[Injection, ...], Meta(min_length=1)]


def plan_of(*injections: Injection) -> Plan:
    """A plan of these injections."""
    return Plan(FORMAT, VERSION, injections)


def name_of(injection: Injection) -> str:
    """The kind of an injection, as a plan names it."""
    return str(injection.__struct_config__.tag)
