"""What of a task list is left for runtime V2: its kernels in order, and the static models inside.

Waits, records, NOPs, tiling tasks and updates fall away: the host runs node by node, and tiles itself. A super kernel
falls apart into its members.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING

from emu_core.errors import InputError
from emu_plugins.compiler.args_format import ArgKind, format_args, parse_args_format
from emu_plugins.runtime.host_scheduled import KERNELS, host_stream
from formats.blob import TaskType

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from emu_core.plugins import PluginHost
    from emu_plugins.compiler.args_format import ArgEntry
    from formats.blob import Blob, BlobTask

_DEVICE_TILING = frozenset({
    ArgKind.TILING_CONTEXT, ArgKind.TILING_KEY, ArgKind.BLOCK_DIM, ArgKind.OP_TYPE, ArgKind.EVENT_ADDR,
})  # fmt: skip
"""What a kernel is passed only because its tiling runs on the device."""


@dataclass(frozen=True)
class Call:
    """A kernel to launch: indices of task, operator and kernel, its arguments, its stored schedule mode."""

    task: int
    op: int
    kernel: int
    args_format: str
    schem: int = 0


@dataclass(frozen=True)
class Part:
    """A static model inside; `task` ends it."""

    task: int


def calls(blob: Blob, host: PluginHost) -> Iterator[Call | Part]:
    """Kernels and models inside of `blob`, in list order.

    Raises:
        InputError: a kernel task without operator or kernel (`blob.task`), a super kernel whose arguments belong to no
            operator (`blob.args-format`), an operator whose kernel the blob has not (`kernel.missing`).
    """
    submitted = host_stream(blob) if blob.unknown_shape else None
    for index, task in enumerate(blob.tasks):
        if submitted is not None and task.stream_id != submitted:
            if task.type == TaskType.MODEL_END_GRAPH:
                yield Part(index)
        elif task.type == TaskType.SUPER_KERNEL:
            yield from _members(blob, host, index, task)
        elif task.type in KERNELS:
            yield _call(index, task)


def _call(index: int, task: BlobTask) -> Call:
    if task.op is None or task.kernel is None:
        missing = "operator" if task.op is None else "kernel"
        raise InputError(f"names no {missing}", id="blob.task", where=f"task {index}", remedy="compile the graph again")
    return Call(index, task.op, task.kernel, without_device_tiling(parse_args_format(task.args_format)), task.schem)


def _members(blob: Blob, host: PluginHost, index: int, task: BlobTask) -> Iterator[Call]:
    for op, entries in groupby(parse_args_format(task.args_format), key=lambda entry: entry.sub):
        if op is None or op >= len(blob.ops):
            raise InputError(
                f"has arguments of no operator: there are {len(blob.ops)} and it names {op}",
                id="blob.args-format",
                where=f"task {index}",
                remedy="compile the graph again",
            )
        yield Call(index, op, _kernel_of(blob, host, op), without_device_tiling(entries))


def _kernel_of(blob: Blob, host: PluginHost, op: int) -> int:
    spec = host.operators.get(blob.ops[op].type)
    names = [kernel.name for kernel in blob.kernels]
    if spec is None or spec.kernel not in names:
        raise InputError(
            f"the blob has no kernel for the operator type {blob.ops[op].type!r}",
            id="kernel.missing",
            where=f"operator {blob.ops[op].name}",
            remedy="compile the graph again with the plugins that are loaded now",
        )
    return names.index(spec.kernel)


def without_device_tiling(entries: Iterable[ArgEntry]) -> str:
    """The args format for a kernel that the host tiled: `{t}` where the tiling data of the device stood."""
    found = [replace(entry, sub=None) for entry in entries if entry.kind not in _DEVICE_TILING]
    if any(entry.kind is ArgKind.TILING_DATA for entry in found):
        found = [entry for entry in found if entry.kind is not ArgKind.TILING]
    return format_args(
        replace(entry, kind=ArgKind.TILING) if entry.kind is ArgKind.TILING_DATA else entry for entry in found
    )
