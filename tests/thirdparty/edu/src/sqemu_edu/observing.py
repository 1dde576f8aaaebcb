"""An observer: says each patch on the logger `sqemu_edu`, which is silent until somebody listens to it."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from emu_core import EVENTS, ObserverSpec

if TYPE_CHECKING:
    from emu_core import Observed

_LOG = logging.getLogger("sqemu_edu")
_PATCHES = tuple(kind for kind in EVENTS if kind.name == "sqe.patch")


def _see(seen: Observed) -> None:
    events: tuple[Any, ...] = seen.events
    for event in events:
        _LOG.info("%s of task %s: %s to %s", event.field, event.task, event.before, event.after)


SPECS = (ObserverSpec("edu-patches", _see, _PATCHES, "says patches on the logger sqemu_edu"),)
