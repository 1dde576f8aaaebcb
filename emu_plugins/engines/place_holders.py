"""Place holders: NOP, and every task type without an engine of its own.

A NOP (task type 103) has pre-P 0, so the scheduler passes over it. Other task types are known by number only: they
complete after the same time and are traced with their number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core.engines import Effect, Handler, Outcome, Run

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emu_core.device import Device
    from emu_core.engines import Task

TYPE = 3
NOP = 103
SELECT = ("PhSqe", "task_type")


def _nop(task: Task) -> Outcome:
    return Run(task.device.chip.latencies.nop_ns)


def _other(task: Task) -> Outcome:
    return Run(task.device.chip.latencies.nop_ns, detail=f"task type {task.field('PhSqe', 'task_type')}")


def handlers(_device: Device) -> Iterable[Handler]:
    """Handlers of SQE type 3, task update excepted."""
    return (
        Handler("place_holder", "nop", TYPE, _nop, select=NOP, select_field=SELECT, effect=Effect.LOCAL),
        Handler("place_holder", "place_holder", TYPE, _other, effect=Effect.LOCAL),
    )
