"""Options that choose a runtime and where the tiling runs, and what they mean together with the older ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import click

from emu_core.errors import OptionError
from tools.options import pairs

if TYPE_CHECKING:
    from collections.abc import Callable

    from emu_core.policies import PolicySet

F = TypeVar("F", bound="Callable[..., Any]")

POLICY, V1, V2 = "runtime", "v1", "v2"
_SINKS = {"host": "0", "sink": "1"}
_OFF = ("", "0")


def runtime_option(function: F) -> F:
    """`--runtime`: who runs the program; the same as policy `runtime`."""
    return click.option(
        "--runtime", type=click.Choice([V1, V2]), default=None, help="v1: the device runs it; v2: an execution graph."
    )(function)


def tiling_option(function: F) -> F:
    """`--tiling`: where operators whose tiling reads values are tiled."""
    return click.option(
        "--tiling",
        type=click.Choice([*_SINKS]),
        default=None,
        help="Where tiling that reads values runs: --tiling_schedule_optimize by its meaning.",
    )(function)


def runtime_of(policies: PolicySet) -> str:
    """The runtime that policies name; empty when the loader has no such policy."""
    return policies[POLICY] if POLICY in {spec.name for spec in policies} else ""


def with_runtime(policies: tuple[str, ...], runtime: str | None) -> tuple[str, ...]:
    """`policies` with the runtime that was asked for.

    Raises:
        OptionError: the policies name another one (`option.contradiction`).
    """
    if runtime is None:
        return policies
    given = pairs(policies, "--policy").get(POLICY)
    if given not in (None, runtime):
        raise OptionError(
            f"--runtime {runtime} and --policy {POLICY}={given} contradict each other",
            id="option.contradiction",
            remedy="give one of the two",
        )
    return (*policies, f"{POLICY}={runtime}")


def sink_flag(tiling: str | None, tiling_schedule_optimize: str | None) -> str | None:
    """The value of `--tiling_schedule_optimize` that both flags come to; a bad one is left for the compiler to refuse.

    Raises:
        OptionError: one says host and the other sink (E10001).
    """
    if tiling is None:
        return tiling_schedule_optimize
    wanted = _SINKS[tiling]
    if tiling_schedule_optimize is None:
        return wanted
    means = "0" if tiling_schedule_optimize in _OFF else tiling_schedule_optimize
    if means in _SINKS.values() and means != wanted:
        raise OptionError(
            f"--tiling {tiling} and --tiling_schedule_optimize={tiling_schedule_optimize} contradict each other",
            id="E10001",
            remedy="give one of the two",
        )
    return tiling_schedule_optimize
