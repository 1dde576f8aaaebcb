"""Options of a compilation: which values are legal, and which one is in force.

Mirrors the vendor's `CheckTilingScheduleOptimizeParamValid` (command line, E10006), the generic
"value in set" checker of sessions and `AddGraph` (E10001), and the list of options that OM2 output
refuses (`reference/tiling_sink_compiler.md` 2).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from emu_core.errors import OptionError, Refusal
from emu_plugins.compiler.report import show

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emu_core.graph import CompileOptions
    from emu_plugins.compiler.report import Report

STAGE = "options"
TILING_SCHEDULE_OPTIMIZE = "ge.tiling_schedule_optimize"
BUILD_GRAPH_MODE = "ge.buildGraphMode"
OFFLINE_MODE = "ge.offlineMode"
OM2 = "7"

_ALLOWED: Mapping[str, tuple[str, ...] | None] = {
    TILING_SCHEDULE_OPTIMIZE: ("", "0", "1"),
    BUILD_GRAPH_MODE: ("offline", "online"),
    OFFLINE_MODE: None,
}


@dataclass(frozen=True)
class BuildOptions:
    """Options in force.

    Attributes:
        tiling_schedule_optimize: gate G1; only the exact value "1" turns it on.
        offline: the device is not asked for its capability (gate G2).
        given_by: which level `tiling_schedule_optimize` came from, for messages.
    """

    tiling_schedule_optimize: bool
    offline: bool
    given_by: str


def resolve_options(given: CompileOptions, graph_options: Mapping[str, str], report: Report) -> BuildOptions:
    """The options in force: command line before `--option` before graph, each level checked.

    Raises:
        OptionError: E10006 for the command-line flag, E10001 for a value of the other levels.
    """
    _check_flag(given.tiling_schedule_optimize)
    _check_level(given.options, "option", report)
    _check_level(graph_options, "graph option", report)
    merged = {**graph_options, **given.options}
    if merged.get(OFFLINE_MODE) == OM2 and (given.tiling_schedule_optimize is not None or _is_given(merged)):
        raise OptionError(
            "the option is not supported in om2 mode, whatever its value",
            id="E10001",
            where=f"option {TILING_SCHEDULE_OPTIMIZE}",
            remedy=f"drop it, or do not set {OFFLINE_MODE} to {OM2}",
            refusal=Refusal.UNSUPPORTED_HERE,
        )
    value, level = _in_force(given, graph_options)
    offline = given.offline if given.offline is not None else merged.get(BUILD_GRAPH_MODE, "offline") == "offline"
    report.decide("", STAGE, f"{TILING_SCHEDULE_OPTIMIZE} is {value!r} ({level}); {'offline' if offline else 'online'}")
    return BuildOptions(value == "1", offline, level)


def _is_given(merged: Mapping[str, str]) -> bool:
    return TILING_SCHEDULE_OPTIMIZE in merged


def _in_force(given: CompileOptions, graph_options: Mapping[str, str]) -> tuple[str, str]:
    if given.tiling_schedule_optimize is not None:
        return given.tiling_schedule_optimize, "command line"
    if TILING_SCHEDULE_OPTIMIZE in given.options:
        return given.options[TILING_SCHEDULE_OPTIMIZE], "option"
    if TILING_SCHEDULE_OPTIMIZE in graph_options:
        return graph_options[TILING_SCHEDULE_OPTIMIZE], "graph option"
    return "0", "default"


def _check_flag(value: str | None) -> None:
    if value is not None and value not in ("", "0", "1"):
        raise OptionError(
            f"value {show(value)} is invalid", id="E10006", where="--tiling_schedule_optimize", remedy="give 1 or 0"
        )


def _check_level(options: Mapping[str, str], level: str, report: Report) -> None:
    for key, value in options.items():
        if key not in _ALLOWED:
            hint = report.suggest(key, _ALLOWED)
            report.warn(f"{level} {show(key)} is not known here and has no effect" + (f"; {hint}" if hint else ""))
            continue
        allowed = _ALLOWED[key]
        if allowed is not None and value not in allowed:
            raise OptionError(
                f"value {show(value)} is not in the valid range",
                id="E10001",
                where=f"{level} {key}",
                remedy="give one of " + ", ".join(repr(each) for each in allowed),
            )
