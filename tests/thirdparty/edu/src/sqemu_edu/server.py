"""The AI CPU function `EduTile` of `libedu.so`: runs the tiling function of the operator that a question names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core import AicpuKernelSpec, DeviceFault, Placement, TilingError

from .context import Context

if TYPE_CHECKING:
    from emu_core import AicpuLaunch, PluginHost

LIBRARY, FUNCTION = "libedu.so", "EduTile"
AI_CPU_EXCEPTION = 0x2A


def specs(host: PluginHost) -> tuple[AicpuKernelSpec, ...]:
    """The function; the operators of `host` are looked up when it runs, not before."""

    def run(launch: AicpuLaunch) -> None:
        _serve(launch, host)

    return (AicpuKernelSpec(LIBRARY, FUNCTION, run, lambda launch: launch.chip.latencies.tiling_ns),)


def _serve(launch: AicpuLaunch, host: PluginHost) -> None:
    context = Context(launch)
    spec = host.operators.get(context.op_type)
    if spec is None or not spec.placements & Placement.AICPU:
        raise _fault(f"operator {context.op_type} has no tiling function for the AI CPU", "edu.no-tiling")
    try:
        spec.tiling(context)
    except TilingError as error:
        raise _fault(f"the tiling function of {context.op_type} failed: {error.what}", "edu.tiling") from error
    context.commit()


def _fault(what: str, fault_id: str) -> DeviceFault:
    return DeviceFault(
        what, ts_code=AI_CPU_EXCEPTION, id=fault_id, remedy="check shapes and values, and the operator's plugin"
    )
