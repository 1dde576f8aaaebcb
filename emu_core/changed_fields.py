"""A field that changed behind everybody's back, written down: one journal entry, and one event where they are wanted.

Entries of queues and the contexts that they point at are told of alike. The hot way, many fields of one entry at once,
is `Device.patch_sqe`, which leaves the same in columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from emu_core.journal import JournalEntry
from emu_core.origin import NOWHERE
from emu_core.trace import ContextPatched, Patched

if TYPE_CHECKING:
    from emu_core.device import Device
    from emu_core.journal import Writer
    from emu_core.streams import Stream
    from formats import CStruct

SQE, CONTEXT = "sqe", "context"
"""What an entry of the journal calls the two."""


def note_change(
    device: Device,
    target: str,
    place: tuple[Stream | None, int],
    at: tuple[CStruct, str, int],
    change: tuple[int, int],
    writer: Writer,
    update: tuple[int | None, int | None] = (None, None),
) -> None:
    """Write down that a field changed now.

    Args:
        target: `SQE` or `CONTEXT`.
        place: stream and slot of the entry, or of the one that points at the context; (None, -1) if unknown.
        at: layout, field, and address of the entry or context.
        change: values before and after, as unsigned integers.
        writer: who wrote. update: for a task update the tiling key and the row of the table.
    """
    stream, slot = place
    struct, name, address = at
    field = struct.by_name[name]
    origin = stream.queue.origin_at.get(slot, NOWHERE) if stream else NOWHERE
    entry = JournalEntry(
        device.clock.now,
        device.run,
        writer,
        target,
        stream.id if stream else -1,
        slot,
        stream.queue.task_at.get(slot, -1) if stream else -1,
        struct.struct_name,
        name,
        address,
        field.offset,
        field.bits,
        *change,
        *update,
        origin.node,
        origin.model_task,
    )
    device.journal.add(entry)
    if target == SQE and device.trace.wants(Patched):
        device.trace.add(Patched(**_traced(entry)))
    if target == CONTEXT and device.trace.wants(ContextPatched):
        device.trace.add(ContextPatched(address=address, **_traced(entry)))


_SAME = (
    "time", "run", "stream", "slot", "task", "struct", "field", "bit_offset", "bit_width", "before", "after",
    "tiling_key", "table_row", "node", "model_task",
)  # fmt: skip


def _traced(entry: JournalEntry) -> dict[str, Any]:
    """What an event of a changed field says: the journal entry, its writer in three fields."""
    writer = entry.writer
    same = {name: getattr(entry, name) for name in _SAME}
    return {**same, "writer_stream": writer.stream, "writer_task": writer.task, "engine": writer.engine}
