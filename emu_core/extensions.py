"""Records of the hooks that add to the front end: compiler passes, importers, dump views, observers, subcommands.

The machine itself reads none of them but the observers, which it tells about each execution. What the functions get is
plain data, so that a plugin depends on nothing but this module.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from emu_core.trace import EVENTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from emu_core.chips import Chip
    from emu_core.device import Device
    from emu_core.graph import CompileOptions
    from emu_core.model import Result
    from emu_core.operators import OperatorSpec
    from emu_core.trace import Event
    from formats.blob import Blob

GRAPH, BLOB = "import", "emit"
"""Points at which a pass changes something: the graph before the compiler, the blob behind it."""


@dataclass(frozen=True)
class PassInput:
    """What a compiler pass gets.

    Attributes:
        after: the point; `import`, `emit`, or a pass of the compiler.
        graph: at `import` the JSON form of the graph, else what the compiler says of it after that pass; at `emit` the
            JSON form again. Not to be changed.
        blob: the task blob at `emit`, else None.
        chip, options: what it is compiled for, and how.
        warn: says something to the user, beside the compiler's own warnings.
    """

    after: str
    graph: Mapping[str, Any]
    chip: Chip
    options: CompileOptions
    warn: Callable[[str], None]
    blob: Blob | None = None


@dataclass(frozen=True)
class PassSpec:
    """A compiler pass of a plugin, between the passes of the compiler.

    Attributes:
        name: unique. after: the point, see `PassInput`.
        run: at `import` gives a new graph, at `emit` a new blob, or None to leave it; elsewhere it only looks, and
            gives None. Refuses with `GraphError`.
        summary: one line.
    """

    name: str
    after: str
    run: Callable[[PassInput], Mapping[str, Any] | Blob | None]
    summary: str = ""


@dataclass(frozen=True)
class ImporterSpec:
    """A format of graphs.

    Attributes:
        name: unique, as messages call the format.
        recognise: whether the file that begins with these bytes (at most `HEAD`) has the format.
        read: (whole file, operators by type, file name for messages) to the JSON form of a graph; refuses with
            `GraphError`.
        summary: one line.
    """

    name: str
    recognise: Callable[[bytes], bool]
    read: Callable[[bytes, Mapping[str, OperatorSpec], str], Mapping[str, Any]]
    summary: str = ""


HEAD = 4096
"""Bytes of a file that an importer sees to recognise it."""


@dataclass(frozen=True)
class DumpEntry:
    """One 64-byte entry, or another record, for a dump view.

    Attributes:
        stream, task: -1 where the entry does not say it. slot: its place in the ring or file, from 0.
        struct: name of the layout; empty when nothing fits. kind: in words. fields: values by name.
        raw: its bytes.
    """

    stream: int
    slot: int
    task: int
    family: str
    struct: str
    kind: str
    fields: Mapping[str, Any]
    raw: bytes


@dataclass(frozen=True)
class DumpView:
    """A way to show entries, for `sqemu dump --view NAME`.

    Attributes:
        name: unique. show: the entries that were chosen, in order, to lines of text without line ends.
        record: an entry to a mapping that can be JSON, for `--json`; None: the fields as they are.
        summary: one line.
    """

    name: str
    show: Callable[[Iterator[DumpEntry]], Iterable[str]]
    record: Callable[[DumpEntry], Mapping[str, Any]] | None = None
    summary: str = ""


@dataclass(frozen=True)
class Observed:
    """An execution that ended.

    Attributes:
        device, result: where it ran and what came of it: outputs, faults, hazards, journal, deadlock. Reports of the
            policy `ordering` are among the hazards.
        events: those of the classes that the observer asked for, in the order in which they happened.
    """

    device: Device
    result: Result
    events: tuple[Event, ...]


@dataclass(frozen=True)
class ObserverSpec:
    """Something that looks at executions.

    Attributes:
        name: unique. see: called after each execution of a model; must not change anything.
        events: classes of events it wants; by default all.
        summary: one line.
    """

    name: str
    see: Callable[[Observed], object]
    events: tuple[type[Event], ...] = EVENTS
    summary: str = ""


@dataclass(frozen=True)
class CommandSpec:
    """A subcommand of `sqemu`.

    Attributes:
        name: as it is typed; one of ours cannot be replaced. summary: one line.
        load: gives the `click.Command`; called when the subcommand is run, so what it needs is imported then.
    """

    name: str
    summary: str
    load: Callable[[], Any] = field(repr=False)
