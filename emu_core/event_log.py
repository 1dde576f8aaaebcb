"""Events through structlog with a bound context: which device, model, stream, task and operator a line is about.

`emu_core.drain` sends events as they are; :func:`send` binds what a reader looks for first, and filters before the
logger is called. How lines look is up to the processors of the logger, also those of a user.

| bound | from |
|---|---|
| `device`, `model` | the caller: the chip, and the model's id |
| `stream`, `task` | the event; of a write to a cell those of the writer; absent where the event has none |
| `op` | the graph node of the entry (`node` in the event); absent where it has none |
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from emu_core.trace import Event

LEVELS: Mapping[str, int] = MappingProxyType({"debug": 10, "info": 20, "warning": 30, "error": 40})
"""Levels of events, as structlog and the standard library number them."""


@dataclass(frozen=True)
class LogFilter:
    """Which events are sent.

    Attributes:
        level: the lowest level. events: names of events; empty: all.
        streams: only what is about an entry of these streams, or written by one; empty: all, and what is about none.
    """

    level: str = "debug"
    events: frozenset[str] = frozenset()
    streams: frozenset[int] = frozenset()

    def takes(self, event: Event) -> bool:
        """Whether `event` is sent."""
        if LEVELS[event.level] < LEVELS[self.level] or (self.events and event.name not in self.events):
            return False
        if not self.streams:
            return True
        return any(getattr(event, name, None) in self.streams for name in ("stream", "writer_stream"))


EVERYTHING = LogFilter()


def send(events: Iterable[Event], logger: Any, *, wanted: LogFilter = EVERYTHING, **bound: object) -> int:  # noqa: ANN401 - structlog's loggers share no type
    """Send events through a structlog logger, each at its own level under its own name; returns how many.

    Args:
        events: in the order in which they are to appear.
        logger: a bound logger, or what `structlog.get_logger()` gives.
        wanted: which of them.
        bound: what all lines carry, for example `device` and `model`.
    """
    base, count = logger.bind(**bound), 0
    known: dict[tuple[object, ...], Any] = {}
    for event in filter(wanted.takes, events):
        values = msgspec.structs.asdict(event)
        context = _context(values)
        key = tuple(context.items())
        if key not in known:
            known[key] = base.bind(**context)
        getattr(known[key], event.level)(event.name, **values)
        count += 1
    return count


def _context(values: dict[str, Any]) -> dict[str, Any]:
    """What is bound of an event; it is taken out of `values`."""
    found: dict[str, Any] = {name: values.pop(name) for name in ("stream", "task") if name in values}
    if not found and "writer_stream" in values:
        found = {"stream": values["writer_stream"], "task": values["writer_task"]}
    node = values.pop("node", "")
    return {**found, "op": node} if node else found
