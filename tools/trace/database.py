"""`sqemu trace sql`: a recording as tables of a database in memory, and one statement that reads them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import click
import msgspec

from emu_core.errors import InputError
from emu_core.trace import FaultRaised, HazardFound
from tools.fitted import fitted
from tools.show import json_line
from tools.trace.source import level_of, name_of, values_of
from tools.trace.tasks import Tasks
from tools.trace.writes import writes_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from tools.trace.source import RecordedRun

    Row = tuple[Any, ...]

MOST_ROWS = 1000
"""Rows that are shown to people; with --json all."""
_STEPS = 100_000
"""Steps of the database after which an interruption is looked for."""
_WORD_END = 1 << 63


@dataclass(frozen=True)
class Table:
    """A table: name, columns, what it holds, and its rows of one execution."""

    name: str
    columns: tuple[str, ...]
    meaning: str
    rows: Callable[[RecordedRun], Iterable[Row]]


def _events(run: RecordedRun) -> Iterator[Row]:
    for n, event in enumerate(run.events):
        values = values_of(event)
        place = (values.get(key) for key in ("stream", "slot", "task", "node"))
        data = msgspec.json.encode(values).decode()
        yield (run.index, n, event.time, name_of(event), level_of(event), *map(_plain, place), data)


def _plain(value: object) -> object:
    return value if value is None or isinstance(value, (int, str)) else str(value)


def _tasks(run: RecordedRun) -> Iterator[Row]:
    for t in Tasks(run.events).all:
        wait = (t.waits_since, t.signal or None)
        times = (t.started, t.ended, t.busy, t.waited, t.coreless)
        about = (t.stream, t.slot, t.task, t.nth, t.node, t.model_task, t.engine, t.kind, t.detail)
        yield (run.index, *about, *wait, *times, int(t.fetched_copy), t.fault or None)


def _patches(run: RecordedRun) -> Iterator[Row]:
    for w in writes_of(run.events):
        where = (w.target, w.stream, w.slot, w.task, w.node, w.struct, w.field, w.bit_offset, w.bit_width)
        by = (w.by_stream, w.by_task, w.engine, w.tiling_key, w.table_row)
        yield (run.index, w.time, *where, w.before, w.after, *by)


def _faults(run: RecordedRun) -> Iterator[Row]:
    for e in run.events:
        if isinstance(e, FaultRaised):
            yield (run.index, e.time, e.id, e.stream, e.slot, e.task, e.node, e.ts_code, e.what)


def _hazards(run: RecordedRun) -> Iterator[Row]:
    for e in run.events:
        if isinstance(e, HazardFound):
            yield (run.index, e.time, e.id, e.stream, e.slot, e.task, e.node, e.what, e.remedy)


_ENTRY = ("stream", "slot", "task")
TABLES = (
    Table(
        "events", ("run", "n", "time", "event", "level", *_ENTRY, "node", "data"),
        "every event; data has all its fields as JSON, for json_extract(data, '$.signal')", _events,
    ),
    Table(
        "tasks",
        (
            "run", *_ENTRY, "nth", "node", "model_task", "engine", "kind", "detail", "waits_since", "signal", "started",
            "ended", "busy", "waited", "coreless", "stale", "fault",
        ),
        "every entry that came to the head of its queue; times in ns, null where it did not come so far", _tasks,
    ),
    Table(
        "patches",
        (
            "run", "time", "target", *_ENTRY, "node", "struct", "field", "bit_offset", "bit_width", "before", "after",
            "by_stream", "by_task", "engine", "tiling_key", "table_row",
        ),
        "every write to an entry (target sqe), a context or a cell", _patches,
    ),
    Table("faults", ("run", "time", "id", *_ENTRY, "node", "ts_code", "what"), "tasks that failed", _faults),
    Table("hazards", ("run", "time", "id", *_ENTRY, "node", "what", "remedy"), "hazards", _hazards),
)  # fmt: skip

_ALLOWED = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE})


def _reads_only(action: int, _first: str | None, second: str | None, _base: str | None, _inner: str | None) -> int:
    """Reading, and calling functions but one; everything else is denied."""
    allowed = action in _ALLOWED or (action == sqlite3.SQLITE_FUNCTION and second != "load_extension")
    return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY


def database(runs: Iterable[RecordedRun]) -> sqlite3.Connection:
    """A database in memory with the tables of `runs`; it can only be read."""
    made = sqlite3.connect(":memory:", isolation_level=None)
    for table in TABLES:
        made.execute(f"create table {table.name} ({', '.join(table.columns)})")
    for run in runs:
        for table in TABLES:
            marks = ", ".join("?" * len(table.columns))
            rows = (tuple(map(_stored, row)) for row in table.rows(run))
            made.executemany(f"insert into {table.name} values ({marks})", rows)  # noqa: S608 - names of ours
    made.set_authorizer(_reads_only)
    made.set_progress_handler(lambda: 0, _STEPS)  # lets Python see an interruption
    return made


def _stored(value: object) -> object:
    """Integers that a database has no room for become text."""
    return str(value) if isinstance(value, int) and not -_WORD_END <= value < _WORD_END else value


def show_sql(runs: Sequence[RecordedRun], statement: str | None, *, as_json: bool) -> None:
    """Print what `statement` selects, or without one the tables.

    Raises:
        InputError: `trace.sql`: the database refuses the statement.
    """
    if statement is None:
        _show_tables(as_json=as_json)
        return
    try:
        with closing(database(runs)) as made:
            found = made.execute(statement)
            names = tuple(column[0] for column in found.description or ())
            if as_json:
                for row in found:
                    json_line(dict(zip(names, row, strict=True)))
                return
            rows = list(islice(found, MOST_ROWS + 1))
    except (sqlite3.Error, sqlite3.Warning, ValueError, UnicodeError) as error:
        if str(error) == "interrupted":
            raise KeyboardInterrupt from None
        raise _refused(error) from None
    _show_rows(names, rows)


def _refused(error: Exception) -> InputError:
    denied = any(word in str(error) for word in ("not authorized", "authorization denied", "prohibited"))
    why = "only statements that read are allowed" if denied else str(error)
    return InputError(
        f"the statement cannot be run: {why}", id="trace.sql", where="SELECT",
        remedy="sqemu trace sql FILE without a statement lists the tables and their columns",
    )  # fmt: skip


def _show_rows(names: Sequence[str], rows: Sequence[Row]) -> None:
    if not names:
        click.echo("the statement selects nothing")
        return
    shown = rows[:MOST_ROWS]
    numbers = [name for k, name in enumerate(names) if shown and all(isinstance(r[k], (int, float)) for r in shown)]
    fitted("", names, [["" if cell is None else _text(cell) for cell in row] for row in shown], right=numbers)
    more = f", the first {MOST_ROWS} of more; --json gives all" if len(rows) > MOST_ROWS else ""
    click.echo(f"  {len(shown)} row{'' if len(shown) == 1 else 's'}{more}")


def _text(cell: object) -> str:
    return f"x'{cell.hex()}'" if isinstance(cell, bytes) else str(cell)


def _show_tables(*, as_json: bool) -> None:
    if as_json:
        for table in TABLES:
            json_line({"table": table.name, "columns": list(table.columns), "meaning": table.meaning})
        return
    fitted("", ("table", "columns", "holds"), [(t.name, ", ".join(t.columns), t.meaning) for t in TABLES])
