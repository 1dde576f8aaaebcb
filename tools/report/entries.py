"""The entries of all rings as data of the page: their bytes once each, layouts to decode them with, and a row each."""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING

from formats import SQE_SIZE
from formats.enums import name_of
from tools.dump.items import entries
from tools.dump.kinds import facts
from tools.report.columns import exact

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from formats import CStruct
    from tools.dump.items import Entry
    from tools.report.columns import Strings
    from tools.report.subject import Execution, Subject
    from tools.trace.tasks import Task

NEVER, DONE, FAILED, BEGUN = range(4)
"""What became of an entry: it never started, ended, failed, or had not ended."""

COLUMNS = ("run", "stream", "slot", "task", "raw", "node", "start", "took", "state", "count")
"""Columns of the rows; `raw` and `node` are numbers, `count` says how often the entry executed."""


def entry_table(subject: Subject, strings: Strings) -> dict[str, object]:
    """Rows, the distinct entries behind them, and layouts.

    `raws`: `bytes` in base64, 64 each, and of each its layout, kind and facts. `layouts`: a name, and of each field
    name, first bit, bits of an element, count (0: no array), kind, whether it is reserved, meaning, and the names that
    its values have.
    """
    pool = _Pool(strings)
    columns: dict[str, list[int]] = {name: [] for name in COLUMNS}
    for run in subject.runs:
        for row in _rows(subject, run, pool):
            for name, value in zip(COLUMNS, row, strict=True):
                columns[name].append(value)
    return {**columns, **pool.data()}


def _rows(subject: Subject, run: Execution, pool: _Pool) -> Iterator[tuple[int, ...]]:
    """A row per entry that executed, or that lay in its ring at the end."""
    registry, family = subject.host.registry, subject.chip.family
    for sq, ring in run.kept.rings.items():
        left = entries(registry, family, _shown(ring), sq)
        for entry in (entry for entry in left if not entry.empty or entry.unit):
            task = run.tasks.named((sq, entry.task_id)) if entry.task_id is not None else None
            name = entry.task_id if entry.task_id is not None else -1
            node = pool.strings.number(task.node if task else "")
            count = run.tasks.count((sq, name))
            yield (run.index, sq, entry.slot, name, pool.number(entry), node, *_when(task, subject), count)


def _when(task: Task | None, subject: Subject) -> tuple[int, int, int]:
    """Start, duration and state of an entry's last execution; -1 where there is no time."""
    if task is None or task.started is None:
        return -1, -1, NEVER
    start = exact(task.started, subject.recording.source)
    if task.fault:
        return start, -1, FAILED
    return (start, -1, BEGUN) if task.ended is None else (start, task.busy, DONE)


def _shown(ring: Mapping[str, bytes]) -> bytes:
    """Each entry as it executed, or, where it did not, as it lay in the ring at the end."""
    executed, after = ring["executed"], ring["after"]
    zero = bytes(SQE_SIZE)
    ends = range(0, max(len(executed), len(after)), SQE_SIZE)
    parts = ((executed[at : at + SQE_SIZE], after[at : at + SQE_SIZE]) for at in ends)
    return b"".join(after if executed == zero or not executed else executed for executed, after in parts)


class _Pool:
    """Distinct entries and their layouts, by number."""

    def __init__(self, strings: Strings) -> None:
        self.strings = strings
        self._numbers: dict[tuple[bytes, str, str], int] = {}
        self._bytes = bytearray()
        self._rows: list[tuple[int, int, int]] = []
        self._layouts: dict[str, tuple[int, CStruct, dict[tuple[int, int], int]]] = {}

    def number(self, entry: Entry) -> int:
        """The number of an entry's bytes, which are kept when they are new."""
        struct = entry.decoded.struct
        key = entry.raw, struct.struct_name, entry.kind.name
        if key not in self._numbers:
            self._numbers[key] = len(self._rows)
            self._bytes += entry.raw
            told = ", ".join(facts(entry.decoded, entry.kind))
            self._rows.append((self._layout(entry), self.strings.number(entry.kind.name), self.strings.number(told)))
        return self._numbers[key]

    def _layout(self, entry: Entry) -> int:
        struct = entry.decoded.struct
        number, _, names = self._layouts.setdefault(struct.struct_name, (len(self._layouts), struct, {}))
        for at, field in enumerate(struct.fields):
            value = entry.decoded.values.get(field.name) if field.enum else None
            name = name_of(field.enum, value) if isinstance(value, int) else None
            if isinstance(value, int) and name:
                names[at, value] = self.strings.number(name)
        return number

    def data(self) -> dict[str, object]:
        """Both as plain values."""
        kept = ("layout", "kind", "facts")
        raws = {name: [row[at] for row in self._rows] for at, name in enumerate(kept)}
        return {
            "raws": {"bytes": b64encode(bytes(self._bytes)).decode(), **raws},
            "layouts": [self._told(struct, names) for _, struct, names in self._layouts.values()],
        }

    def _told(self, struct: CStruct, names: Mapping[tuple[int, int], int]) -> dict[str, object]:
        number = self.strings.number
        return {
            "name": number(struct.struct_name),
            "fields": [
                [number(f.name), f.offset, f.width, f.count or 0, f.kind, int(f.reserved), number(f.meaning),
                 [n for (at, value), name in sorted(names.items()) if at == k for n in (value, name)]]
                for k, f in enumerate(struct.fields)
            ],
        }  # fmt: skip
