"""`sqemu check` as a function: read, measure, check, show, and the exit code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from emu_core.checks import Finding, Level, run_checks
from emu_core.errors import InputError
from emu_plugins.compiler.limits import uses_in_words
from tools.check import as_json as json_output
from tools.check import as_text
from tools.check.subject import chip_of, policies_in_force, read_subject
from tools.explore import as_json as exploration_as_json
from tools.explore import as_text as exploration_as_text
from tools.explore.outcomes import Subject as Explored
from tools.explore.run import explore
from tools.given_plugins import make_host
from tools.npz import NpzArrays
from tools.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emu_core.chips import Chip
    from emu_core.limits import Use
    from emu_core.plugins import PluginHost
    from emu_core.policies import PolicySet
    from formats.blob import Blob
    from tools.check.subject import Subject
    from tools.explore.run import Exploration
    from tools.program import Wanted

COMPILE = "compile"
"""Name under which a refusal of the compiler is listed."""


@dataclass(frozen=True)
class Outcome:
    """Everything that was found: `blob` is None when the program is too large to be measured."""

    program: str
    chip: Chip
    blob: Blob | None
    uses: tuple[Use, ...]
    checks: tuple[tuple[str, tuple[Finding, ...]], ...]

    def count(self, level: Level) -> int:
        """Findings of a level."""
        return sum(each.level is level for _, found in self.checks for each in found)


@dataclass(frozen=True)
class Exploring:
    """How many other schedules to run, which ones, and with which inputs (a file per execution)."""

    schedules: int
    seed: int
    inputs: tuple[str, ...]


def check(
    program: str,
    wanted: Wanted,
    without: tuple[str, ...],
    *,
    explicit_chip: bool,
    strict: bool,
    as_json: bool,
    exploring: Exploring | None = None,
) -> int:
    """Check `program` and print the outcome; returns the exit code."""
    host = make_host(without)
    subject = read_subject(program, wanted, host)
    chip = chip_of(subject, wanted.chip, host, explicit=explicit_chip)
    policies = policies_in_force(subject.blob, subject.policies, host)
    outcome = examine(program, subject, chip, policies, host)
    found = None
    if exploring is not None and outcome.blob is not None and not any(use.exceeded for use in outcome.uses):
        found = explored(outcome.blob, chip, subject.policies, host, exploring)
    (json_output.show if as_json else as_text.show)(outcome, host)
    bad = outcome.count(Level.ERROR) or (strict and any(found for _, found in outcome.checks))
    if found is not None:
        (exploration_as_json.show if as_json else exploration_as_text.show)(found)
        bad = bad or not found.ok
    return 1 if bad else 0


def explored(blob: Blob, chip: Chip, policies: Mapping[str, str], host: PluginHost, asked: Exploring) -> Exploration:
    """The program under other schedules.

    Raises:
        InputError: input arrays are missing or do not fit; and whatever loading raises.
    """
    if not asked.inputs and blob.inputs:
        raise InputError(
            "the program has inputs, and --explore runs it",
            id="input.none",
            remedy="give --inputs IN.npz with its input arrays",
        )
    inputs = [dict(NpzArrays(path)) for path in asked.inputs] or [{}]
    with Progress("schedule", asked.schedules) as progress:
        subject = Explored(blob, chip, policies, host, inputs)
        return explore(subject, asked.schedules, asked.seed, lambda _: progress.step())


def examine(program: str, subject: Subject, chip: Chip, policies: PolicySet, host: PluginHost) -> Outcome:
    """Limits and findings of a program that was read."""
    blob, refusal = subject.blob, subject.refusal
    if blob is None:
        return Outcome(program, chip, None, (), ((COMPILE, (refusal,) if refusal else ()),))
    used = uses_in_words(blob, chip, policies)
    checks = tuple(run_checks(blob, chip, policies, host))
    if refusal and not any(use.exceeded for use in used):
        checks = ((COMPILE, (refusal,)), *checks)
    return Outcome(program, chip, blob, used, checks)
