"""`sqemu report`: a run record as one HTML page that needs nothing from elsewhere."""

from __future__ import annotations

import click

from tools.options import debug_option, json_option, plugin_option


@click.command("report")
@click.argument("file")
@click.option("-o", "--output", "target", required=True, metavar="REPORT.html", help="Where to write the page.")
@click.option("--host", "other", metavar="HOST.sqr", help="The same program recorded with --tiling host, to compare.")
@plugin_option
@json_option
@debug_option
def command(file: str, target: str, other: str | None, without: tuple[str, ...], as_json: bool) -> None:
    """Make one HTML page of FILE, a run record (.sqr) of `sqemu run --record`; `-` is standard input.

    The page holds everything it shows and asks the network for nothing: summary, hazards and faults with what they
    mean, a timeline to zoom, every entry with its bytes and fields, patches, maps of UB. The same record gives the
    same bytes.
    """
    from tools.files import Outputs  # noqa: PLC0415 - `sqemu report --help` stays quick
    from tools.given_plugins import make_host  # noqa: PLC0415
    from tools.report.build import page  # noqa: PLC0415
    from tools.report.subject import Subject  # noqa: PLC0415
    from tools.show import json_line, safe  # noqa: PLC0415

    with Outputs(never=(file, *([other] if other else []))) as outputs:
        outputs.check(target)
        host = make_host(without)
        made = page(Subject.read(file, host), Subject.read(other, host) if other else None)
        outputs.write(target, made.data)
        outputs.commit()
    size = len(made.data)
    if as_json:
        counts = {"slices": made.slices, "entries": made.entries, "writes": made.writes}
        json_line({"file": target, "bytes": size, **counts})
        return
    click.echo(f"{safe(target)}: {size} bytes, {made.slices} slices, {made.entries} entries, {made.writes} writes")
