"""`sqemu chips`: every chip, or one with the source of each figure."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import TYPE_CHECKING

import click

from tools.given_plugins import make_host
from tools.options import debug_option, json_option, plugin_option
from tools.show import heading, json_line, rows_as_text, table, width
from tools.stacked import figures, paragraph, stacked

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emu_core.chips import Chip

_UNITS = {"_bytes": "bytes", "_mhz": "MHz", "_ns": "ns", "_per_cycle": "per cycle"}
_NESTED = ("latencies", "sources", "soc_name")
_FIGURES = ("figure", "value", "unit", "source")
_ROOM = 32
"""Columns that the sources have at least beside the figures; on a narrower terminal they stand below."""
_COLUMNS = ("name", "product", "family", "cores", "vector", "UB KiB", "prefetch", "tasks/SQ", "streams", "events")


@click.command("chips")
@click.argument("name", required=False)
@plugin_option
@json_option
@debug_option
def command(name: str | None, without: tuple[str, ...], as_json: bool) -> None:
    """List the chips, or show the chip NAME with every figure and its source."""
    host = make_host(without)
    chosen = [host.chip(name)] if name else list(host.chips.values())
    if as_json:
        for chip in chosen:
            json_line(record(chip))
    elif name:
        _full(chosen[0])
    else:
        _list(chosen)
        click.echo("")
        paragraph("prefetch: NOPs before a kernel by the seed / by the platform file, - where it has none", others="  ")
        paragraph("sqemu chips NAME shows every figure and where it is from")


def _list(chips: list[Chip]) -> None:
    """A table where the terminal has room for it, else a block per chip; no figure is left out."""
    rows = [_row(chip) for chip in chips]
    limit = width()
    if limit is None or max(map(len, rows_as_text(_COLUMNS, rows))) <= limit:
        table("", _COLUMNS, rows, right=_COLUMNS[3:])
        return
    labels = _COLUMNS[1:]
    blocks = ((str(row[0]), (figures(zip(labels, map(str, row[1:]), strict=True)),)) for row in rows)
    stacked(blocks, limit)


def record(chip: Chip) -> dict[str, object]:
    """A chip as one JSON object: all figures, latencies and sources nested."""
    plain = {f.name: getattr(chip, f.name) for f in fields(chip) if f.name not in _NESTED}
    return {**plain, "soc_name": chip.soc_name, "latencies": asdict(chip.latencies), "sources": dict(chip.sources)}


def _row(chip: Chip) -> tuple[object, ...]:
    return (
        chip.name,
        chip.product,
        chip.family,
        f"{chip.core_num_aic} fused" if chip.fused_cores else chip.core_num_aic,
        chip.core_num_aiv,
        chip.ub_bytes // 1024,
        f"{chip.prefetch_num} / {'-' if 'platform_prefetch_num' in chip.absent else chip.platform_prefetch_num}",
        chip.usable_tasks,
        chip.max_streams,
        chip.max_events,
    )


def _full(chip: Chip) -> None:
    click.echo(click.style(f"{chip.soc_name} ({chip.product})", bold=True))
    _show_figures(list(_figures(chip)))
    heading(f"Latencies: {chip.sources.get('latencies', 'no source given')}")
    rows = [(name.removesuffix("_ns"), value) for name, value in asdict(chip.latencies).items()]
    table("", ("step", "ns"), rows, right=("ns",))


def _show_figures(rows: list[tuple[object, ...]]) -> None:
    """A table with the sources wrapped in the last column, or blocks where that column would be too narrow."""
    limit = width()
    needed = max(map(len, rows_as_text(_FIGURES[:3], [row[:3] for row in rows]))) + _ROOM
    if limit is None or needed <= limit:
        table("", _FIGURES, rows, right=("value",), wrap=True)
        return
    stacked(((f"{name}  {value} {unit}".rstrip(), (str(source),)) for name, value, unit, source in rows), limit)


def _figures(chip: Chip) -> Iterator[tuple[object, ...]]:
    for f in fields(chip):
        if f.name not in _NESTED:
            value = getattr(chip, f.name)
            shown = {True: "yes", False: "no"}[value] if isinstance(value, bool) else value
            unit = next((unit for end, unit in _UNITS.items() if f.name.endswith(end)), "")
            source = chip.sources.get(f.name, "no source given" if f.name in chip.unsourced else "")
            yield f.name, shown, unit, source
