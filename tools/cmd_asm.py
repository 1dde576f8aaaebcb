"""`sqemu asm`: editable text, or the JSON lines of a dump, back into bytes."""

from __future__ import annotations

import click

from tools.options import debug_option, json_option, plugin_option


@click.command("asm")
@click.argument("file")
@click.option("-o", "--output", required=True, metavar="FILE", help="Where the bytes go; - is standard output.")
@click.option("--family", metavar="NAME", help="Family of the layouts, where the text does not say it.")
@plugin_option
@json_option
@debug_option
def command(file: str, output: str, family: str | None, without: tuple[str, ...], as_json: bool) -> None:
    """Assemble FILE, the text of `sqemu dump --asm` or JSON of `sqemu dump --json`, perhaps edited; `-` reads stdin.

    JSON stands for bytes where it tells entries: of rings, of completion entries, of a task blob with --sqes. A whole
    blob is edited as text of --asm.

    The output is written completely or not at all. An error names line and column, exit 2.
    """
    from tools.asm.run import asm  # noqa: PLC0415 - `sqemu asm --help` stays quick

    asm(file, output, family, without, as_json=as_json)
