"""Engines of the v100 family: who executes which SQE kind.

| engine | SQE type | kinds |
|---|---|---|
| `ai_core` | 0 | kernel |
| `ai_cpu` | 1 | AI CPU kernel |
| `host_callback` | 1 | host function callback (topic 26) |
| `event` | 4, 5 | event record, event wait |
| `notify` | 6, 7 | notify record, notify wait |
| `write_value` | 8 | event reset, plain write |
| `sdma` | 11 | copies within device memory |
| `place_holder` | 3 | NOP (103), copies (90), commands (104); every other task type completes and is traced |
| `task_update` | 3 | model task update (101) |
| `condition` | 20 | model execute, stream switch and active, labels, memory wait |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core.hookspecs import hookimpl
from emu_core.policies import PolicySpec, Scope

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emu_core.device import Device
    from emu_core.engines import Handler

_FAULT_OR_KEEP = ("fault", "keep_old")

POLICIES = (
    PolicySpec(
        "update_unknown_key",
        Scope.DEVICE,
        "fault",
        _FAULT_OR_KEEP,
        "a model task update finds no row for the tiling key",
    ),
    PolicySpec(
        "update_bad_block_dim",
        Scope.DEVICE,
        "fault",
        _FAULT_OR_KEEP,
        "a model task update reads a block dim whose low 16 bits are 0 or 0xFFFF",
    ),
    PolicySpec(
        "update_bad_target",
        Scope.DEVICE,
        "fault",
        _FAULT_OR_KEEP,
        "the target of a model task update is missing or is no AI Core entry",
    ),
    PolicySpec(
        "update_after_consume",
        Scope.DEVICE,
        "hazard",
        ("hazard", "fault", "ignore"),
        "a model task update comes after its target started",
    ),
    PolicySpec(
        "schem_batch_overflow",
        Scope.DEVICE,
        "never_start",
        ("never_start", "error"),
        "a batch kernel has more blocks than the chip has cores: it never starts and its time runs out, or an error",
    ),
    PolicySpec(
        "kernel_credit_us",
        Scope.DEVICE,
        "chip",
        ("chip",),
        "microseconds of one unit of kernel credit, the time budget of a task: the chip's figure, or a number",
        True,
        1 << 40,
    ),
    PolicySpec(
        "condition_steps",
        Scope.DEVICE,
        "100000",
        (),
        "condition instructions a stream may execute from one activation to the next before it counts as a loop",
        True,
        100_000_000,
    ),
)


@hookimpl
def sqemu_policies() -> Iterable[PolicySpec]:
    """Policies of the task update, of block scheduling, of time budgets and of conditions."""
    return POLICIES


@hookimpl
def sqemu_engines(*, device: Device) -> Iterable[Handler]:
    """Handlers for chips whose queues hold v100 entries."""
    if device.chip.family != "v100":
        return ()
    from emu_plugins.engines import (  # noqa: PLC0415 - numpy stays off the import path of the plugin
        ai_core,
        aicpu,
        conditions,
        events,
        host_callback,
        notifies,
        place_holders,
        sdma,
        task_update,
        write_value,
    )

    parts = (
        ai_core, aicpu, conditions, events, host_callback, notifies, place_holders, sdma, task_update, write_value,
    )  # fmt: skip
    return [handler for part in parts for handler in part.handlers(device)]
