"""What each kind of injection does, and how it is told. One table by kind, no other branch on it.

| moment | done by | gives |
|---|---|---|
| an entry is about to start | the function that `AT_ENTRY` has for the kind | who executes it, and what was done |
| a time, or a fetch | `flip_in_ring`, `flip_context_of`, `buffers.change_bytes` | what was done |

What was done is a sentence without a subject: "dropped the record of event 3 by …"; empty when there was nothing to
change.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

from emu_core import task_faults, units
from emu_core.codes import ts_name
from emu_core.errors import DeviceFault
from emu_core.injection.altered import Dropped, Late, Stalled, standing_in
from emu_core.injection.bits import change_field, changed
from emu_core.injection.buffers import CELLS, address_of_cell, change_bytes
from emu_core.injection.plan import (
    CorruptBuffer,
    CorruptCell,
    DelayRecord,
    DropRecord,
    FailTask,
    FlipContext,
    FlipField,
    Stall,
)
from emu_core.injection.targets import WRITES, Place
from emu_core.journal import Writer

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from emu_core.device import Device
    from emu_core.engines import Handler, Task

INJECTED = Writer(-1, -1, "injection")
"""What the journal says of a change by a plan."""


@dataclass(frozen=True)
class Done:
    """What an injection did to an entry: who executes it now (None: it fails with `fault`), and in words."""

    handler: Handler
    what: str
    fault: DeviceFault | None = None


AtEntry: TypeAlias = Callable[[Any, int, "Task", "Handler"], Done]


def entry_text(task: Task, handler: Handler) -> str:
    """An entry as reports name it."""
    return place_text(task.stream.id, task.task_id, handler.kind, task.origin.node)


def place_text(stream: int, task: int, kind: str, node: str) -> str:
    """Likewise, from its parts."""
    return f"stream {stream} task {task} ({kind}{f' of {node}' if node else ''})"


# ---- records -------------------------------------------------------------------------------------------------


def _flag(task: Task, handler: Handler) -> str:
    """What an entry sets: a flag, or just a value."""
    signal = handler.setter_of(task.sqe) if handler.setter_of is not None else None
    if handler.kind == WRITES or signal is None:
        return "the value written"
    return f"the record of {signal}"


def _drop(_injection: DropRecord, _number: int, task: Task, handler: Handler) -> Done:
    altered = standing_in(handler, Dropped(handler.start))
    return Done(altered, f"dropped {_flag(task, handler)} by {entry_text(task, handler)}")


def _delay(injection: DelayRecord, _number: int, task: Task, handler: Handler) -> Done:
    altered = standing_in(handler, Late(handler.start, injection.ns))
    return Done(altered, f"delayed {_flag(task, handler)} by {entry_text(task, handler)} by {injection.ns} ns")


# ---- entries -------------------------------------------------------------------------------------------------


def _fail(injection: FailTask, _number: int, task: Task, handler: Handler) -> Done:
    code = f"TS {injection.code:#x} {ts_name(injection.code)}"
    fault = DeviceFault(
        f"fails by injection with {code}",
        ts_code=injection.code,
        id="injection.failed-task",
        remedy="take the injection out of the plan",
    )
    return Done(handler, f"let {entry_text(task, handler)} fail with {code}", fault)


def _stall(injection: Stall, number: int, task: Task, handler: Handler) -> Done:
    longer = "for ever" if injection.ns is None else f"for {injection.ns} ns"
    altered = standing_in(handler, Stalled(handler, injection.ns, number))
    return Done(altered, f"stalled engine {handler.engine} {longer} at {entry_text(task, handler)}")


def _turned(bits: Iterable[int] | None) -> str:
    """How a field was changed."""
    listed = [str(bit) for bit in bits or ()]
    return f"flipped bit{'s' * (len(listed) > 1)} {', '.join(listed)} of" if listed else "set"


def _flip(injection: FlipField, _number: int, task: Task, handler: Handler) -> Done:
    """The bytes that execute change; the ring does not. Another type of entry goes to another engine."""
    device = task.device
    before = task.sqe
    task.sqe = flipped(device, before, injection)
    if device.record_rings:
        units.remember(task)
    found = device.dispatch.find(task.sqe)
    what = f"{_field_text(device, injection, before, task.sqe)} {entry_text(task, handler)} as it executes"
    if found is None:
        return Done(handler, what, task_faults.unknown_type(task.sqe[0] & 0x3F, device.chip.name))
    return Done(handler if device.dispatch.find(before) is found else found, what)


def flipped(device: Device, sqe: bytes, injection: FlipField) -> bytes:
    """The entry `sqe` with the field changed."""
    struct = device.host.registry.decode(device.chip.family, sqe).struct
    return change_field(sqe, struct, injection.field, injection.bits, injection.value)


def _field_text(device: Device, injection: FlipField, before: bytes, after: bytes) -> str:
    """The change in words, up to the entry's name."""
    read = device.host.registry.decode(device.chip.family, before).struct.field(injection.field).read
    return f"{_turned(injection.bits)} {injection.field} ({read(before):#x} -> {read(after):#x}) of"


