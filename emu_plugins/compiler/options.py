"""Options of a compilation: which values are legal at which entry point, and which one is in force.

Mirrors the vendor's `CheckTilingScheduleOptimizeParamValid` (command line and `aclgrphBuildInitialize`, E10006), the
generic "value in set" checker of `GEInitialize`, sessions and `AddGraph` (E10001), the thread-local context that looks
an option up in the graph, then the session, then the process, and the list of options that OM2 output refuses
(`reference/tiling_sink_compiler.md` 2).

| level, first to last | entry point of the vendor | a bad value is |
|---|---|---|
| command line | `atc --tiling_schedule_optimize` | E10006 |
| option | `aclgrphBuildModel` | E10001 |
| graph option | `AddGraph` | E10001 |
| session option | `GeSession` | E10001 |
| global option | `aclgrphBuildInitialize` offline, `GEInitialize` online | E10006; E10001 |
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
DETERMINISTIC = "ge.deterministic"
DETERMINISTIC_LEVEL = "ge.deterministicLevel"
OM2 = "7"
GLOBAL = "global option"

_ASKS_FOR_HOST = ("", "0")
_ALLOWED: Mapping[str, tuple[str, ...] | None] = {
    TILING_SCHEDULE_OPTIMIZE: ("", "0", "1"),
    BUILD_GRAPH_MODE: ("offline", "online"),
    OFFLINE_MODE: None,
    DETERMINISTIC: ("0", "1"),
    DETERMINISTIC_LEVEL: ("0", "1", "2"),
}


@dataclass(frozen=True)
class BuildOptions:
    """Options in force.

    Attributes:
        tiling_schedule_optimize: gate G1; only the exact value "1" turns it on.
        offline: the device is not asked for its capability (gate G2).
        given_by: which level `tiling_schedule_optimize` came from, for messages.
        host_expected: the command line asked for host tiling, or nobody will sink: staying there is no news.
        deterministic, deterministic_level: what tiling functions are told (`ge.deterministic`, `…Level`).
    """

    tiling_schedule_optimize: bool
    offline: bool
    given_by: str
    host_expected: bool = False
    deterministic: int = 0
    deterministic_level: int = 0


def resolve_options(given: CompileOptions, graph_options: Mapping[str, str], report: Report) -> BuildOptions:
    """The options in force, after every value of every level has been checked.

    Raises:
        OptionError: E10006 or E10001, by the level of the bad value.
    """
    levels = _levels(given, graph_options)
    merged = {key: value for _, options in reversed(levels) for key, value in options.items()}
    _check_flag(given.tiling_schedule_optimize)
    for level, options in levels:
        _check_keys(options, level, report)
    mode = merged.get(BUILD_GRAPH_MODE, "offline")
    offline = given.offline if given.offline is not None else mode == "offline"
    for level, options in levels:
        _check_values(options, level, offline=offline)
    _refuse_om2(merged, given.tiling_schedule_optimize)
    value, level = _in_force(given.tiling_schedule_optimize, levels)
    report.decide("", STAGE, f"{TILING_SCHEDULE_OPTIMIZE} is {value!r} ({level}); {'offline' if offline else 'online'}")
    flags = (int(merged.get(key, "0")) for key in (DETERMINISTIC, DETERMINISTIC_LEVEL))
    expected = given.never_sinks or given.tiling_schedule_optimize in _ASKS_FOR_HOST
    return BuildOptions(value == "1", offline, level, expected, *flags)


def _levels(given: CompileOptions, graph_options: Mapping[str, str]) -> tuple[tuple[str, Mapping[str, str]], ...]:
    """The levels below the command line, the one that wins first."""
    return (
        ("option", given.options),
        ("graph option", graph_options),
        ("session option", given.session_options),
        (GLOBAL, given.global_options),
    )


def _in_force(flag: str | None, levels: tuple[tuple[str, Mapping[str, str]], ...]) -> tuple[str, str]:
    if flag is not None:
        return flag, "command line"
    found = ((options[TILING_SCHEDULE_OPTIMIZE], level) for level, options in levels if _is_given(options))
    return next(found, ("0", "default"))


def _is_given(options: Mapping[str, str]) -> bool:
    return TILING_SCHEDULE_OPTIMIZE in options


def _refuse_om2(merged: Mapping[str, str], flag: str | None) -> None:
    if merged.get(OFFLINE_MODE) == OM2 and (flag is not None or _is_given(merged)):
        raise OptionError(
            "the option is not supported in om2 mode, whatever its value",
            id="E10001",
            where=f"option {TILING_SCHEDULE_OPTIMIZE}",
            remedy=f"drop it, or do not set {OFFLINE_MODE} to {OM2}",
            refusal=Refusal.UNSUPPORTED_HERE,
        )


def _check_flag(value: str | None) -> None:
    if value is not None and value not in (*_ASKS_FOR_HOST, "1"):
        raise _one_or_zero(value, "--tiling_schedule_optimize")


def _one_or_zero(value: str, where: str) -> OptionError:
    return OptionError(f"value {show(value)} is invalid", id="E10006", where=where, remedy="give 1 or 0")


def _check_keys(options: Mapping[str, str], level: str, report: Report) -> None:
    for key in options:
        if key not in _ALLOWED:
            hint = report.suggest(key, _ALLOWED)
            report.warn(f"{level} {show(key)} is not known here and has no effect" + (f"; {hint}" if hint else ""))


def _check_values(options: Mapping[str, str], level: str, *, offline: bool) -> None:
    for key, value in options.items():
        allowed = _ALLOWED.get(key)
        if allowed is None or value in allowed:
            continue
        if level == GLOBAL and offline and key == TILING_SCHEDULE_OPTIMIZE:
            raise _one_or_zero(value, f"{level} {key}")
        raise OptionError(
            f"value {show(value)} is not in the valid range",
            id="E10001",
            where=f"{level} {key}",
            remedy="give one of " + ", ".join(repr(each) for each in allowed),
        )
