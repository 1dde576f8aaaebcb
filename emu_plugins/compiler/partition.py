"""Dynamic-shape partition: which nodes are of unknown shape, and which part of the graph each node is in.

Mirrors the vendor's `DynamicShapePartitioner::MarkUnknownShapeNodes` with its order of tests
(`reference/tiling_sink_compiler.md` 4.2), the constants that move with their readers, and the clusters behind it
(4.4). Tests, first to last, for one node:

| test | unknown because |
|---|---|
| `_force_unknown_shape`, preset or by a gate that failed | forced |
| an output shape with -1 or -2 | shape |
| `_is_support_addr_refresh` is false | its addresses cannot be refreshed |

Clusters: a run of the execution order whose nodes are all known or all unknown is one part. A static part that lies
behind or between unknown ones is merged into them, and then the whole graph is: one forced node makes the graph host
scheduled (4.4, "the whole graph is merged to unknown"). The parts are kept, so that a report can say who took whom
along.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from emu_plugins.compiler.attributes import ADDR_REFRESH, FORCE_UNKNOWN_SHAPE

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from emu_plugins.compiler.marks import Marks
    from emu_plugins.compiler.operators import BoundNode
    from emu_plugins.compiler.report import Report

STAGE = "partition"


@dataclass(frozen=True)
class Part:
    """Neighbours in the execution order that are all static or all of unknown shape."""

    unknown: bool
    nodes: tuple[str, ...]


@dataclass(frozen=True)
class Partition:
    """The parts of a graph.

    Attributes:
        reasons: why a node is of unknown shape itself, by node name.
        constants: constants that are read by such a node and move with it.
        parts: before merging, in execution order.
        unknown_graph: the whole graph is host scheduled.
    """

    reasons: Mapping[str, str]
    constants: tuple[str, ...]
    parts: tuple[Part, ...]
    unknown_graph: bool


def unknown_reason(bound: BoundNode, marks: Marks) -> str:
    """Why `bound` is of unknown shape, or empty: the tests of the table, first that holds."""
    if marks.force_unknown:
        preset = bound.flag(FORCE_UNKNOWN_SHAPE)
        return f"{FORCE_UNKNOWN_SHAPE} is preset" if preset else f"{FORCE_UNKNOWN_SHAPE}: a gate failed"
    if bound.ge_attrs.get(ADDR_REFRESH) is False:
        return f"{ADDR_REFRESH} is false"
    return ""


def partition(
    nodes: Sequence[BoundNode], marks: Mapping[str, Marks], constants: Collection[str], report: Report
) -> Partition:
    """The partition of `nodes` (in execution order); says who made the graph host scheduled, and who lost its sink."""
    reasons = {b.node.name: why for b in nodes if (why := unknown_reason(b, marks[b.node.name]))}
    moved = {name: None for b in nodes if b.node.name in reasons for name in b.node.inputs if name in constants}
    parts = tuple(_parts((b.node.name for b in nodes), reasons))
    found = Partition(reasons, tuple(name for name in moved if name is not None), parts, bool(reasons))
    if reasons:
        _say(found, marks, report)
    return found


def _parts(names: Iterable[str], reasons: Mapping[str, str]) -> Iterable[Part]:
    for unknown, members in groupby(names, key=lambda name: name in reasons):
        yield Part(unknown, tuple(members))


def _say(found: Partition, marks: Mapping[str, Marks], report: Report) -> None:
    forced = list(found.reasons)
    report.decide("", STAGE, f"the whole graph is host scheduled because of {_few(forced)}")
    for name in found.constants:
        report.decide("", STAGE, f"constant {name} moves with its reader")
    for name, why in found.reasons.items():
        report.decide(name, STAGE, f"unknown shape: {why}")
    for part in found.parts:
        for name in () if part.unknown else part.nodes:
            lost = "; it loses its sink" if marks[name].sink else ""
            report.decide(name, STAGE, f"moved to the host-scheduled graph with {forced[0]}{lost}")
            if marks[name].sink:
                report.warn(f"node {name} loses tiling sink: {forced[0]} makes the whole graph host scheduled")


def _few(names: Sequence[str], most: int = 8) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
