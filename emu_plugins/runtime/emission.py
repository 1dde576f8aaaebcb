"""Many ring entries at once: task columns become the bytes of all rings, without an object per entry.

What one task writes is said by templates, which come from the same builder that writes single entries
(`emu_plugins.runtime.sqes`), so the bytes are the same by construction. Only what differs from entry to entry is
written as columns: stream id, task id, and per kind

| kind | entries | columns |
|---|---|---|
| `KERNEL` | AI Core kernel | program counter, argument block, block dim, kind of cores |
| `RECORD` | event record | event id |
| `WAIT` | event wait, event reset | event id; the reset also has the address of the event's word |
| `NOP` | NOP | |

Entries of a stream are in the order of its tasks. A task's slot is found by counting, not by appending: entries before
it in all streams (`cumsum`), then a stable sort by stream.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from emu_core.kernels import CoreType
from emu_core.rings import SQE_BYTES
from emu_plugins.runtime.sqes import FFTS_TYPE, Place

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from emu_plugins.runtime.sqes import SqeBuilder
    from formats import CStruct, Registry

    Column = npt.NDArray[np.int64]
    Rows = npt.NDArray[np.uint64]

KERNEL, RECORD, WAIT, NOP, RESET = KINDS = range(5)
"""Kinds of entries; a reset is no task of its own, but the second entry of a wait."""
_WORDS = SQE_BYTES // 8
_ORIGIN = Place(0, 0)


@dataclass(frozen=True)
class TaskColumns:
    """Tasks in list order; all columns have shape (tasks,), int64.

    Attributes:
        kind: one of the kinds above. stream: stream id on the device.
        event: event id of records and waits. pc, args, block_dim: of kernels; 0 for others.
    """

    kind: Column
    stream: Column
    event: Column
    pc: Column
    args: Column
    block_dim: Column
    core: Column


@dataclass(frozen=True)
class Rings:
    """Entries of all streams.

    Attributes:
        entries: shape (entries, 64), uint8; those of a stream are next to each other, streams by ascending id.
        start: index of the first entry of each stream, shape (streams + 1,).
        task_id: id of the first entry of each task, not cut to 16 bits, shape (tasks,).
    """

    entries: npt.NDArray[np.uint8]
    start: npt.NDArray[np.int64]
    task_id: npt.NDArray[np.int64]

    def of(self, stream: int) -> npt.NDArray[np.uint8]:
        """The entries of `stream`, shape (count, 64)."""
        return self.entries[self.start[stream] : self.start[stream + 1]]


class Emitter:
    """Writes the entries of one chip.

    Args:
        build: writes single entries. registry, family: where the layouts are. stack: stack pool of all kernels.
        resets: each wait is followed by a reset of its event (policy `wait_reset`).
    """

    def __init__(
        self,
        build: SqeBuilder,
        registry: Registry,
        family: str,
        *,
        stack: int = 0,
        resets: bool = True,
    ) -> None:
        self._resets = resets
        names = {KERNEL: "AicoreKernelSqe", RECORD: "EventRecordSqe", WAIT: "EventWaitSqe", NOP: "PhSqe",
                 RESET: "WriteValueSqe"}  # fmt: skip
        templates = {
            KERNEL: build.kernel(
                _ORIGIN, core_type=CoreType.AIC, block_dim=1, schem=0, pc=0, args=0, stack=stack
            ),
            RECORD: build.event_record(_ORIGIN, 0),
            WAIT: build.event_wait(_ORIGIN, 0),
            NOP: build.nop(_ORIGIN),
            RESET: build.event_reset(_ORIGIN, 0),
        }  # fmt: skip
        structs = {kind: registry.get(family, name) for kind, name in names.items()}
        self._templates = np.frombuffer(b"".join(templates[kind] for kind in KINDS), "<u8").reshape(-1, _WORDS)
        self._fields = {(kind, name): _Place.of(structs[kind], name) for kind in KINDS for name in _COLUMNS[kind]}
        self._reset_step = _reset_steps(build, structs[RESET])

    def emit(self, tasks: TaskColumns, streams: int, first_task: int = 0) -> Rings:
        """The entries of `tasks` on streams 0 to `streams` - 1; task ids count from `first_task` in each.

        Ring capacity is not looked at.
        """
        double = (tasks.kind == WAIT) & self._resets
        width = 1 + double.astype(np.int64)
        counts = np.bincount(tasks.stream, weights=width, minlength=streams).astype(np.int64)
        start = np.zeros(streams + 1, np.int64)
        np.cumsum(counts, out=start[1:])
        first = _positions(tasks.stream, width)
        rows = np.empty((int(start[-1]), _WORDS), "<u8")
        task_id = first - start[tasks.stream] + first_task
        for kind in (KERNEL, RECORD, WAIT, NOP):
            chosen = np.flatnonzero(tasks.kind == kind)
            if len(chosen):
                self._write(rows, first[chosen], task_id[chosen], kind, tasks, chosen)
        chosen = np.flatnonzero(double)
        if len(chosen):
            self._write(rows, first[chosen] + 1, task_id[chosen] + 1, RESET, tasks, chosen)
        return Rings(rows.view(np.uint8).reshape(-1, SQE_BYTES), start, task_id)

    def _write(
        self, rows: Rows, at: Column, task_id: Column, kind: int, tasks: TaskColumns, chosen: npt.NDArray[np.intp]
    ) -> None:
        """Entries of one kind: the template, and its columns."""
        made = np.broadcast_to(self._templates[kind], (len(at), _WORDS)).copy()
        event = tasks.event[chosen]
        columns: Mapping[str, Column] = {
            "rt_stream_id": tasks.stream[chosen],
            "task_id": task_id & 0xFFFF,
            "event_id": event,
            "pc_addr": tasks.pc[chosen],
            "param_addr": tasks.args[chosen],
            "block_dim": np.where(tasks.block_dim[chosen], tasks.block_dim[chosen] & 0xFFFF, 1),
            "ffts_type": _FFTS_TYPES[tasks.core[chosen]],
            "write_addr": self._reset_step.address(event),
        }
        for name in _COLUMNS[kind]:
            self._fields[kind, name].put(made, columns[name])
        rows[at] = made


_FFTS_TYPES = np.array([FFTS_TYPE[core] for core in CoreType], np.int64)
_HEAD = ("rt_stream_id", "task_id")
_COLUMNS = {
    KERNEL: (*_HEAD, "pc_addr", "param_addr", "block_dim", "ffts_type"),
    RECORD: (*_HEAD, "event_id"),
    WAIT: (*_HEAD, "event_id"),
    NOP: _HEAD,
    RESET: (*_HEAD, "event_id", "write_addr"),
}
"""Fields that differ from entry to entry, by kind."""


@dataclass(frozen=True)
class _Place:
    """Where a field lies: pieces of (word, shift in the word, shift in the value, mask)."""

    pieces: tuple[tuple[int, int, int, int], ...]

    @classmethod
    def of(cls, struct: CStruct, name: str) -> _Place:
        joined = struct.joined.get(name)
        fields = (joined.low, joined.high) if joined else (struct.by_name[name],)
        pieces, done = [], 0
        for field in fields:
            word, shift = divmod(field.offset, 64)
            assert shift + field.width <= 64, f"{name} crosses a word"
            pieces.append((word, shift, done, (1 << field.width) - 1))
            done += field.width
        return cls(tuple(pieces))

    def put(self, rows: Rows, values: Column) -> None:
        """Write one value per row."""
        unsigned = values.astype(np.uint64)
        for word, shift, drop, mask in self.pieces:
            hole = np.uint64(~(mask << shift) & (1 << 64) - 1)
            piece = (unsigned >> np.uint64(drop) & np.uint64(mask)) << np.uint64(shift)
            rows[:, word] = rows[:, word] & hole | piece


@dataclass(frozen=True)
class _Steps:
    """Address of an event's word: `base`, 4 bytes per event, `table` bytes per 4096 events."""

    base: int
    table: int

    def address(self, event: Column) -> Column:
        return self.base + event // 4096 * self.table + event % 4096 * 4


def _reset_steps(build: SqeBuilder, struct: CStruct) -> _Steps:
    read = struct.field("write_addr").read
    first, other = (int(read(build.event_reset(_ORIGIN, event))) for event in (0, 4096))
    return _Steps(first, other - first)


def _positions(stream: Column, width: Column) -> Column:
    """Index of the first entry of each task: those of its stream before it, behind where its stream starts."""
    order = np.argsort(stream.astype(np.uint16), kind="stable")
    sorted_width = width[order]
    before = np.cumsum(sorted_width) - sorted_width
    found = np.empty_like(before)
    found[order] = before
    return found
