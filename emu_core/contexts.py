"""Contexts: records in device memory that an entry points at, such as those of FFTS+ (`reference/sqe_formats.md` 5).

Like rings they are protected: placing one is part of loading, later only `patch` changes it, field by field, and the
journal says so. When the scheduler reads a context is open (`reference/device_semantics.md` 11, Q5):

| policy `context_preload` | a context is read | an update that comes after the entry was fetched |
|---|---|---|
| `start` | when its entry starts | is seen: new context, old entry |
| `with_sqe` | together with its entry, up to the prefetch depth ahead | is not seen: `hazard.stale-prefetch` |

As with entries, no copies are made: what a fetched entry leads to is saved when somebody is about to change it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from emu_core import hazards
from emu_core.changed_fields import CONTEXT, note_change
from emu_core.journal import HOST, Writer
from emu_core.memory import Space
from emu_core.ordering import records
from emu_core.streams import State

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from emu_core.device import Device
    from emu_core.engines import Task
    from emu_core.streams import Stream
    from formats import CStruct


@dataclass
class Context:
    """A placed context: where it is, whose entry points at it, what it held when it was placed."""

    address: int
    stream_id: int
    slot: int
    struct: CStruct
    loaded: bytes
    patched: bool = False


class Contexts:
    """All contexts of one device, by address."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._placed: dict[int, Context] = {}
        self._rooms: dict[tuple[int, int], int] = {}

    def allocate(self, size: int, label: str, align: int = 128) -> int:
        """Room for contexts of `size` bytes in TS memory, written by `place` and `patch` only; returns its address."""
        memory = self._device.memory
        found = memory.allocate(size, label=label, space=Space.TS, align=align)
        memory.protect(found.address, found.size, label)
        return found.address

    def room(self, size: int, label: str, stream_id: int, slot: int) -> int:
        """Room for the context of the entry in `slot` of a stream; a slot that is used again uses its room again."""
        found = self._rooms.get((stream_id, slot))
        if found is None or self._device.memory.find(found) is None:
            found = self._rooms[stream_id, slot] = self.allocate(size, label)
        return found

    def place(self, address: int, struct: CStruct, data: bytes, stream_id: int, slot: int) -> None:
        """Write the context `data` of the entry in `slot` of a stream; no journal entry, like loading a ring."""
        self._device.memory.poke(address, data)
        self._placed[address] = Context(address, stream_id, slot, struct, data)

    def at(self, address: int) -> Context | None:
        """The context placed at `address`, or None."""
        return self._placed.get(address)

    def patch(
        self,
        address: int,
        values: Mapping[str, int],
        struct: CStruct,
        writer: Writer = HOST,
        *,
        tiling_key: int | None = None,
        table_row: int | None = None,
    ) -> None:
        """Change fields of the context at `address`: what was fetched is kept apart, each field is journalled.

        Raises:
            MemoryFault: not all of the context lies in memory.
        """
        memory = self._device.memory
        raw = bytearray(memory.read(address, struct.size))
        self._keep_fetched(address, struct.size)
        placed = self._placed.get(address)
        stream = self._device.streams.get(placed.stream_id) if placed else None
        place = (stream, placed.slot if placed else -1)
        for name, value in values.items():
            change = (struct.field(name).patch(raw, 0, value), value)
            note_change(self._device, CONTEXT, place, (struct, name, address), change, writer, (tiling_key, table_row))
        memory.poke(address, bytes(raw))
        if self._device.ordering is not None:
            self._device.ordering.note(records.WRITE, writer.stream, -1, writer.task, address, struct.size)
        if placed is not None:
            placed.patched = True

    def restore(self, stream_ids: Iterable[int]) -> None:
        """Give the contexts of these streams back what they held when they were placed, as the host's own change."""
        wanted = set(stream_ids)
        for context in self._placed.values():
            if context.patched and context.stream_id in wanted:
                now = context.struct.parse(self._device.memory.read(context.address, context.struct.size))
                then = context.struct.parse(context.loaded)
                self.patch(context.address, {n: then[n] for n in then if then[n] != now[n]}, context.struct)
                context.patched = False

    def read(self, task: Task, address: int, size: int, struct: CStruct) -> bytes:
        """The `size` bytes of contexts at `address` as entry `task` sees them: fetched with it, or read now.

        Raises:
            DeviceFault: not in memory; or fetched before they changed and policy `stale_prefetch` is `fault`.
        """
        kept = task.stream.window.preloads.pop(task.slot, b"")
        now = task.memory.read(address, size)
        fetched = kept[:size] + now[len(kept) :]
        if fetched == now or self._device.policies["stale_prefetch"] == "refetch":
            return now
        at = next(i for i in range(size) if fetched[i] != now[i]) // struct.size * struct.size
        old, new = (struct.parse(raw[at : at + struct.size]) for raw in (fetched, now))
        refused = hazards.stale_context(task, address + at, [n for n in new if new[n] != old[n]])
        if refused is not None:
            raise refused
        return fetched

    def _keep_fetched(self, address: int, size: int) -> None:
        """Before a change: save what entries in the fetch buffers lead to, if it is fetched with them."""
        if self._device.policies["context_preload"] != "with_sqe":
            return
        for stream in self._device.streams.values():
            for slot in stream.window.slots():
                if slot not in stream.window.preloads and not _consumed(stream, slot):
                    self._keep(stream, slot, address, size)

    def _keep(self, stream: Stream, slot: int, address: int, size: int) -> None:
        sqe = stream.window.fetched(slot)
        handler = self._device.dispatch.find(sqe)
        if handler is None or handler.preload is None:
            return
        start, length = handler.preload(sqe)
        found = self._device.memory.find(start)
        if length and start < address + size and address < start + length and found and start + length <= found.end:
            stream.window.preloads[slot] = self._device.memory.read(start, length)


def _consumed(stream: Stream, slot: int) -> bool:
    """Whether the entry in `slot` has started: then its context is no longer needed."""
    return slot == stream.queue.head and stream.state is not State.SLOT_ENABLE
