"""Compiling for this chip: the built-in compiler does the work, the tiling tasks are then sent to `libedu.so`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from emu_core import InputError, Refusal
from emu_plugins.compiler.pipeline import compile_graph
from formats.blob import KernelType, TaskType

from .server import FUNCTION, LIBRARY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emu_core import Chip, Compiled, CompileOptions, PluginHost, TaskBlob
    from formats.blob import BlobTask


def compile_for_edu(graph: Mapping[str, object], chip: Chip, options: CompileOptions, host: PluginHost) -> Compiled:
    """The blob of `graph` with its report; errors as the built-in compiler.

    Raises:
        InputError: the graph would have to be scheduled by the host, which this chip cannot (`edu.host-tiling`).
    """
    compiled = compile_graph(graph, chip, options, host)
    if compiled.blob.unknown_shape:
        raise InputError(
            "an operator would be tiled by the host before each launch, and this chip has no host scheduling",
            id="edu.host-tiling",
            where=f"graph {compiled.blob.name}",
            remedy='let it sink: "ge.tiling_schedule_optimize": "1" in the options of the graph',
            refusal=Refusal.UNSUPPORTED_HERE,
        )
    return replace(compiled, blob=_with_our_tiling(compiled.blob))


def _with_our_tiling(blob: TaskBlob) -> TaskBlob:
    return replace(blob, tasks=tuple(map(_ours, blob.tasks)))


def _ours(task: BlobTask) -> BlobTask:
    if task.type != TaskType.PREPROCESS_KERNEL:
        return task
    return replace(task, so_name=LIBRARY, kernel_name=FUNCTION, kernel_type=int(KernelType.AI_CPU))
