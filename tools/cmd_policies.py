"""`sqemu policies`: the named choices, their values and what each decides."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from emu_core.errors import OptionError
from tools.given_plugins import make_host
from tools.options import debug_option, json_option, plugin_option
from tools.show import columns, json_line, rows_as_text, table, width
from tools.stacked import stacked, wrapped
from tools.suggest import nearest

if TYPE_CHECKING:
    from emu_core.policies import PolicySpec

_GIVEN = {
    "compile": "sqemu compile, or sqemu run on a graph; recorded in the blob",
    "load": "sqemu run",
    "device": "sqemu run",
    "operator": "sqemu run",
}
"""Where a policy of each scope may be given."""
_COLUMNS = ("name", "scope", "default", "other values", "what it decides")
_ROOM = 40
"""Columns that the last column of the table has at least; on a narrower terminal each policy is a block of lines."""


@click.command("policies")
@click.argument("name", required=False)
@plugin_option
@json_option
@debug_option
def command(name: str | None, without: tuple[str, ...], as_json: bool) -> None:
    """List the policies, or show the policy NAME."""
    specs = make_host(without).policy_specs
    chosen = [_named(name, specs)] if name else sorted(specs, key=lambda spec: (spec.scope, spec.name))
    if as_json:
        for spec in chosen:
            json_line(record(spec))
    elif name:
        _full(chosen[0])
    else:
        _list(chosen)
        click.echo("\nset one with --policy name=value; sqemu policies NAME says more")


def _list(specs: list[PolicySpec]) -> None:
    """A table where the terminal has room for it, else a block per policy."""
    limit = width()
    narrow = [(s.name, s.scope, s.default, _others(s), "") for s in specs]
    needed = max(map(len, rows_as_text(_COLUMNS[:4], [row[:4] for row in narrow]))) + _ROOM
    if limit is None or needed <= limit:
        rows = [(*row[:4], spec.summary) for row, spec in zip(narrow, specs, strict=True)]
        table("", _COLUMNS, rows, wrap=True)
        return
    stacked(((f"{s.name}  ({s.scope})", (s.summary, _values(s))) for s in specs), limit)


def _values(spec: PolicySpec) -> str:
    others = _others(spec)
    return f"default: {spec.default}" + (f"; or: {others}" if others else "")


def record(spec: PolicySpec) -> dict[str, object]:
    """A policy as one JSON object; `largest` is null unless a number is allowed."""
    return {
        "name": spec.name,
        "scope": str(spec.scope),
        "default": spec.default,
        "values": list(spec.values),
        "number": spec.number,
        "largest": spec.largest if spec.number else None,
        "summary": spec.summary,
    }


def _named(name: str, specs: tuple[PolicySpec, ...]) -> PolicySpec:
    known = {spec.name: spec for spec in specs}
    if name in known:
        return known[name]
    close = nearest(name, known) or sorted(known)
    raise OptionError(f"there is no policy {name!r}", id="policy.unknown", remedy=f"did you mean {', '.join(close)}?")


def _others(spec: PolicySpec) -> str:
    others = [value for value in spec.values if value != spec.default]
    return ", ".join([*others, *([f"0 to {spec.largest}"] if spec.number else [])])


def _full(spec: PolicySpec) -> None:
    click.echo(click.style(spec.name, bold=True))
    rows = (
        ("decides", spec.summary),
        ("default", spec.default),
        ("other values", _others(spec)),
        ("scope", spec.scope),
        ("given to", _GIVEN[spec.scope]),
    )
    for label, text in rows:
        for line in wrapped(text, columns(), first=f"  {label:<12}  ", others=" " * 16):
            click.echo(line)
