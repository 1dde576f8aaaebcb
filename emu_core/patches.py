"""What is written when fields of submitted entries change: of one entry, and of many at once, as columns.

What one change is, and what it leaves in journal and trace, is said by `Device.patch_sqe`; here the same is done for a
column of slots.

| what | how |
|---|---|
| bytes | one word of all slots gathered, changed and scattered (`formats.view.View.set_many`) |
| fetched copies | kept of the slots that lie in the fetch buffer |
| journal and trace | one `BulkPatch` each, which stands for a row per slot and field, made when somebody reads them |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from formats import FormatError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import numpy.typing as npt

    from emu_core.journal import Writer
    from emu_core.rings import SubmissionQueue
    from formats import CStruct
    from formats.fields import Field

    Numbers = npt.NDArray[np.int64]
    Values = npt.NDArray[np.integer[Any]]


FIRST_WORD_BITS = 32


class Changes:
    """Fields that are patched together.

    Attributes:
        fields: for each what writes it, its first bit and its width. same_word: none lies in the first 32 bits.

    Raises:
        FormatError: the layout has no such field, or it is a value of two fields (`format.unknown-field`).
    """

    __slots__ = ("fields", "same_word", "struct")

    def __init__(self, struct: CStruct, names: Iterable[str]) -> None:
        self.struct = struct  # keeps it alive: it is known by its id
        layouts = [field_of(struct, name) for name in names]
        self.fields = [(struct.field(f.name).patch, f.offset, f.width) for f in layouts]
        self.same_word = all(f.offset >= FIRST_WORD_BITS for f in layouts)


def field_of(struct: CStruct, name: str) -> Field:
    """The field `name`; `FormatError` when there is none, or it is a value of two."""
    pair = struct.joined.get(name)
    if pair is not None:
        raise FormatError(
            "is a value of two fields, which are journalled one by one",
            id="format.unknown-field",
            where=f"{struct.struct_name}.{name}",
            remedy=f"patch {pair.low.name} and {pair.high.name}",
        )
    struct.field(name)  # names the field that does not exist
    return struct.by_name[name]


@dataclass(frozen=True)
class FieldColumn:
    """A field of many entries: its name, first bit and width, and the values before and after, shape (entries,)."""

    name: str
    offset: int
    width: int
    before: Values
    after: Values


@dataclass(frozen=True)
class BulkPatch:
    """Many entries of one ring, changed at one moment.

    Attributes:
        time, run, writer, tiling_key, table_row: as in `JournalEntry`, the same for all.
        struct: name of the layout. stream: the ring's. addresses, slots, tasks: of the entries, shape (entries,).
        origins: graph node, and index in the task list, of each entry.
        columns: the fields, in the order in which those of an entry were changed.
    """

    time: int
    run: int
    writer: Writer
    struct: str
    stream: int
    addresses: Numbers
    slots: Numbers
    tasks: Numbers
    origins: Sequence[tuple[str, int]]
    columns: tuple[FieldColumn, ...]
    tiling_key: int | None
    table_row: int | None

    def __len__(self) -> int:
        return len(self.slots) * len(self.columns)

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """The fields of each journal entry, in order."""
        fields = [(c.name, c.offset, c.width) for c in self.columns]
        changes = [zip(c.before.tolist(), c.after.tolist(), strict=True) for c in self.columns]
        for slot, task, address, origin, *of_entry in zip(
            self.slots.tolist(), self.tasks.tolist(), self.addresses.tolist(), self.origins, *changes, strict=True
        ):
            head = (self.time, self.run, self.writer, "sqe", self.stream, slot, task, self.struct)
            for (name, offset, width), change in zip(fields, of_entry, strict=True):
                yield (*head, name, address, offset, width, *change, self.tiling_key, self.table_row, *origin)


def write_columns(
    queue: SubmissionQueue, slots: Numbers, values: Mapping[str, npt.ArrayLike], struct: CStruct
) -> tuple[FieldColumn, ...]:
    """Write fields of the entries in `slots`, all or none; `FormatError` as `View.set_many`."""
    view = struct.view(queue.view())
    fields = [field_of(struct, name) for name in values]
    written: list[FieldColumn] = []
    try:
        for field, given in zip(fields, values.values(), strict=True):
            before = view.set_many(field.name, slots, given)
            after = np.broadcast_to(np.asarray(given), len(slots))
            written.append(FieldColumn(field.name, field.offset, field.width, before, after))
    except FormatError:
        for done in reversed(written):
            view.set_many(done.name, slots, done.before)
        raise
    return tuple(written)


def places(queue: SubmissionQueue, slots: Numbers) -> tuple[Numbers, Sequence[tuple[str, int]]]:
    """Task ids of the entries in `slots` (-1: none), and where they come from."""
    submissions = queue.submissions
    numbers = submissions.numbers_at(slots)
    tasks = np.where(numbers < 0, -1, numbers & submissions.last_id)
    return tasks, [(origin.node, origin.model_task) for origin in submissions.origins_of(numbers)]
