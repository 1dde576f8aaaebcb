"""`sqemu bench`: ratios against named peers, measured side by side."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from tools.bench.catalog import GROUPS, pairs_of
from tools.bench.pairs import measure
from tools.options import debug_option, json_option
from tools.show import json_line, table

if TYPE_CHECKING:
    from tools.bench.pairs import Figure


@click.command("bench", epilog=f"Groups: {', '.join(GROUPS)}.")
@click.argument("groups", nargs=-1, metavar="[GROUP...]")
@json_option
@debug_option
def command(groups: tuple[str, ...], as_json: bool) -> int:
    """Measure figures of GROUPs (or of all): ratios against a named peer in one run.

    Exit code 1 when a figure falls short of its target. A machine that is busy with other work makes figures noisy;
    they are repeated once and then marked.
    """
    figures = []
    for pair in pairs_of(groups):
        figure = measure(pair)
        figures.append(figure)
        if as_json:
            json_line(asdict(figure))
    if not as_json:
        _show(figures)
    return int(any(f.status == "short" for f in figures))


def _show(figures: list[Figure]) -> None:
    rows = [
        (
            f.id,
            f.name,
            f.peer,
            _ratio(f.ratio),
            f"{_ratio(f.low)} .. {_ratio(f.high)}",
            _ratio(f.target),
            f.reason or f.status,
        )
        for f in figures
    ]
    columns = ("figure", "what", "peer", "ratio", "rounds", "target", "status")
    table(f"ratios against peers (groups: {', '.join(GROUPS)})", columns, rows, right=("ratio", "target"))


def _ratio(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.0f}x" if value >= 100 else f"{value:.2f}x"
