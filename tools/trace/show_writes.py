"""`sqemu trace patches` and `journal`: what was written into submitted entries, contexts and cells, and by whom."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import click

from emu_core.errors import InputError
from tools.fitted import fitted
from tools.show import json_line
from tools.stacked import paragraph
from tools.suggest import nearest
from tools.trace.loaded import loaded_field
from tools.trace.writes import writes_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from emu_core.plugins import PluginHost
    from tools.trace.source import RecordedRun, Recording
    from tools.trace.tasks import Name
    from tools.trace.writes import Write

COLUMNS = ("run", "time ns", "entry", "field", "bits", "before", "after", "key", "row", "by")
NUMBERS = ("run", "time ns", "bits", "key", "row")
PLACEHOLDER = 0xFFFF
_UPDATE = "task_update"


def show_patches(runs: Sequence[RecordedRun], *, as_json: bool) -> None:
    """Print every patch of an entry or context in `runs`."""
    found = [(run.index, each) for run in runs for each in writes_of(run.events) if each.target != "cell"]
    if as_json:
        for index, each in found:
            json_line({"run": index, **asdict(each)})
        return
    if not found:
        click.echo("no entry and no context was patched")
        return
    _table(found)
    paragraph(_LEGEND, indent="  ", others="  ")


_LEGEND = (
    "entry, by: stream:task id, by an update if nothing else is said; bits: offset and width; key, row: the tiling key "
    "that was read, and the row of the tiling table that it matched"
)


def _table(found: Sequence[tuple[int, Write]]) -> None:
    several = len({index for index, _ in found}) > 1
    rows = [(str(index), *_cells(each)) for index, each in found]
    first = 0 if several else 1
    fitted("", COLUMNS[first:], [row[first:] for row in rows], right=NUMBERS)


def _cells(each: Write) -> tuple[str, ...]:
    bits = f"{each.bit_offset}+{each.bit_width}" if each.bit_width else ""
    field = each.field if each.target == "sqe" else f"{each.target} {each.field}"
    key, row = (("" if value is None else str(value)) for value in (each.tiling_key, each.table_row))
    after = "same" if each.before == each.after else _number(each.after)
    by = f"{each.by_stream}:{each.by_task}" if each.engine == _UPDATE else each.writer
    return (str(each.time), each.place, field, bits, _number(each.before), after, key, row, by)


def _number(value: int) -> str:
    return f"{value:#x}" if value >= PLACEHOLDER else str(value)


@dataclass(frozen=True)
class Wanted:
    """What `journal` is asked for: a field or the label of a cell, and an entry; either may be left out."""

    field: str | None
    task: Name | None

    def takes(self, each: Write) -> bool:
        """Whether a write is asked for."""
        named = self.field is None or self.field in (each.field, f"{each.struct}.{each.field}", each.struct)
        return named and (self.task is None or (each.stream, each.task) == self.task)


def show_journal(
    recording: Recording, runs: Sequence[RecordedRun], wanted: Wanted, host: PluginHost, *, as_json: bool
) -> None:
    """Print the history of what `wanted` names, and who wrote it last; what nobody wrote, as it was loaded.

    Raises:
        InputError: `trace.field`: nothing of this name was written, and no ring of a record has it.
    """
    everything = [(run.index, each) for run in runs for each in writes_of(run.events)]
    found = [(index, each) for index, each in everything if wanted.takes(each)]
    if not found:
        if not _show_loaded(recording, runs, wanted, host, as_json=as_json):
            raise _never_written(recording, wanted, [each for _, each in everything])
        return
    if as_json:
        for index, each in found:
            json_line({"run": index, **asdict(each)})
        return
    _table(found)
    last: dict[tuple[str, str, str], tuple[int, Write]] = {}
    for index, each in found:
        last[each.place, each.struct, each.field] = index, each
    for index, each in last.values():
        what = each.struct if each.target == "cell" else f"{each.place} {each.struct}.{each.field}"
        paragraph(f"{what} is {_number(each.after)}: last written in execution {index} at {each.time} ns by "
                  f"{each.writer}", indent="  ", others="    ")  # fmt: skip


def _show_loaded(
    recording: Recording, runs: Sequence[RecordedRun], wanted: Wanted, host: PluginHost, *, as_json: bool
) -> bool:  # fmt: skip
    """Print a field as it was loaded, if a ring of the record has it; whether it does."""
    if wanted.field is None or wanted.task is None:
        return False
    found = loaded_field(recording, runs[0].index, host, wanted.task, wanted.field)
    if found is None:
        return False
    place = f"{wanted.task[0]}:{wanted.task[1]}"
    if as_json:
        json_line({"run": None, "entry": place, **asdict(found)})
    else:
        field = f"{place} {found.struct}.{found.field}"
        paragraph(f"{field} is {_number(found.value)} since it was loaded: nobody wrote it", others="  ")
    return True


def _never_written(recording: Recording, wanted: Wanted, writes: Sequence[Write]) -> InputError:
    asked = " of task ".join(
        part for part in (wanted.field or "", f"{wanted.task[0]}:{wanted.task[1]}" if wanted.task else "") if part
    )
    names = list(dict.fromkeys([each.struct if each.target == "cell" else each.field for each in writes]))
    near = nearest(wanted.field or "", names) or names[:6]
    hint = f"written were, for example, {', '.join(near)}" if near else "nothing was written at all"
    return InputError(
        f"no event writes {asked or 'anything'}: it has the value it was loaded with", id="trace.field",
        where=recording.source, remedy=f"{hint}; sqemu trace patches lists every write to an entry",
    )  # fmt: skip
