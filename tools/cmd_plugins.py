"""`sqemu plugins list`: what was found, where it is from, what it adds, and why a broken one is broken."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from emu_core.errors import SqemuError
from tools.given_plugins import make_host
from tools.options import debug_option, json_option, plugin_option
from tools.show import json_line, safe, table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emu_core.plugins import PluginHost

_COLLECTED = ("chips", "operators", "kernels", "aicpu_kernels", "policy_specs", "registry", "checks", "explanations")
"""What a host collects on demand; asking for each shows which plugins break."""


@click.group("plugins")
def command() -> None:
    """Look at the plugins that are installed."""


@command.command("list")
@plugin_option
@json_option
@debug_option
def list_plugins(without: tuple[str, ...], as_json: bool) -> None:
    """List plugins: name, distribution and version, hooks, and the reason when one is broken."""
    host = make_host(without)
    clashes = list(_clashes(host))
    if as_json:
        for plugin in host.plugins:
            json_line({"plugin": plugin.name, **asdict(plugin)})
        for clash in clashes:
            json_line(clash.as_json())
        return
    rows = [
        (
            p.name,
            "broken" if p.broken else "ok",
            p.origin,
            p.broken or ", ".join(h.removeprefix("sqemu_") for h in p.hooks),
        )
        for p in host.plugins
    ]
    table("", ("name", "state", "from", "hooks, or what is wrong"), rows, wrap=True)
    for clash in clashes:
        click.echo(f"! {safe(clash.text())}")


def _clashes(host: PluginHost) -> Iterator[SqemuError]:
    """Collect everything once; plugins that raise are marked broken by the host, clashes come out here."""
    for name in _COLLECTED:
        try:
            getattr(host, name)
        except SqemuError as error:
            yield error