def flip_in_ring(device: Device, injection: FlipField, place: Place) -> str:
    """Change the field of an entry in its ring, as the journal tells; what was done."""
    before = place.stream.queue.entry(place.slot)
    struct = device.host.registry.decode(device.chip.family, before).struct
    value = changed(int(struct.field(injection.field).read(before)), injection.bits, injection.value)
    device.patch_sqe(place.stream.id, place.slot, {injection.field: value}, struct, INJECTED)
    after = place.stream.queue.entry(place.slot)
    return f"{_field_text(device, injection, before, after)} {_place(place)} in the ring"


def _place(place: Place) -> str:
    return place_text(place.stream.id, place.task, place.handler.kind if place.handler else "unknown", place.node)


# ---- contexts ------------------------------------------------------------------------------------------------


def _flip_context(injection: FlipContext, _number: int, task: Task, handler: Handler) -> Done:
    what = _change_context(task.device, injection, handler, task.sqe)
    return Done(handler, f"{what} {entry_text(task, handler)}" if what else "")


def flip_context_of(device: Device, injection: FlipContext, place: Place) -> str:
    """Change the context of an entry in a ring; what was done, empty when it has none."""
    if place.handler is None:
        return ""
    what = _change_context(device, injection, place.handler, place.stream.queue.entry(place.slot))
    return f"{what} {_place(place)}" if what else ""


def _change_context(device: Device, injection: FlipContext, handler: Handler, sqe: bytes) -> str:
    address = handler.preload(sqe)[0] if handler.preload is not None else 0
    context = device.contexts.at(address)
    if context is None:
        return ""
    struct = context.struct
    before = int(struct.field(injection.field).read(device.memory.read(address, struct.size)))
    after = changed(before, injection.bits, injection.value)
    device.contexts.patch(address, {injection.field: after}, struct, INJECTED)
    return f"{_turned(injection.bits)} {injection.field} ({before:#x} -> {after:#x}) of the context at {address:#x} of"


# ---- memory --------------------------------------------------------------------------------------------------


def _corrupt_cell(injection: CorruptCell, _number: int, task: Task, handler: Handler) -> Done:
    device = task.device
    label, size = CELLS[injection.cell]
    address = address_of_cell(device, injection.node, injection.cell)
    if address is None:
        return Done(handler, "")
    before = int.from_bytes(device.memory.read(address, size), "little")
    after = changed(before, injection.bits, injection.value)
    what = f"{label} of {injection.node}"
    device.write_cell(address, after.to_bytes(size, "little"), what, INJECTED)
    return Done(handler, f"changed the {what} ({before:#x} -> {after:#x}) before {entry_text(task, handler)} reads it")


def _corrupt_buffer(injection: CorruptBuffer, _number: int, task: Task, handler: Handler) -> Done:
    what = change_bytes(task.device, injection)
    return Done(handler, f"{what} before {entry_text(task, handler)}" if what else "")


AT_ENTRY: Mapping[type, AtEntry] = MappingProxyType(
    {
        DropRecord: _drop,
        DelayRecord: _delay,
        FlipField: _flip,
        FlipContext: _flip_context,
        FailTask: _fail,
        Stall: _stall,
        CorruptCell: _corrupt_cell,
        CorruptBuffer: _corrupt_buffer,
    }
)
"""What is done when an entry is about to start, by class of injection."""
