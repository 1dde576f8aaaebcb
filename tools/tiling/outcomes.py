"""The outcomes of a sweep: a table with a row per run of equal ones, or a JSON line each."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from emu_plugins.cgdr.tiling_910b import Cgdr910bTiling
from tools.fitted import fitted_lines
from tools.show import cells, json_line, lines, rows_as_text, width
from tools.stacked import figures
from tools.tiling.as_json import record
from tools.tiling.as_map import glyphs
from tools.tiling.as_text import show_title

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from emu_core.chips import Chip
    from emu_plugins.cgdr.tiling_variants import Tiling, TilingRequest, Variant
    from tools.tiling.ask import TilingRefusedError

_BAR = 24
_SHOWN = 7
"""Columns that stay beside the value where there is no room for all: those up to the key."""
_COLUMNS = (
    "bucket", "alignK", "vStep", "V tiles", "key", "block dim", "outQueue", "tbuf", "restBytes", "workspace",
    "full chunks",
)  # fmt: skip
_COLUMNS_910B = ("key", "block dim", "workspace used", "workspace")


@dataclass(frozen=True)
class Outcome:
    """A value of the sweep, what was asked, and the tiling or why there is none."""

    value: int
    request: TilingRequest
    tiling: Tiling | None
    refusal: TilingRefusedError | None

    @property
    def key(self) -> tuple[object, ...]:
        """What a row shows beside the value; neighbours with equal ones share a row."""
        t = self.tiling
        if t is None:
            assert self.refusal is not None
            over = self.refusal.detail.get("over_bytes")
            return (f"does not fit, over by {over}" if over else "refused",)
        if isinstance(t, Cgdr910bTiling):
            return (t.tiling_key, t.block_dim, t.workspace_need, t.workspace)
        return (
            t.bucket or "none", t.align_k, t.v_step, t.v_tiles, t.tiling_key, t.block_dim, t.out_queue, t.tbuf,
            t.rest_bytes, t.workspace, t.path,
        )  # fmt: skip

    @property
    def share(self) -> float | None:
        """Share of UB that the tiling uses; None where no UB is planned or nothing fits."""
        t = self.tiling
        if t is None or isinstance(t, Cgdr910bTiling) or not self.request.ub_bytes:
            return None
        return t.plan.needed / self.request.ub_bytes


def runs(outcomes: Sequence[Outcome]) -> Iterator[list[Outcome]]:
    """Neighbours with equal outcomes and equal UB, together."""
    for _, group in groupby(outcomes, key=lambda each: (each.key, each.share)):
        yield list(group)


def show_sweep(name: str, outcomes: Sequence[Outcome], variant: Variant, chip: Chip, *, as_json: bool) -> None:
    """All outcomes."""
    if as_json:
        for outcome in outcomes:
            json_line({name: outcome.value, **_as_record(outcome)})
        return
    show_title(variant, chip)
    planned = not variant.cube_cores
    columns = (name, *(("UB used",) if planned else ()), *(_COLUMNS if planned else _COLUMNS_910B))
    rows = [_row(run, columns, planned=planned) for run in runs(outcomes)]
    lines(_table(columns, rows, width()))


def _table(columns: tuple[str, ...], rows: list[tuple[object, ...]], limit: int | None) -> Iterator[str]:
    """A row per run; where `limit` has no room for all columns, the others stand below their row in words."""
    right = tuple(name for name in columns if name not in ("UB used", "full chunks"))
    whole = list(rows_as_text(columns, rows, right=right))
    if limit is None or max(map(cells, whole)) <= limit:
        yield from whole
        return
    kept = min(_SHOWN, len(columns))
    below = [_in_words(columns[kept:], row[kept:]) for row in rows]
    yield from fitted_lines(columns[:kept], [row[:kept] for row in rows], limit, right=right, below=below)


def _in_words(names: tuple[str, ...], row: tuple[object, ...]) -> str:
    """What has no column: the values with their names, or why there are none."""
    if not any(cell != "" for cell in row[:-1]):
        return "".join(map(str, row))
    return figures((name, str(cell)) for name, cell in zip(names, row, strict=True))


def _as_record(outcome: Outcome) -> dict[str, object]:
    if outcome.tiling is not None:
        return record(outcome.tiling)
    assert outcome.refusal is not None
    return outcome.refusal.as_json()


def _row(run: list[Outcome], columns: tuple[str, ...], *, planned: bool) -> tuple[object, ...]:
    first = run[0]
    values = str(first.value) if len(run) == 1 else f"{first.value}..{run[-1].value}"
    left = (values, *((_share(first.share),) if planned else ()))
    if first.tiling is not None:
        return (*left, *first.key)
    blank = len(columns) - len(left) - 1
    return (*left, *([""] * blank), *first.key)


def _share(share: float | None) -> str:
    used, _, free = glyphs()
    if share is None:
        return ""
    full = min(round(share * _BAR), _BAR)
    return f"{used * full}{free * (_BAR - full)} {share:4.0%}"
