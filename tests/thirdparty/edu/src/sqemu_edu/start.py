"""Start engine: activates the head streams of a model, each from its first entry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core import DeviceFault, Handler, Run

from .layouts import START

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emu_core import Device, Outcome, Task

ILLEGAL_PARAM = 0x2D


def _start(task: Task) -> Outcome:
    number = task.field("EduStartSqe", "model")
    return Run(task.device.chip.latencies.condition_ns, lambda: _activate(task, number), f"model {number}")


def _activate(task: Task, number: int) -> None:
    model = task.device.models.get(number)
    if model is None:
        raise DeviceFault(
            f"there is no model {number}",
            ts_code=ILLEGAL_PARAM,
            error_type=32,
            id="edu.no-model",
            remedy="load the model into this device",
        )
    for stream in model.head_streams:
        task.device.scheduler.activate(stream)


def handlers(_device: Device) -> Iterable[Handler]:
    """The handler of start entries; the wait that is paired with it is passed over, too, when it fails."""
    return (Handler("edu_start", "start", START, _start, exception_code=ILLEGAL_PARAM, skips=2),)
