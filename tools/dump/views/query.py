"""One field over all entries: a line per entry that has it, or only where it changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from formats import render_value
from tools.dump.items import Gap
from tools.dump.known import PLACES
from tools.dump.selection import value_of
from tools.show import cut

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tools.dump.expr import Value
    from tools.dump.items import Entry, Item
    from tools.dump.views.table import Columns


def values(items: Iterable[Item], name: str, *, changes: bool) -> Iterator[tuple[Entry, Value]]:
    """(entry, value) where an entry has the field; with `changes` only where it differs from the one before.

    "Before" is the entry before on the same stream that has the field.
    """
    last: dict[int | None, Value] = {}
    for item in items:
        if isinstance(item, Gap):
            continue
        value, _ = value_of(item, name)
        if value is None or (changes and last.get(item.stream_id) == value):
            continue
        last[item.stream_id] = value
        yield item, value


def lines(
    items: Iterable[Item], name: str, columns: Columns, limit: int | None, *, changes: bool = False
) -> Iterator[str]:
    """The lines: slot, stream, task, kind, value."""
    for entry, value in values(items, name, changes=changes):
        ids = ("-" if x is None else x for x in (entry.stream_id, entry.task_id))
        yield cut(f"{columns.head(entry.slot, *ids)}  {entry.kind.name:<15}  {_text(entry, name, value)}", limit)


def records(items: Iterable[Item], name: str, *, changes: bool = False) -> Iterator[dict[str, object]]:
    """The same as JSON objects."""
    for entry, value in values(items, name, changes=changes):
        yield {
            "section": "query", "stream_id": entry.stream_id, "slot": entry.slot, "task_id": entry.task_id,
            "kind": entry.kind.name, "field": name, "value": list(value) if isinstance(value, tuple) else value,
        }  # fmt: skip


def _text(entry: Entry, name: str, value: Value) -> str:
    struct = entry.decoded.struct
    field = struct.joined.get(name) or struct.by_name.get(name)
    if field is not None:
        return render_value(field, value)
    assert name in PLACES
    return str(value)
