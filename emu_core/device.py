"""A device: memory, streams, flags, engines, journal and trace of one chip. A plain object; many may live at once."""

from __future__ import annotations

from bisect import insort
from collections.abc import Mapping
from types import NoneType
from typing import TYPE_CHECKING

from emu_core.changed_fields import SQE, note_change
from emu_core.chips import Chip
from emu_core.clock import Clock
from emu_core.contexts import Contexts
from emu_core.cores import CorePool, core_kinds
from emu_core.dispatch import DispatchTable
from emu_core.errors import EmulatorBug, InputError, LimitError
from emu_core.expected import expect
from emu_core.journal import HOST, Journal, JournalEntry, Writer
from emu_core.memory import DeviceMemory
from emu_core.notice import fetch_window
from emu_core.ordering import Ordering, records
from emu_core.origin import NOWHERE
from emu_core.patches import BulkPatch, Changes, places, write_columns
from emu_core.plugins import PluginHost
from emu_core.policies import PolicySet
from emu_core.reports import Hazard
from emu_core.rings import SQE_BYTES, CompletionQueue, SubmissionQueue
from emu_core.scheduler import Scheduler
from emu_core.signals import SignalTable
from emu_core.spans import MANY_PATCHES, PATCHES
from emu_core.streams import Stream
from emu_core.trace import CellWritten, HazardFound, ModelPhase, Patched, Trace
from formats.blob import Blob

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import numpy.typing as npt

    from emu_core.engines import Task
    from emu_core.model import Model
    from emu_core.snapshot.image import Snapshot
    from formats import CStruct

HOST_STREAM = "host"
LAST_PRIORITY = 7


