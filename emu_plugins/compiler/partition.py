"""Dynamic-shape partition: which nodes are of unknown shape, and which part of the graph each node is in.

Mirrors the vendor's `DynamicShapePartitioner::MarkUnknownShapeNodes` with its order of tests
(`reference/tiling_sink_compiler.md` 4.2), the constants that move with their readers, and the clusters behind it
(4.4). Tests, first to last, for one node:

| test | unknown because |
|---|---|
| `_force_unknown_shape`, preset or by a gate that failed | forced |
| the shape of an input or output has -1 or -2 | shape |
| `_is_support_addr_refresh` is false | its addresses cannot be refreshed |

Clusters: a run of the execution order whose nodes are all known or all unknown is one part. What becomes of the static
parts of a graph that has unknown ones is policy `graph_partition` (4.4):

| value | static parts |
|---|---|
| `parts` | one with an operator whose tiling may sink is a static model inside the host-scheduled graph; others merge |
| `merge` | merged into the unknown ones: the whole graph is host scheduled |
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
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
    """Neighbours in the execution order that are all static or all of unknown shape; `kept`: as a static model."""

    unknown: bool
    nodes: tuple[str, ...]
    kept: bool = False


@dataclass(frozen=True)
class Partition:
    """The parts of a graph.

    Attributes:
        reasons: why a node is of unknown shape itself, by node name.
        constants: constants that are read by such a node and move with it.
        parts: before merging, in execution order.
        unknown_graph: the graph is host scheduled, apart from the static models that are kept inside.
    """

    reasons: Mapping[str, str]
    constants: tuple[str, ...]
    parts: tuple[Part, ...]
    unknown_graph: bool

    @cached_property
    def static(self) -> frozenset[str]:
        """Nodes whose owner graph is static."""
        return frozenset(name for part in self.parts if part.kept or not self.unknown_graph for name in part.nodes)


def unknown_reason(bound: BoundNode, marks: Marks) -> str:
    """Why `bound` is of unknown shape, or empty: the tests of the table, first that holds."""
    preset = bound.flag(FORCE_UNKNOWN_SHAPE)
    if marks.unknown_shape and not preset:
        return marks.unknown_shape
    if marks.force_unknown:
        return f"{FORCE_UNKNOWN_SHAPE} is preset" if preset else f"{FORCE_UNKNOWN_SHAPE}: a gate failed"
    if bound.ge_attrs.get(ADDR_REFRESH) is False:
        return f"{ADDR_REFRESH} is false"
    return ""


def partition(
    nodes: Sequence[BoundNode],
    marks: Mapping[str, Marks],
    constants: Collection[str],
    report: Report,
    *,
    keep: bool = False,
) -> Partition:
    """The partition of `nodes` (in execution order); says who made the graph host scheduled, and who lost its sink.

    `keep`: static parts that may sink stay static.
    """
    reasons = {b.node.name: why for b in nodes if (why := unknown_reason(b, marks[b.node.name]))}
    moved = {name: None for b in nodes if b.node.name in reasons for name in b.node.inputs if name in constants}
    may_sink = {b.node.name for b in nodes if keep and marks[b.node.name].sink and b.compile_info}
    parts = tuple(_parts((b.node.name for b in nodes), reasons, may_sink if reasons else set()))
    found = Partition(reasons, tuple(name for name in moved if name is not None), parts, bool(reasons))
    if reasons:
        _say(found, marks, report)
    return found


def _parts(names: Iterable[str], reasons: Mapping[str, str], may_sink: Collection[str]) -> Iterable[Part]:
    for unknown, members in groupby(names, key=lambda name: name in reasons):
        run = tuple(members)
        yield Part(unknown, run, kept=not unknown and any(name in may_sink for name in run))


def _say(found: Partition, marks: Mapping[str, Marks], report: Report) -> None:
    forced = list(found.reasons)
    kept = any(part.kept for part in found.parts)
    what = "the graph is host scheduled, with static models inside," if kept else "the whole graph is host scheduled"
    report.decide("", STAGE, f"{what} because of {_few(forced)}")
    for name in found.constants:
        report.decide("", STAGE, f"constant {name} moves with its reader")
    for name, why in found.reasons.items():
        report.decide(name, STAGE, f"unknown shape: {why}")
    for part in found.parts:
        if part.kept:
            for name in part.nodes:
                report.decide(name, STAGE, f"in the static model of {part.nodes[0]}")
        for name in () if part.unknown or part.kept else part.nodes:
            lost = "; it loses its sink" if marks[name].sink else ""
            report.decide(name, STAGE, f"moved to the host-scheduled graph with {forced[0]}{lost}")
            if marks[name].sink:
                report.warn(f"node {name} loses tiling sink: {forced[0]} makes the whole graph host scheduled")


def _few(names: Sequence[str], most: int = 8) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
