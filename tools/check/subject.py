"""What is checked: a blob, or a graph that is compiled for it even when it does not fit the chip."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from emu_core.checks import Finding, Level
from emu_core.errors import LimitError, OptionError
from emu_core.policies import PolicySet, Scope
from tools.files import STDIN, read_bytes
from tools.options import pairs, split_policies
from tools.program import compile_text, load_program

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emu_core.chips import Chip
    from emu_core.plugins import PluginHost
    from emu_core.policies import PolicySpec
    from formats.blob import Blob
    from tools.program import Wanted

_ROOM = 1 << 62
"""More than any program needs of anything."""


@dataclass(frozen=True)
class Subject:
    """A program to check: its blob (None when not even a chip with more room takes it), and what compiling found."""

    blob: Blob | None
    policies: Mapping[str, str]
    refusal: Finding | None = None


def read_subject(path: str, wanted: Wanted, host: PluginHost) -> Subject:
    """Read `path` (`-`: standard input); a graph that the chip has no room for is compiled as if it had.

    Raises:
        InputError, GraphError, OptionError, FormatError: as `load_program`.
    """
    try:
        program = load_program(path, wanted, host)
    except LimitError as error:
        return _too_large(path, wanted, host, error)
    return Subject(program.blob, program.policies)


def _too_large(path: str, wanted: Wanted, host: PluginHost, error: LimitError) -> Subject:
    refusal = Finding(Level.ERROR, error.id, error.where, error.what, error.remedy)
    compile_time, rest = split_policies(host, pairs(wanted.policies, "--policy"))
    if path == STDIN:  # it has been read
        return Subject(None, rest, refusal)
    as_chip = replace(wanted, chip=cast("str", _roomy(host.chip(wanted.chip))))  # the compiler takes chips and names
    try:
        blob = compile_text(path, read_bytes(path), as_chip, host, compile_time).blob
    except LimitError:
        return Subject(None, rest, refusal)
    return Subject(blob, rest, refusal)


def _roomy(chip: Chip) -> Chip:
    """`chip` without limits, so that a program that is too large for it can be measured."""
    return replace(
        chip,
        usable_tasks=_ROOM,
        max_streams=_ROOM,
        max_events=_ROOM,
        max_notifies=_ROOM,
        persistent_tasks=_ROOM,
        memory_bytes=_ROOM,
    )


def policies_in_force(blob: Blob | None, given: Mapping[str, str], host: PluginHost) -> PolicySet:
    """Values of scope *compile* as the blob records them, all others as given or by default.

    A value of the blob that no loaded plugin knows is left out: it can decide nothing any more.
    """
    specs = {spec.name: spec for spec in host.policy_specs}
    recorded = {} if blob is None else {n: v for n, v in blob.policies.items() if _known(specs, n, v)}
    return PolicySet(host.policy_specs, {**recorded, **given})


def _known(specs: Mapping[str, PolicySpec], name: str, value: str) -> bool:
    spec = specs.get(name)
    if spec is None or spec.scope is not Scope.COMPILE:
        return False
    try:
        spec.check(value)
    except OptionError:
        return False
    return True


def chip_of(subject: Subject, asked: str, host: PluginHost, *, explicit: bool) -> Chip:
    """The chip to check against: the blob's own unless the user asked for one; `InputError` for an unknown one."""
    return host.chip(asked if explicit or subject.blob is None else subject.blob.chip)
