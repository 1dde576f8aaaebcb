"""The gates: may the tiling of a value-dependent operator move to the device?

Mirrors the vendor's `IsSupportTilingSink` and `JudgeUnknownShapeForTilingDependNode`
(`reference/tiling_sink_compiler.md` 4.3, seed 4.1). Gates are asked in order and stop at the first failure.

| gate | passes when |
|---|---|
| G1 option | `ge.tiling_schedule_optimize` is "1" |
| product | policy `sink_products` names the chip's product, or the vendor's pages do not speak of it |
| G2 device | compiling offline, or the chip supports the model task update feature |
| G3 placement | the operator's tiling may run on the AI CPU |

The query of G2 (`rtGetDeviceCapability` of reserved device 64) answers for the chip, not for a card. It fails for a
chip whose description does not say whether it has the feature; then the compilation ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
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
VENDOR_PRODUCTS = SINK_PRODUCTS["all"] | {"310B", "910", "350"}
"""Products that the vendor's pages speak of; for a chip of somebody else only its features count."""
CAPABILITY = "model_task_update"


class CapabilityQueryError(Exception):
    """The chip's description does not say whether it supports the model task update."""


@dataclass(frozen=True)
class GateQuestion:
    """Everything the gates ask; `products` is a value of :data:`SINK_PRODUCTS`."""

    option_on: bool
    offline: bool
    chip: Chip
    products: frozenset[str]
    placements: Placement


class GateState(StrEnum):
    """What became of one gate."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_ASKED = "not asked"


@dataclass(frozen=True)
class GateResult:
    """One gate: its name, what became of it, and why."""

    gate: str
    state: GateState
    reason: str


@dataclass(frozen=True)
class GateAnswer:
    """`passed`, and the reason: of the first gate that failed, or that all passed; `remedy` opens the gate.

    Attributes:
        results: every gate in order, those that were not asked included.
    """

    passed: bool
    gate: str
    reason: str
    remedy: str = ""
    results: tuple[GateResult, ...] = ()


@dataclass(frozen=True)
class _Gate:
    name: str
    passes: Callable[[GateQuestion], bool]
    passed: Callable[[GateQuestion], str]
    failed: Callable[[GateQuestion], str]
    remedy: str


def task_update_supported(chip: Chip) -> bool:
    """The capability query.

    Raises:
        CapabilityQueryError: the chip's description has no answer.
    """
    if CAPABILITY in chip.absent:
        raise CapabilityQueryError(chip.name)
    return chip.model_task_update


_GATES = (
    _Gate(
        "G1 option",
        lambda q: q.option_on,
        lambda _: 'ge.tiling_schedule_optimize is "1"',
        lambda _: 'ge.tiling_schedule_optimize is not "1"',
        'to sink it, give --tiling_schedule_optimize 1, or put "ge.tiling_schedule_optimize": "1" into the graph\'s '
        "options",
    ),
    _Gate(
        "product",
        lambda q: q.chip.product in q.products or q.chip.product not in VENDOR_PRODUCTS,
        lambda q: f"product {q.chip.product} may sink",
        lambda q: f"product {q.chip.product} of {q.chip.name} is not one of {', '.join(sorted(q.products))}",
        "to sink it, compile for one of these products; policy sink_products decides which they are",
    ),
    _Gate(
        "G2 device",
        lambda q: q.offline or task_update_supported(q.chip),
        lambda q: (
            "compiling offline, the device is not asked" if q.offline else f"{q.chip.name} has the model task update"
        ),
        lambda q: f"compiling online and {q.chip.name} does not support the model task update",
        "to sink it, compile --offline, or for a chip that supports the update (model_task_update in sqemu chips NAME)",
    ),
    _Gate(
        "G3 placement",
        lambda q: bool(q.placements & Placement.AICPU),
        lambda _: "the operator's tiling is registered for the AI CPU",
        lambda _: "the operator's tiling is not registered for the AI CPU",
        "to sink it, add Placement.AICPU to the placements of the operator's plugin",
    ),
)


def ask_gates(question: GateQuestion) -> GateAnswer:
    """The answer to `question`; nothing behind the first failing gate is asked.

    Raises:
        CapabilityQueryError: the device had to be asked and could not answer.
    """
    results: list[GateResult] = []
    for at, gate in enumerate(_GATES):
        if not gate.passes(question):
            reason = gate.failed(question)
            results.append(GateResult(gate.name, GateState.FAILED, reason))
            behind = (GateResult(each.name, GateState.NOT_ASKED, f"{gate.name} failed") for each in _GATES[at + 1 :])
            return GateAnswer(
                passed=False, gate=gate.name, reason=reason, remedy=gate.remedy, results=(*results, *behind)
            )
        results.append(GateResult(gate.name, GateState.PASSED, gate.passed(question)))
    return GateAnswer(passed=True, gate="", reason="all gates passed", results=tuple(results))
