"""What `where`, `show` and `who` say; every line fits 80 columns, every number has its unit or its 0x."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core.errors import DeviceFault, InputError
from emu_core.streams import State
from tools.debug.words import refuse
from tools.show import safe
from tools.stacked import wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emu_core.device import Device
    from emu_core.journal import JournalEntry
    from emu_core.snapshot.stops import OfField
    from emu_core.snapshot.travel import TimeTravel
    from emu_core.streams import Stream

COLUMNS = 80
ROW = 16
MOST_BYTES = 4096
RING_ROWS = 16
"""Entries that `show ring` shows around head."""


def fitted(text: str, indent: str = "") -> Iterator[str]:
    """`text` in lines of at most 80 columns; all but the first are indented by two more."""
    yield from wrapped(safe(text), COLUMNS, first=indent, others=indent + "  ")


def stream_of(device: Device, number: int) -> Stream:
    """Stream `number`; `InputError` lists those there are."""
    if number not in device.streams:
        known = ", ".join(map(str, sorted(device.streams))) or "none"
        raise InputError(f"the device has no stream {number}", id="stream.unknown", remedy=f"its streams are {known}")
    return device.streams[number]


def where(travel: TimeTravel) -> Iterator[str]:
    """Position, time, and each stream with the entry at its head."""
    device = travel.device
    end = f" of {travel.end}" if travel.end is not None else ""
    yield f"step {travel.position}{end}, {device.clock.now} ns, run {device.run}, {device.clock.pending} planned"
    for stream in device.streams.values():
        yield from fitted(stream_line(device, stream), "  ")
    for fault in device.scheduler.faults[-1:]:
        yield from fitted(f"last fault {fault.id}: stream {fault.stream} task {fault.task}: {fault.what}", "  ")


def stream_line(device: Device, stream: Stream) -> str:
    """A stream on one line."""
    queue = stream.queue
    state = stream.state.name.lower().replace("_", " ")
    head = f"stream {stream.id} ({stream.name}) {state}, head {queue.head}, tail {queue.tail}"
    if not queue.pending:
        return head
    task = queue.task_at.get(queue.head, -1)
    return f"{head}, at task {task} ({kind_of(device, stream, queue.head)}){_lacks(stream)}"


def _lacks(stream: Stream) -> str:
    if stream.state is State.POLLING_FLAG and stream.waits_for is not None:
        return f", waits for {stream.waits_for} since {stream.waits_since} ns"
    return ""


def kind_of(device: Device, stream: Stream, slot: int) -> str:
    """The kind of the entry in a slot, with its node."""
    handler = device.dispatch.find(stream.queue.entry(slot))
    origin = stream.queue.origin_at.get(slot)
    node = f" of {origin.node}" if origin and origin.node else ""
    return f"{handler.kind if handler else 'unknown'}{node}"


def ring(device: Device, number: int) -> Iterator[str]:
    """The entries around head of one ring."""
    stream = stream_of(device, number)
    queue = stream.queue
    written = min(queue.submissions.units, queue.depth)
    yield f"ring of stream {number}: depth {queue.depth}, head {queue.head}, tail {queue.tail}, {written} written"
    first = min(max(queue.head - RING_ROWS // 2, 0), max(written - RING_ROWS, 0))
    for slot in range(first, min(first + RING_ROWS, written)):
        mark = ">" if slot == queue.head and queue.pending else " "
        patched = stream.patched_in.get(slot)
        note = f", patched in run {patched}" if patched is not None else ""
        stale = ", fetched before it was rewritten" if slot in stream.window.saved else ""
        task = queue.task_at.get(slot, -1)
        yield from fitted(f"{mark} slot {slot}: task {task}, {kind_of(device, stream, slot)}{note}{stale}")


def slot_of(device: Device, at: OfField) -> int:
    """The slot of an entry; `InputError` when the ring does not hold it."""
    stream = stream_of(device, at.stream)
    slot = at.number if at.by_slot else stream.queue.slot_of.get(at.number, -1)
    if slot not in stream.queue.task_at:
        refuse(f"the ring of stream {at.stream} has no such entry", f"show ring {at.stream} lists its entries")
    return slot


def task(device: Device, at: OfField) -> Iterator[str]:
    """The fields of an entry as the ring has it."""
    slot, stream = slot_of(device, at), stream_of(device, at.stream)
    found = device.host.registry.decode(device.chip.family, stream.queue.entry(slot))
    number = stream.queue.task_at.get(slot, -1)
    yield from fitted(
        f"stream {at.stream} slot {slot} task {number}: {found.struct.struct_name}, {kind_of(device, stream, slot)}"
    )
    for field in found.struct.named_fields:
        value = found.values[field.name]
        shown = f"{value:#x} ({value})" if isinstance(value, int) else str(value)
        yield from fitted(f"{field.name} = {shown}", "  ")


def memory(device: Device, address: int, size: int) -> Iterator[str]:
    """`size` bytes from a device address on, 16 a line."""
    if not 1 <= size <= MOST_BYTES:
        refuse(f"{size} bytes cannot be shown at once", f"write 1 to {MOST_BYTES}")
    try:
        raw = device.memory.read(address, size)
    except DeviceFault as fault:
        raise InputError(fault.what, id=fault.id, remedy="show task S:T shows addresses that entries hold") from None
    found = device.memory.find(address)
    yield from fitted(f"{found.label if found else 'memory'} at {address:#x}, {size} bytes")
    for at in range(0, size, ROW):
        row = raw[at : at + ROW]
        text = "".join(chr(b) if 32 <= b < 127 else "." for b in row)
        yield f"{address + at:#016x}  {row.hex(' ', 4):<35}  {text}"


def written(entry: JournalEntry | None, at: OfField) -> Iterator[str]:
    """Who wrote last."""
    if entry is None:
        yield from fitted(f"{at} was not written since the program was loaded")
        return
    by = "the host"
    if entry.writer.stream >= 0:
        by = f"stream {entry.writer.stream} task {entry.writer.task} ({entry.writer.engine})"
    key = f", tiling key {entry.tiling_key}" if entry.tiling_key is not None else ""
    row = f", table row {entry.table_row}" if entry.table_row is not None else ""
    yield from fitted(
        f"{by} wrote {entry.struct}.{entry.field} of {at.stream}:{entry.task} at {entry.time} ns in run {entry.run}: "
        f"{entry.before:#x} -> {entry.after:#x}{key}{row}"
    )
