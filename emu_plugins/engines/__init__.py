"""Engines of the families v100 and v200: who executes which SQE kind.

| engine | SQE type on v100 | kinds |
|---|---|---|
| `ai_core` | 0 | kernel |
| `ffts_plus` | 0 | mix kernel, graph of contexts (`ffts_type` 4) |
| `ai_cpu` | 1 | AI CPU kernel |
| `host_callback` | 1 | host function callback (topic 26) |
| `event` | 4, 5 | event record, event wait |
| `notify` | 6, 7 | notify record, notify wait |
| `write_value` | 8 | event reset, plain write |
| `sdma` | 11 | copies within device memory |
| `place_holder` | 3 | NOP (103), copies (90), commands (104); every other task type completes and is traced |
| `task_update` | 3 | model task update (101) |
| `condition` | 20 | model execute, stream switch and active, labels, memory wait |

On v200 the vector cores lead type 1, AI CPU kernels are of type 5, callbacks are place holders (72), and events are
notify entries (6, 7).
"""

from __future__ import annotations

from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING

from emu_core.hookspecs import hookimpl
from emu_core.policies import PolicySpec, Scope

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from emu_core.device import Device
    from emu_core.engines import Handler

_FAULT_OR_KEEP = ("fault", "keep_old")

POLICIES = (
    PolicySpec(
        "update_unknown_key",
        Scope.DEVICE,
        "fault",
        _FAULT_OR_KEEP,
        "a model task update finds no usable row for the tiling key",
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
        "the target of a model task update is missing, is no AI Core entry, or its context does not fit",
    ),
    PolicySpec(
        "update_table_search",
        Scope.DEVICE,
        "linear",
        ("linear", "binary"),
        "how a model task update looks for its row; the same in a table whose keys ascend",
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
        "absent_hardware",
        Scope.DEVICE,
        "complete",
        ("complete", "fault"),
        "an entry for hardware that does not exist here (RDMA, data queues, caches, registers): it completes without "
        "an effect and is traced, or an error",
    ),
    PolicySpec(
        "condition_steps",
        Scope.DEVICE,
        "100000",
        (),
        "condition instructions, and entries gone over again, that a chain of activations may take before it counts "
        "as a loop",
        True,
        100_000_000,
    ),
)


@hookimpl
def sqemu_policies() -> Iterable[PolicySpec]:
    """Policies of the task update, of block scheduling, of time budgets and of conditions."""
    return POLICIES


_SHARED = ("aicpu", "conditions", "host_callback", "place_holders", "write_value")
PARTS: Mapping[str, tuple[str, ...]] = MappingProxyType({
    "v100": (*_SHARED, "ai_core", "events", "ffts_plus", "notifies", "sdma", "task_update"),
    "v200": (*_SHARED, "ai_core_v200", "notifies_v200", "sdma_v200", "task_update_v200"),
})  # fmt: skip
"""Modules with the handlers of each family."""


@hookimpl
def sqemu_engines(*, device: Device) -> Iterable[Handler]:
    """Handlers for chips whose queues hold v100 or v200 entries."""
    parts = (import_module(f"{__name__}.{part}") for part in PARTS.get(device.chip.family, ()))
    return [handler for part in parts for handler in part.handlers(device)]
