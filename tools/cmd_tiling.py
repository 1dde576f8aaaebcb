"""`sqemu tiling`: what the host tiling of an operator derives for a shape, without compiling anything."""

from __future__ import annotations

import click

from tools.options import chip_option, debug_option, json_option, plugin_option

_LARGEST = (1 << 31) - 1
_DIM = click.IntRange(1, _LARGEST)
_VARIANTS = ("final", "three-bucket", "1108", "first", "910b", "910b-fp32")
_SPELLINGS = ("!1108", "910B")


@click.group("tiling")
def command() -> None:
    """Show what the host tiling of an operator derives for a shape, and why."""


@command.command("cgdr")
@click.option("--t", type=_DIM, help="Tokens of all sequences.")
@click.option("--b", type=_DIM, help="Sequences.  [default: 1]")
@click.option("--hqk", type=_DIM, help="Query and key heads.  [default: as --hv]")
@click.option("--hv", type=_DIM, help="Value heads.")
@click.option("--dk", type=_DIM, help="Columns of a key head.")
@click.option("--dv", type=_DIM, help="Columns of a value head.")
@click.option("--g", "has_gamma", is_flag=True, help="The log decay g is given.")
@click.option("--scale", type=float, help="Attribute scale_value.  [default: 1.0]")
@click.option("--ub", type=_DIM, help="Bytes of UB, instead of the chip's.")
@click.option("--cores", type=_DIM, help="Cores, instead of the chip's.")
@click.option("--chunk-size", type=_DIM, help="Attribute chunk_size of variant first.")
@click.option(
    "--variant",
    default="final",
    show_default=True,
    metavar="NAME",
    type=click.Choice((*_VARIANTS, *_SPELLINGS)),
    help=f"Version of the operator: {', '.join(_VARIANTS)}.",
)
@click.option("--why", is_flag=True, help="Explain in words why, and what would change it.")
@click.option("--map", "as_map", is_flag=True, help="Draw where the buffers lie in UB and workspace.")
@click.option("--pipes", is_flag=True, help="Show what the five pipes of a core do during a chunk (modelled times).")
@click.option("--stage-slots", type=click.IntRange(1, 2), help="With --pipes: staging slots per core.  [default: 2]")
@click.option("--svg", metavar="FILE", help="Write that drawing (with --sweep: a chart) as SVG.")
@click.option(
    "--sweep", metavar="NAME=RANGE", help="One of the numbers over a range: dk=1..256, ub=65536..262144:16384."
)
@chip_option
@plugin_option
@json_option
@debug_option
def cgdr(
    has_gamma: bool,
    scale: float | None,
    chunk_size: int | None,
    variant: str,
    why: bool,
    as_map: bool,
    pipes: bool,
    stage_slots: int | None,
    svg: str | None,
    sweep: str | None,
    chip: str,
    without: tuple[str, ...],
    as_json: bool,
    **numbers: int | None,
) -> int:
    """Tile ChunkGatedDeltaRule for a shape: bucket, V step, tiling key, block dim, UB, workspace, tiling data.

    Exit code 0 when the shape fits, 1 when the tiling refuses it (the message says which budget and by how many bytes),
    2 for a wrong command line. With --sweep 1 means that no value fits.
    """
    from tools.tiling.ask import Asked  # noqa: PLC0415 - `sqemu tiling --help` stays quick
    from tools.tiling.run import Shown, show  # noqa: PLC0415

    given = {name: value for name, value in numbers.items() if value is not None}
    asked = Asked(variant, given, has_gamma, scale, chunk_size)
    if stage_slots is not None and not pipes:
        raise click.UsageError("--stage-slots is about --pipes; give both")
    shown = Shown(as_json, why, as_map, svg, sweep, (stage_slots or 2) if pipes else 0)
    return show(asked, shown, chip, without)
