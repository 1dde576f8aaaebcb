"""Entries of rings that set a flag, found by columns: only entries of kinds that set any are looked at one by one.

| state | where the entry is | what it means for who waits |
|---|---|---|
| `behind` | after the head of a queue that is active | it comes when that queue goes on |
| `stopped` | at or after the head of a queue that stopped with an error | it never runs |
| `inactive` | in a queue that nobody activated | it runs once somebody does |
| `ran` | before the head | it has run: somebody cleared the flag since, or it was lost |
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from emu_core.origin import NOWHERE
from emu_core.streams import State

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emu_core.device import Device
    from emu_core.signals import Signal
    from emu_core.streams import Stream

TYPE_MASK = 0x3F


class SetterState(StrEnum):
    """Where an entry is that would set a flag; see the module text."""

    BEHIND = "behind"
    STOPPED = "stopped"
    INACTIVE = "inactive"
    RAN = "ran"


@dataclass(frozen=True)
class Setter:
    """An entry that sets the flag somebody waits for; `head`: task id at the head of its queue (-1: none)."""

    stream: int
    slot: int
    task: int
    kind: str
    node: str
    state: SetterState
    head: int

    @property
    def place(self) -> str:
        """Which entry it is."""
        return f"stream {self.stream} task {self.task} ({self.kind}{f' of {self.node}' if self.node else ''})"

    def text(self) -> str:
        """What it would do, and why it has not."""
        return {
            SetterState.RAN: f"{self.place} ran before, and the flag is clear",
            SetterState.STOPPED: f"{self.place} would set it, but that stream stopped at task {self.head}",
            SetterState.INACTIVE: f"{self.place} would set it, but nobody activated that stream",
            SetterState.BEHIND: f"{self.place} would set it, but stream {self.stream} is at task {self.head}",
        }[self.state]


def setters_of(device: Device, signals: Iterable[Signal]) -> dict[Signal, tuple[Setter, ...]]:
    """For each flag the entries of all rings that set it, by stream and slot."""
    found: dict[Signal, list[Setter]] = {signal: [] for signal in signals}
    if found:
        types = np.array(sorted({h.sqe_type for h in device.dispatch if h.setter_of is not None}), np.uint8)
        for stream in device.streams.values():
            _look_through(device, stream, types, found)
    return {signal: tuple(setters) for signal, setters in found.items()}


def _look_through(device: Device, stream: Stream, types: np.ndarray, found: dict[Signal, list[Setter]]) -> None:
    queue = stream.queue
    written = min(queue.depth, queue.submissions.units)
    kinds = queue.view()[:written, 0] & TYPE_MASK
    for slot in np.flatnonzero(np.isin(kinds, types)).tolist():
        task = queue.submissions.task_at(slot)
        sqe = queue.entry(slot)
        handler = device.dispatch.find(sqe)
        if task is None or handler is None or handler.setter_of is None:
            continue
        signal = handler.setter_of(sqe)
        if signal in found:
            node = queue.origin_at.get(slot, NOWHERE).node
            head = queue.task_at.get(queue.head, -1)
            found[signal].append(Setter(stream.id, slot, task, handler.kind, node, _state(stream, slot), head))


def _state(stream: Stream, slot: int) -> SetterState:
    queue = stream.queue
    if (slot - queue.head) % queue.depth >= queue.pending:
        return SetterState.RAN
    if stream.state is State.SLOT_DISABLE:
        return SetterState.STOPPED
    return SetterState.INACTIVE if stream.state is State.IDLE else SetterState.BEHIND
