"""`sqemu dump`: a task blob, or SQEs as they lie in a ring, field by field."""

from __future__ import annotations

import click

from tools.options import debug_option, json_option, plugin_option, policy_option


@click.command("dump")
@click.argument("file")
@click.option("--sqes", is_flag=True, help="Load a task blob into a device of its chip and show the rings.")
@click.option("--family", metavar="NAME", help="SQE family of a raw file, for example v100; guessed otherwise.")
@click.option("--chip", metavar="NAME", help="Chip whose SQEs a raw file holds, or that a blob must be for.")
@policy_option
@plugin_option
@json_option
@debug_option
def command(
    file: str,
    sqes: bool,
    family: str | None,
    chip: str | None,
    policies: tuple[str, ...],
    without: tuple[str, ...],
    as_json: bool,
) -> int:
    """Show FILE: a task blob, or 64-byte SQEs such as the ring files of `sqemu run --dump-rings`; `-` reads stdin.

    Exit code 1 says that bytes at the end of a raw file were skipped.
    """
    from tools.dump.run import Request, dump  # noqa: PLC0415 - `sqemu dump --help` stays quick

    return dump(Request(file, sqes, family, chip, policies, without, as_json))
