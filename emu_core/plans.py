"""Plans: what an entry of a simple kind does, as data, so that a queue can run ahead of the clock.

A handler may carry a plan beside its `start`. The plan says the same as `start`, for entries whose behaviour is known
from their bytes alone; `start` stays the truth, and what a plan cannot say goes through it:

| plan | the entry | `start` would answer |
|---|---|---|
| `Fixed` | takes its time and does nothing | `Run(duration_ns)` |
| `Sets` | sets a flag when its time is up | `Run(duration_ns, set, detail)` |
| `Clears` | clears a flag when its time is up | `Run(duration_ns, clear, detail)` |
| `Waits` | passes at once when a flag is set, and clears it if so said; else parks | `Run(0)` or `Wait(flag)` |
| `Acts` | does something of its own when its time is up | `Run(duration_ns, act, detail)` |
| `Holds` | takes one unit of a pool for a time that it carries, and does nothing | `Launch(0, pool, demand)` |

Entries are planned only if their kind has no time limit, nobody watches it (`Scheduler.watch`), they write no
completion entry, raise no pre-P and were not rewritten since they were fetched. A wait with a time limit of its own
is not planned. A plan for some entries of a kind only says which: `given` lists fields and the value that each must
have; an entry with another value there goes through `start`.

The detail of a flag's entry in traces is the flag's name behind `prefix`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    from emu_core.cores import CorePool
    from emu_core.engines import Task

    FieldName: TypeAlias = tuple[str, str]
    Given: TypeAlias = tuple[tuple[FieldName, int], ...]


@dataclass(frozen=True)
class Fixed:
    """Takes `duration_ns`, does nothing; `detail` for traces."""

    duration_ns: int
    detail: str = ""


@dataclass(frozen=True)
class Sets:
    """Sets flag ``Signal(signal, id)`` after `duration_ns`; `field` is the struct and field that hold the id."""

    signal: str
    field: FieldName
    duration_ns: int
    prefix: str = ""
    given: Given = ()


@dataclass(frozen=True)
class Clears:
    """Clears a flag after `duration_ns`; as `Sets`."""

    signal: str
    field: FieldName
    duration_ns: int
    prefix: str = ""
    given: Given = ()


@dataclass(frozen=True)
class Waits:
    """Waits for a flag; `clears`: whoever passes clears it. `limit`: field with the entry's own limit, 0 is none."""

    signal: str
    field: FieldName
    clears: bool = False
    limit: FieldName | None = None
    prefix: str = ""
    given: Given = ()


@dataclass(frozen=True)
class Acts:
    """Calls `act` with its task after `duration_ns`; it may raise `DeviceFault`, as `finish` may."""

    duration_ns: int
    act: Callable[[Task], None]
    detail: str = ""


@dataclass(frozen=True)
class Holds:
    """Holds one unit of `kind` of `pool` for as many nanoseconds as `field` says."""

    pool: CorePool
    kind: str
    field: FieldName
    detail: str = ""


Plan: TypeAlias = Fixed | Sets | Clears | Waits | Acts | Holds
