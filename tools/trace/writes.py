"""Writes to submitted entries, contexts and tiling cells, as events tell them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from emu_core.trace import CellWritten, ContextPatched, Patched

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from emu_core.trace import Event


@dataclass(frozen=True)
class Write:
    """One field that was written.

    Attributes:
        time: virtual nanoseconds. target: `sqe`, `context` or `cell`.
        stream, slot, task, node: the entry, or the one that points at the context; -1 and empty for a cell.
        struct, field: layout and field; of a cell its label, and `value`.
        bit_offset, bit_width: where the field lies; of a cell 0 and 0, it is a whole.
        before, after: values. by_stream, by_task, engine: who wrote; stream -1 is the host.
        tiling_key, table_row: what an update read, and the row of the table that it matched; None for other writers.
    """

    time: int
    target: str
    stream: int
    slot: int
    task: int
    node: str
    struct: str
    field: str
    bit_offset: int
    bit_width: int
    before: int
    after: int
    by_stream: int
    by_task: int
    engine: str
    tiling_key: int | None = None
    table_row: int | None = None

    @property
    def place(self) -> str:
        """The entry as `stream:task`; of a cell its label."""
        return self.struct if self.target == "cell" else f"{self.stream}:{self.task}"

    @property
    def writer(self) -> str:
        """Who wrote."""
        return "the host" if self.by_stream < 0 else f"{self.by_stream}:{self.by_task} {self.engine}"


def writes_of(events: Iterable[Event]) -> Iterator[Write]:
    """Every write, in order."""
    for event in events:
        if isinstance(event, (Patched, ContextPatched)):
            yield Write(
                event.time, "sqe" if isinstance(event, Patched) else "context", event.stream, event.slot, event.task,
                event.node, event.struct, event.field, event.bit_offset, event.bit_width, event.before, event.after,
                event.writer_stream, event.writer_task, event.engine, event.tiling_key, event.table_row,
            )  # fmt: skip
        elif isinstance(event, CellWritten):
            yield Write(
                event.time, "cell", -1, -1, -1, "", event.what, "value", 0, 0, event.before, event.after,
                event.writer_stream, event.writer_task, event.engine,
            )  # fmt: skip
