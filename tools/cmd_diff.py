"""`sqemu diff`: two ring files or two task blobs, by stream, task and field."""

from __future__ import annotations

import click

from tools.options import debug_option, json_option, plugin_option


@click.command("diff")
@click.argument("a")
@click.argument("b")
@click.option("--family", "families", multiple=True, metavar="NAME", help="Family of both sides; twice: of A and of B.")
@click.option("--stream", "streams", multiple=True, metavar="N,A-B", help="Only these streams.")
@click.option("--task", "tasks", multiple=True, metavar="N,A-B", help="Only these tasks.")
@click.option("--kind", "kinds", multiple=True, metavar="KIND", help="Only this kind or struct, for example kernel.")
@click.option("--where", metavar="EXPR", help="Only entries for which EXPR holds, as in `sqemu dump`.")
@click.option("--ignore", "ignored", multiple=True, metavar="FIELD", help="A field that may differ.")
@plugin_option
@json_option
@debug_option
def command(
    a: str,
    b: str,
    families: tuple[str, ...],
    streams: tuple[str, ...],
    tasks: tuple[str, ...],
    kinds: tuple[str, ...],
    where: str | None,
    ignored: tuple[str, ...],
    without: tuple[str, ...],
    as_json: bool,
) -> int:
    """Compare A and B: SQEs aligned by stream and task, or two task blobs; across families by field name.

    Exit code 0 when they are equal, 1 when they differ.
    """
    from tools.diff.run import Request, diff  # noqa: PLC0415 - `sqemu diff --help` stays quick

    return diff(Request(a, b, families, streams, tasks, kinds, where, ignored, without, as_json))
