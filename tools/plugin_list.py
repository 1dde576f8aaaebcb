"""What `sqemu plugins list` shows."""

from __future__ import annotations

from dataclasses import asdict, replace
from time import perf_counter_ns
from typing import TYPE_CHECKING

import click

from emu_core.conformance.declared import COLLECTED
from emu_core.errors import PluginError, SqemuError
from emu_core.hook_calls import ANSWERS, GIVEN
from tools import switches
from tools.given_plugins import host_of, load
from tools.show import json_line, safe, table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emu_core.hook_calls import PluginInfo
    from emu_core.plugins import PluginHost


def show(without: tuple[str, ...], *, as_json: bool) -> None:
    """Print every plugin, then clashes, and who is asked first."""
    modules, took = _imported()
    host = host_of(modules, without, perf_counter_ns)
    wrong = [*_clashes(host), *_taken(host)]
    plugins = _timed(host, took)
    off = switches.switched_off()
    if as_json:
        for order, plugin in enumerate(plugins):
            asked = {h: host.asked(h).index(plugin.name) for h in ANSWERS if plugin.name in host.asked(h)}
            about = {"order": order, "asked": asked, "commands": _commands(host, plugin)}
            json_line({"plugin": plugin.name, **about, **asdict(plugin)})
        for error in wrong:
            json_line(error.as_json())
        return
    table("", ("name", "state", "ms", "from", "hooks, or what is wrong"), map(_row, plugins), wrap=True)
    for hook in ANSWERS:
        click.echo(f"{hook}: asked first to last: {', '.join(host.asked(hook)) or 'nobody'}")
    for plugin in plugins:
        if names := _commands(host, plugin):
            click.echo(f"subcommands of {plugin.name}: {safe(', '.join(names))}")
    if off:
        click.echo(f"left out by {switches.VARIABLE}: {', '.join(off)}")
    for error in wrong:
        click.echo(f"! {safe(error.text())}")


def _row(plugin: PluginInfo) -> tuple[str, ...]:
    where = f"{plugin.origin} {plugin.file}" if plugin.origin == GIVEN and plugin.file else plugin.origin
    took = "" if plugin.load_ns is None else f"{plugin.load_ns / 1e6:.1f}"
    hooks = ", ".join(hook.removeprefix("sqemu_") for hook in plugin.hooks)
    return plugin.name, "broken" if plugin.broken else "ok", took, where, plugin.broken or hooks


def _imported() -> tuple[list[object], list[int]]:
    """The plugins of `--plugin`, and the nanoseconds that the import of each took."""
    modules: list[object] = []
    took = []
    for name in switches.given(click.get_current_context(silent=True)):
        begun = perf_counter_ns()
        modules.append(load(name))
        took.append(perf_counter_ns() - begun)
    return modules, took


def _timed(host: PluginHost, took: list[int]) -> list[PluginInfo]:
    """The plugins, given ones with the time of their import."""
    rest = iter(took)
    return [replace(p, load_ns=(p.load_ns or 0) + next(rest)) if p.origin == GIVEN else p for p in host.plugins]


def _clashes(host: PluginHost) -> Iterator[SqemuError]:
    """Collect everything once; plugins that raise are marked broken by the host, clashes come out here."""
    for name in COLLECTED.values():
        try:
            getattr(host, name)
        except SqemuError as error:
            yield error


def _commands(host: PluginHost, plugin: PluginInfo) -> list[str]:
    """Names of the subcommands of a plugin; none when it is broken or several plugins clash."""
    try:
        names = list(host.commands)
    except SqemuError:  # said by `_clashes`
        return []
    return [name for name in names if host.owner_label("sqemu_commands", name) == plugin.label and not plugin.broken]


def _taken(host: PluginHost) -> Iterator[SqemuError]:
    """Subcommands that nobody can reach, as ours have their names."""
    from tools.cli import COMMANDS  # noqa: PLC0415 - it imports this module's package

    try:
        names = [name for name in host.commands if name in COMMANDS]
    except SqemuError:  # said by `_clashes`
        return
    for name in names:
        owner = host.owner_label("sqemu_commands", name)
        yield PluginError(
            f"subcommand {name!r} comes from both sqemu and {owner}",
            id="plugin.clash",
            remedy="the one of sqemu is run; give the other one another name",
        )
