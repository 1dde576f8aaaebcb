"""Checks that run something: entries of each kind, and the programs that were given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from emu_core.conformance.layouts import SQE_BYTES, entry_of
from emu_core.conformance.records import Program, said
from emu_core.device import Device
from emu_core.errors import SqemuError
from emu_core.snapshot.contract import differences, fingerprint, run_steps
from emu_core.snapshot.session import Idle

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emu_core.chips import Chip
    from emu_core.conformance.records import Subject
    from emu_core.plugins import PluginHost
    from emu_core.snapshot.session import Session
    from formats import CStruct

MOST_STEPS = 1_000_000
"""Steps after which a program is given up."""
REPEATED = 3
"""Entries of a kind in its program."""


@dataclass(frozen=True)
class Kind:
    """The program that is `REPEATED` entries of one layout, with nothing set but what tells the kind."""

    chip: Chip
    struct: CStruct

    def __call__(self, host: PluginHost) -> tuple[Device, Session]:
        """A new device with the entries behind its doorbell."""
        device = Device(self.chip, plugins=host)
        stream = device.create_stream("conformance", bound=False)
        for _ in range(REPEATED):
            stream.queue.append(entry_of(self.struct)[:SQE_BYTES])
        device.scheduler.ring_doorbell(stream)
        return device, Idle()


def programs_of(subject: Subject) -> tuple[Program, ...]:
    """A program per kind of entry and chip of the plugin, then those that were given."""
    kinds = [s for s in subject.structs if s.sqe_type is not None and s.size == SQE_BYTES]
    own = [
        Program(f"{struct.struct_name} on {chip.name}", Kind(chip, struct), before=1)
        for chip in subject.chips
        for struct in kinds
        if struct.family == chip.family
    ]
    return (*own, *subject.programs)


def entries(subject: Subject) -> Iterator[list[str]]:
    """What is wrong with each program when it runs to its end; faults of the device are allowed."""
    for program in programs_of(subject):
        yield _tried(subject, program, _ends)


def determinism(subject: Subject) -> Iterator[list[str]]:
    """How two runs of each program differ."""
    for program in programs_of(subject):
        yield _tried(subject, program, _twice)


def snapshots(subject: Subject) -> Iterator[list[str]]:
    """Where each program goes another way after a snapshot."""
    for program in programs_of(subject):
        yield _tried(subject, program, _forked)


def _tried(subject: Subject, program: Program, check: _Check) -> list[str]:
    try:
        return [f"{program.name}: {what}" for what in check(subject.host, program)]
    except SqemuError as error:
        return [f"{program.name}: {said(error)}"]
    except Exception as error:  # noqa: BLE001 - whatever a plugin does, the other checks go on
        return [f"{program.name}: raised {said(error)}"]


def _ends(host: PluginHost, program: Program) -> Iterator[str]:
    device, session = program.make(host)
    if run_steps(device, session, MOST_STEPS) == MOST_STEPS:
        yield f"does not end within {MOST_STEPS} steps"


def _twice(host: PluginHost, program: Program) -> Iterator[str]:
    first, second = (_result(host, program) for _ in range(2))
    parts = [part for part, value in first.items() if second[part] != value]
    if parts:
        yield f"two runs differ in {', '.join(parts)}"


def _result(host: PluginHost, program: Program) -> dict[str, object]:
    device, session = program.make(host)
    run_steps(device, session, MOST_STEPS)
    return fingerprint(device)


def _forked(host: PluginHost, program: Program) -> Iterator[str]:
    device, session = program.make(host)
    for way, parts in differences(device, session, program.before, program.after).items():
        if parts:
            yield f"after a snapshot ({way}) {', '.join(parts)} differ"


if TYPE_CHECKING:
    from collections.abc import Callable

    _Check = Callable[[PluginHost, Program], Iterator[str]]
