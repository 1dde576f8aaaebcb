"""Reports of missing orders in words: both sides, what is missing, one way to repair it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from emu_core.origin import NOWHERE
from emu_core.reports import Hazard

if TYPE_CHECKING:
    from collections.abc import Sequence

    from emu_core.device import Device
    from emu_core.ordering.accesses import Epoch

ACCESS, INPUTS, UPDATE, LOST, REUSE = (
    "hazard.unordered-access",
    "hazard.update-inputs",
    "hazard.unordered-update",
    "hazard.lost-update",
    "hazard.flag-reuse",
)
UPDATES = frozenset({"model_task_update", "task_update"})
"""Kinds of entries that patch others."""


@dataclass(frozen=True)
class Pair:
    """One side of an access: which entry, and whether it writes."""

    entry: Epoch
    writes: bool


@dataclass(frozen=True)
class Report:
    """A hazard, the pair it is about, and the model task of the second side."""

    hazard: Hazard
    key: tuple[str, int, int, int, int]
    model_task: int


@dataclass(frozen=True)
class _Side:
    """An entry as reports name it."""

    stream: int
    slot: int
    task: int
    kind: str
    node: str
    model_task: int

    def __str__(self) -> str:
        if self.stream < 0:
            return "the host"
        return f"stream {self.stream} task {self.task} ({self.kind}{f' of {self.node}' if self.node else ''})"


def _side(device: Device, entry: Epoch) -> _Side:
    stream = device.streams.get(entry.stream)
    if stream is None:
        return _Side(entry.stream, -1, entry.task, "host", "", -1)
    queue = stream.queue
    slot = entry.slot if entry.slot >= 0 else queue.slot_of.get(entry.task, -1)
    handler = device.dispatch.find(queue.entry(slot)) if slot >= 0 else None
    origin = queue.origin_at.get(slot, NOWHERE)
    task = queue.task_at.get(slot, entry.task)
    return _Side(entry.stream, slot, task, handler.kind if handler else "unknown", origin.node, origin.model_task)


def unordered_access(device: Device, first: Pair, second: Pair, at: int) -> Report:
    """Two accesses to the byte at `at`, one of which writes."""
    a, b = _side(device, first.entry), _side(device, second.entry)
    found = device.memory.find(at)
    where = f"{found.label}, byte {at - found.address}" if found else f"{at:#x}"
    id_ = ACCESS
    if (b.kind in UPDATES and not second.writes) or (a.kind in UPDATES and not first.writes):
        id_ = INPUTS
    verbs = [("writes" if side.writes else "reads") for side in (first, second)]
    who = "the host " if b.stream < 0 else ""
    what = f"{who}{verbs[1]} {where}, which {a} {verbs[0]}, and nothing orders the two"
    return _made(device, id_, what, _order(a, b), a, b, {"address": at})


def unordered_update(device: Device, by: Epoch, stream: int, slot: int, field: str) -> Report:
    """An entry executes that another patches, and nothing orders it behind the patch."""
    a, b = _side(device, by), _entry(device, stream, slot)
    what = f"executes, and nothing orders it behind {a}, which patches its {field}"
    return _made(device, UPDATE, what, _order(a, b), a, b, {"field": field})


def lost_update(
    device: Device, first: Epoch, second: Epoch, stream: int, slot: int, field: str, *, ordered: bool
) -> Report:
    """Two patches of one field before its entry executes."""
    a, b, target = _side(device, first), _side(device, second), _entry(device, stream, slot)
    luck = "" if ordered else "; nothing orders the two, so either may be the one that stays"
    what = f"patches {field} of {target}, which {a} patched before, and it has not executed in between{luck}"
    remedy = f"let {target} execute between the two updates, or take one of them out"
    return _made(device, LOST, what, remedy, a, b, {"field": field, "target_stream": stream, "target_slot": slot})


def flag_reuse(device: Device, here: Epoch, setters: Sequence[Epoch], flag: str) -> Report:
    """A wait that passes a flag which was set twice since it was clear."""
    b = _side(device, here)
    a, second = (_side(device, setter) for setter in setters)
    what = f"passes {flag}, which {a} and {second} both set: it may come before either"
    remedy = f"reset {flag} between the two, or give each its own"
    return _made(device, REUSE, what, remedy, second, b, {"flag": flag})


def _entry(device: Device, stream: int, slot: int) -> _Side:
    from emu_core.ordering.accesses import Epoch  # noqa: PLC0415 - a value, where the module is typed by it

    return _side(device, Epoch(stream + 1, 0, stream, slot, -1))


def _order(a: _Side, b: _Side) -> str:
    if a.stream < 0 or b.stream < 0:
        return f"synchronize stream {max(a.stream, b.stream)} before the host goes on"
    record = f"let stream {a.stream} record an event behind task {a.task}"
    return f"{record} that stream {b.stream} waits for before task {b.task}"


def _made(device: Device, id_: str, what: str, remedy: str, a: _Side, b: _Side, detail: dict[str, int | str]) -> Report:
    found = {"other_stream": a.stream, "other_slot": a.slot, "other_task": a.task, **detail}
    hazard = Hazard(id_, what, remedy, device.clock.now, device.run, b.stream, b.slot, b.task, found, b.kind, b.node)
    return Report(hazard, (id_, a.stream, a.slot, b.stream, b.slot), b.model_task)
