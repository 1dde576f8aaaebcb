"""`sqemu compare-tiling`: a graph with its tiling on the device and on the host, and where the time goes."""

from __future__ import annotations

import click

from tools.options import chip_option, debug_option, json_option, plugin_option, policy_option
from tools.runtime_options import V1, runtime_option


@click.command("compare-tiling")
@click.argument("graph")
@click.option("--inputs", multiple=True, metavar="IN.npz", help="Input arrays; each file is one execution.")
@click.option(
    "--rows", default=60, show_default=True, type=click.IntRange(0), help="Rows of each timeline; 0 shows none."
)
@click.option("--option", "ge_options", multiple=True, metavar="KEY=VALUE", help="A GE option of the graph.")
@click.option("--online/--offline", "online", default=None, help="Build mode; gates depend on it.")
@chip_option
@runtime_option
@policy_option
@plugin_option
@json_option
@debug_option
def command(
    graph: str,
    inputs: tuple[str, ...],
    rows: int,
    ge_options: tuple[str, ...],
    online: bool | None,
    chip: str,
    runtime: str | None,
    policies: tuple[str, ...],
    without: tuple[str, ...],
    as_json: bool,
) -> int:
    """Compile GRAPH with tiling on the device (sink) and on the host, run both on the same inputs, and compare: the
    streams as they ran, where the time goes, and whether the outputs are equal. --runtime v2 adds it as a third way.

    Times are virtual, the host's round trip is modelled. Exit code 1 says that an execution failed or outputs differ.
    """  # noqa: D205 - the first paragraph is what `--help` shows
    from tools.compare.run import compare  # noqa: PLC0415 - `--help` stays quick
    from tools.given_plugins import make_host  # noqa: PLC0415
    from tools.program import Wanted  # noqa: PLC0415

    wanted = Wanted(chip, ge_options, None, online, policies, online_by_default=True)
    host = make_host(without)
    return compare(graph, inputs, wanted, host, rows=rows, as_json=as_json, runtime=runtime or V1)
