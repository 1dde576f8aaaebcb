"""The check behind the *snapshot contract*: everything a plugin keeps between two steps lies in the device.

| way | what runs |
|---|---|
| whole | N steps, then M more |
| file | N steps, a file, a new device from it, M steps there |
| back | after the whole way, the device itself is put back to step N, and M steps follow |

Memory, rings, journal, trace, faults, hazards and time must be the same to the byte. A plugin that keeps something in a
global, in a file or in an object that the device does not hold shows up as a difference.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from emu_core.errors import PluginError
from emu_core.journal import JournalEntry
from emu_core.snapshot.image import decoded, take
from emu_core.snapshot.pages import touched
from emu_core.snapshot.rules import outside_of
from emu_core.snapshot.session import one_step

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emu_core.device import Device
    from emu_core.snapshot.session import Session


def fingerprint(device: Device) -> dict[str, object]:
    """What can be seen of a device, by part; checksums where it is long."""
    device.scheduler.lanes.settle_all()
    memory = hashlib.sha256()
    for block in device.memory.blocks():
        if block.freed or block.untouched:
            continue
        for start, end in touched(block):
            raw = block.data[start:end].tobytes()
            if raw.count(0) != len(raw):
                memory.update(f"{block.info.address + start}".encode())
                memory.update(raw)
    return {
        "memory": memory.hexdigest(),
        "rings": {
            s.id: (hashlib.sha256(s.queue.contents()).hexdigest(), s.queue.head, s.queue.tail, s.state.name)
            for s in device.streams.values()
        },
        "journal": [entry for entry in device.journal if isinstance(entry, JournalEntry)],
        "trace": device.trace.lines(),
        "faults": [fault.text() for fault in device.scheduler.faults],
        "hazards": [hazard.text() for hazard in device.hazards],
        "time": device.clock.now,
        "flags": dict(device.signals.values),
    }


def run_steps(device: Device, session: Session, steps: int) -> int:
    """At most so many steps; returns how many there were."""
    for done in range(steps):
        if not one_step(device, session):
            return done
    return steps


def differences(device: Device, session: Session, before: int, after: int) -> Mapping[str, tuple[str, ...]]:
    """For each way but the whole one the parts in which it differs; empty tuples when the contract holds.

    Args:
        device, session: at the start; they are run to the end of the whole way, and stay there.
        before, after: N and M.

    Raises:
        PluginError: something cannot be kept (`snapshot.unkeepable`).
    """
    run_steps(device, session, before)
    snapshot = take(device, (session,))
    raw = snapshot.encoded()
    run_steps(device, session, after)
    whole = fingerprint(device)
    copy = decoded(raw, device.host).copy()
    copy.device.host_functions = dict(device.host_functions)
    there = copy.further[0]
    for name in outside_of(type(session)):
        setattr(there, name, getattr(session, name))
    run_steps(copy.device, there, after)
    found = {"file": _differing(whole, fingerprint(copy.device))}
    snapshot.restore()
    run_steps(device, session, after)
    return {**found, "back": _differing(whole, fingerprint(device))}


def require(device: Device, session: Session, before: int, after: int) -> None:
    """Nothing when the contract holds.

    Raises:
        PluginError: it does not (`snapshot.contract`): names the way and the parts that differ.
    """
    for way, parts in differences(device, session, before, after).items():
        if parts:
            raise PluginError(
                f"after {before} steps, a snapshot and {after} more, {', '.join(parts)} differ from an uninterrupted "
                f"run (way: {way})",
                id="snapshot.contract",
                where=", ".join(info.label for info in device.host.plugins if not info.ours) or "built-in plugins",
                remedy="keep state in the handler's own object or in device memory, not in globals of a module",
            )


def _differing(whole: Mapping[str, object], other: Mapping[str, object]) -> tuple[str, ...]:
    return tuple(part for part, value in whole.items() if other[part] != value)
