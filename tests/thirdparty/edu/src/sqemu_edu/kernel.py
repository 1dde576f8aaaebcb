"""Kernel engine: launches the kernel whose descriptor the entry selects, with the entry's blocks.

Each block takes its share of the kernel's time on one AI Core: the longer of arithmetic and memory traffic.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from emu_core import Demand, DeviceFault, Effect, Handler, KernelLaunch, Launch
from formats.runtime import KERNEL_MAGIC

from .layouts import KERNEL, NOT_PATCHED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emu_core import Device, KernelSpec, Outcome, Task

STRUCT = "EduKernelSqe"
AI_CORE_EXCEPTION = 0x26


class KernelEngine:
    """The engine of one device; kernels are found by the id in their descriptor."""

    def __init__(self, device: Device) -> None:
        self._descriptor = device.runtime_layout("KernelDescriptor")
        self._kernels = {spec.key: spec for spec in device.host.kernels.values()}

    def start(self, task: Task) -> Outcome:
        """What the entry at head launches."""
        blocks = task.field(STRUCT, "blocks")
        if blocks in (0, NOT_PATCHED):
            raise _fault(
                f"the kernel has {blocks:#x} blocks: no patch has reached the entry",
                "edu.not-patched",
                "look at the stale-prefetch hazard, or put more idle entries before the kernel",
            )
        spec, key = self._resolve(task)
        device = task.device
        launch = KernelLaunch(task.memory, task.field(STRUCT, "args"), blocks, key, device.chip, device.policies)
        return Launch(
            device.chip.latencies.ai_core_launch_ns,
            device.cores,
            Demand(dict.fromkeys(device.cores.capacity, 1), blocks, _share(spec, launch), sync_all=spec.sync_all),
            lambda: spec.run(launch),
            f"{spec.name} key {key} blocks {blocks}",
            {"kernel": spec.name, "tiling_key": key, "block_dim": blocks},
        )

    def _resolve(self, task: Task) -> tuple[KernelSpec, int]:
        address = task.field(STRUCT, "image") + self._descriptor.size * task.field(STRUCT, "variant")
        found = self._descriptor.parse(task.memory.read(address, self._descriptor.size))
        spec = self._kernels.get(found["kernel_key"])
        if found["magic"] != KERNEL_MAGIC or spec is None:
            raise _fault(f"no kernel lies at {address:#x}", "edu.no-kernel", "compile and load the graph again")
        return spec, found["tiling_key"]


def _share(spec: KernelSpec, launch: KernelLaunch) -> Fraction:
    """Nanoseconds of one block."""
    cost, chip = spec.cost(launch), launch.chip
    cycles = max(Fraction(cost.flops, chip.cube_flops_per_cycle), Fraction(cost.bytes, chip.ddr_bytes_per_cycle))
    return cycles * 1000 / chip.cube_mhz / launch.block_dim


def _fault(what: str, fault_id: str, remedy: str) -> DeviceFault:
    return DeviceFault(what, ts_code=AI_CORE_EXCEPTION, id=fault_id, remedy=remedy)


def handlers(device: Device) -> Iterable[Handler]:
    """The handler of kernel entries."""
    start = KernelEngine(device).start
    return (Handler("edu_core", "kernel", KERNEL, start, effect=Effect.RESOURCE, exception_code=AI_CORE_EXCEPTION),)
