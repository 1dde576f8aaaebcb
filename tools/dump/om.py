"""`sqemu dump` of offline models (`.om`): header, partitions, graph, binaries, tasks, as text and as JSON lines.

`--stream`, `--task`, `--kind` and `--range` choose tasks of the task list. With `--sqes` the model becomes a task blob
(`docs/om.md`), which is loaded and shown as every other.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from emu_core.errors import OptionError
from emu_plugins.om.layout import ModelType
from emu_plugins.om.names import TASK_NAMES
from formats.blob import encode
from tools.dump.om_records import SECTIONS, model_record
from tools.dump.selection import numbers, slots
from tools.fitted import fitted_lines
from tools.om_program import om_blob, read_file
from tools.options import DEFAULT_CHIP
from tools.program import Wanted
from tools.show import columns, cut, heading, json_line, lines, safe
from tools.stacked import folded, wrapped
from tools.stand_ins import say_stand_ins
from tools.suggest import nearest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from emu_core.plugins import PluginHost
    from emu_plugins.om.reader import OmFile, OmModel
    from tools.dump.data import Data
    from tools.dump.om_records import Record, Section
    from tools.dump.request import Request

_TYPES = {int(kind): kind.name.lower() for kind in ModelType}
_FOLDED = frozenset({"ops", "tasks"})
"""Sections whose rows go on below themselves; cells of the others are wrapped."""
_CUT = frozenset({"name", "op"})
_LONGEST = 36
"""Columns that a name may take in such a row; JSON has all of it."""


def dump_om(request: Request, data: Data, host: PluginHost) -> int:
    """Show an offline model; returns the exit code.

    Raises:
        FormatError: ids that begin with `om.`. PluginError: `extra.missing`.
        OptionError: a kind or number that is none.
    """
    if request.sqes or request.view == "asm":
        _as_blob(request, data, host)
        return 0
    chosen = Chosen.of(request)
    file = read_file(request.file, data.view)
    if request.as_json:
        _json(request, chosen, file, len(data))
    else:
        _text(request, chosen, file, len(data))
    return 0


def _as_blob(request: Request, data: Data, host: PluginHost) -> None:
    from tools.dump.blobs import dump_blob  # noqa: PLC0415 - only with --sqes
    from tools.dump.data import Data as Bytes  # noqa: PLC0415

    wanted = Wanted(request.chip or DEFAULT_CHIP)
    blob = om_blob(request.file, data.view, wanted, host)
    say_stand_ins(blob)
    dump_blob(replace(request, chip=None), Bytes(encode(blob)), lambda: host)


@dataclass(frozen=True)
class Chosen:
    """Which tasks are shown: streams, numbers in the list, types, and a range of the list; empty: all."""

    streams: frozenset[int]
    tasks: frozenset[int]
    kinds: frozenset[str]
    slots: str | None

    @classmethod
    def of(cls, request: Request) -> Chosen:
        """What the options say; `OptionError` for a type or number that is none."""
        streams, tasks = numbers(request.streams, "--stream"), numbers(request.tasks, "--task")
        return cls(streams, tasks, frozenset(map(_kind, request.kinds)), request.slots)

    def records(self, section: Section, model: OmModel) -> Iterator[Record]:
        """The records of a section; those of tasks as they were chosen."""
        found = list(section.records(model))
        if section.name != "tasks":
            yield from found
            return
        for first, end in slots(self.slots, len(found)):
            yield from (record for record in found[first:end] if self._admits(record))

    def _admits(self, record: Record) -> bool:
        return (
            (not self.streams or record["stream_id"] in self.streams)
            and (not self.tasks or record["index"] in self.tasks)
            and (not self.kinds or record["kind"] in self.kinds)
        )


def _kind(given: str) -> str:
    """A task type as `--kind` names it; `OptionError` (`dump.kind`) for one that does not exist."""
    plain = given.strip().upper().replace(" ", "_").replace("-", "_")
    if plain in TASK_NAMES.values():
        return plain
    close = nearest(plain, TASK_NAMES.values())
    remedy = f"did you mean {', '.join(close)}?" if close else "the column `type` of the tasks has the names"
    raise OptionError(f"no task is of type {given!r}", id="dump.kind", where="--kind", remedy=remedy)


def _sections(request: Request) -> Sequence[Section]:
    """The sections that are shown: of a choice of tasks, only these."""
    return [each for each in SECTIONS if each.name == "tasks"] if request.first_choice else SECTIONS


# ---- JSON --------------------------------------------------------------------------------------------------------


def header_record(file: OmFile, size: int) -> Record:
    """The header as a record; `fields` has every field of it that is a number."""
    header = file.header
    return {
        "section": "header",
        "name": header.name,
        "bytes": size,
        "length": header.length,
        "version": header.version,
        "model_type": _TYPES.get(header.model_type, str(header.model_type)),
        "platform": header.platform,
        "user_info": header.user_info,
        "dynamic": header.dynamic,
        "models": len(file.models),
        "fields": {name: value for name, value in header.raw.items() if isinstance(value, int)},
    }


def _json(request: Request, chosen: Chosen, file: OmFile, size: int) -> None:
    json_line(header_record(file, size))
    for index, model in enumerate(file.models):
        json_line(model_record(model, index))
        for section in _sections(request) if request.view != "summary" else ():
            for record in chosen.records(section, model):
                json_line({**record, "model": index})


# ---- text --------------------------------------------------------------------------------------------------------


def _text(request: Request, chosen: Chosen, file: OmFile, size: int) -> None:
    limit = columns()
    header = file.header
    kind = _TYPES.get(header.model_type, f"type {header.model_type}")
    told = [
        f"{safe(header.name) or request.source}: offline model, {size} bytes, version {header.version:#x}",
        f"{kind} model",
        *([f"platform {safe(header.platform)}"] if header.platform else []),
        f"{len(file.models)} model{'s' * (len(file.models) != 1)}{', dynamic' if header.dynamic else ''}",
    ]
    lines(wrapped(", ".join(told), limit, first="", others="  "))
    for index, model in enumerate(file.models):
        lines(wrapped(_summary(model, index), limit, first="  ", others="    "))
        for section in _sections(request) if request.view != "summary" else ():
            found = list(chosen.records(section, model))
            _table(section, found, index if len(file.models) > 1 else None, limit)


def _summary(model: OmModel, index: int) -> str:
    """One model in a sentence."""
    found = model_record(model, index)
    nouns = (("tasks", "task"), ("streams", "stream"), ("events", "event"), ("ops", "operator"), ("kernels", "kernel"))
    counts = [f"{found[key]} {noun}{'s' * (found[key] != 1)}" for key, noun in nouns]
    soc = f" for {found['soc_version']}" if found["soc_version"] else ""
    sizes = f"{found['memory_size']} bytes of memory, {found['weight_size']} of weights"
    return f"model {index} ({safe(model.name)}){soc}: {', '.join(counts)}, {sizes}"


def _table(section: Section, records: Sequence[Record], model: int | None, limit: int) -> None:
    if not records:
        return
    heading(section.title if model is None else f"Model {model}: {section.title}")
    rows = [section.row(record) for record in records]
    if section.name not in _FOLDED:
        lines(fitted_lines(section.columns, rows, limit, right=section.right))
        return
    short = [[_short(name, cell) for name, cell in zip(section.columns, row, strict=True)] for row in rows]
    lines(folded(section.columns, short, right=section.right, limit=limit))


def _short(column: str, cell: object) -> str:
    """A cell; names are cut, so that what stands beside them keeps its place."""
    return cut(str(cell), _LONGEST) if column in _CUT else str(cell)
