"""`sqemu policies`: the named choices, their values and what each decides."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from emu_core.errors import OptionError
from emu_core.plugins import PluginHost
from tools.options import debug_option, json_option, plugin_option
from tools.show import json_line, table
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


@click.command("policies")
@click.argument("name", required=False)
@plugin_option
@json_option
@debug_option
def command(name: str | None, without: tuple[str, ...], as_json: bool) -> None:
    """List the policies, or show the policy NAME."""
    specs = PluginHost(without=without).policy_specs
    chosen = [_named(name, specs)] if name else sorted(specs, key=lambda spec: (spec.scope, spec.name))
    if as_json:
        for spec in chosen:
            json_line(record(spec))
    elif name:
        _full(chosen[0])
    else:
        rows = [(s.name, s.scope, s.default, _others(s), s.summary) for s in chosen]
        table("", ("name", "scope", "default", "other values", "what it decides"), rows, wrap=True)
        click.echo("\nset one with --policy name=value; sqemu policies NAME says more")


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
        click.echo(f"  {label:<12}  {text}")
