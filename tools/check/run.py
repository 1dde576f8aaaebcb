"""`sqemu check` as a function: read, measure, check, show, and the exit code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from emu_core.checks import Finding, Level, run_checks
from emu_core.limits import uses, wait_entries
from tools.check import as_json as json_output
from tools.check import as_text
from tools.check.subject import chip_of, policies_in_force, read_subject
from tools.given_plugins import make_host

if TYPE_CHECKING:
    from emu_core.chips import Chip
    from emu_core.limits import Use
    from emu_core.plugins import PluginHost
    from emu_core.policies import PolicySet
    from formats.blob import Blob
    from tools.check.subject import Subject
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


def check(
    program: str, wanted: Wanted, without: tuple[str, ...], *, explicit_chip: bool, strict: bool, as_json: bool
) -> int:
    """Check `program` and print the outcome; returns the exit code."""
    host = make_host(without)
    subject = read_subject(program, wanted, host)
    chip = chip_of(subject, wanted.chip, host, explicit=explicit_chip)
    policies = policies_in_force(subject.blob, subject.policies, host)
    outcome = examine(program, subject, chip, policies, host)
    (json_output.show if as_json else as_text.show)(outcome, host)
    bad = outcome.count(Level.ERROR) or (strict and any(found for _, found in outcome.checks))
    return 1 if bad else 0


def examine(program: str, subject: Subject, chip: Chip, policies: PolicySet, host: PluginHost) -> Outcome:
    """Limits and findings of a program that was read."""
    blob, refusal = subject.blob, subject.refusal
    if blob is None:
        return Outcome(program, chip, None, (), ((COMPILE, (refusal,) if refusal else ()),))
    used = uses(blob, chip, per_wait=wait_entries(policies))
    checks = tuple(run_checks(blob, chip, policies, host))
    if refusal and not any(use.exceeded for use in used):
        checks = ((COMPILE, (refusal,)), *checks)
    return Outcome(program, chip, blob, used, checks)
