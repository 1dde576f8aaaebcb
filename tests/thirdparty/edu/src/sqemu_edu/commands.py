"""A subcommand: `sqemu edu-kinds` lists the kinds of entries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core import CommandSpec

if TYPE_CHECKING:
    import click


def _load() -> click.Command:
    """Import click and the layouts only when the subcommand is run."""
    import click

    from .layouts import STRUCTS

    @click.command("edu-kinds", help="List the kinds of entries of this chip.")
    def command() -> None:
        for struct in STRUCTS:
            if struct.sqe_type is not None:
                click.echo(f"{struct.sqe_type}  {struct.struct_name:<14} {struct.note}")

    return command


SPECS = (CommandSpec("edu-kinds", "List the kinds of entries of this chip.", _load),)
