"""`sqemu dump`: a task blob, or SQEs as they lie in a ring, field by field."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tools.options import debug_option, json_option, pairs, plugin_option, policy_option

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emu_core.plugins import PluginHost
    from formats.blob import Blob
    from tools.dump.source import Family

_SKIPPED = 1


@click.command("dump")
@click.argument("file")
@click.option("--sqes", is_flag=True, help="Load a task blob into a device of its chip and show the rings.")
@click.option("--family", metavar="NAME", help="SQE family of a raw file, for example v100; guessed otherwise.")
@click.option("--chip", metavar="NAME", help="Chip whose SQE family a raw file has; see `sqemu chips`.")
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
    from emu_core.plugins import PluginHost  # noqa: PLC0415 - --help stays quick
    from tools.dump.source import is_blob  # noqa: PLC0415 - same
    from tools.files import read_bytes  # noqa: PLC0415 - same

    if family and chip:
        raise click.UsageError("--family and --chip exclude each other: a chip has one family")
    data = read_bytes(file)
    host = PluginHost(without=without)
    if not is_blob(data):
        return _raw(data, file, _Wanted(family, chip, as_json), host)
    if family:
        raise click.UsageError("--family is for raw SQEs; a task blob says its chip")
    blob = _decoded(data, chip)
    if sqes:
        _rings(blob, pairs(policies, "--policy"), host, as_json=as_json)
    else:
        _blob(blob, data, as_json=as_json)
    return 0
