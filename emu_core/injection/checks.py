"""Whether what a plan names is there, before anything runs: every error says where in the plan, and what there is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core.errors import InputError
from emu_core.injection.bits import require_fit, width_of
from emu_core.injection.buffers import CELLS, require_buffer, require_cell
from emu_core.injection.plan import (
    CorruptBuffer,
    CorruptCell,
    DelayRecord,
    DropRecord,
    Entry,
    FlipContext,
    FlipField,
)
from emu_core.injection.targets import sets_something

if TYPE_CHECKING:
    from emu_core.injection.plan import AtEntry
    from emu_core.injection.targets import Place, Targets


def entry_of(injection: AtEntry) -> Entry | None:
    """The entries that an injection is about, or before which it comes; None when it comes at a time."""
    if isinstance(injection, CorruptCell) and injection.entry is None:
        return Entry(node=injection.node, role="update")
    return injection.entry


def require(injection: AtEntry, targets: Targets, where: str) -> None:
    """Nothing when everything that `injection` names is there.

    Raises:
        InputError: `injection.target`, `injection.field`, `injection.bits`, `injection.buffer`, `injection.moment`.
    """
    device, entry = targets.model.device, entry_of(injection)
    if isinstance(injection, CorruptCell):
        require_cell(device, injection.node, injection.cell, where)
        require_fit(8 * CELLS[injection.cell][1], injection.bits, injection.value, where)
    if isinstance(injection, CorruptBuffer) and not targets.open:
        require_buffer(device, injection, where)
    if entry is None:
        return
    targets.require(entry, where)
    found = targets.found(entry)
    if isinstance(injection, DropRecord | DelayRecord):
        _require_record(found, entry, where)
    if isinstance(injection, FlipField):
        _require_field(injection, targets, found, where)
    if isinstance(injection, FlipContext):
        _require_context(injection, targets, found, where)


def _require_record(found: list[Place], entry: Entry, where: str) -> None:
    if found and not any(p.handler is not None and sets_something(p.handler) for p in found):
        raise InputError(
            f"no entry that is {entry.text()} sets a flag or writes a value",
            id="injection.target",
            where=where,
            remedy='name a record, for example with "role": "record"',
        )


def _require_field(injection: FlipField, targets: Targets, found: list[Place], where: str) -> None:
    """Each entry that is meant has the field, and it is wide enough."""
    device = targets.model.device
    structs = {device.host.registry.decode(device.chip.family, p.stream.queue.entry(p.slot)).struct for p in found}
    for struct in structs:
        require_fit(width_of(struct, injection.field, where), injection.bits, injection.value, where)
    if injection.when == "fetch" and not found:
        raise InputError(
            "only entries in the ring of a model are fetched later than they are written",
            id="injection.moment",
            where=where,
            remedy='use "when": "execute" for entries that the host submits as it goes',
        )


def _require_context(injection: FlipContext, targets: Targets, found: list[Place], where: str) -> None:
    """Each entry that is meant points at a context that has the field."""
    contexts = targets.model.device.contexts
    for place in found:
        preload = place.handler.preload if place.handler is not None else None
        context = contexts.at(preload(place.stream.queue.entry(place.slot))[0]) if preload is not None else None
        if context is None:
            raise InputError(
                f"stream {place.stream.id} task {place.task} points at no context",
                id="injection.target",
                where=where,
                remedy="contexts belong to mix kernels of family v100; use flip-field for the entry itself",
            )
        require_fit(width_of(context.struct, injection.field, where), injection.bits, injection.value, where)
