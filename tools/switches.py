"""Which plugins a command line and the environment switch on and off; no plugin is imported here.

| switch | |
|---|---|
| `--plugin X`, before or behind the subcommand | one more |
| `--no-plugin NAME`, before or behind the subcommand | one less; a name that is not installed is an error |
| `SQEMU_NO_PLUGINS=NAME,NAME` | these less; a name that is not installed does nothing |
| `SQEMU_NO_PLUGINS=all` | every plugin of another distribution less |
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import click

META = "sqemu.plugins"
META_WITHOUT = "sqemu.without"
VARIABLE = "SQEMU_NO_PLUGINS"
ALL = "all"
GROUP = "sqemu.plugins"
OURS = "sqemu"


def remember(ctx: click.Context, _param: click.Parameter, value: tuple[str, ...]) -> None:
    """Keep the values of `--plugin`, before and behind the subcommand."""
    ctx.meta[META] = tuple(dict.fromkeys((*given(ctx), *value)))


def leave_out(ctx: click.Context, _param: click.Parameter, value: tuple[str, ...]) -> None:
    """Keep the values of `--no-plugin` before the subcommand."""
    ctx.meta[META_WITHOUT] = value


def given(ctx: click.Context | None) -> tuple[str, ...]:
    """Plugins of `--plugin`."""
    found: tuple[str, ...] = ctx.meta.get(META, ()) if ctx else ()
    return found


def left_out(ctx: click.Context | None) -> tuple[str, ...]:
    """Names of `--no-plugin` before the subcommand."""
    found: tuple[str, ...] = ctx.meta.get(META_WITHOUT, ()) if ctx else ()
    return found


def switched_off() -> tuple[str, ...]:
    """Names of installed plugins that `SQEMU_NO_PLUGINS` switches off, sorted."""
    names = {name.strip() for name in os.environ.get(VARIABLE, "").split(",")} - {""}
    if not names:
        return ()
    import importlib.metadata  # noqa: PLC0415 - slow to import

    installed = {e.name: e.dist.name if e.dist else "" for e in importlib.metadata.entry_points(group=GROUP)}
    others = {name for name, distribution in installed.items() if distribution != OURS}
    return tuple(sorted((names & installed.keys()) | (others if ALL in names else set())))
