"""Idle engine: an entry that only takes time, so that what follows is fetched later."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core import Effect, Handler, Run

from .layouts import IDLE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emu_core import Device, Outcome, Task


def _start(task: Task) -> Outcome:
    return Run(task.device.chip.latencies.nop_ns)


def handlers(_device: Device) -> Iterable[Handler]:
    """The handler of idle entries."""
    return (Handler("edu_idle", "idle", IDLE, _start, effect=Effect.LOCAL),)
