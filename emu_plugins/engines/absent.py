"""Entries for hardware that does not exist here: network cards, data queues, caches, physical registers.

| policy `absent_hardware` | such an entry |
|---|---|
| `complete` | takes the time of a NOP, changes nothing, and is traced with what was left out |
| `fault` | is an SQE error (bit 3) that names the missing hardware |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core import codes
from emu_core.engines import Run
from emu_core.errors import DeviceFault

if TYPE_CHECKING:
    from emu_core.engines import Outcome, Task

POLICY = "absent_hardware"


def without_effect(task: Task, what: str, hardware: str) -> Outcome:
    """The outcome of an entry that asks `hardware` for `what`.

    Raises:
        DeviceFault: the policy says so (`sqe.unsupported`).
    """
    if task.device.policies[POLICY] == "fault":
        raise DeviceFault(
            f"{what} needs {hardware}, which is unsupported here",
            ts_code=codes.SQE_ERROR,
            error_type=8,
            id="sqe.unsupported",
            remedy=f"with policy {POLICY}=complete it completes without an effect",
        )
    return Run(task.device.chip.latencies.nop_ns, detail=f"{what}: no effect, {hardware} is absent")
