"""The sink condition proper: which way each operator is tiled.

Mirrors the vendor's `CheckTilingSink` (`reference/tiling_sink_compiler.md` 5, seed 4.2). All three must hold:
the owner graph is static, `_tiling_sink_op` is set, and `compile_info_json` is not empty. The user's rule
that never-time-out excludes sink is applied here too (policy `never_timeout_with_sink`).
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from emu_plugins.compiler.attributes import NEVER_TIMEOUT, TILING_SINK

if TYPE_CHECKING:
    from emu_core.policies import PolicySet
    from emu_plugins.compiler.marks import Marks
    from emu_plugins.compiler.operators import BoundNode
    from emu_plugins.compiler.report import Report

STAGE = "sink"


class Tiling(StrEnum):
    """Where and when an operator is tiled."""

    COMPILE = "compile time"
    DEVICE = "on the device, before every run"
    HOST = "on the host, before every launch"


def check_tiling_sink(bound: BoundNode, marks: Marks, *, unknown_graph: bool) -> bool:
    """The three conditions."""
    return not unknown_graph and marks.sink and bool(bound.compile_info)


def choose_tiling(
    bound: BoundNode, marks: Marks, policies: PolicySet, report: Report, *, unknown_graph: bool
) -> Tiling:
    """The way `bound` is tiled; never-time-out with sink is noted as a problem, or a warning by policy."""
    chosen = _choose(bound, marks, unknown_graph=unknown_graph)
    report.decide(bound.node.name, STAGE, f"tiled at {chosen}" if chosen is Tiling.COMPILE else f"tiled {chosen}")
    if marks.sink and not bound.compile_info and not unknown_graph:
        report.warn(
            f"{bound.place()}: compile_info_json is empty, so there is no dynamic-shape binary to sink; "
            "it is tiled once at compile time without the value"
        )
    if chosen is Tiling.DEVICE:
        _check_sinking(bound, marks, policies["never_timeout_with_sink"], report)
    return chosen


def _check_sinking(bound: BoundNode, marks: Marks, never_timeout: str, report: Report) -> None:
    if not marks.depends:
        what = f"the tiling of {bound.spec.type} reads no value, so there is nothing to sink"
        report.problem("graph.sink-depends", what, bound.place(f"attrs.{TILING_SINK}"), "drop the attribute")
    if bound.flag(NEVER_TIMEOUT):
        _never_timeout(bound, never_timeout, report)


def _choose(bound: BoundNode, marks: Marks, *, unknown_graph: bool) -> Tiling:
    if check_tiling_sink(bound, marks, unknown_graph=unknown_graph):
        return Tiling.DEVICE
    host = unknown_graph and (marks.dynamic_depend or marks.force_unknown or bool(marks.unknown_shape))
    return Tiling.HOST if host else Tiling.COMPILE


def _never_timeout(bound: BoundNode, policy: str, report: Report) -> None:
    what = f"an operator whose tiling sinks cannot be set to never time out ({NEVER_TIMEOUT})"
    if policy == "refuse":
        remedy = "drop the attribute, turn tiling sink off, or set policy never_timeout_with_sink=allow"
        report.problem("graph.never-timeout", what, bound.place(f"attrs.{NEVER_TIMEOUT}"), remedy)
    else:
        report.warn(f"{bound.place()}: {what}; allowed by policy never_timeout_with_sink")