class Device:
    """One emulated chip.

    Args:
        chip: a `Chip`, or the name of one that a plugin describes.
        policies: values of policies by name.
        plugins: extra plugins (objects or modules), or a ready `PluginHost`.
        trace: event collector; by default every event is kept.
        record_rings: remember the bytes that executed in each slot (`sqemu run --dump-rings`).

    Attributes:
        cores, ai_cpus: the AI Cores and AI CPU threads that kernels of all streams share.
        contexts: records that entries point at, and how they are changed.
        host_functions: Python callables by address, for host function callbacks; each gets the user pointer.

    Raises:
        InputError: unknown chip, or an argument of another type. OptionError: unknown policy or value.
        PluginError: clashing plugins, or no layouts for the entries of the chip (`chip.no-layouts`).
    """

    def __init__(
        self,
        chip: Chip | str,
        policies: Mapping[str, str | int] | None = None,
        plugins: Iterable[object] | PluginHost = (),
        *,
        trace: Trace | None = None,
        record_rings: bool = False,
    ) -> None:
        expect(chip, (str, Chip), "the name of a chip", "sqemu chips lists them")
        expect(policies, (Mapping, NoneType), "a mapping of policies", 'for example {"nop_model": "both"}')
        self.host = plugins if isinstance(plugins, PluginHost) else PluginHost(plugins)
        self.chip = self.host.chip(chip) if isinstance(chip, str) else chip
        self.host.require_layouts(self.chip)
        self.policies = PolicySet(self.host.policy_specs, policies)
        self.trace = Trace() if trace is None else trace
        self.record_rings = record_rings
        self.memory = DeviceMemory(self.chip.memory_bytes)
        self.clock = Clock()
        self.signals = SignalTable()
        self.journal = Journal()
        self.contexts = Contexts(self)
        self.streams: dict[int, Stream] = {}
        self.models: dict[int, Model] = {}
        self.hazards: list[Hazard] = []
        self.run = 0
        self._ids: dict[str, int] = {}
        self._layouts: dict[str, CStruct] = {}
        self._known_changes: dict[tuple[int | str, ...], Changes] = {}
        self._free: dict[str, list[int]] = {}
        turns = self.policies["block_order"] == "turns"
        self.cores = CorePool(self.clock, core_kinds(self.chip), turns=turns)
        self.ai_cpus = CorePool(self.clock, {"AI CPU thread": max(self.chip.ai_cpus, 1)})
        self.host_functions: dict[int, Callable[[int], None]] = {}
        self.cq = CompletionQueue(self.memory, self.chip.cq_depth, _slot_bytes(self.layout("CqeError").sizeof()))
        self.dispatch = DispatchTable(self.host.engines(self), self.reader)
        self.ordering: Ordering | None = None
        if self.policies["ordering"] == "report":
            self.ordering = Ordering(self)
            self.trace.give(self.ordering.take)
        self.scheduler = Scheduler(self)

    def layout(self, struct: str) -> CStruct:
        """Layout `struct` of the chip's SQE family."""
        found = self._layouts.get(struct)
        if found is None:
            found = self._layouts[struct] = self.host.registry.get(self.chip.family, struct)
        return found

    def runtime_layout(self, struct: str) -> CStruct:
        """Layout `struct` of device-side memory records."""
        return self.host.registry.get("runtime", struct)

    def reader(self, struct: str, field: str) -> Callable[[bytes], int]:
        """Reads a field of a layout of the chip's family from the bytes of an entry."""
        return self.layout(struct).field(field).read

    @property
    def prefetch_depth(self) -> int:
        """Entries fetched past head, by the policy of that name."""
        value = self.policies["prefetch_depth"]
        named = {"seed": self.chip.prefetch_depth, "platform": self.chip.platform_prefetch_depth}
        return named[value] if value in named else int(value)

    # ---- objects -------------------------------------------------------------------------------------------

    def take_id(self, kind: str, limit: int, code: str) -> int:
        """The next free id of `kind`, for example `stream`; `LimitError` with the vendor's `code` when none is left."""
        if self._free.get(kind):
            return self._free[kind].pop(0)
        taken = self._ids.get(kind, 0)
        if taken >= limit:
            raise LimitError(
                f"{self.chip.name} has {limit} {kind} ids and all are in use",
                id=code,
                remedy=f"use fewer {kind}s, or a chip with more",
            )
        self._ids[kind] = taken + 1
        return taken

    def release_id(self, kind: str, number: int) -> None:
        """Give an id of `take_id` back; the smallest free one is given out next."""
        insort(self._free.setdefault(kind, []), number)

    def create_stream(self, name: str, *, bound: bool, priority: int = 0) -> Stream:
        """A new stream with its queue; `bound`: it will belong to a model; `priority`: 0 (first) to 7.

        Raises:
            LimitError: no stream id is left (207008), or no memory for its ring; nothing is taken then.
            InputError: no such priority (`stream.priority`).
        """
        if not 0 <= priority <= LAST_PRIORITY:
            raise InputError(
                f"priority {priority} does not exist", id="stream.priority", where=f"stream {name}",
                remedy=f"use 0 (first) to {LAST_PRIORITY}",
            )  # fmt: skip
        stream_id = self.take_id("stream", self.chip.max_streams, "207008")
        task_bits = self.layout("SqeHeader").by_name["task_id"].width
        try:
            queue = SubmissionQueue(self.memory, stream_id, self.chip.sq_depth, self.chip.usable_tasks, name, task_bits)
        except LimitError:
            self.release_id("stream", stream_id)
            raise
        queue.bound = bound
        notice_ns = self.chip.latencies.event_notify_ns
        window = fetch_window(queue, self.prefetch_depth, self.policies["nop_model"], self.clock, notice_ns)
        stream = Stream(queue, window, name)
        stream.priority = priority
        stream.stops = self.scheduler.recovery.stops
        self.streams[stream_id] = stream
        return stream

    def destroy_stream(self, stream: Stream) -> None:
        """Take an idle or stopped stream away: its ring is freed, its id can be given out again."""
        self.scheduler.unpark(stream)
        del self.streams[stream.id]
        self.memory.free(stream.queue.ring.address)
        self.release_id("stream", stream.id)

    def create_event(self) -> int:
        """A new event id; 207007 when none is left."""
        return self.take_id("event", self.chip.max_events, "207007")

    def create_notify(self) -> int:
        """A new notify id; 207009 when none is left."""
        return self.take_id("notify", self.chip.max_notifies, "207009")

    def add_model(self, build: Callable[[int], Model]) -> Model:
        """Register the model that `build` makes from its id."""
        model_id = self.take_id("model", 2048, "207010")
        model = build(model_id)
        self.models[model_id] = model
        self.trace.add(ModelPhase(time=self.clock.now, model=model_id, phase="loaded"))
        return model

    def load(self, blob: Blob) -> Model:
        """Load a task blob through the loader plugin.

        Raises:
            InputError: the blob is for another chip, or names an operator or kernel that no plugin supplies.
            LimitError: it does not fit the chip. What a failed load had taken is given back.
        """
        expect(blob, Blob, "a task blob", "compile_graph makes one of a graph, formats.blob.decode one of a file")
        ids, streams = dict(self._ids), dict(self.streams)
        free = {kind: list(numbers) for kind, numbers in self._free.items()}
        before = {a.address for a in self.memory.allocations()}
        try:
            model: Model = self.host.first("sqemu_load", device=self, blob=blob)
        except BaseException:
            self._ids, self.streams, self._free = ids, streams, free
            for allocation in list(self.memory.allocations()):
                if allocation.address not in before:
                    self.memory.free(allocation.address)
            raise
        return model

    # ---- snapshots -------------------------------------------------------------------------------------------

    def snapshot(self, further: Iterable[object] = ()) -> Snapshot:
        """The whole state, between two steps; `further`: objects of the host program that belong to it.

        Raises:
            InputError: in the middle of a step (`snapshot.running`).
            PluginError: something cannot be kept (`snapshot.unkeepable`).
        """
        from emu_core.snapshot.image import take  # noqa: PLC0415 - it builds on this module

        return take(self, further)

    def restore(self, snapshot: Snapshot) -> None:
        """Go to the state of `snapshot`, of this device or a loaded one of the same chip and host; see there."""
        snapshot.restore(self)

    def fork(self) -> Device:
        """An independent copy of this device; raises as `snapshot`."""
        return self.snapshot().fork()

    # ---- writes that are journalled --------------------------------------------------------------------------

    def patch_sqe(
        self,
        stream_id: int,
        slot: int,
        values: Mapping[str, int],
        struct: CStruct,
        writer: Writer = HOST,
        *,
        tiling_key: int | None = None,
        table_row: int | None = None,
    ) -> None:
        """Change fields of the entry in `slot`: the fetched copy is kept apart, each changed field is journalled."""
        stream = self.streams.get(stream_id) or self._no_stream(stream_id)
        queue, clock, trace = stream.queue, self.clock, self.trace
        if not 0 <= slot < queue.depth:
            raise _no_slot(stream_id, slot, queue.depth)
        address = queue.address(slot)
        stream.window.before_write(slot)
        raw = queue.row(slot)
        changes = self._known_changes.get((id(struct), *values)) or self._changes(struct, values)
        stream.before_change(slot, slot, same_word=changes.same_word)
        submissions = queue.submissions
        number = submissions.number_at(slot)
        task, origin = -1, NOWHERE
        if number is not None:
            task, origin = number & submissions.last_id, submissions.origin_of(number)
        else:
            self.memory.view(address, SQE_BYTES, "write")
        now, run, note, layout = clock.now, self.run, self.journal.note, struct.struct_name
        node, model_task = origin.node, origin.model_task
        log = trace.log if Patched in trace.enabled or self.ordering is not None else None
        for (name, value), (patch, offset, width) in zip(values.items(), changes.fields, strict=True):
            before = patch(raw, 0, value)
            row = (
                now, run, writer, "sqe", stream_id, slot, task, layout, name, address, offset, width, before, value,
                tiling_key, table_row, node, model_task,
            )  # fmt: skip
            note(row)
            if log is not None:
                log((now, clock.front, PATCHES, row))
        if self.memory.on_write is not None:
            self.memory.on_write(address, SQE_BYTES)
        stream.patched_in[slot] = self.run

    def patch_many(
        self,
        stream_id: int,
        slots: npt.ArrayLike,
        values: Mapping[str, npt.ArrayLike],
        struct: CStruct,
        writer: Writer = HOST,
        *,
        tiling_key: int | None = None,
        table_row: int | None = None,
    ) -> None:
        """Change the same fields of many entries, as `patch_sqe` for one after the other would, at far less cost each.

        Args:
            slots: of one ring, shape (n,), none twice. values: by field, shape (n,), or one for all.

        Raises:
            InputError: no such stream. FormatError: no such slot or field, a slot twice, or a value that does not fit;
                nothing is changed then.
        """
        stream = self.streams.get(stream_id) or self._no_stream(stream_id)
        queue, clock = stream.queue, self.clock
        at = struct.view(queue.view()).rows(slots)
        if not at.size:
            return
        listed: list[int] = at.tolist()
        stream.window.before_writes(listed)
        stream.before_change(min(listed), max(listed), same_word=False)
        columns = write_columns(queue, at, values, struct)
        tasks, origins = places(queue, at)
        addresses = queue.address(0) + SQE_BYTES * at
        for address in addresses[tasks < 0].tolist():
            self.memory.view(address, SQE_BYTES, "write")
        patch = BulkPatch(
            clock.now, self.run, writer, struct.struct_name, stream_id, addresses, at, tasks, origins, columns,
            tiling_key, table_row,
        )  # fmt: skip
        self.journal.note_many(patch)
        if Patched in self.trace.enabled or self.ordering is not None:
            self.trace.log((clock.now, clock.front, MANY_PATCHES, patch))
        if self.memory.on_write is not None:
            for address in addresses.tolist():
                self.memory.on_write(address, SQE_BYTES)
        stream.patched_in.update(dict.fromkeys(listed, self.run))

    def _no_stream(self, stream_id: int) -> Stream:
        raise InputError(
            f"the device has no stream {stream_id}",
            id="stream.unknown",
            remedy=f"its streams are {', '.join(map(str, sorted(self.streams))) or 'none'}",
        )

    def _changes(self, struct: CStruct, values: Mapping[str, int]) -> Changes:
        """How the named fields of `struct` are written; remembered."""
        found = self._known_changes[id(struct), *values] = Changes(struct, values)
        return found

    def replace_sqe(self, stream_id: int, slot: int, sqe: bytes, writer: Writer = HOST) -> None:
        """Rewrite a whole entry; every field that differs is journalled. `FormatError` unless `sqe` has 64 bytes."""
        stream = self.streams.get(stream_id) or self._no_stream(stream_id)
        self.host.registry.decode(self.chip.family, sqe)
        decoded = self.host.registry.decode(self.chip.family, stream.queue.entry(slot))
        struct = decoded.struct
        new_values = struct.parse(sqe)
        changed = {name: value for name, value in _flat(struct, new_values) if decoded.values[name] != value}
        stream.window.before_write(slot)
        for name, value in changed.items():
            bits = struct.by_name[name].bits
            change = (_as_int(decoded.values[name], bits), _as_int(value, bits))
            note_change(self, SQE, (stream, slot), (struct, name, stream.queue.address(slot)), change, writer)
        self.memory.poke(stream.queue.address(slot), sqe)
        stream.patched_in.pop(slot, None)

    def write_cell(self, address: int, data: bytes, what: str, writer: Writer) -> None:
        """Write a tiling cell (a protected range) and journal it."""
        before = int.from_bytes(self.memory.view(address, len(data)).tobytes(), "little")
        after = int.from_bytes(data, "little")
        self.memory.poke(address, data)
        if self.ordering is not None:
            self.ordering.note(records.WRITE, writer.stream, -1, writer.task, address, len(data))
        entry = JournalEntry(
            self.clock.now,
            self.run,
            writer,
            "cell",
            -1,
            -1,
            -1,
            what,
            "value",
            address,
            0,
            8 * len(data),
            before,
            after,
        )
        self.journal.add(entry)
        if self.trace.wants(CellWritten):
            self.trace.add(
                CellWritten(
                    time=entry.time,
                    run=entry.run,
                    address=address,
                    what=what,
                    before=before,
                    after=after,
                    writer_stream=writer.stream,
                    writer_task=writer.task,
                    engine=writer.engine,
                )
            )

    # ---- reports ---------------------------------------------------------------------------------------------

    def clear_history(self) -> None:
        """Forget events, journal, hazards and faults of executions that are over; for long series of executions."""
        self.trace.clear()
        self.journal.clear()
        self.hazards.clear()
        self.scheduler.faults.clear()

    def hazard(self, task: Task, id: str, what: str, remedy: str, **detail: int | str) -> None:  # noqa: A002 - see SqemuError
        """Report that `task` ran although the result may be wrong."""
        handler = self.dispatch.find(task.sqe)
        found = Hazard(
            id,
            what,
            remedy,
            self.clock.now,
            task.run,
            task.stream.id,
            task.slot,
            task.task_id,
            detail,
            handler.kind if handler else "unknown",
            task.origin.node,
        )
        self.report(found, task.origin.model_task)

    def report(self, found: Hazard, model_task: int = -1) -> None:
        """Keep a hazard and trace it."""
        self.hazards.append(found)
        if self.trace.wants(HazardFound):
            self.trace.add(
                HazardFound(
                    time=found.time,
                    run=found.run,
                    id=found.id,
                    stream=found.stream,
                    slot=found.slot,
                    task=found.task,
                    node=found.node,
                    model_task=model_task,
                    what=found.what,
                    remedy=found.remedy,
                )
            )


def _no_slot(stream_id: int, slot: int, depth: int) -> InputError:
    return InputError(
        f"the ring of stream {stream_id} has no slot {slot}", id="ring.slot", remedy=f"its slots are 0 to {depth - 1}"
    )


def _slot_bytes(entry_bytes: int) -> int:
    """Bytes from one completion entry to the next: 16 bytes fill their slot, the 20 of v200 lie in slots of 32."""
    return 1 << (entry_bytes - 1).bit_length()


def _flat(struct: CStruct, values: Mapping[str, object]) -> list[tuple[str, object]]:
    return [(f.name, values[f.name]) for f in struct.fields]


def _as_int(value: object, width: int) -> int:
    if isinstance(value, int):
        return value & ((1 << width) - 1)
    if isinstance(value, list) and value:
        each = width // len(value)
        return sum((int(v) & ((1 << each) - 1)) << (each * i) for i, v in enumerate(value))
    raise EmulatorBug(f"a field has the value {value!r}")
