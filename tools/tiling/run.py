"""The command `sqemu tiling cgdr`: one tiling, or one per value of a sweep."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from emu_plugins.cgdr.tiling import CgdrTiling
from emu_plugins.cgdr.tiling_910b import Cgdr910bTiling
from emu_plugins.cgdr.tiling_layout import ub_regions, workspace_regions
from emu_plugins.cgdr.tiling_why import why
from tools.files import Outputs
from tools.given_plugins import make_host
from tools.say import say
from tools.show import json_line
from tools.tiling.as_json import record, region_record
from tools.tiling.as_map import show_map
from tools.tiling.as_text import show_reasons, show_tiling
from tools.tiling.ask import (
    Asked,
    TilingRefusedError,
    check_given,
    chip_notes,
    request_of,
    scale_notes,
    shape_notes,
    tiled,
    variant_of,
)
from tools.tiling.outcomes import Outcome, show_sweep
from tools.tiling.sweep import Sweep, parse_sweep

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emu_core.chips import Chip
    from emu_plugins.cgdr.tiling_variants import Tiling, TilingRequest, Variant


@dataclass(frozen=True)
class Shown:
    """What is to be shown: JSON lines, reasons, the drawing, the drawing as SVG in a file, a sweep.

    `pipes` is the number of staging slots for which the pipes are shown, 0 for none.
    """

    as_json: bool
    why: bool
    as_map: bool
    svg: str | None
    sweep: str | None
    pipes: int = 0


def show(asked: Asked, shown: Shown, chip_name: str, without: tuple[str, ...]) -> int:
    """Tile and show; gives the exit code.

    Raises:
        TilingRefusedError: the tiling refuses the one shape.
        OptionError, click.UsageError: the options contradict each other or miss something.
    """
    sweep = parse_sweep(shown.sweep) if shown.sweep else None
    check_given(asked, sweep.name if sweep else None)
    variant, chip = variant_of(asked), make_host(without).chip(chip_name)
    if sweep is not None:
        if shown.why or shown.as_map or shown.pipes:
            raise click.UsageError(
                "--why, --map and --pipes are about one shape; leave them out with --sweep, or give one value"
            )
        return _show_sweep(asked, shown, sweep, variant, chip)
    if shown.pipes and variant.name != "final":
        raise click.UsageError(f"--pipes: the pipes of variant {variant.name} are not modelled; leave --variant out")
    request = request_of(asked, variant, chip)
    tiling = tiled(variant, request, chip)
    _note((*scale_notes(asked), *chip_notes(variant, chip), *shape_notes(variant, request, tiling)))
    if shown.svg:
        from tools.tiling.as_svg import drawing  # noqa: PLC0415 - only for a drawing

        _write(shown.svg, drawing(variant, request, tiling, chip.name))
    _show_one(shown, variant, request, tiling, chip)
    return 0


def _note(notes: Iterable[str]) -> None:
    for note in notes:
        say(f"note: {note}")


def _show_one(shown: Shown, variant: Variant, request: TilingRequest, tiling: Tiling, chip: Chip) -> None:
    reasons = why(variant, request, tiling) if shown.why else ()
    if shown.as_json:
        json_line(record(tiling))
        for reason in reasons:
            json_line({"why": reason.title, "text": reason.text})
        if shown.as_map:
            _map_as_json(tiling)
        _show_pipes(shown, tiling, chip)
        return
    show_tiling(variant, request, tiling, chip)
    if shown.why:
        show_reasons(reasons)
    if shown.as_map:
        show_map(tiling)
    _show_pipes(shown, tiling, chip)


def _show_pipes(shown: Shown, tiling: Tiling, chip: Chip) -> None:
    if shown.pipes and isinstance(tiling, CgdrTiling):
        from tools.tiling.as_pipes import pipes_as_json, show_pipes  # noqa: PLC0415 - only for this view

        (pipes_as_json if shown.as_json else show_pipes)(tiling, chip, shown.pipes)


def _map_as_json(tiling: Tiling) -> None:
    if not isinstance(tiling, Cgdr910bTiling):
        for region in ub_regions(tiling):
            json_line(region_record("ub", region))
    for region in workspace_regions(tiling):
        json_line(region_record("workspace", region))


def _show_sweep(asked: Asked, shown: Shown, sweep: Sweep, variant: Variant, chip: Chip) -> int:
    outcomes = [_outcome(asked.with_number(sweep.name, value), sweep.name, variant, chip) for value in sweep.values]
    _note((*scale_notes(asked), *chip_notes(variant, chip)))
    if shown.svg:
        from tools.tiling.as_svg import chart  # noqa: PLC0415 - only for a drawing

        _write(shown.svg, chart(sweep.name, outcomes, variant, chip.name))
    show_sweep(sweep.name, outcomes, variant, chip, as_json=shown.as_json)
    return int(all(outcome.tiling is None for outcome in outcomes))


def _outcome(asked: Asked, name: str, variant: Variant, chip: Chip) -> Outcome:
    request = request_of(asked, variant, chip)
    try:
        return Outcome(asked.numbers[name], request, tiled(variant, request, chip), None)
    except TilingRefusedError as refusal:
        return Outcome(asked.numbers[name], request, None, refusal)


def _write(path: str, text: str) -> None:
    with Outputs() as written:
        written.write(path, text.encode())
        written.commit()
