"""From a graph, a task blob, a run record or a recording to a device and what the host does to it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from emu_core.device import Device
from emu_core.errors import InputError
from emu_core.policies import Scope
from emu_core.snapshot.recording import MAGIC, Replayed, decoded_recording
from emu_core.snapshot.session import Executions
from tools.files import read_bytes
from tools.npz import NpzArrays
from tools.program import program_of
from tools.record.reader import Record, is_record

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from emu_core.plugins import PluginHost
    from emu_core.snapshot.session import Session
    from formats.blob import Blob
    from tools.program import Wanted


@dataclass(frozen=True)
class Target:
    """A device, and what the host program does to it."""

    device: Device
    session: Session


def load(path: str, inputs: Sequence[str], wanted: Wanted, host: PluginHost, chip: str | None) -> Target:
    """The program in `path`, loaded, or the recording there; `chip`: asked for by the user, else the program's own.

    Raises:
        InputError: inputs are missing (`input.none`), or are not those of the record (`debug.inputs`).
        GraphError, OptionError, LimitError, FormatError: as for `sqemu run`.
    """
    data = read_bytes(path)
    if data[: len(MAGIC)] == MAGIC:
        recording = decoded_recording(data, host, path)
        device = recording.start.fork()
        return Target(device, Replayed(device, recording))
    if is_record(data):
        record = Record(data, path)
        blob, policies = record.blob, _policies(record, host)
        _require_same(record, inputs)
    else:
        program = program_of(path, data, wanted, host)
        blob, policies = program.blob, program.policies
    return _loaded(blob, Device(chip or blob.chip, policies, host), inputs)


def _loaded(blob: Blob, device: Device, inputs: Sequence[str]) -> Target:
    model = device.load(blob)
    if model.inputs and not inputs:
        names = ", ".join(port.name for port in model.inputs)
        raise InputError(
            f"the graph has inputs ({names})", id="input.none", remedy="give --inputs IN.npz with these arrays"
        )
    arrays = [dict(NpzArrays(name)) for name in inputs] or [{}]
    return Target(device, Executions(model, arrays))


def _policies(record: Record, host: PluginHost) -> dict[str, str]:
    """Policies of the record that are not decided at compile time."""
    given = record.manifest.get("policies", {})
    found: Mapping[str, object] = given if isinstance(given, dict) else {}
    return {
        spec.name: str(found[spec.name])
        for spec in host.policy_specs
        if spec.scope is not Scope.COMPILE and spec.name in found and found[spec.name] != spec.default
    }


def _require_same(record: Record, inputs: Sequence[str]) -> None:
    """`InputError` (`debug.inputs`) when a file of inputs is not the one that was recorded."""
    listed = record.manifest.get("inputs", [])
    known = [entry.get("sha256") for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []
    for index, path in enumerate(inputs):
        expected = known[index] if index < len(known) else None
        if expected is not None and hashlib.sha256(read_bytes(path)).hexdigest() != expected:
            raise InputError(
                f"is not the file of execution {index} of the record: its SHA-256 differs",
                id="debug.inputs",
                where=path,
                remedy="give the files in the order in which they were recorded",
            )
