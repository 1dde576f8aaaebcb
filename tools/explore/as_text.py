"""An exploration in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tools.executions import plural
from tools.show import columns
from tools.stacked import wrapped

if TYPE_CHECKING:
    from tools.explore.run import Exploration, Failing


def show(found: Exploration) -> None:
    """Print what was explored, what differs and what is unordered."""
    for text in lines(found):
        indent = " " * (len(text) - len(text.lstrip()))
        click.echo("\n".join(wrapped(text.lstrip(), columns(), first=indent, others=indent + "  ")))


def lines(found: Exploration) -> list[str]:
    """The report, line by line, unwrapped."""
    schedules, executions = plural(found.schedules, "schedule"), plural(found.executions, "execution")
    head = f"explored {schedules} (seed {found.seed}), {executions} each"
    plain = [f"  plain schedule: execution {n} ends with {how}" for n, how in enumerate(found.plain, 1) if how]
    plain += [f"  plain schedule: {hazard.text()}" for hazard in found.stale]
    unordered = [f"  {hazard.text()}" for hazard in found.unordered]
    if all(found.plain) and not found.differing:
        how = f"  no execution of the plain schedule succeeds, and the other {found.schedules} end the same way"
        return [head, *plain, f"{how}: repair that first", *_head(unordered), *unordered]
    if not found.differing and not unordered:
        same = "  all give the outputs of the plain one, and no two entries touch the same bytes in no fixed order"
        return [head, *plain, same]
    equal = f"  {found.schedules - found.differing} give the outputs of the plain one, {found.differing} do not"
    return [
        head,
        *plain,
        equal,
        *(line for f in found.failing for line in _failing(f)),
        *(_head(unordered)),
        *unordered,
    ]


def _head(unordered: list[str]) -> list[str]:
    return [f"  {plural(len(unordered), 'pair')} that nothing orders:"] if unordered else []


def _failing(failing: Failing) -> list[str]:
    more = failing.drawn > len(failing.delays)
    needed = f"{plural(failing.drawn, 'delay')}, of which these suffice:" if more else "with:"
    head = f"  schedule {failing.number}: {failing.difference}; {needed}"
    return [head, *(f"    {delay.entry.text()} takes {delay.ns} ns longer" for delay in failing.delays)]
