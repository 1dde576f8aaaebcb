"""The chip with smaller limits."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from emu_core.chip_figures import FIGURES as CHIP_FIGURES
from emu_core.errors import InputError
from emu_core.injection.plan import ShrinkLimit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emu_core.chips import Chip
    from emu_core.injection.plan import LimitName, Plan

FIGURES: Mapping[LimitName, tuple[str, ...]] = MappingProxyType(
    {
        "streams": ("max_streams",),
        "events": ("max_events",),
        "notifies": ("max_notifies",),
        "tasks": ("usable_tasks",),
        "all_tasks": ("persistent_tasks",),
        "ring": ("sq_depth",),
        "completions": ("cq_depth",),
        "cores": ("core_num_aic", "core_num_aiv"),
        "ai_cpus": ("ai_cpus",),
        "memory": ("memory_bytes",),
    }
)
"""Figures of a chip that a limit of a plan stands for; cores: at most so many of each kind."""


def shrunk(chip: Chip, plan: Plan) -> tuple[Chip, tuple[str, ...]]:
    """`chip` with the limits of `plan`, and what was done, one sentence each.

    Raises:
        InputError: a limit is not smaller than the chip's, or no chip has so little (`injection.limit`).
    """
    told = []
    for index, injection in enumerate(plan.injections):
        if isinstance(injection, ShrinkLimit):
            before = {name: int(getattr(chip, name)) for name in FIGURES[injection.limit]}
            if injection.to >= max(before.values()):
                raise _not_smaller(index, injection, max(before.values()))
            _require_possible(index, injection)
            after: dict[str, Any] = {name: min(value, injection.to) for name, value in before.items()}
            usable = min(chip.usable_tasks, after.get("sq_depth", chip.sq_depth) - 1)
            chip = replace(chip, **{"usable_tasks": usable, **after})
            told.append(_text(chip.name, injection, before))
    return chip, tuple(told)


def _require_possible(index: int, injection: ShrinkLimit) -> None:
    least = max(CHIP_FIGURES[name].least or 0 for name in FIGURES[injection.limit])
    least = max(least, 1 if injection.limit == "cores" else 0)
    if injection.to < least:
        raise InputError(
            f"would set {injection.limit} to {injection.to}, and no chip has so few",
            id="injection.limit",
            where=f"injections[{index}]",
            remedy=f"give {least} or more",
        )


def _text(chip: str, injection: ShrinkLimit, before: Mapping[str, int]) -> str:
    changed = ", ".join(f"{name} {value} -> {min(value, injection.to)}" for name, value in before.items())
    return f"injected: {chip} with fewer {injection.limit.replace('_', ' ')} ({changed})"


def _not_smaller(index: int, injection: ShrinkLimit, present: int) -> InputError:
    return InputError(
        f"would set {injection.limit} to {injection.to}, and the chip has {present}",
        id="injection.limit",
        where=f"injections[{index}]",
        remedy=f"give fewer than {present}",
    )
