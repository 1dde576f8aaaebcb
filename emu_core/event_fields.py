"""What the fields of events mean: their unit and meaning, for documents, schemas and `sqemu trace events`.

A meaning is written once per field name and overridden for events in which it differs. An event of a plugin says it in
the annotation of the field: `Annotated[int, msgspec.Meta(description="…", extra={"unit": "virtual ns"})]`.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import msgspec

from emu_core.trace import EVENTS, Event

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


@dataclass(frozen=True)
class EventField:
    """A field of an event.

    Attributes:
        name: as in the log. type: `int`, `str`, `bool`, `object`, with `or null` where it may be absent.
        unit: `virtual ns`, `entries`, `bits`, `rows`, or empty.
        meaning: one line.
    """

    name: str
    type: str
    unit: str
    meaning: str


@dataclass(frozen=True)
class Declared:
    """An event as it is declared: name, level, what it tells, where it is declared, its own fields in order."""

    name: str
    level: str
    meaning: str
    module: str
    fields: tuple[EventField, ...]


NS, ENTRIES, BITS, ROWS = "virtual ns", "entries", "bits", "rows"

_BY_NAME: Mapping[str, tuple[str, str]] = MappingProxyType({
    "time": (NS, "when"),
    "run": ("", "execution, from 1; 0 is before any"),
    "stream": ("", "stream of the entry"),
    "slot": (ENTRIES, "position in the ring"),
    "task": ("", "task id"),
    "node": ("", "graph node, or empty"),
    "model_task": ("", "index in the task list, or -1"),
    "engine": ("", "engine that executes it, for example ai_core, ai_cpu, event, task_update"),
    "kind": ("", "kind of entry, for example kernel, nop, event_reset"),
    "detail": ("", "for people: kernel with key and block dim, function, flag, target"),
    "facts": ("", "the same as values; for a kernel kernel, tiling_key, block_dim"),
    "fetched_copy": ("", "what executes is a fetched copy that differs from the ring: a stale launch"),
    "signal": ("", "event N, notify N, counted notify N, counted event N"),
    "started": (NS, "when its engine took it, after any wait; time - started is the duration"),
    "core": ("", "the core, from 0 in each launch"),
    "pipe": ("", "MTE2, MTE1, Cube, Vector or MTE3; of a plugin's core its own"),
    "ended": (NS, "when it was done"),
    "struct": ("", "layout, for example AicoreKernelSqe"),
    "field": ("", "field of that layout"),
    "bit_offset": (BITS, "where the field starts in the entry"),
    "bit_width": (BITS, "its width"),
    "before": ("", "old value"),
    "after": ("", "new value; may be equal"),
    "writer_stream": ("", "stream of the task that wrote; -1: the host"),
    "writer_task": ("", "its task id"),
    "tiling_key": ("", "key that the update read"),
    "table_row": (ROWS, "row of the tiling table that has this key"),
    "address": ("", "device address of what was written"),
    "id": ("", "stable id for sqemu explain"),
    "what": ("", "what happened"),
    "remedy": ("", "what to do"),
    "tail": (ENTRIES, "first slot that is free"),
    "reason": ("", "submit or activate"),
    "value": ("", "1 set, 0 cleared; of a counted notify, its new value"),
    "sq_head": (ENTRIES, "head of its queue"),
    "error_type": (BITS, "0, or error bits: sqemu explain error type N"),
    "status": ("", "status word; for a model's failure it packs the first cause"),
    "ts_code": ("", "task scheduler code: sqemu explain TS N"),
    "model": ("", "model id on the device"),
    "phase": ("", "loaded, start, end, or failed in place of end"),
})  # fmt: skip

_PATCHED = {"engine": ("", "engine of the task that wrote"), "stream": ("", "stream of the patched entry")}
_OVERRIDDEN: Mapping[str, Mapping[str, tuple[str, str]]] = MappingProxyType({
    "sq.doorbell": {"stream": ("", "queue")},
    "core.pipe": {
        "started": (NS, "when the pipe began"),
        "ended": (NS, "when it was done"),
        "what": ("", "what it did, for example K1 to L1"),
    },
    "task.wait": {"signal": ("", "flag it waits for, for example event 0")},
    "sqe.patch": _PATCHED,
    "context.patch": {
        "engine": _PATCHED["engine"],
        "stream": ("", "stream of the entry that points at the context; -1 if unknown"),
        "bit_offset": (BITS, "where the field starts in the context"),
    },
    "cell.write": {
        "engine": ("", "engine of the tiling task"),
        "what": ("", "for example tiling key of probe0"),
        "writer_stream": ("", "stream of the tiling task"),
    },
    "signal": {"stream": ("", "stream of the task that did it")},
    "cq.entry": {"stream": ("", "stream of the entry that completed")},
})  # fmt: skip


def declared_events() -> tuple[type[Event], ...]:
    """Every event class: those of the machine in their order, then those of loaded plugins by name."""
    others = {kind.name: kind for kind in _below(Event) if kind.name and kind not in EVENTS}
    return (*EVENTS, *(others[name] for name in sorted(others)))


def _below(kind: type[Event]) -> Iterator[type[Event]]:
    for child in kind.__subclasses__():
        yield child
        yield from _below(child)


def declaration(kind: type[Event]) -> Declared:
    """An event class as a declaration; fields of all events (`time`, `run`) are left out."""
    common = {each.name for each in msgspec.structs.fields(Event)}
    own = [each for each in msgspec.structs.fields(kind) if each.name not in common]
    meaning = " ".join((kind.__doc__ or "").split())
    return Declared(kind.name, kind.level, meaning, kind.__module__, tuple(_field(kind, each) for each in own))


def common_fields() -> tuple[EventField, ...]:
    """The fields of all events."""
    return tuple(_field(Event, each) for each in msgspec.structs.fields(Event))


def _field(kind: type[Event], found: msgspec.structs.FieldInfo) -> EventField:
    shape = msgspec.inspect.type_info(found.type)
    said: Mapping[str, Any] = {}
    if isinstance(shape, msgspec.inspect.Metadata):
        said = {**(shape.extra_json_schema or {}), **(shape.extra or {})}
        shape = shape.type
    known = _OVERRIDDEN.get(kind.name, {}).get(found.name) or _BY_NAME.get(found.name) or ("", "")
    unit, meaning = str(said.get("unit", known[0])), str(said.get("description", known[1]))
    return EventField(found.name, _type(shape), unit, meaning)


_TYPES = MappingProxyType({
    msgspec.inspect.IntType: "int",
    msgspec.inspect.StrType: "str",
    msgspec.inspect.BoolType: "bool",
    msgspec.inspect.FloatType: "float",
    msgspec.inspect.DictType: "object",
    msgspec.inspect.NoneType: "null",
})  # fmt: skip


def _type(shape: msgspec.inspect.Type) -> str:
    if isinstance(shape, msgspec.inspect.UnionType):
        return " or ".join(sorted(map(_type, shape.types), key=lambda name: name == "null"))
    return _TYPES.get(type(shape), "object" if hasattr(shape, "fields") else "list")


def line_schema() -> dict[str, Any]:
    """JSON Schema of one line of a trace: an object per event, told apart by `event`; further keys are allowed."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "a line of a sqemu trace",
        "oneOf": [_schema(kind) for kind in declared_events()],
    }


_JSON_TYPES = {"int": "integer", "str": "string", "bool": "boolean", "float": "number", "list": "array"}


def _schema(kind: type[Event]) -> dict[str, Any]:
    about = declaration(kind)
    fields = (*common_fields(), *about.fields)
    described = {
        each.name: {
            "type": [_JSON_TYPES.get(part, part) for part in each.type.split(" or ")],
            "description": f"{each.meaning} ({each.unit})" if each.unit else each.meaning,
        }
        for each in fields
    }
    return {
        "title": about.name,
        "description": about.meaning,
        "type": "object",
        "properties": {"event": {"const": about.name}, "level": {"const": about.level}, **described},
        "required": ["event", "level", *(each.name for each in fields)],
    }
