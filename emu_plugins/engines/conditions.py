"""Condition engine: model execute (sub type 1), as the steps of its micro program (`device_semantics.md` 4.2).

For each head stream in turn: it must be idle; if its queue is enabled, head must equal tail and the queue is disabled;
head becomes 0; the execution counter goes up; the queue is activated. Any failed test ends the entry with "busy".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core import codes
from emu_core.engines import Handler, Outcome, Run
from emu_core.errors import DeviceFault
from emu_core.streams import State

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emu_core.device import Device
    from emu_core.engines import Task
    from emu_core.streams import Stream

TYPE = 20
MODEL_EXECUTE = 1
SELECT = ("FunctionCallSqe", "conds_sub_type")


def _start(task: Task) -> Outcome:
    model_id = task.field("FunctionCallSqe", "model_id")
    return Run(task.device.chip.latencies.condition_ns, lambda: _execute(task, model_id), f"model {model_id}")


def _execute(task: Task, model_id: int) -> None:
    model = task.device.models.get(model_id)
    if model is None:
        raise DeviceFault(f"there is no model {model_id}", ts_code=codes.ILLEGAL_PARAM, id="model.unknown")
    for stream in model.head_streams:
        _require_idle(stream, model_id)
        stream.queue.enabled = False
        stream.queue.head = 0
        task.device.scheduler.activate(stream)


def _require_idle(stream: Stream, model_id: int) -> None:
    queue = stream.queue
    if stream.state is State.IDLE and not (queue.enabled and queue.head != queue.tail):
        return
    raise DeviceFault(
        f"model {model_id} is busy: stream {stream.id} is in state {stream.state.name.lower()} with "
        f"head {queue.head} and tail {queue.tail}",
        ts_code=codes.ILLEGAL_PARAM,
        error_type=32,
        id="model.busy",
        remedy="wait for the execution before, or abort it",
    )


def _other(task: Task) -> Outcome:
    sub_type = task.field("FunctionCallSqe", "conds_sub_type")
    raise DeviceFault(
        f"a condition entry with sub type {sub_type} is unsupported here",
        ts_code=codes.TASK_TYPE_NOT_SUPPORTED,
        error_type=8,
        id="sqe.unsupported",
        remedy="model execute (sub type 1) is supported",
    )


def handlers(_device: Device) -> Iterable[Handler]:
    """Handlers of SQE type 20."""
    return (
        Handler("condition", "model_execute", TYPE, _start, select=MODEL_EXECUTE, select_field=SELECT),
        Handler("condition", "condition", TYPE, _other),
    )
