"""The journal: every write to a submitted entry, its context or a tiling cell — who, when, which field, before, after.

Loading a ring is no entry; everything later is. A write is compared with the layout of the entry it hits, so one
write of many bytes becomes one record per field that changed.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import starmap
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from emu_core.patches import BulkPatch


class Writer(NamedTuple):
    """Who writes: stream and task of the entry being executed (-1: the host), and its engine."""

    stream: int
    task: int
    engine: str


HOST = Writer(-1, -1, "host")


@dataclass(frozen=True)
class JournalEntry:
    """One field that changed.

    Attributes:
        time, run: virtual nanoseconds, execution of the model from 1 (0: before any).
        writer: who wrote.
        target: `sqe`, `context` or `cell`.
        stream, slot, task: the entry that was changed, or that points at the context; -1 for a cell.
        struct, field: layout and field name; for a cell its label and `value`.
        address: device address of the entry, context or cell.
        bit_offset, bit_width: where the field lies, in bits from `address`.
        before, after: values as unsigned integers.
        tiling_key, table_row: for a task update, the key read and the row of the tiling table it matched.
        node, model_task: where the changed entry comes from: graph node, and index in the task list.
    """

    time: int
    run: int
    writer: Writer
    target: str
    stream: int
    slot: int
    task: int
    struct: str
    field: str
    address: int
    bit_offset: int
    bit_width: int
    before: int
    after: int
    tiling_key: int | None = None
    table_row: int | None = None
    node: str = ""
    model_task: int = -1

    def text(self) -> str:
        """The change on one line."""
        place = f"stream {self.stream} slot {self.slot} task {self.task} " if self.target != "cell" else ""
        by = (
            "the host"
            if self.writer.stream < 0
            else (f"stream {self.writer.stream} task {self.writer.task} ({self.writer.engine})")
        )
        return f"{self.time:>8} ns  {place}{self.struct}.{self.field}: {self.before:#x} -> {self.after:#x} by {by}"


class Journal:
    """All entries of a device in the order they were made; they become objects when somebody reads them.

    Attributes:
        note: appends the entry whose fields, in order, are the tuple it is given.
    """

    def __init__(self) -> None:
        self._entries: list[JournalEntry] = []
        self._noted: list[tuple[Any, ...] | BulkPatch] = []
        self._many = 0
        self.note: Callable[[tuple[Any, ...]], None] = self._noted.append

    def add(self, entry: JournalEntry) -> None:
        """Append `entry`."""
        self._read().append(entry)

    def note_many(self, patch: BulkPatch) -> None:
        """Append the entries that `patch` stands for."""
        self._noted.append(patch)
        self._many += len(patch) - 1

    def _read(self) -> list[JournalEntry]:
        if self._noted:
            for noted in self._noted:
                if isinstance(noted, tuple):
                    self._entries.append(JournalEntry(*noted))
                else:
                    self._entries += starmap(JournalEntry, noted.rows())
            self._forget()
        return self._entries

    def _forget(self) -> None:
        self._noted.clear()
        self._many = 0

    def __len__(self) -> int:
        return len(self._entries) + len(self._noted) + self._many

    def __iter__(self) -> Iterator[JournalEntry]:
        return iter(self._read())

    def clear(self) -> None:
        """Forget every entry."""
        self._entries.clear()
        self._forget()

    def since(self, mark: int) -> tuple[JournalEntry, ...]:
        """Entries from position `mark` (an earlier `len`) on."""
        return tuple(self._read()[mark:])
