"""Schedules: which entry takes how much longer. Drawn from a seed, so that the same command finds the same."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Key: TypeAlias = tuple[int, int, int]
"""Execution of the model, stream, and which of the entries that started there."""


@dataclass(frozen=True)
class Schedule:
    """Nanoseconds by entry; entries that are not named take the time they always take."""

    delays: Mapping[Key, int]

    def without(self, keys: set[Key]) -> Schedule:
        """The schedule with only the delays that are not in `keys`."""
        return Schedule({key: ns for key, ns in self.delays.items() if key not in keys})


PLAIN = Schedule({})
TIES_NS = 3
LONG = 100


def draw(random: Random, entries: Sequence[Key], longest_ns: int) -> Schedule:
    """A schedule for a program whose plain run started `entries`, the longest of which took `longest_ns`."""
    chance, most = random.choice(((0.05, LONG * longest_ns), (1 / 3, longest_ns), (1.0, TIES_NS)))
    chosen = (key for key in entries if random.random() < chance)
    return Schedule({key: ns for key in chosen if (ns := random.randint(0, most))})


def seeded(seed: int, number: int) -> Random:
    """The source of schedule `number`."""
    return Random(f"{seed}:{number}")  # noqa: S311 - schedules are no secrets
