"""The gates: may the tiling of a value-dependent operator move to the device?

Mirrors the vendor's `IsSupportTilingSink` and `JudgeUnknownShapeForTilingDependNode`
(`reference/tiling_sink_compiler.md` 4.3, seed 4.1). Gates are asked in order and stop at the first failure.

| gate | passes when |
|---|---|
| G1 option | `ge.tiling_schedule_optimize` is "1" |
| product | the chip's product is one that policy `sink_products` names |
| G2 device | compiling offline, or the chip supports the model task update feature |
| G3 placement | the operator's tiling may run on the AI CPU |
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from emu_core.operators import Placement

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from emu_core.chips import Chip

STAGE = "gates"
SINK_PRODUCTS: Mapping[str, frozenset[str]] = MappingProxyType(
    {"all": frozenset({"A2", "A3", "310P", "950"}), "listed": frozenset({"A2", "A3"})}
)
"""Products that may sink, by value of policy `sink_products` (option pages against the seed's list)."""


@dataclass(frozen=True)
class GateQuestion:
    """Everything the gates ask; `products` is a value of :data:`SINK_PRODUCTS`."""

    option_on: bool
    offline: bool
    chip: Chip
    products: frozenset[str]
    placements: Placement


@dataclass(frozen=True)
class GateAnswer:
    """`passed`, and the reason: of the first gate that failed, or that all passed; `remedy` opens the gate."""

    passed: bool
    gate: str
    reason: str
    remedy: str = ""


@dataclass(frozen=True)
class _Gate:
    name: str
    passes: Callable[[GateQuestion], bool]
    failed: Callable[[GateQuestion], str]
    remedy: str


_GATES = (
    _Gate(
        "G1 option",
        lambda q: q.option_on,
        lambda _: 'ge.tiling_schedule_optimize is not "1"',
        'to sink it, give --tiling_schedule_optimize 1, or put "ge.tiling_schedule_optimize": "1" into the graph\'s '
        "options",
    ),
    _Gate(
        "product",
        lambda q: q.chip.product in q.products,
        lambda q: f"product {q.chip.product} of {q.chip.name} is not one of {', '.join(sorted(q.products))}",
        "to sink it, compile for another chip, or let policy sink_products name this product",
    ),
    _Gate(
        "G2 device",
        lambda q: q.offline or q.chip.model_task_update,
        lambda q: f"compiling online and {q.chip.name} does not support the model task update",
        "to sink it, compile --offline, or for a chip that supports the update (model_task_update in sqemu chips NAME)",
    ),
    _Gate(
        "G3 placement",
        lambda q: bool(q.placements & Placement.AICPU),
        lambda _: "the operator's tiling is not registered for the AI CPU",
        "to sink it, add Placement.AICPU to the placements of the operator's plugin",
    ),
)


def ask_gates(question: GateQuestion) -> GateAnswer:
    """The answer to `question`; nothing behind the first failing gate is asked."""
    for gate in _GATES:
        if not gate.passes(question):
            return GateAnswer(passed=False, gate=gate.name, reason=gate.failed(question), remedy=gate.remedy)
    return GateAnswer(passed=True, gate="", reason="all gates passed")
