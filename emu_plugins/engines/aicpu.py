"""AI CPU engine: calls a function found by library *and* name, with its argument block (`sqe_formats.md` 4.3).

A function occupies one of the chip's AI CPU threads for its own time; when all are taken it waits for one.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from fractions import Fraction
from posixpath import basename
from typing import TYPE_CHECKING

from emu_core import codes
from emu_core.cores import Demand
from emu_core.engine_guard import at_line
from emu_core.engines import Effect, Handler, Launch, Limit, Outcome
from emu_core.errors import DeviceFault, PluginError, SqemuError
from emu_core.journal import Writer
from emu_core.kernels import AicpuLaunch
from emu_plugins.engines import credits as budget

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TypeVar

    from emu_core.device import Device
    from emu_core.engines import Task
    from emu_core.kernels import AicpuKernelSpec

    T = TypeVar("T")

TYPE = 1
TYPE_V200 = 5
"""On v200 type 1 is the AI Vector kernel (`sqe_formats.md` 2.3); the fields of the entry have the same names."""


class AiCpu:
    """The engine of one device."""

    def __init__(self, device: Device) -> None:
        self._kernels = device.host.aicpu_kernels

    def start(self, task: Task) -> Outcome:
        """Find the function and say how long it runs."""
        library = task.memory.c_string(task.field("AicpuKernelSqe", "task_so_addr"))
        function = task.memory.c_string(task.field("AicpuKernelSqe", "task_name_str_ptr"))
        spec = self._find(library, function)
        writer = Writer(task.stream.id, task.task_id, "ai_cpu")
        device = task.device

        def poke(address: int, data: bytes) -> None:
            device.write_cell(address, data, device.memory.protected_as(address) or "memory", writer)

        launch = AicpuLaunch(
            task.memory, task.field("AicpuKernelSqe", "param_addr"), poke, device.chip, device.policies
        )
        demand = Demand({"AI CPU thread": 1}, 1, Fraction(_guarded(spec, lambda: spec.time_ns(launch))))
        return Launch(
            device.chip.latencies.aicpu_launch_ns,
            device.ai_cpus,
            demand,
            lambda: _guarded(spec, lambda: spec.run(launch)),
            function,
        )

    def _find(self, library: str, function: str) -> AicpuKernelSpec:
        for spec in self._kernels:
            if spec.function == function and fnmatchcase(basename(library), spec.library):
                return spec
        raise DeviceFault(
            f"no AI CPU function {function!r} of library {library!r} is registered",
            ts_code=codes.AICPU_EXCEPTION,
            id="aicpu.unknown-function",
            remedy="load the plugin that brings it; functions are found by library and name",
        )


def _guarded(spec: AicpuKernelSpec, call: Callable[[], T]) -> T:
    """Run plugin code; anything but a device fault is the plugin's own error."""
    try:
        return call()
    except (DeviceFault, SqemuError):
        raise
    except Exception as error:
        raise PluginError(
            f"AI CPU function {spec.function} raised {type(error).__name__}: {error}{at_line(error)}",
            id="plugin.aicpu-raised",
            remedy="report this to the author of the plugin",
        ) from error


def _limit(task: Task) -> Limit | None:
    return budget.limit(task, codes.AICPU_TIMEOUT)


def handlers(device: Device) -> Iterable[Handler]:
    """The handler of SQE type 1, or 5 on v200."""
    engine = AiCpu(device)
    return (
        Handler(
            "ai_cpu",
            "aicpu",
            TYPE if device.chip.family == "v100" else TYPE_V200,
            engine.start,
            effect=Effect.MEMORY,
            exception_code=codes.AICPU_EXCEPTION,
            limit=_limit,
        ),
    )
