"""Super kernels: which operators are fused into one launch.

Mirrors the vendor's `SuperKernelPass` and `CheckTilingSinkForSK` (`reference/tiling_sink_compiler.md` 8.1, 8.3). A
member of a scope (`_super_kernel_scope`) is left out when

| rule | attributes |
|---|---|
| its tiling could sink and does not, and its binary has to stay reusable | `_op_ensure_reuse_binary` |
| it does not support being fused | `supportSuperKernel` is not 1 (absent is 1: kernels here do) |
| it is a SIMT kernel | `local_memory_size` is more than 0 |

Left out means: the attribute is dropped; with policy `super_kernel_scope_check` it stays, and the scope is passed over
(`bypass`) or refused (`abort`). What remains is fused in runs: neighbours in the execution order, of one scope and one
main stream. A run ends in front of an operator whose tiling reads what the run computes: its tiling would wait for
the end of the launch, and the launch for the tiling. A run of one operator stays as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from emu_core.operators import Placement
from emu_plugins.compiler.attributes import (
    ENSURE_REUSE,
    LOCAL_MEMORY,
    REUSE_BINARY,
    SUPER_KERNEL_SCOPE,
    SUPPORTS_FUSION,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emu_plugins.compiler.operators import BoundNode
    from emu_plugins.compiler.program import Program
    from emu_plugins.compiler.report import Report

STAGE = "super_kernel"


@dataclass(frozen=True)
class SuperKernel:
    """A fused run: its name, and its operators in execution order."""

    name: str
    members: tuple[str, ...]


def exclusion(bound: BoundNode, *, sinks: bool) -> str:
    """Why `bound` must not be fused, or empty."""
    attrs = bound.ge_attrs
    could_sink = bool(bound.spec.placements & Placement.AICPU)
    if could_sink and not sinks and attrs.get(ENSURE_REUSE) is True:
        return f"its tiling does not sink although it could, and {ENSURE_REUSE} is true"
    if bound.split_type is not None:
        return "its kernel is split over AI Cores and vector cores"
    if attrs.get(SUPPORTS_FUSION, 1) != 1:
        return f"{SUPPORTS_FUSION} is not 1"
    size = attrs.get(LOCAL_MEMORY, 0)
    return f"{LOCAL_MEMORY} is more than 0" if isinstance(size, int) and size > 0 else ""


def fuse(program: Program, report: Report) -> tuple[SuperKernel, ...]:
    """The super kernels of a static graph; what is wrong with a member is noted as a problem."""
    passed_over, kept = _left_out(program, report)
    found: list[SuperKernel] = []
    count: dict[str, int] = {}
    for scope, run in _runs(program, passed_over, kept):
        number = count.get(scope, 0)
        count[scope] = number + 1
        kernel = SuperKernel(f"{scope}_{number}" if number else scope, tuple(bound.node.name for bound in run))
        for bound in run:
            report.decide(bound.node.name, STAGE, f"fused into {kernel.name}")
            _check_reuse(bound, program, report)
        found.append(kernel)
    return tuple(found)


def _left_out(program: Program, report: Report) -> tuple[frozenset[str], frozenset[str]]:
    """(scopes that are passed over, names of the members that may be fused)."""
    strict = program.policies["super_kernel_scope_check"]
    passed_over, kept = set(), set()
    for bound in program.nodes:
        scope, name = bound.super_kernel_scope, bound.node.name
        if not scope or program.owner_unknown(bound):
            continue
        why = exclusion(bound, sinks=program.sinks(bound))
        if not why:
            kept.add(name)
            continue
        report.decide(name, STAGE, f"not fused: {why}")
        if strict == "abort":
            what = f"cannot be fused into super kernel {scope}: {why}"
            remedy = f"drop {SUPER_KERNEL_SCOPE}, or set policy super_kernel_scope_check=off"
            report.problem("graph.super-kernel", what, bound.place(f"attrs.{SUPER_KERNEL_SCOPE}"), remedy)
        if strict != "off":
            passed_over.add(scope)
    return frozenset(passed_over), frozenset(kept)


def _runs(
    program: Program, passed_over: frozenset[str], kept: frozenset[str]
) -> Iterator[tuple[str, tuple[BoundNode, ...]]]:
    run: list[BoundNode] = []
    for bound in (*program.nodes, None):
        if bound is not None and run and _goes_on(run, bound, program, kept):
            run.append(bound)
            continue
        if len(run) > 1:
            yield run[0].super_kernel_scope, tuple(run)
        starts = bound is not None and bound.node.name in kept and bound.super_kernel_scope not in passed_over
        run = [bound] if bound is not None and starts else []


def _goes_on(run: list[BoundNode], bound: BoundNode, program: Program, kept: frozenset[str]) -> bool:
    first, name = run[0], bound.node.name
    if name not in kept or bound.super_kernel_scope != first.super_kernel_scope:
        return False
    if bound.stream_label != first.stream_label:
        return False
    computed = {output for each in run for output in each.node.outputs}
    reads = {bound.node.inputs[k] for k in program.marks[name].depends} if program.sinks(bound) else set()
    return not computed & reads


def _check_reuse(bound: BoundNode, program: Program, report: Report) -> None:
    """A binary that is reused is told its variant by the tiling on the device, so that tiling must sink."""
    if bound.flag(REUSE_BINARY) and not program.sinks(bound):
        what = f"{REUSE_BINARY} is true, but the operator is not going into the tiling sink procedure"
        remedy = "let its tiling sink, or drop the attribute"
        report.problem("graph.super-kernel-reuse", what, bound.place(f"attrs.{REUSE_BINARY}"), remedy)
