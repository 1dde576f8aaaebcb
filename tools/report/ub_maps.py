"""Maps of UB and workspace for the ChunkGatedDeltaRule nodes of a program: the drawings of `sqemu tiling --svg`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from emu_plugins.cgdr.constants import ATTR_SCALE, INPUT_GAMMA, INPUT_INITIAL_STATE, INPUT_QUERY, INPUT_VALUE
from emu_plugins.cgdr.kernel_910b import KERNEL_910B
from emu_plugins.cgdr.operator import OPERATORS
from tools.report.markup import Html, el, join
from tools.tiling.as_svg import drawing
from tools.tiling.ask import Asked, TilingRefusedError, request_of, tiled, variant_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emu_core.chips import Chip
    from formats.blob import Blob, BlobOp
    from tools.report.subject import Subject

VARIANT_OF = {**{operator.type: "final" for operator in OPERATORS}, KERNEL_910B: "910b"}
"""The version of the tiling by operator type."""
MOST = 12
"""Different maps that are drawn."""
_RANKS = ((INPUT_QUERY, 3), (INPUT_VALUE, 3), (INPUT_INITIAL_STATE, 4))
_OF_THE_PAGE = re.compile(r"<style>.*?</style>|<defs>.*?</defs>|<title>[^<]*</title>(?=\n)", re.DOTALL)
"""What a drawing of its own has and the page has for all: colours, patterns, its name."""


def ub_maps(subject: Subject) -> Html:
    """A figure per different tiling, with the names of the nodes that have it; empty without such a node."""
    blob, nodes = subject.record.blob, dict[Html, list[str]]()
    for op in blob.ops:
        if op.type in VARIANT_OF:
            nodes.setdefault(_map(op, blob, subject.chip), []).append(op.name)
    left = len(nodes) - MOST
    return join([
        *(_figure(drawn, names) for drawn, names in list(nodes.items())[:MOST]),
        el("p", f"{left} more maps are not drawn; sqemu tiling cgdr draws one.", class_="quiet") if left > 0 else "",
    ])  # fmt: skip


def _figure(drawn: Html, names: list[str]) -> Html:
    shown = ", ".join(names[:MOST]) + (f" and {len(names) - MOST} more" if len(names) > MOST else "")
    return el("figure", el("figcaption", el("strong", shown)), drawn, class_="ub")


def _map(op: BlobOp, blob: Blob, chip: Chip) -> Html:
    """The drawing without its own colours, or why there is none."""
    asked = _asked(op, blob)
    if asked is None:
        return el("p", "The shapes of its inputs are not those of the operator.")
    variant = variant_of(asked)
    request = request_of(asked, variant, chip)
    try:
        tiling = tiled(variant, request, chip)
    except TilingRefusedError as error:
        return el("p", f"The tiling refuses this shape: {error.what}.")
    svg = drawing(variant, request, tiling, chip.name)
    return Html(_OF_THE_PAGE.sub("", svg).strip())


def _asked(op: BlobOp, blob: Blob) -> Asked | None:
    """The shape of a node; None when a tensor is missing or has another rank."""
    shapes = dict(_shapes(op, blob))
    if any(len(shapes.get(index, ())) != rank for index, rank in _RANKS):
        return None
    t, hqk, dk = shapes[INPUT_QUERY]
    (_, hv, dv), batch = shapes[INPUT_VALUE], shapes[INPUT_INITIAL_STATE][0]
    numbers = {"t": t, "b": batch, "hqk": hqk, "hv": hv, "dk": dk, "dv": dv}
    values = list(op.attrs.values())
    scale = values[ATTR_SCALE] if len(values) > ATTR_SCALE else None
    return Asked(
        VARIANT_OF[op.type], numbers, INPUT_GAMMA in shapes, float(scale) if isinstance(scale, float) else 1.0, None
    )


def _shapes(op: BlobOp, blob: Blob) -> Iterator[tuple[int, tuple[int, ...]]]:
    for index, tensor in enumerate(op.inputs):
        if tensor is not None:
            yield index, blob.tensors[tensor].shape
