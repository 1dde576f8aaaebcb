"""Tile engine: calls an AI CPU function, found by library and name, on one of the chip's threads."""

from __future__ import annotations

from fnmatch import fnmatchcase
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

from emu_core import AicpuLaunch, Demand, DeviceFault, Effect, Handler, Launch, Writer

from .layouts import TILE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emu_core import AicpuKernelSpec, Device, Outcome, Task

STRUCT = "EduTileSqe"
AI_CPU_EXCEPTION = 0x2A


def _start(task: Task) -> Outcome:
    library, function = (task.memory.c_string(task.field(STRUCT, name)) for name in ("library", "function"))
    spec = _find(task.device, library, function)
    launch = AicpuLaunch(
        task.memory, task.field(STRUCT, "question"), partial(_poke, task), task.device.chip, task.device.policies
    )
    return Launch(
        task.device.chip.latencies.aicpu_launch_ns,
        task.device.ai_cpus,
        Demand(dict.fromkeys(task.device.ai_cpus.capacity, 1), 1, Fraction(spec.time_ns(launch))),
        lambda: spec.run(launch),
        function,
    )


def _poke(task: Task, address: int, data: bytes) -> None:
    """Write a protected record; the journal says who did it."""
    device = task.device
    what = device.memory.protected_as(address) or "memory"
    device.write_cell(address, data, what, Writer(task.stream.id, task.task_id, "edu_tile"))


def _find(device: Device, library: str, function: str) -> AicpuKernelSpec:
    for spec in device.host.aicpu_kernels:
        if spec.function == function and fnmatchcase(library, spec.library):
            return spec
    raise DeviceFault(
        f"no AI CPU function {function!r} of {library!r} is registered",
        ts_code=AI_CPU_EXCEPTION,
        id="edu.no-function",
        remedy="load the plugin that brings it",
    )


def handlers(_device: Device) -> Iterable[Handler]:
    """The handler of tile entries."""
    return (Handler("edu_tile", "tile", TILE, _start, effect=Effect.MEMORY, exception_code=AI_CPU_EXCEPTION),)
