"""Faults that the scheduler itself finds, and the report of any fault."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core import codes
from emu_core.errors import DeviceFault
from emu_core.reports import Fault

if TYPE_CHECKING:
    from emu_core.engines import Handler, Limit, Task
    from emu_core.signals import Signal

NS_PER_S = 1_000_000_000


def report(task: Task, handler: Handler | None, fault: DeviceFault) -> Fault:
    """`fault` of `task` as a value: where, when, and with which codes."""
    default = handler.exception_code if handler else codes.TASK_EXCEPTION
    ts_code = fault.ts_code or default
    return Fault(
        fault.id,
        fault.what,
        ts_code,
        codes.acl_code(ts_code),
        fault.error_type,
        task.device.clock.now,
        task.run,
        task.stream.id,
        task.slot,
        task.task_id,
        handler.kind if handler else "unknown",
        handler.engine if handler else "scheduler",
        fault.remedy,
        node=task.origin.node,
    )


def unknown_type(sqe_type: int, chip: str) -> DeviceFault:
    """Nobody executes entries of this type."""
    return DeviceFault(
        f"no engine of {chip} handles SQE type {sqe_type}",
        ts_code=codes.SQE_ERROR,
        error_type=8,
        id="sqe.unknown-type",
        remedy="load the plugin that brings this engine",
    )


def over_budget(limit: Limit, why: str) -> DeviceFault:
    """An entry took longer than it may; `why`: what it lacked."""
    return DeviceFault(
        f"not done after its time budget of {_seconds(limit.ns)}" + (f": {why}" if why else ""),
        ts_code=limit.ts_code,
        error_type=4,
        id="task.timeout",
        remedy="the budget is the kernel credit of the entry times the chip's unit (policy kernel_credit_us)",
    )


def _seconds(ns: int) -> str:
    return f"{ns / NS_PER_S:g} s" if ns >= NS_PER_S else f"{ns} ns"


def timeout(signal: Signal, limit_ns: int) -> DeviceFault:
    """A wait took longer than it may."""
    return DeviceFault(
        f"waited {_seconds(limit_ns)} for {signal}",
        ts_code=codes.TASK_TIMEOUT,
        error_type=4,
        id="wait.timeout",
        remedy="find the task that should have set it: sqemu run --trace shows where each stream stands",
    )
