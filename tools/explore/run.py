"""Explore the schedules of a program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tools.explore.outcomes import Outcome, outcome_of
from tools.explore.schedules import PLAIN, draw, seeded
from tools.explore.shrink import shrink

if TYPE_CHECKING:
    from collections.abc import Callable

    from emu_core.reports import Hazard
    from tools.explore.outcomes import Entry, Subject
    from tools.explore.schedules import Schedule


@dataclass(frozen=True)
class Delay:
    """An entry that takes `ns` longer."""

    entry: Entry
    ns: int


@dataclass(frozen=True)
class Failing:
    """A schedule that gives something else: its number, how it differs, delays drawn, and those that are needed."""

    number: int
    difference: str
    drawn: int
    delays: tuple[Delay, ...]


@dataclass(frozen=True)
class Exploration:
    """All that was found.

    Attributes:
        schedules, seed, executions: what was asked. plain: how the plain schedule ended, by execution; empty: well.
        unordered: reports of the plain run with policy `ordering=report`. failing: schedules that differ, shrunk;
        differing: how many differ.
    """

    schedules: int
    seed: int
    executions: int
    plain: tuple[str, ...]
    hazards: tuple[Hazard, ...]
    failing: tuple[Failing, ...]
    differing: int

    @property
    def unordered(self) -> tuple[Hazard, ...]:
        """What nothing orders."""
        return tuple(h for h in self.hazards if h.id in ORDERING)

    @property
    def stale(self) -> tuple[Hazard, ...]:
        """Entries that ran with bytes that were no longer in the ring, in the plain schedule already."""
        return tuple(h for h in self.hazards if h.id == STALE)

    @property
    def ok(self) -> bool:
        """Nothing is unordered or stale, nothing differs, and the plain schedule ends well."""
        return not self.unordered and not self.stale and not self.differing and not any(self.plain)


ORDERING = frozenset(
    f"hazard.{name}" for name in ("unordered-access", "update-inputs", "unordered-update", "lost-update", "flag-reuse")
)
STALE = "hazard.stale-prefetch"
SHOWN = 3
"""Differing schedules that are shrunk and shown."""


def explore(
    subject: Subject, schedules: int, seed: int, progress: Callable[[int], None] = lambda _: None
) -> Exploration:
    """Run `subject` plainly and under `schedules` others drawn from `seed`; `progress` is told how many are done."""
    plain = outcome_of(subject, PLAIN, follow=True)
    keys = [entry.key for entry in plain.entries]
    longest = max((entry.took_ns for entry in plain.entries), default=1) or 1
    failing: list[Failing] = []
    differing = 0
    for number in range(schedules):
        schedule = draw(seeded(seed, number), keys, longest)
        difference = plain.difference(outcome_of(subject, schedule))
        if difference:
            differing += 1
            if len(failing) < SHOWN:
                failing.append(_shrunk(subject, plain, number, schedule))
        progress(number + 1)
    return Exploration(schedules, seed, len(subject.inputs), plain.failures, plain.hazards, tuple(failing), differing)


def _shrunk(subject: Subject, plain: Outcome, number: int, schedule: Schedule) -> Failing:
    found = shrink(schedule, lambda s: bool(plain.difference(outcome_of(subject, s))))
    entries = {entry.key: entry for entry in plain.entries}
    delays = tuple(Delay(entries[key], ns) for key, ns in found.delays.items())
    return Failing(number, plain.difference(outcome_of(subject, found)), len(schedule.delays), delays)
