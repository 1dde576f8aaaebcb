"""All conformance checks of one plugin."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from emu_core.conformance import declared, layouts, limits, programs
from emu_core.conformance.records import Outcome, Subject, Verdict, said
from emu_core.errors import InputError, SqemuError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from emu_core.conformance.records import Program
    from emu_core.plugins import PluginHost

    Check = Callable[[Subject], Iterator[list[str]]]

CHECKS: Mapping[str, Check] = MappingProxyType(
    {
        "hooks": declared.hooks,
        "structs": layouts.structs,
        "chips": limits.chips,
        "policies": declared.policies,
        "explanations": declared.explanations,
        "entries": programs.entries,
        "determinism": programs.determinism,
        "snapshot": programs.snapshots,
    }
)
"""Checks by name; each gives, for each thing that it looks at, what is wrong with it."""


def check_plugin(
    host: PluginHost, name: str, programs: Iterable[Program] = (), checks: Mapping[str, Check] = CHECKS
) -> tuple[Verdict, ...]:
    """The verdict of each of `checks` on the plugin called `name` of `host`.

    Raises:
        InputError: the host has no such plugin (`plugin.absent`).
    """
    info = next((each for each in host.plugins if each.name == name), None)
    if info is None:
        known = ", ".join(each.name for each in host.plugins) or "none"
        raise InputError(f"there is no plugin {name!r}", id="plugin.absent", remedy=f"plugins: {known}")
    subject = Subject(host, info, tuple(programs))
    return tuple(_verdict(check, run, subject) for check, run in checks.items())


def _verdict(name: str, run: Check, subject: Subject) -> Verdict:
    try:
        found = list(run(subject))
    except SqemuError as error:
        found = [[said(error)]]
    wrong = tuple(text for each in found for text in each)
    outcome = Outcome.FAILED if wrong else Outcome.PASSED if found else Outcome.SKIPPED
    return Verdict(name, outcome, len(found), wrong)
