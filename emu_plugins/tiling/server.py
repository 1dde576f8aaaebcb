"""The AI CPU tiling server: `RunAicpuRpcSrvLaunch` of the operator master libraries (`device_semantics.md` 6.2, 6.3).

| argument word | content |
|---|---|
| 0 | tiling context |
| 1 | operator type, zero-terminated |
| 2 | address of an event word, 0 outside a super kernel: 1 is stored there at the end |
| 3, 4 | log workspace and its size; custom operators only |

| failure | status |
|---|---|
| argument, type or context pointer null, operator not registered for the AI CPU | parameter invalid |
| the tiling function fails | inner error; nothing is written |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core import codes
from emu_core.errors import DeviceFault
from emu_core.kernels import AicpuKernelSpec
from emu_core.operators import Placement
from emu_core.tiling import TilingError
from emu_plugins.tiling.context import MemoryTilingContext

if TYPE_CHECKING:
    from emu_core.kernels import AicpuLaunch
    from emu_core.operators import OperatorSpec
    from emu_core.plugins import PluginHost

FUNCTION = "RunAicpuRpcSrvLaunch"
LIBRARIES = ("*libopmaster.so", "libcust_opmaster.so", "libtiling_device_*.so")


def specs(host: PluginHost) -> tuple[AicpuKernelSpec, ...]:
    """The server, once per library pattern; operators are looked up in `host` when it runs."""

    def run(launch: AicpuLaunch) -> None:
        serve(launch, host)

    return tuple(
        AicpuKernelSpec(library, FUNCTION, run, lambda launch: launch.chip.latencies.tiling_ns) for library in LIBRARIES
    )


def serve(launch: AicpuLaunch, host: PluginHost) -> None:
    """One call of the server."""
    if not launch.args:
        raise _invalid("the argument pointer is null")
    memory = launch.memory
    context_address, type_address, notify = (memory.u64(launch.args + 8 * i) for i in range(3))
    if not type_address:
        raise _invalid("the operator type pointer is null")
    op_type = memory.c_string(type_address)
    spec = _registered(host, op_type)
    if not context_address:
        raise _invalid(f"the tiling context pointer of {op_type} is null")
    try:
        context = MemoryTilingContext(memory, context_address, launch.poke, launch.policies)
        spec.tiling(context)
    except TilingError as error:
        raise DeviceFault(
            f"the tiling function of {op_type} failed: {error.what}",
            ts_code=codes.AICPU_EXCEPTION,
            id="tiling.failed",
            remedy="check the values this tiling reads, and the shapes",
        ) from error
    context.commit()
    if notify:
        memory.write(notify, (1).to_bytes(8, "little"))


def _registered(host: PluginHost, op_type: str) -> OperatorSpec:
    spec = host.operators.get(op_type)
    if spec is None or not spec.placements & Placement.AICPU:
        raise _invalid(f"no tiling function of operator {op_type!r} is registered for the AI CPU")
    return spec


def _invalid(what: str) -> DeviceFault:
    return DeviceFault(
        f"{what}: parameter invalid",
        ts_code=codes.AICPU_EXCEPTION,
        id="tiling.parameter-invalid",
        remedy="check the arguments of the tiling task, and that the operator's plugin is loaded",
    )
