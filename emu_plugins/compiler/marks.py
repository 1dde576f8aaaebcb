"""Marks: which operators have a value-dependent tiling, and what the gates make of them.

Mirrors the vendor's `DynamicShapePartitioner::IsNeedMarkDynamicTilingDepend` (pre-marking) and
`JudgeUnknownShapeForTilingDependNode` (`reference/tiling_sink_compiler.md` 4.1, 4.3). The vendor counts connected
inputs and maps that number to an IR index; a graph here names inputs by IR index, and
:func:`emu_plugins.compiler.args_layout.ir_index` is that map for formats that do not.

A node with an unknown dimension is of unknown shape before its gates are asked (4.2): the third test comes before the
fifth.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from emu_core.operators import Placement
from emu_plugins.compiler import gates
from emu_plugins.compiler.attributes import DYNAMIC_TILING_DEPEND, FORCE_UNKNOWN_SHAPE, TILING_SINK
from emu_plugins.compiler.registration import depends_of
from emu_plugins.tiling.instances import slots_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from emu_core.chips import Chip
    from emu_core.operators import TensorInfo
    from emu_core.policies import PolicySet
    from emu_plugins.compiler.gates import GateResult
    from emu_plugins.compiler.operators import BoundNode
    from emu_plugins.compiler.options import BuildOptions
    from emu_plugins.compiler.report import Report

STAGE = "marks"


@dataclass(frozen=True)
class Marks:
    """What is decided about one operator.

    Attributes:
        depends: inputs of the node whose value the tiling reads, after policies; all tensors of a dynamic input.
        dynamic_depend: `_dynamic_tiling_depend_op`.
        sink: `_tiling_sink_op`, the gates passed (the operator can still lose it).
        force_unknown: `_force_unknown_shape`, it has to be host scheduled.
        gates: what became of each gate; empty when none was asked.
        unknown_shape: which tensor has unknown dimensions, in words; empty when all are known.
    """

    depends: tuple[int, ...] = ()
    dynamic_depend: bool = False
    sink: bool = False
    force_unknown: bool = False
    gates: tuple[GateResult, ...] = ()
    unknown_shape: str = ""

    def attributes(self) -> dict[str, bool]:
        """The marks that are set, by GE attribute name."""
        named = {
            DYNAMIC_TILING_DEPEND: self.dynamic_depend,
            TILING_SINK: self.sink,
            FORCE_UNKNOWN_SHAPE: self.force_unknown,
        }
        return {name: True for name, is_set in named.items() if is_set}


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
    """Everything that marking one node needs besides the node; `infos`: element types and shapes by tensor name."""

    options: BuildOptions
    chip: Chip
    policies: PolicySet
    constants: Collection[str]
    infos: Mapping[str, TensorInfo] = field(default_factory=dict)

    def mark(self, bound: BoundNode, report: Report) -> Marks:
        """The marks of `bound`; a marked operator whose tiling cannot run on the host is noted as a problem."""
        name = bound.node.name
        depends = slots_of(depends_of(bound.spec, self.policies), bound.counts)
        shape = self._unknown_shape(bound)
        marked = bound.flag(DYNAMIC_TILING_DEPEND) or has_dynamic_depend(
            bound.node.inputs, depends, self.constants, unknown_shape=bool(shape)
        )
        preset = Marks(depends, marked, bound.flag(TILING_SINK), bound.flag(FORCE_UNKNOWN_SHAPE), unknown_shape=shape)
        if shape:
            return self._shape_is_unknown(bound, preset, report)
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
        return self._ask_gates(bound, preset, report)

    def _unknown_shape(self, bound: BoundNode) -> str:
        """The first tensor of `bound` with an unknown dimension or rank, in words."""
        for at, name in enumerate(bound.node.inputs):
            if name is not None and name in self.infos and min(self.infos[name].shape, default=0) < 0:
                return f"input {bound.input_words(at)} has the shape {list(self.infos[name].shape)}"
        for name in bound.node.outputs:
            if name in self.infos and min(self.infos[name].shape, default=0) < 0:
                return f"output {name} has the shape {list(self.infos[name].shape)}"
        return ""

    def _shape_is_unknown(self, bound: BoundNode, preset: Marks, report: Report) -> Marks:
        """Of unknown shape before any gate is asked; the mark of the tiling stays (4.2, third test)."""
        name = bound.node.name
        if not bound.spec.placements & Placement.HOST:
            what = f"the tiling of {bound.spec.type} is not registered for the host (E19999)"
            remedy = "register it for the host as well; an operator of unknown shape is tiled there before every launch"
            report.problem("graph.host-placement", what, bound.place(), remedy)
        if preset.dynamic_depend:
            what = f"{DYNAMIC_TILING_DEPEND}: tiling reads the value of {_names(bound, preset.depends)}"
            report.decide(name, STAGE, what)
        report.decide(name, gates.STAGE, f"not asked: {preset.unknown_shape}, so it cannot sink")
        return replace(preset, sink=False)

    def _ask_gates(self, bound: BoundNode, preset: Marks, report: Report) -> Marks:
        products = gates.SINK_PRODUCTS[self.policies["sink_products"]]
        question = gates.GateQuestion(
            self.options.tiling_schedule_optimize, self.options.offline, self.chip, products, bound.spec.placements
        )
        try:
            answer = gates.ask_gates(question)
        except gates.CapabilityQueryError:
            what = f"{self.chip.name} does not say whether it supports the model task update (E19999)"
            remedy = f"let the plugin of the chip state {gates.CAPABILITY}, or compile --offline"
            report.problem("graph.capability", what, bound.place(), remedy)
            return preset
        if answer.passed:
            report.decide(bound.node.name, gates.STAGE, f"{answer.reason}: {TILING_SINK}")
            return Marks(preset.depends, dynamic_depend=True, sink=True, gates=answer.results)
        report.decide(bound.node.name, gates.STAGE, f"{answer.gate} failed ({answer.reason}): {FORCE_UNKNOWN_SHAPE}")
        if not self.options.host_expected:
            report.warn(f"{bound.place()}: the tiling stays on the host: {answer.reason}; {answer.remedy}")
        return Marks(preset.depends, dynamic_depend=True, force_unknown=True, gates=answer.results)


def _names(bound: BoundNode, depends: Iterable[int]) -> str:
    return ", ".join(map(bound.input_words, depends)) or "no declared input (preset by the graph)"
