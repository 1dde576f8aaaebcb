"""What the scheduler tells the trace about entries; each function adds its event if it is wanted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from emu_core import units
from emu_core.trace import FaultRaised, SignalChanged, TaskDone, TaskStarted, TaskWaits

if TYPE_CHECKING:
    from emu_core.engines import Handler, Launch, Run, Task
    from emu_core.reports import Fault
    from emu_core.signals import Signal
    from emu_core.streams import Running


def _place(task: Task) -> dict[str, Any]:
    """What every event about an entry says: when, and which entry."""
    origin = task.origin
    return {
        "time": task.device.clock.now,
        "run": task.run,
        "stream": task.stream.id,
        "slot": task.slot,
        "task": task.task_id,
        "node": origin.node,
        "model_task": origin.model_task,
    }


def started(task: Task, handler: Handler, outcome: Run | Launch) -> None:
    """An engine took the entry."""
    trace = task.device.trace
    if trace.wants(TaskStarted):
        trace.add(
            TaskStarted(
                **_place(task),
                engine=handler.engine,
                kind=handler.kind,
                detail=outcome.detail,
                facts=dict(outcome.facts),
                fetched_copy=units.is_copy(task),
            )
        )


def waits(task: Task, handler: Handler, signal: Signal) -> None:
    """The entry waits for `signal`."""
    trace = task.device.trace
    if trace.wants(TaskWaits):
        trace.add(TaskWaits(**_place(task), kind=handler.kind, signal=str(signal)))


def done(running: Running, detail: str) -> None:
    """The entry completed."""
    task, handler = running.task, running.handler
    trace = task.device.trace
    if trace.wants(TaskDone):
        trace.add(
            TaskDone(
                **_place(task), engine=handler.engine, kind=handler.kind, started=running.since, detail=detail
            )
        )  # fmt: skip


def signal_changed(task: Task, signal: Signal, value: int) -> None:
    """`task` set or cleared a flag."""
    trace = task.device.trace
    if trace.wants(SignalChanged):
        trace.add(
            SignalChanged(
                time=task.device.clock.now,
                run=task.run,
                signal=str(signal),
                value=value,
                stream=task.stream.id,
                task=task.task_id,
            )
        )


def failed(task: Task, fault: Fault) -> None:
    """The entry failed."""
    trace = task.device.trace
    if trace.wants(FaultRaised):
        trace.add(FaultRaised(**_place(task), id=fault.id, ts_code=fault.ts_code, what=fault.what))
