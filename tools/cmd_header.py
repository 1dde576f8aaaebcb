"""`sqemu header`: the layouts of a family as a C header."""

from __future__ import annotations

import click

from tools.options import debug_option, plugin_option


@click.command("header")
@click.option("--family", required=True, metavar="NAME", help="Family of the layouts; `sqemu formats` lists them.")
@click.option("--struct", "structs", multiple=True, metavar="NAME", help="Only this struct; any number of times.")
@click.option("-o", "--output", metavar="FILE", help="Where the header goes; standard output otherwise.")
@plugin_option
@debug_option
def command(family: str, structs: tuple[str, ...], output: str | None, without: tuple[str, ...]) -> None:
    """Write packed C structs of a family, with assertions on sizes and places, and macros for bit fields."""
    from formats.cheader import c_header  # noqa: PLC0415
    from tools.files import STDIN, Outputs  # noqa: PLC0415
    from tools.given_plugins import make_host  # noqa: PLC0415 - `sqemu header --help` stays quick
    from tools.show import safe  # noqa: PLC0415

    registry = make_host(without).registry
    names = structs or registry.names(family)
    guard = f"SQEMU_{''.join(c if c.isalnum() else '_' for c in family).upper()}_H"
    text = c_header([registry.get(family, name) for name in names], guard)
    if output is None or output == STDIN:
        click.echo(text, nl=False)
        return
    with Outputs() as files:
        files.write(output, text.encode())
        files.commit()
    click.echo(f"{safe(output)}: {len(names)} struct{'s' * (len(names) != 1)} of {family}")
