"""Marks: which operators have a value-dependent tiling, and what the gates make of them.

Mirrors the vendor's `DynamicShapePartitioner::IsNeedMarkDynamicTilingDepend` (pre-marking) and
`JudgeUnknownShapeForTilingDependNode` (`reference/tiling_sink_compiler.md` 4.1, 4.3). Two differences: the
graph names inputs by IR index, so no instance index has to be mapped; and a device that cannot tell its
capability does not exist here, since the chip is data.

Also decides whether the graph is host scheduled: one node of unknown shape makes the whole graph unknown
(`tiling_sink_compiler.md` 4.4, "merged to unknown"); partitioning into clusters comes later.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from emu_core.operators import Placement
from emu_plugins.compiler import gates
from emu_plugins.compiler.operators import DYNAMIC_TILING_DEPEND, FORCE_UNKNOWN_SHAPE, TILING_SINK

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from emu_core.chips import Chip
    from emu_core.operators import OperatorSpec
    from emu_core.policies import PolicySet
    from emu_plugins.compiler.operators import BoundNode
    from emu_plugins.compiler.options import BuildOptions
    from emu_plugins.compiler.report import Report

STAGE = "marks"


@dataclass(frozen=True)
class Marks:
    """What is decided about one operator.

    Attributes:
        depends: IR inputs whose value the tiling reads, after policies.
        dynamic_depend: `_dynamic_tiling_depend_op`.
        sink: `_tiling_sink_op`, the gates passed (the operator can still lose it).
        force_unknown: `_force_unknown_shape`, it has to be host scheduled.
    """

    depends: tuple[int, ...] = ()
    dynamic_depend: bool = False
    sink: bool = False
    force_unknown: bool = False

    def attributes(self) -> dict[str, bool]:
        """The marks that are set, by GE attribute name."""
        named = {
            DYNAMIC_TILING_DEPEND: self.dynamic_depend,
            TILING_SINK: self.sink,
            FORCE_UNKNOWN_SHAPE: self.force_unknown,
        }
        return {name: True for name, is_set in named.items() if is_set}


def depends_of(spec: OperatorSpec, policies: PolicySet) -> tuple[int, ...]:
    """IR inputs whose value the tiling of `spec` reads, ascending; none when its policy says `none`."""
    if spec.depends_policy and policies[spec.depends_policy] == "none":
        return ()
    return tuple(sorted(spec.depends))


def has_dynamic_depend(
    inputs: tuple[str | None, ...], depends: tuple[int, ...], constants: Collection[str], *, unknown_shape: bool = False
) -> bool:
    """Whether some connected depended input has no value at compile time.

    Constant depended inputs never mark, unless the operator itself has an unknown shape.
    """
    connected = [inputs[k] for k in depends if inputs[k] is not None]
    return any(unknown_shape or name not in constants for name in connected)


@dataclass(frozen=True)
class Marker:
    """Everything that marking one node needs besides the node."""

    options: BuildOptions
    chip: Chip
    policies: PolicySet
    constants: Collection[str]

    def mark(self, bound: BoundNode, report: Report) -> Marks:
        """The marks of `bound`; a marked operator whose tiling cannot run on the host is noted as a problem."""
        name = bound.node.name
        depends = depends_of(bound.spec, self.policies)
        marked = bound.flag(DYNAMIC_TILING_DEPEND) or has_dynamic_depend(bound.node.inputs, depends, self.constants)
        preset = Marks(depends, marked, bound.flag(TILING_SINK), bound.flag(FORCE_UNKNOWN_SHAPE))
        if not marked:
            report.decide(name, STAGE, "tiling reads no value that is unknown at compile time")
            return preset
        report.decide(name, STAGE, f"{DYNAMIC_TILING_DEPEND}: tiling reads the value of {_names(bound, depends)}")
        if preset.force_unknown:
            report.decide(name, gates.STAGE, f"not asked: the graph presets {FORCE_UNKNOWN_SHAPE}")
            return Marks(depends, dynamic_depend=True, force_unknown=True)
        if not bound.spec.placements & Placement.HOST:
            what = f"the tiling of {bound.spec.type} is not registered for the host (E19999)"
            remedy = "register it for the host as well; the host runs it once for the workspace size"
            report.problem("graph.host-placement", what, bound.place(), remedy)
            return preset
        return self._ask_gates(bound, depends, report)

    def _ask_gates(self, bound: BoundNode, depends: tuple[int, ...], report: Report) -> Marks:
        products = gates.SINK_PRODUCTS[self.policies["sink_products"]]
        answer = gates.ask_gates(
            gates.GateQuestion(
                self.options.tiling_schedule_optimize, self.options.offline, self.chip, products, bound.spec.placements
            )
        )
        if answer.passed:
            report.decide(bound.node.name, gates.STAGE, f"{answer.reason}: {TILING_SINK}")
            return Marks(depends, dynamic_depend=True, sink=True)
        report.decide(bound.node.name, gates.STAGE, f"{answer.gate} failed ({answer.reason}): {FORCE_UNKNOWN_SHAPE}")
        report.warn(f"{bound.place()}: the tiling stays on the host: {answer.reason}; {answer.remedy}")
        return Marks(depends, dynamic_depend=True, force_unknown=True)


def _names(bound: BoundNode, depends: Iterable[int]) -> str:
    return ", ".join(map(bound.input_words, depends)) or "no declared input (preset by the graph)"


def merge_unknown(marks: Mapping[str, Marks], report: Report) -> bool:
    """Whether the whole graph is host scheduled: one node of unknown shape takes all others along."""
    forced = [name for name, each in marks.items() if each.force_unknown]
    if not forced:
        return False
    others = [name for name, each in marks.items() if not each.force_unknown]
    report.decide("", STAGE, f"the whole graph is host scheduled because of {', '.join(forced)}")
    for name in others:
        lost = "; it loses its sink" if marks[name].sink else ""
        report.decide(name, STAGE, f"moved to the host-scheduled graph with {forced[0]}{lost}")
        if marks[name].sink:
            report.warn(f"node {name} loses tiling sink: {forced[0]} makes the whole graph host scheduled")
    return True
