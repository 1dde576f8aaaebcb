"""What of the device's objects a snapshot leaves out, and which lists only ever grow.

| table | its attributes |
|---|---|
| `FRESH` | can be worked out again: they start from this value |
| `OUTSIDE` | belong to the host program around the device: kept as they are when the device itself is restored |
| `LOGS` | lists of records that are only appended to: snapshots share them |
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from emu_core.clock import Clock
from emu_core.completions import Completions
from emu_core.cores import CorePool
from emu_core.device import Device
from emu_core.dispatch import DispatchTable
from emu_core.journal import Journal, JournalEntry
from emu_core.lanes import Lanes
from emu_core.memory import Allocation, DeviceMemory
from emu_core.model import Model, Result
from emu_core.origin import Origin
from emu_core.policies import PolicySet
from emu_core.recovery import Recovery
from emu_core.reports import Blocked, Deadlock, Fault, Hazard
from emu_core.rings import CompletionQueue, SubmissionQueue
from emu_core.scheduler import Scheduler
from emu_core.signals import Signal, SignalTable
from emu_core.streams import Stream
from emu_core.trace import EVENTS, Trace

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

FRESH: Mapping[type, Mapping[str, object]] = MappingProxyType(
    {
        Stream: {"lane": None, "spare": None, "decoded": None},
        SubmissionQueue: {"_view": None, "peek": None, "settle": None},
        Lanes: {"_planner": None, "_entered": None, "_looping": False},
    }
)

CACHES: Mapping[type, frozenset[str]] = MappingProxyType({Device: frozenset({"_layouts", "_known_changes"})})
"""Dictionaries that start empty."""

OUTSIDE: Mapping[type, Mapping[str, Callable[[], object]]] = MappingProxyType(
    {Scheduler: {"_watchers": dict}, Lanes: {"_watched": set}, Device: {"host_functions": dict}}
)


def outside_of(kind: type) -> Mapping[str, Callable[[], object]]:
    """Attributes of a class that belong to the host program, and what a new object has in their place.

    Sessions say it themselves, as the class attribute `kept_outside`.
    """
    found: Mapping[str, Callable[[], object]] = OUTSIDE.get(kind) or getattr(kind, "kept_outside", {})
    return found


LOGS: Mapping[type, frozenset[str]] = MappingProxyType(
    {
        Trace: frozenset({"_records"}),
        Journal: frozenset({"_entries"}),
        Device: frozenset({"hazards"}),
        Scheduler: frozenset({"faults"}),
    }
)

RECORDS = frozenset({*EVENTS, JournalEntry, Hazard, Fault, Blocked, Deadlock, Result, Origin, Signal, Allocation})
"""Classes whose objects never change: in memory a snapshot holds them, in a file their fields."""

PARTS: Mapping[type, Mapping[str, type]] = MappingProxyType(
    {
        Device: {
            "policies": PolicySet, "trace": Trace, "memory": DeviceMemory, "clock": Clock, "signals": SignalTable,
            "journal": Journal, "streams": dict, "models": dict, "hazards": list, "run": int, "cores": CorePool,
            "ai_cpus": CorePool, "cq": CompletionQueue, "dispatch": DispatchTable, "scheduler": Scheduler,
        },
        Scheduler: {"faults": list, "completions": Completions, "recovery": Recovery, "lanes": Lanes},
        Clock: {"now": int, "front": int, "queue": list, "cancelled": set},
        Stream: {"queue": SubmissionQueue, "patched_in": dict, "name": str, "id": int},
        Model: {"name": str, "streams": tuple, "executions": int},
    }
)  # fmt: skip
"""What the parts of a device are, for a look at what a file gives."""
