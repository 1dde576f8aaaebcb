"""The fewest delays that still give another outcome: halves, then quarters …, are taken away while it stays another."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from tools.explore.schedules import Key, Schedule

MOST_TRIES = 400
"""Runs spent on shrinking one schedule; what is left then is shown."""


def shrink(schedule: Schedule, differs: Callable[[Schedule], bool]) -> Schedule:
    """A schedule with no more delays than `schedule` for which `differs` still holds; often none can be left out."""
    tries = 0
    size = max(len(schedule.delays) // 2, 1)
    while True:
        smaller = None
        for part in _parts(list(schedule.delays), size):
            if len(part) == len(schedule.delays) or tries == MOST_TRIES:
                continue
            tries += 1
            found = schedule.without(set(part))
            if differs(found):
                smaller = found
                break
        if smaller is not None:
            schedule = smaller
            size = min(size, max(len(schedule.delays) // 2, 1))
        elif size == 1 or tries == MOST_TRIES:
            return schedule
        else:
            size = max(size // 2, 1)


def _parts(keys: list[Key], size: int) -> list[list[Key]]:
    return [keys[at : at + size] for at in range(0, len(keys), size)]
