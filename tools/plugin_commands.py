"""Subcommands of plugins: found by name, and what they raise named after their plugin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from emu_core.errors import PluginError, SqemuError
from formats import FormatError
from tools.given_plugins import make_host

if TYPE_CHECKING:
    from collections.abc import Callable

_MEANT = (SqemuError, FormatError, OSError, MemoryError, click.ClickException, click.Abort, click.exceptions.Exit)
"""Exceptions with which a subcommand may end."""


def command_called(name: str) -> click.Command | None:
    """The subcommand called `name`, or None.

    Raises:
        PluginError: it is no click command (`plugin.answer`), or cannot be loaded (`plugin.raised`).
    """
    host = make_host()
    spec = host.commands.get(name)
    if spec is None:
        return None
    command, owner = spec.load(), host.owner_label("sqemu_commands", name)
    if not isinstance(command, click.Command):
        raise PluginError(
            f"the subcommand {name} must be a click.Command, not {type(command).__name__}",
            id="plugin.answer",
            where=owner,
            remedy="report this to the author of the plugin, or leave it out",
        )
    setattr(command, "invoke", _named(command.invoke, f"{owner}, subcommand {name}"))  # noqa: B010 - one object only
    return command


def _named(invoke: Callable[[click.Context], Any], where: str) -> Callable[[click.Context], Any]:
    """`invoke`; what nobody is meant to see becomes an error that names the plugin."""

    def call(ctx: click.Context) -> Any:  # noqa: ANN401 - the command's own result
        try:
            return invoke(ctx)
        except _MEANT:
            raise
        except Exception as error:
            raise PluginError(
                f"raised {type(error).__name__}: {error}".splitlines()[0],
                id="plugin.raised",
                where=where,
                remedy="report this to the author of the plugin",
            ) from error

    return call
