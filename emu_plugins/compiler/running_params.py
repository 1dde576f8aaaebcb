"""Running parameters: one tiling on the host at compile time, for workspaces and the compile-time values.

Mirrors the vendor's `AICoreOpsKernelBuilder::CalcTilingSinkRunningParam` with its
`CalculateTilingSinkWorkspace` (`reference/tiling_sink_compiler.md` 6), and the ordinary static tiling
(`tiling_sink_compiler.md` 10, first row). A depended input that is a constant brings its bytes; any other has a
null data pointer, for which a tiling function returns the largest workspace it may ever need.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from emu_core.tiling import TilingError
from emu_plugins.compiler.ffts_plus import ffts_plus_info
from emu_plugins.compiler.report import show
from emu_plugins.compiler.sink import check_tiling_sink
from emu_plugins.compiler.value_watch import ValueWatch
from emu_plugins.tiling.instances import slots_of
from emu_plugins.tiling.request import TilingRequest, TilingResult

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from emu_core.chips import Chip
    from emu_core.operators import OperatorSpec, TensorInfo
    from emu_plugins.compiler.ffts_plus import FftsPlusInfo
    from emu_plugins.compiler.marks import Marks
    from emu_plugins.compiler.operators import BoundNode
    from emu_plugins.compiler.report import Report

STAGE = "running_params"
LOG_WORKSPACE_BYTES = 20_480
"""Workspace appended for a sinking custom operator, the AI CPU log area (`tiling_sink_compiler.md` 6.4)."""
MAX_WORKSPACES = 16
"""Entries of the workspace vector on the device (`tiling_sink_compiler.md` 6.5)."""

HostTiler: TypeAlias = "Callable[[OperatorSpec, TilingRequest, Chip], TilingResult]"
"""`emu_plugins.tiling.host.tile_on_host`, or what stands for it."""


@dataclass(frozen=True)
class RunningParams:
    """Compile-time tiling of one operator.

    Attributes:
        tiling: what the tiling function set.
        workspaces: sizes in bytes, the log workspace last when `log_workspace`.
        ffts_plus: resources of an FFTS+ operator, or None.
    """

    tiling: TilingResult
    workspaces: tuple[int, ...]
    log_workspace: bool = False
    ffts_plus: FftsPlusInfo | None = None

    @property
    def kernel_workspaces(self) -> int:
        """Number of workspaces that are arguments of the AI Core kernel: all but the log one."""
        return len(self.workspaces) - self.log_workspace


@dataclass(frozen=True)
class ParamsCalculator:
    """Everything that tiling one node needs besides the node; `constants` are bytes by tensor name.

    `flags`: deterministic, and its level.
    """

    tile: HostTiler
    chip: Chip
    tensors: Mapping[str, TensorInfo]
    constants: Mapping[str, bytes]
    flags: tuple[int, int] = (0, 0)

    def calculate(self, bound: BoundNode, marks: Marks, report: Report, *, unknown_graph: bool) -> RunningParams | None:
        """Tile `bound` once, or None after noting why its parameters cannot be used.

        With unknown dimensions there is nothing to tile before a run says what they are.
        """
        if marks.unknown_shape:
            return self._postponed(bound, report)
        watch = ValueWatch(bound.spec.tiling)
        try:
            found = self.tile(replace(bound.spec, tiling=watch), self.request(bound, marks), self.chip)
        except TilingError as error:
            detail = ", ".join(f"{name}={value}" for name, value in error.detail.items())
            what = f"tiling failed: {error.what}" + (f" ({detail})" if detail else "")
            report.problem("graph.tiling", what, bound.place(), _value_remedy(bound, watch))
            return None
        sinks = check_tiling_sink(bound, marks, unknown_graph=unknown_graph)
        return self._checked(bound, found, report, sinks=sinks)

    def _postponed(self, bound: BoundNode, report: Report) -> RunningParams:
        key = bound.kernel.tiling_keys[0] if bound.kernel.tiling_keys else 0
        report.decide(bound.node.name, STAGE, "no tiling at compile time: the shape is known at run time only")
        info = ffts_plus_info(bound, self.chip, sinks=False, key=key)
        return RunningParams(TilingResult(key, 0, (), b""), (), ffts_plus=info)

    def request(self, bound: BoundNode, marks: Marks) -> TilingRequest:
        """The tiling question about `bound`."""
        names = bound.node.inputs
        values = {k: self.constants[name] for k in marks.depends if (name := names[k]) in self.constants and name}
        return TilingRequest(
            op_type=bound.spec.type,
            op_name=bound.node.name,
            inputs=tuple(None if name is None else self.tensors[name] for name in names),
            outputs=tuple(self.tensors[name] for name in bound.node.outputs),
            attrs=tuple(bound.attrs.values()),
            data=values,
            capacity=bound.tiling_capacity,
            deterministic=self.flags[0],
            deterministic_level=self.flags[1],
            counts=bound.counts,
        )

    def _checked(self, bound: BoundNode, found: TilingResult, report: Report, *, sinks: bool) -> RunningParams | None:
        before = len(report.problems)
        self._check_workspaces(bound, found, report, sinks=sinks)
        _check_key(bound, found, report)
        if len(report.problems) > before:
            return None
        sizes = list(found.workspaces)
        if sizes:
            sizes[0] += bound.dfx_buffer_bytes
        log = sinks and bound.own_library
        info = ffts_plus_info(bound, self.chip, sinks=sinks, key=found.tiling_key)
        params = RunningParams(found, (*sizes, *([LOG_WORKSPACE_BYTES] * log)), log, info)
        text = f"key {found.tiling_key}, block dim {found.block_dim}, workspaces {list(params.workspaces)} bytes"
        report.decide(bound.node.name, STAGE, text)
        return params

    def _check_workspaces(self, bound: BoundNode, found: TilingResult, report: Report, *, sinks: bool) -> None:
        if sinks and not found.workspaces:
            what = "the operator has no workspace, but tiling data is passed right behind the last one"
            report.problem("graph.sink-workspace", what, bound.place(), "let the tiling function ask for one")
        if len(found.workspaces) > MAX_WORKSPACES:
            what = f"{len(found.workspaces)} workspaces"
            report.problem("graph.workspace", what, bound.place(), f"at most {MAX_WORKSPACES} are possible")
        for size in found.workspaces:
            if not 0 <= size <= self.chip.memory_bytes:
                what = f"a workspace of {show(size)} bytes, {self.chip.name} has {self.chip.memory_bytes} of memory"
                report.problem("graph.workspace", what, bound.place(), "make the problem smaller")


def _check_key(bound: BoundNode, found: TilingResult, report: Report) -> None:
    """A key without an entry could never be launched, wherever the operator is tiled at run time."""
    if found.tiling_key in bound.kernel.tiling_keys:
        return
    what = (
        f"the tiling function of {bound.spec.type} is wrong: at compile time it chose key {found.tiling_key}, "
        f"and kernel {bound.kernel.name} has no such entry"
    )
    keys = ", ".join(map(str, bound.kernel.tiling_keys))
    report.problem("graph.tiling-key", what, bound.place(), f"let it choose one of the kernel's keys: {keys}")


def _value_remedy(bound: BoundNode, watch: ValueWatch) -> str:
    """What to do when the tiling asked for values that it cannot have yet; empty when that is not the reason."""
    asked = (k for k in watch.missing if k < len(bound.spec.inputs))
    missing = [bound.input_words(slot) for k in asked for slot in slots_of((k,), bound.counts)]
    if not missing:
        return ""
    return (
        f"it asked for the value of {', '.join(missing)}, which is not known at compile time (input_data gives None); "
        "the tiling function must answer with the largest workspace then"
    )
