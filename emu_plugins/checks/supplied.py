"""Whether the loaded plugins supply what a program names: operators, kernels, tiling keys, engines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu_core.checks import Finding, Level
from emu_core.device import Device
from emu_plugins.checks.operators import KERNELS, place
from emu_plugins.chips.refusals import executes, no_engines
from emu_plugins.runtime.stand_in import grouped, stand_in_ops, stand_ins_of
from formats.blob.model import TaskType

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emu_core.chips import Chip
    from emu_core.plugins import PluginHost
    from emu_core.policies import PolicySet
    from formats.blob.model import Blob, BlobKernel

_PLUGIN = "load its plugin (--plugin)"


def supplied(blob: Blob, chip: Chip, policies: PolicySet, host: PluginHost) -> Iterator[Finding]:
    """An error per operator, kernel or key that nobody supplies; a warning when no engine runs this chip's entries."""
    del policies
    yield from _operators(blob, host)
    for index, kernel in enumerate(blob.kernels):
        yield from _kernel(kernel, chip, host)
        yield from _keys(blob, index)
    yield from _task_types(blob)
    yield from _engines(chip, host)


def _operators(blob: Blob, host: PluginHost) -> Iterator[Finding]:
    standing = stand_in_ops(blob)
    for group in grouped(each for each in stand_ins_of(blob) if each.engine != "nop"):
        what = f"runs as a timed stand-in {group.where}, which computes nothing: {group.why}"
        where = f"{group.what} ({group.named})"
        yield Finding(Level.WARNING, "kernel.stand-in", where, what, f"{_PLUGIN}, if there is one")
    for op in (op for index, op in enumerate(blob.ops) if index not in standing):
        if op.type not in host.operators:
            what = f"has the type {op.type!r}, which no plugin declares"
            yield Finding(Level.ERROR, "operator.missing", f"operator {op.name}", what, _PLUGIN)


def _kernel(kernel: BlobKernel, chip: Chip, host: PluginHost) -> Iterator[Finding]:
    where = f"kernel {kernel.name}"
    spec = host.kernels.get(kernel.name)
    if spec is None:
        yield Finding(Level.ERROR, "kernel.missing", where, "no plugin supplies it", _PLUGIN)
    elif spec.products and chip.product not in spec.products:
        what = f"has no binary for {chip.name}; its products are {', '.join(spec.products)}"
        yield Finding(Level.ERROR, "kernel.product", where, what, "compile the graph for a chip of these products")


def _keys(blob: Blob, kernel: int) -> Iterator[Finding]:
    """Operators whose launch needs a tiling key that the kernel of the blob was not compiled for."""
    keys = blob.kernels[kernel].tiling_keys
    users = dict.fromkeys(t.op for t in blob.tasks if t.type in KERNELS and t.kernel == kernel and t.op is not None)
    for op in (blob.ops[user] for user in users):
        if op.tiling_key not in keys:
            what = (
                f"starts with tiling key {op.tiling_key}, kernel {blob.kernels[kernel].name} has the keys {list(keys)}"
            )
            yield Finding(Level.ERROR, "kernel.no-entry", f"operator {op.name}", what, "compile the graph again")


def _task_types(blob: Blob) -> Iterator[Finding]:
    known = {int(kind) for kind in TaskType}
    for index, task in enumerate(blob.tasks):
        if task.type not in known:
            what = f"has the type {task.type}, which no loader here knows"
            remedy = f"known types: {', '.join(map(str, sorted(known)))}"
            yield Finding(Level.ERROR, "blob.task-type", place(blob, index), what, remedy)


def _engines(chip: Chip, host: PluginHost) -> Iterator[Finding]:
    device = Device(chip, plugins=host)
    if not executes(device):
        refusal = no_engines(device)
        yield Finding(Level.WARNING, refusal.id, refusal.where, refusal.what, refusal.remedy)
