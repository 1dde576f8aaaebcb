"""What is checked: a blob, or a graph that is compiled for it even when it does not fit the chip."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from emu_core.checks import Finding, Level
from emu_core.errors import LimitError, OptionError
from emu_core.policies import PolicySet, Scope
from emu_plugins.compiler.limits import POLICY
from emu_plugins.compiler.stream_ends import SPLIT_MARGIN, TaskList, split_streams
from tools.files import read_bytes
from tools.options import pairs, split_policies
from tools.program import compile_text, program_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emu_core.chips import Chip
    from emu_core.plugins import PluginHost
    from emu_core.policies import PolicySpec
    from formats.blob import Blob
    from tools.program import Wanted

_ROOM = 1 << 48
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
    data = read_bytes(path)
    try:
        program = program_of(path, data, wanted, host)
    except LimitError as error:
        return _too_large(path, data, wanted, host, error)
    return Subject(program.blob, program.policies)


def _too_large(path: str, data: bytes, wanted: Wanted, host: PluginHost, error: LimitError) -> Subject:
    refusal = Finding(Level.ERROR, error.id, error.where, error.what, error.remedy)
    compile_time, rest = split_policies(host, pairs(wanted.policies, "--policy"))
    chip = host.chip(wanted.chip)
    for roomy in (_roomy(chip), replace(_roomy(chip), usable_tasks=_ROOM, sq_depth=_ROOM + 1)):
        as_chip = replace(wanted, chip=cast("str", roomy))  # the compiler takes chips and names
        try:
            blob = compile_text(path, data, as_chip, host, compile_time).blob
        except LimitError:
            continue
        return Subject(_as_split(blob, chip, roomy), rest, refusal)
    return Subject(None, rest, refusal)


def _roomy(chip: Chip) -> Chip:
    """`chip` with room for a program that is too large for it; streams are still split as long as for `chip`."""
    return replace(
        chip,
        max_streams=_ROOM,
        max_events=_ROOM,
        max_notifies=_ROOM,
        persistent_tasks=_ROOM,
        memory_bytes=_ROOM * _ROOM,
    )


def _as_split(blob: Blob, chip: Chip, roomy: Chip) -> Blob | None:
    """`blob`, compiled for `roomy`, with its streams split as for `chip`; None where that cannot be told."""
    if roomy.usable_tasks == chip.usable_tasks or blob.policies.get(POLICY) != "on":
        return blob
    if blob.unknown_shape:
        return None
    listed = split_streams(TaskList(blob.tasks, blob.streams, blob.events), chip.usable_tasks - SPLIT_MARGIN)
    return replace(blob, tasks=listed.tasks, streams=listed.streams, events=listed.events)


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
