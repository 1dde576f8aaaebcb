"""Fields that nobody wrote: the value with which an entry was loaded, from the rings of a record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from emu_core.plugins import PluginHost
    from tools.trace.source import Recording
    from tools.trace.tasks import Name


@dataclass(frozen=True)
class Loaded:
    """A field as it was loaded: its layout, its name, its value."""

    struct: str
    field: str
    value: int


def loaded_field(recording: Recording, index: int, host: PluginHost, name: Name, field: str) -> Loaded | None:
    """The field of an entry before execution `index`; None where the recording does not have it.

    In the ring of a model an entry's slot is its task id, and only such rings are in a record. `field` may be written
    with its layout before it.
    """
    record = recording.record
    if record is None:
        return None
    ring = record.run(index).rings.get(name[0])
    if ring is None:
        return None
    from tools.dump.items import entries  # noqa: PLC0415 - only for fields that nobody wrote

    family = host.chip(record.about.chip).family
    entry = next((e for e in entries(host.registry, family, ring["before"], name[0]) if e.slot == name[1]), None)
    if entry is None:
        return None
    struct, _, own = field.rpartition(".")
    value = entry.decoded.values.get(own)
    if not isinstance(value, int) or struct not in ("", entry.decoded.struct.struct_name):
        return None
    return Loaded(entry.decoded.struct.struct_name, own, value)
