"""`sqemu dump`: a task blob, SQEs as they lie in a ring, or completion entries, field by field."""

from __future__ import annotations

import click

from tools.options import debug_option, json_option, plugin_option, policy_option


@click.command("dump")
@click.argument("file")
@click.option("--fields", is_flag=True, help="One field per line, with its bytes and bits; * set, ! stray.")
@click.option("--compact", is_flag=True, help="Four lines of hex per entry beside the fields that are set.")
@click.option("--summary", is_flag=True, help="Counts per kind, engine and stream, ids in use, limits of the chip.")
@click.option("--c", "as_c", is_flag=True, help="C initialisers for the structs of `sqemu header`.")
@click.option("--asm", "as_asm", is_flag=True, help="Text to edit and give to `sqemu asm`.")
@click.option("--query", metavar="FIELD", help="The value of one field, a line per entry that has it.")
@click.option("--view", "plugin_view", metavar="NAME", help="A view of a plugin.")
@click.option("--changes", is_flag=True, help="With --query: only where the value changes on its stream.")
@click.option("--stream", "streams", multiple=True, metavar="N,A-B", help="Only these streams.")
@click.option("--task", "tasks", multiple=True, metavar="N,A-B", help="Only these tasks.")
@click.option("--kind", "kinds", multiple=True, metavar="KIND", help="Only this kind or struct, for example kernel.")
@click.option("--range", "slots", metavar="A:B", help="Only slots A to B, B excluded; round the end if A is beyond B.")
@click.option("--where", metavar="EXPR", help="Only where EXPR holds: 'block_dim > 8 and kind == \"kernel\"'.")
@click.option("--sqes", is_flag=True, help="Load a task blob or offline model into a device and show the rings.")
@click.option("--run", type=click.IntRange(0), metavar="N", help="With --sqes of a run record: execution N, from 0.")
@click.option("--cqes", is_flag=True, help="The file holds completion entries.")
@click.option("--struct", metavar="NAME", help="The file is an array of this struct; `sqemu formats` lists them.")
@click.option("--hex", "hex_text", is_flag=True, help="The file is hex text: hexdump, xxd, od, or plain words.")
@click.option("--words/--bytes", default=None, help="Hex text: groups without 0x are little-endian words, or bytes.")
@click.option("--family", metavar="NAME", help="Family of the layouts of a raw file, for example v100; else guessed.")
@click.option("--chip", metavar="NAME", help="Chip whose SQEs a raw file holds, or that a blob must be for.")
@policy_option
@plugin_option
@json_option
@debug_option
def command(
    file: str,
    fields: bool,
    compact: bool,
    summary: bool,
    as_c: bool,
    as_asm: bool,
    query: str | None,
    plugin_view: str | None,
    changes: bool,
    streams: tuple[str, ...],
    tasks: tuple[str, ...],
    kinds: tuple[str, ...],
    slots: str | None,
    where: str | None,
    sqes: bool,
    run: int | None,
    cqes: bool,
    struct: str | None,
    hex_text: bool,
    words: bool | None,
    family: str | None,
    chip: str | None,
    policies: tuple[str, ...],
    without: tuple[str, ...],
    as_json: bool,
) -> int:
    """Show FILE: a task blob, 64-byte SQEs such as the ring files of `sqemu run --dump-rings`, a run record written by
    `sqemu run --record`, an offline model (.om), completion entries, or hex text; `-` reads stdin. What it is, its
    content says.

    Exit code 1 says that something was skipped.
    """  # noqa: D205 - the first paragraph is what `--help` shows
    from tools.dump.request import Request, view_of  # noqa: PLC0415 - `sqemu dump --help` stays quick
    from tools.dump.run import dump  # noqa: PLC0415

    flags = (
        ("fields", fields), ("compact", compact), ("summary", summary), ("c", as_c), ("asm", as_asm),
        ("view", plugin_view is not None),
    )  # fmt: skip
    view = view_of(flags, query)
    foreign = None
    if plugin_view is not None:
        from tools.dump.foreign import view_called  # noqa: PLC0415

        foreign = view_called(plugin_view, without)
    return dump(
        Request(
            file=file,
            sqes=sqes,
            run=run,
            cqes=cqes,
            hex_text=hex_text,
            words=words,
            struct=struct,
            family=family,
            chip=chip,
            policies=policies,
            without=without,
            as_json=as_json,
            view=view,
            foreign=foreign,
            query=query,
            changes=changes,
            streams=streams,
            tasks=tasks,
            kinds=kinds,
            where=where,
            slots=slots,
        )
    )
