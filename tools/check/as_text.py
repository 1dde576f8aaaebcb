"""The outcome of a check for people: head line, limits, checks, findings with what to do, and the sum."""

from __future__ import annotations

from collections import Counter
from itertools import zip_longest
from typing import TYPE_CHECKING

import click

from emu_core.checks import Level
from tools.check.counts import counts, several
from tools.fitted import fitted_lines
from tools.show import columns, heading, lines, rows_as_text, safe
from tools.stacked import paragraph, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from emu_core.checks import Finding
    from emu_core.limits import Use
    from emu_core.plugins import PluginHost
    from tools.check.run import Outcome

_COLUMNS = ("limit", "used", "available", "share", "", "largest users")
_RIGHT = ("used", "available", "share")
_ROOM = 24
"""Columns that the last column of the limits has at least; where it has fewer, the users stand below each limit."""
_MOST_STREAMS = 8
"""Streams with a row of their own: the fullest ones."""
_MOST_USERS = 3
_MOST_FINDINGS = 50
"""Findings that are printed; --json has all."""
_COLOURS = {Level.ERROR: "red", Level.WARNING: "yellow", Level.INFO: "cyan"}
_BYTES = (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10))


def show(outcome: Outcome, host: PluginHost) -> None:
    """Print everything."""
    _head(outcome)
    if outcome.uses:
        _limits(outcome)
    _checks(outcome, host)
    findings = [each for level in Level for _, found in outcome.checks for each in found if each.level is level]
    if findings:
        _findings(findings)
    click.echo("\n" + _sum(outcome))


def _head(outcome: Outcome) -> None:
    if outcome.blob is None:
        paragraph(f"{safe(outcome.program)} for {outcome.chip.name}: too large to be measured", others="  ")
        return
    found = counts(outcome.blob)
    words = [several(found[what], what[:-1]) for what in ("tasks", "streams", "events", "operators")]
    sinks = f"{found['sinking']} with tiling on the device"
    kind = "host scheduled" if outcome.blob.unknown_shape else sinks
    paragraph(f"{safe(outcome.blob.name)} on {outcome.chip.name}: {', '.join(words)}, {kind}", others="  ")


# ---- limits --------------------------------------------------------------------------------------------------


def _limits(outcome: Outcome) -> None:
    """A table with the users in its last column, or below each row where there is no room for them."""
    chosen, hidden = _chosen(outcome.uses)
    rows = [_row(use, outcome.chip.absent) for use in chosen]
    heading("Limits")
    narrow = [row[:-1] for row in rows]
    if max(map(len, rows_as_text(_COLUMNS[:-1], narrow))) + _ROOM <= columns():
        lines(rows_as_text(_COLUMNS, rows, right=_RIGHT, limit=columns(), wrap=True))
    else:
        click.echo("  the largest users stand below each limit")
        lines(fitted_lines(_COLUMNS[:-1], narrow, columns(), right=_RIGHT, below=[row[-1] for row in rows]))
    if hidden:
        most = max(use.used for use in hidden)
        _remark(f"and {several(len(hidden), 'more stream')} with at most {several(most, 'task')} each")
    _remark("counted as they lie in the rings: a wait with the reset behind it, and the stream of the caller")
    if any(row[4].startswith("assumed") for row in rows):
        _remark(f"assumed: no source states the figure; sqemu chips {outcome.chip.name} says what was chosen")


def _remark(text: str) -> None:
    paragraph(text, indent="  ")


def _chosen(uses: Sequence[Use]) -> tuple[list[Use], list[Use]]:
    """Rows to print, and the streams that get none."""
    streams = sorted((u for u in uses if u.figure == "usable_tasks"), key=lambda u: -u.used)
    hidden = {id(use) for use in streams[_MOST_STREAMS:]}
    return [u for u in uses if id(u) not in hidden], streams[_MOST_STREAMS:]


def _row(use: Use, absent: Sequence[str]) -> tuple[str, str, str, str, str, str]:
    memory = use.figure == "memory_bytes"
    used, available = (_size(n) if memory else str(n) for n in (use.used, use.available))
    mark = "too much" if use.exceeded else ("assumed" if use.figure in absent else "")
    users = use.who(_MOST_USERS, _size if memory else str)
    return ("memory" if memory else use.what, used, available, _share(use), mark, safe(users))


def _share(use: Use) -> str:
    if not use.available:
        return "-"
    share = 100 * use.used / use.available
    return "< 0.1 %" if 0 < share < 0.1 else f"{share:.1f} %"


def _size(count: int) -> str:
    for unit, size in _BYTES:
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} B"


# ---- checks and findings -------------------------------------------------------------------------------------


def _checks(outcome: Outcome, host: PluginHost) -> None:
    heading("Checks")
    names = max(len(name) for name, _ in outcome.checks)
    results = [_result(found) for _, found in outcome.checks]
    room = max(len(text) for text, _ in results)
    for (name, _), (text, colour) in zip(outcome.checks, results, strict=True):
        shown = click.style(f"{text:<{room}}", fg=colour)
        about = _ABOUT.get(name) or (host.checks[name].summary if name in host.checks else "")
        lead = f"  {safe(name):<{names}}  "
        indent = " " * (len(lead) + room + 2)
        first, *others = wrapped(safe(about), columns(), first=indent, others=indent) or [""]
        click.echo(f"{lead}{shown}  {first.strip()}".rstrip())
        lines(others)


_ABOUT = {"references": "every index and id points at something", "compile": "the graph compiles for this chip"}


def _result(found: Sequence[Finding]) -> tuple[str, str]:
    levels = Counter(each.level for each in found)
    parts = [several(levels[level], _NOUN[level]) for level in Level if levels[level]]
    worst = next((level for level in Level if levels[level]), None)
    return (", ".join(parts), _COLOURS[worst]) if worst else ("ok", "green")


_NOUN = {Level.ERROR: "error", Level.WARNING: "warning", Level.INFO: "note"}


def _findings(findings: Sequence[Finding]) -> None:
    heading("Findings")
    shown = findings[:_MOST_FINDINGS]
    for each, after in zip_longest(shown, shown[1:]):
        again = after is not None and (after.id, after.remedy) == (each.id, each.remedy)
        lines(_finding(each, with_remedy=not again))
    if len(findings) > _MOST_FINDINGS:
        click.echo(f"  {len(findings) - _MOST_FINDINGS} more are not shown; --json has all")


def _finding(each: Finding, *, with_remedy: bool) -> Iterator[str]:
    """A finding; what to do stands once under several that it is the same for."""
    limit = columns()
    head, *rest = wrapped(f"{_NOUN[each.level]} {each.id}: {each.where}", limit, first="  ", others="    ")
    yield click.style(head, fg=_COLOURS[each.level])
    yield from rest
    yield from wrapped(each.what, limit, first="      ", others="      ")
    if each.remedy and with_remedy:
        yield from wrapped(each.remedy, limit, first="      do: ", others="          ")


def _sum(outcome: Outcome) -> str:
    parts = [several(outcome.count(level), _NOUN[level]) for level in Level]
    return ", ".join(parts) + f" in {several(len(outcome.checks), 'check')}"
