"""A tiling for people: the numbers, the budget on paper, the tiling data, the debug line, the reasons."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from emu_plugins.cgdr.tiling_910b import SYSTEM_WORKSPACE, Cgdr910bTiling
from emu_plugins.cgdr.tiling_paper import paper_lines
from tools.show import columns, heading, lines, table, width
from tools.stacked import paragraph, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from emu_core.chips import Chip
    from emu_plugins.cgdr.tiling import CgdrTiling
    from emu_plugins.cgdr.tiling_variants import Tiling, TilingRequest, Variant
    from emu_plugins.cgdr.tiling_why import Reason

_HEX_PER_LINE = 16
_TEXT_COLUMNS = 100
_INDENT = "  "


def show_tiling(variant: Variant, request: TilingRequest, tiling: Tiling, chip: Chip) -> None:
    """Everything about one tiling."""
    show_title(variant, chip)
    paragraph(_subject(request, variant), indent=_INDENT)
    rows = _rows_910b(tiling) if isinstance(tiling, Cgdr910bTiling) else _rows(tiling)
    heading("Tiling")
    lines(_aligned(rows))
    if isinstance(tiling, Cgdr910bTiling):
        heading("Workspace, term by term")
        lines(_sum_910b(tiling))
    else:
        heading("UB budget, on paper")
        for line in paper_lines(tiling):
            paragraph(line, indent=_INDENT, others=_INDENT * 3)
    _show_data(tiling)
    if not isinstance(tiling, Cgdr910bTiling):
        heading("Debug line (CGDR_DEBUG_LOG=1)")
        _show_debug_line(tiling.debug_line())


def _show_debug_line(line: str) -> None:
    """Wrapped for a terminal only: elsewhere it stays the one line that a log has."""
    if width() is None:
        click.echo(_INDENT + line)
    else:
        paragraph(line, indent=_INDENT, others=_INDENT * 2)


def show_title(variant: Variant, chip: Chip) -> None:
    """The operator, the chip and the version."""
    for line in wrapped(f"ChunkGatedDeltaRule on {chip.name}: {variant.title}", columns(), first="", others=_INDENT):
        click.echo(click.style(line, bold=True))


def show_reasons(reasons: Iterable[Reason]) -> None:
    """The answers of `--why`, a paragraph each."""
    heading("Why")
    room = min(columns(), _TEXT_COLUMNS)
    for reason in reasons:
        click.echo(f"{_INDENT}{click.style(reason.title, bold=True)}")
        lines(wrapped(reason.text, room, first=_INDENT * 2, others=_INDENT * 2))


def _subject(request: TilingRequest, variant: Variant) -> str:
    d = request.dims
    platform = f"{request.cores} cores" + ("" if variant.cube_cores else f", UB {request.ub_bytes} bytes")
    gamma = "g given" if request.has_gamma else "no g"
    return (
        f"T {d.t}, B {d.batch}, Hqk {d.hqk}, Hv {d.hv}, dk {d.dk}, dv {d.dv}, {gamma}, scale {request.scale:g}; "
        f"{platform}"
    )


def _rows(tiling: CgdrTiling) -> list[tuple[str, object, str]]:
    t = tiling
    state = "" if t.plan.state_rows == t.align_k else f"state rows {t.plan.state_rows}"
    return [
        ("bucket", t.bucket or "none", ""),
        ("alignK", t.align_k, state),
        ("vStep", t.v_step, "wider than dv" if t.v_step > t.dims.dv else ""),
        ("V tiles", t.v_tiles, ""),
        ("tiling key", t.tiling_key, ""),
        ("block dim", t.block_dim, f"of {t.cores} cores"),
        ("outQueue", t.out_queue, "bytes"),
        ("tbuf", t.tbuf, "bytes used of restBytes"),
        ("restBytes", t.rest_bytes, "bytes of UB beside the out queue"),
        ("workspace used", t.workspace_need, "bytes" if t.plan.dot else "not computed by this version"),
        ("workspace", t.workspace, "bytes asked for"),
        ("chunks", t.num_chunks, f"{t.pad_size} rows would fill the last"),
        ("full chunks", t.path, ""),
    ]


def _rows_910b(tiling: Cgdr910bTiling) -> list[tuple[str, object, str]]:
    t = tiling
    return [
        ("tiling key", t.tiling_key, ""),
        ("block dim", t.block_dim, "all Cube cores"),
        ("schedule mode", t.schedule_mode, "blocks start together"),
        ("chunk group", t.max_group_length, "tokens"),
        ("stage 1 tasks", t.parallel, "in flight per core"),
        ("workspace used", t.workspace_need, "bytes"),
        ("workspace", t.workspace, f"bytes asked for, with {SYSTEM_WORKSPACE} for the system"),
    ]


def _aligned(rows: Iterable[tuple[str, object, str]]) -> Iterator[str]:
    shown = [(name, str(value), remark) for name, value, remark in rows]
    names = max(len(name) for name, _, _ in shown)
    values = max(len(value) for _, value, _ in shown)
    for name, value, remark in shown:
        yield f"  {name:{names}}  {value:>{values}}  {remark}".rstrip()


def _sum_910b(tiling: Cgdr910bTiling) -> Iterator[str]:
    terms = (*tiling.inter, tiling.stage)
    return _aligned([*((term.name, term.bytes, "") for term in terms), ("sum", tiling.workspace_need, "")])


def _show_data(tiling: Tiling) -> None:
    data, fields = tiling.tiling_data(), tiling.named_data()
    size = f"{len(data)} bytes" + (", then the matmul library's" if isinstance(tiling, Cgdr910bTiling) else "")
    heading(f"Tiling data, {size}")
    for start in range(0, len(data), _HEX_PER_LINE):
        click.echo(f"  {start:04x}  {data[start : start + _HEX_PER_LINE].hex(' ', 4)}")
    step = 8 if isinstance(tiling, Cgdr910bTiling) else 4
    rows = [(k * step, name, _value(value)) for k, (name, value) in enumerate(fields)]
    table("", ("byte", "field", "value"), rows, right=("byte", "value"))


def _value(value: float) -> str:
    return f"{value:.9g}" if isinstance(value, float) else str(value)
