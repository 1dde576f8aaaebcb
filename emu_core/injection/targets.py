"""Which entries a plan means: the kinds to watch, whether an entry is one of them, and where they lie in the rings.

| role | kinds |
|---|---|
| `record` | those that set a flag, and plain value writes |
| any other | see `ROLES` |
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from types import MappingProxyType
from typing import TYPE_CHECKING

from emu_core.errors import InputError
from emu_core.origin import NOWHERE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from emu_core.engines import Handler, Task
    from emu_core.injection.plan import Entry, Role
    from emu_core.model import Model
    from emu_core.streams import Stream

WRITES = "write_value"
ROLES: Mapping[Role, tuple[str, ...]] = MappingProxyType(
    {
        "tiling": ("aicpu",),
        "kernel": ("kernel",),
        "update": ("task_update",),
        "wait": ("event_wait", "notify_wait", "count_notify_wait"),
        "reset": ("event_reset",),
        "nop": ("nop",),
    }
)
"""Kinds of entries by what they are for in a graph."""


def sets_something(handler: Handler) -> bool:
    """Whether entries of the kind set a flag, or write a value that may stand for one."""
    return handler.setter_of is not None or handler.kind == WRITES


def _plays(handler: Handler, role: Role | None) -> bool:
    if role is None:
        return True
    return sets_something(handler) if role == "record" else handler.kind in ROLES[role]


def _fits(entry: Entry, handler: Handler) -> bool:
    """Whether entries of the kind can be meant."""
    kind, engine = entry.kind or handler.kind, entry.engine or handler.engine
    return kind == handler.kind and engine == handler.engine and _plays(handler, entry.role)


def is_meant(entry: Entry, task: Task, handler: Handler) -> bool:
    """Whether `task` is one of those, whichever time in an execution it is."""
    place = (entry.stream in (None, task.stream.id), entry.task in (None, task.task_id), entry.run in (None, task.run))
    return all(place) and entry.node in (None, task.origin.node) and _fits(entry, handler)


@dataclass(frozen=True)
class Place:
    """An entry in a ring."""

    stream: Stream
    slot: int
    task: int
    node: str
    handler: Handler | None


def places(model: Model) -> Iterator[Place]:
    """The entries of the model's streams, and those that its caller has now, by stream and slot."""
    for stream in (*model.streams, model.caller):
        queue = stream.queue
        for slot in queue.submissions.slots():
            node = queue.origin_at.get(slot, NOWHERE).node
            yield Place(stream, slot, queue.task_at[slot], node, model.device.dispatch.find(queue.entry(slot)))


class Targets:
    """What the entries of a loaded model are, to look up whom a plan means.

    Attributes:
        open: entries come later, too, which nobody can know now: the host launches each operator by itself.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.open = model.end is None
        self._places = tuple(places(model))
        self._handlers = tuple(model.device.dispatch)

    def places_on(self, stream: Stream) -> list[Place]:
        """The entries of `stream`, by slot."""
        return [place for place in self._places if place.stream is stream]

    def found(self, entry: Entry) -> list[Place]:
        """The entries of rings that are meant now, by stream and slot."""
        return [
            place
            for place in self._places
            if place.handler is not None
            and entry.stream in (None, place.stream.id)
            and entry.task in (None, place.task)
            and entry.node in (None, place.node)
            and _fits(entry, place.handler)
        ]

    def kinds(self, entry: Entry) -> frozenset[str]:
        """The kinds of entries to watch: those of the entries that are meant, where all are known."""
        if self._later(entry):
            return frozenset(h.kind for h in self._handlers if _fits(entry, h))
        return frozenset(place.handler.kind for place in self.found(entry) if place.handler is not None)

    def _later(self, entry: Entry) -> bool:
        """Whether entries that are meant may be submitted later."""
        return self.open or entry.stream == self.model.caller.id or (entry.stream is None and entry.node is None)

    def require(self, entry: Entry, where: str) -> None:
        """Nothing when some entry can be meant.

        Raises:
            InputError: no such kind, engine, stream, task or node, or none with all of it (`injection.target`).
        """
        self._known("kind", entry.kind, {h.kind for h in self._handlers}, where)
        self._known("engine", entry.engine, {h.engine for h in self._handlers}, where)
        streams = {str(s) for s in self.model.device.streams}
        self._known("stream", None if entry.stream is None else str(entry.stream), streams, where)
        if not self.open:
            self._known("node", entry.node, {p.node for p in self._places if p.node}, where)
        if self._later(entry) or self.found(entry):
            return
        raise InputError(
            f"no entry of the program has {entry.text()}",
            id="injection.target",
            where=where,
            remedy=f"{self._tasks_of(entry)}; sqemu dump PROGRAM shows all",
        )

    def _tasks_of(self, entry: Entry) -> str:
        """What there is on the stream or of the node that was named."""
        near = [
            f"{p.stream.id}:{p.task} {p.handler.kind if p.handler else 'unknown'}{f' of {p.node}' if p.node else ''}"
            for p in self._places
            if entry.stream in (None, p.stream.id) and entry.node in (None, p.node) and _named(p) != "nop"
        ]
        shown = ", ".join(near[:MOST_NAMED])
        return f"there are {shown}{f' and {len(near) - MOST_NAMED} more' if len(near) > MOST_NAMED else ''}"

    @staticmethod
    def _known(what: str, name: str | None, known: Iterable[str], where: str) -> None:
        names = sorted(known)
        if name is not None and name not in names:
            near = get_close_matches(name, names, 3, 0.5)
            remedy = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(names) or 'none'}"
            raise InputError(f"the program has no {what} {name!r}", id="injection.target", where=where, remedy=remedy)


MOST_NAMED = 12


def _named(place: Place) -> str:
    return place.handler.kind if place.handler else ""
