"""`sqemu formats`: families, their structs, and the layout of one struct as a table and as a picture."""

from __future__ import annotations

import click

from tools.options import debug_option, json_option, plugin_option


@click.command("formats")
@click.argument("struct", required=False)
@click.option("--family", metavar="NAME", help="Only this family.")
@click.option("--picture/--no-picture", default=True, help="Draw the bits, one row per 32-bit word.", show_default=True)
@plugin_option
@json_option
@debug_option
def command(struct: str | None, family: str | None, picture: bool, without: tuple[str, ...], as_json: bool) -> None:
    """List families and structs, or show the layout of STRUCT in every family where it differs."""
    from tools.dump.layouts import Asked, formats  # noqa: PLC0415 - `sqemu formats --help` stays quick

    formats(Asked(struct, family, picture, without, as_json))
