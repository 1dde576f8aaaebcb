"""Compact text and tables of whole rings at the speed of a plain hex dump.

Rows of one struct and kind are rendered together: each piece of text becomes a few columns of a matrix of bytes, 0
stands for "no character" and is squeezed out at the end. What has no such pieces (arrays that are set, stray reserved
bits, layouts that are guesses) goes through :mod:`tools.dump.sqes` and :mod:`tools.dump.views.table`; a test compares
the two ways on any entries.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from formats import SQE_SIZE, Field, render_value
from tools.dump import fast_text, items
from tools.dump.fast_kinds import Classifier, taken
from tools.dump.fast_sheet import Sheet
from tools.dump.items import Gap, Reader
from tools.dump.kinds import HEADER, KINDS, MOST_FACTS, no_name
from tools.dump.sqes import as_text, gap_text
from tools.dump.views import table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import numpy.typing as npt

    from formats import CStruct, Registry
    from formats.fields import Joined
    from tools.dump.data import Data
    from tools.dump.fast_kinds import Group, Rows
    from tools.dump.fast_sheet import Piece
    from tools.dump.fast_text import Chars, Numbers, Renderer
    from tools.dump.kinds import Kind

    Text: TypeAlias = bytes | memoryview[int]

ROWS = 4096
"""Slots rendered together: their text stays in the cache."""

_LINE = 16
_FEW_HOLES = 1 / 64
"""Share of characters up to which taking them out one by one is quicker than looking at all."""


def write(registry: Registry, family: str, data: Data, runs: Iterable[tuple[int, int]], view: str, last: int) -> None:
    """Write the entries of `runs` (first slot, end) to standard output."""
    out = sys.stdout
    out.flush()
    raw = getattr(out, "buffer", None)
    for chunk in chunks(registry, family, data, runs, view, last):
        if raw is None:
            out.write(bytes(chunk).decode())
        else:
            raw.write(chunk)


def chunks(
    registry: Registry, family: str, data: Data, runs: Iterable[tuple[int, int]], view: str, last: int
) -> Iterator[Text]:
    """The text in pieces; `last` is the number of slots, which the table makes its columns as wide as."""
    painter = Painter(registry, family, view, table.Columns.for_slots(last - 1))
    if view == "table":
        yield f"{table.title(painter.columns)}\n".encode()
    for first, end in runs:
        yield from _run(painter, data, first, end)


def _run(painter: Painter, data: Data, first: int, end: int) -> Iterator[Text]:
    gap: Gap | None = None
    start = first
    while start < end:
        hole = min(data.next_data(start * SQE_SIZE) // SQE_SIZE, end)
        if hole > start + ROWS:
            gap = Gap(painter.reader.zero_stream, gap.first if gap else start, hole - 1)
            start = hole
            continue
        stop = min(start + ROWS, end)
        window = data.view[start * SQE_SIZE : stop * SQE_SIZE]
        used = items.used_array(window)
        if not len(used):
            gap = Gap(painter.reader.zero_stream, gap.first if gap else start, stop - 1)
        else:
            parts, gap = painter.window(window, start, used, gap)
            yield from parts
        data.release(start * SQE_SIZE, stop * SQE_SIZE)
        start = stop
    if gap:
        yield painter.gap(gap)


@dataclass
class Painter:
    """Renders windows of entries of one family in one view."""

    registry: Registry
    family: str
    view: str
    columns: table.Columns
    reader: Reader = field(init=False)
    classifier: Classifier = field(init=False)
    _plans: dict[tuple[str, str], _Plan] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.reader = Reader(self.registry, self.family)
        self.classifier = Classifier(self.registry, self.family)

    def gap(self, gap: Gap) -> bytes:
        """The line of a gap."""
        text = gap_text(gap) if self.view == "compact" else table.gap_line(gap, self.columns)
        return f"{text}\n".encode()

    def window(self, window: memoryview[int], start: int, used: Rows, gap: Gap | None) -> tuple[list[Text], Gap | None]:
        """The text of a window, and the gap it ends with; `gap` is the one before it."""
        raw = np.frombuffer(window, np.uint8).reshape(-1, SQE_SIZE)
        texts: dict[int, bytes] = {}
        groups, slow = self.classifier.groups(raw, used)
        for slot in slow:
            texts[slot] = self._slowly(window[slot * SQE_SIZE : (slot + 1) * SQE_SIZE], start + slot)
        rendered = [(g.rows, self._plan(g).render(taken(raw, g.rows), g.rows + start)) for g in groups]
        return self._joined(rendered, texts, used, start, len(raw), gap)

    def _plan(self, group: Group) -> _Plan:
        key = group.struct.struct_name, group.kind.name
        found = self._plans.get(key)
        if found is None:
            found = self._plans[key] = _Plan(group.struct, group.kind, self.view, self.columns)
        return found

    def _slowly(self, entry: memoryview[int], slot: int) -> bytes:
        found = self.reader.entries(entry, slot, slot * SQE_SIZE)
        lines = as_text(found, None) if self.view == "compact" else table.lines(found, self.columns, None)
        return "".join(f"{_plain(line)}\n" for line in lines).encode()

    def _joined(
        self, rendered: list[tuple[Any, Chars]], texts: dict[int, bytes], used: Rows, start: int, count: int,
        gap: Gap | None,
    ) -> tuple[list[Text], Gap | None]:  # fmt: skip
        """Everything in the order of slots, gaps between."""
        parts: list[Text] = []
        if gap is None and len(rendered) == 1 and not texts and len(used) == count:
            return [_squeezed(rendered[0][1])], None
        matrix = np.zeros((count, max((m.shape[1] for _, m in rendered), default=1)), np.uint8)
        for rows, part in rendered:
            matrix[rows, : part.shape[1]] = part
        at, pending = 0, gap
        for stop in [*sorted({*texts, *_gap_starts(used, count)}), count]:
            if pending and at < count and (stop > at or stop in texts):
                parts.append(self.gap(pending))
                pending = None
            if stop > at:
                parts.append(_squeezed(matrix[at:stop]))
            if stop in texts:
                parts.append(texts[stop])
                at = stop + 1
            elif stop < count:
                at = _gap_end(used, stop, count)
                pending = Gap(self.reader.zero_stream, pending.first if pending else start + stop, start + at - 1)
        return parts, pending


def _gap_starts(used: Rows, count: int) -> list[int]:
    """Slots of a window where zeros begin."""
    taken = np.zeros(count, bool)
    taken[used] = True
    return np.flatnonzero(~taken & np.concatenate([[True], taken[:-1]])).tolist()


def _gap_end(used: Rows, start: int, count: int) -> int:
    """The first used slot behind `start`, or the end of the window."""
    at = int(np.searchsorted(used, start))
    return int(used[at]) if at < len(used) else count


def _squeezed(matrix: Chars) -> Text:
    flat = matrix.ravel()
    if flat.size - np.count_nonzero(flat) <= flat.size * _FEW_HOLES:
        return flat.tobytes().replace(b"\0", b"")
    kept: memoryview[int] = flat[flat != 0].data
    return kept


def _plain(line: str) -> str:
    import click  # noqa: PLC0415 - slow entries only

    return click.unstyle(line)


# ---- one struct and kind -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Value:
    """A value that is shown: where it is (first byte, and its bits of the whole entry) and how it is written."""

    name: str
    byte: int
    bits: int
    lead: bytes
    render: Renderer


class _Plan:
    """How rows of one struct and kind become text in one view."""

    def __init__(self, struct: CStruct, kind: Kind, view: str, columns: table.Columns) -> None:
        self._struct = struct
        self._kind = kind
        self._columns = columns
        self._view = view
        self._facts = tuple(self._fact_values())
        self._values = tuple(self._field_values())
        self._sheet = Sheet()

    def _fact_values(self) -> Iterator[_Value]:
        """The facts of a kind with a table of its own; of other kinds, all fields that may be among the first set."""
        if self._kind in KINDS:
            for fact in self._kind.facts:
                place = self._place(fact.field)
                if place is not None:
                    yield _value(fact.field, place, f"  {fact.label} ", partial(_shown, fact.show))
        else:
            for name, place in self._named():
                if name not in HEADER:
                    yield _value(name, place, f"  {name} ", partial(render_value, place))

    def _field_values(self) -> Iterator[_Value]:
        for name, place in self._named():
            yield _value(name, place, f"  {name}=", partial(render_value, place))

    def _place(self, name: str) -> Field | Joined | None:
        return dict(self._named()).get(name)

    def _named(self) -> Iterator[tuple[str, Field | Joined]]:
        struct = self._struct
        for name in struct.join(struct.parse(bytes(struct.size))):
            place = struct.joined.get(name) or struct.by_name[name]
            if getattr(place, "count", None) is None:
                yield name, place

    def render(self, raw: Chars, slots: npt.NDArray[np.intp]) -> Chars:
        """The text of some rows; shape (rows, characters)."""
        view = self._struct.view(np.ascontiguousarray(raw))
        columns: dict[str, Numbers] = {}

        def column(name: str) -> Numbers:
            if name not in columns:
                columns[name] = view.column(name)  # type: ignore[assignment]  # no signed fields in a plan
            return columns[name]

        pieces: list[Piece] = [*self._head(column, slots), *self._fact_pieces(column)]
        if self._view == "compact":
            pieces += self._rows(raw, column)
        pieces.append(b"\n")
        return self._sheet.filled(pieces, len(raw))

    def _head(self, column: Callable[[str], Numbers], slots: npt.NDArray[np.intp]) -> Iterator[Piece]:
        stream = column("rt_stream_id") & np.uint32(0x7FFF)
        task = column("task_id")
        slot = slots.astype("<u8")
        if self._view == "table":
            yield _aligned(slot, self._columns.slot)
            yield _aligned(stream, self._columns.stream + 2)
            yield _aligned(task, self._columns.task + 2)
            name = f"  {self._kind.name}"
            yield name.ljust(table.KIND + 2 if self._facts_shown else 0).encode()
            return
        yield b"stream "
        yield fast_text.decimal(stream)
        yield b" slot "
        yield fast_text.decimal(slot)
        yield b" task "
        yield fast_text.decimal(task)
        yield f" {self._kind.name}".encode()

    @property
    def _facts_shown(self) -> bool:
        return bool(self._facts) if self._kind in KINDS else False

    def _fact_pieces(self, column: Callable[[str], Numbers]) -> Iterator[Piece]:
        if self._kind in KINDS:
            for value in self._facts:
                yield value.lead
                yield value.render(column(value.name))
            return
        yield from self._first_set(column)

    def _first_set(self, column: Callable[[str], Numbers]) -> Iterator[Piece]:
        """The first fields that are set in each row, as `facts` takes them."""
        told: npt.NDArray[np.int64] | None = None
        table_view = self._view == "table"
        pad = b" " * max(table.KIND - len(self._kind.name), 0) + b"  "
        for value in self._facts:
            numbers = column(value.name)
            present = numbers != 0
            if not present.any():
                continue
            before = np.zeros(len(numbers), np.int64) if told is None else told
            shown = present & (before < MOST_FACTS)
            if table_view:
                yield _where(pad, shown & (before == 0))
                yield _where(b"  ", shown & (before > 0))
            yield _where(value.lead[2:] if table_view else value.lead, shown)
            yield _where(value.render(numbers), shown)
            told = before + present

    def _rows(self, raw: Chars, column: Callable[[str], Numbers]) -> Iterator[Piece]:
        whole = int.from_bytes(np.bitwise_or.reduce(raw.view("<u8"), axis=0).tobytes(), "little")
        lines = fast_text.hex_lines(raw, _LINE)
        for start in range(0, SQE_SIZE, _LINE):
            yield f"\n  {start:02x} ".encode()
            yield lines[:, start // _LINE]
            for value in self._values:
                if start <= value.byte < start + _LINE and whole & value.bits:
                    yield from _if_set(value, column(value.name))


def _value(name: str, place: Field | Joined, lead: str, show: Callable[[int], str]) -> _Value:
    halves = (place,) if isinstance(place, Field) else (place.low, place.high)
    bits = sum(((1 << f.bits) - 1) << f.offset for f in halves)
    return _Value(name, halves[0].offset // 8, bits, lead.encode(), fast_text.renderer(show, place.width))


def _shown(show: Callable[[int, Callable[[int], str]], str], value: int) -> str:
    return show(value, no_name)


def _if_set(value: _Value, numbers: Numbers) -> Iterator[Piece]:
    """A value in the rows where it is not 0."""
    present = numbers != 0
    yield _where(value.lead, present)
    yield _where(value.render(numbers), present)


def _where(part: Piece, present: npt.NDArray[np.bool_]) -> Piece:
    """`part` only in the rows that are `present`."""
    if present.all():
        return part
    text = np.frombuffer(part, np.uint8).reshape(1, -1) if isinstance(part, bytes) else part
    return text * present[:, None]


def _aligned(values: Numbers, columns: int) -> Chars:
    """Numbers in decimal, aligned to the right in `columns`; longer ones push."""
    digits = fast_text.decimal(values)
    if digits.shape[1] < columns:
        blank = np.full((len(digits), columns - digits.shape[1]), ord(" "), np.uint8)
        digits = np.concatenate([blank, digits], axis=1)
    digits[:, -columns:][digits[:, -columns:] == 0] = ord(" ")
    return digits
