"""Writes the programs of docs/races.md: three whose outcome depends on luck, and their repairs."""  # noqa: INP001 - run by path

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from emu_core import CompileOptions, PluginHost, compile_graph
from formats.blob import Blob, TaskType, encode

CHIP = "ascend910b3"
HOST = PluginHost()


def probes(count: int, operator: str = "TilingProbe", **policies: str) -> Blob:
    """A program of `count` operators on x whose tiling reads n and sinks."""
    nodes = [{"name": f"op{i}", "type": operator, "inputs": ["x", "n"], "outputs": [f"y{i}"]} for i in range(count)]
    graph = {
        "format": "sqemu-graph", "version": 1, "name": "races",
        "options": {"ge.tiling_schedule_optimize": "1"},
        "inputs": [{"name": "x", "dtype": "float32", "shape": [40]}, {"name": "n", "dtype": "int32", "shape": [1]}],
        "nodes": nodes,
        "outputs": [f"y{count - 1}"],
    }  # fmt: skip
    return compile_graph(graph, CHIP, CompileOptions(policies=policies), HOST)


def fed_by_a_sink() -> tuple[Blob, Blob]:
    """op1 is tiled by the value that op0 computes; the repair lets its tiling wait for op0's kernel."""
    blob = probes(2)
    first, second = blob.ops
    racing = replace(blob, ops=(first, replace(second, inputs=(second.inputs[0], first.outputs[0]))))
    tasks = list(racing.tasks)
    kernel = next(i for i, t in enumerate(tasks) if t.type is TaskType.ALL_KERNEL)
    tiling = max(i for i, t in enumerate(tasks) if t.type is TaskType.PREPROCESS_KERNEL)
    record = next(t for t in tasks if t.type is TaskType.EVENT_RECORD)
    wait = next(t for t in tasks if t.type is TaskType.EVENT_WAIT)
    event = replace(racing.events[-1], id=len(racing.events))
    ordered = [
        *tasks[: kernel + 1],
        replace(record, stream_id=tasks[kernel].stream_id, event_id=event.id),
        *tasks[kernel + 1 : tiling],
        replace(wait, stream_id=tasks[tiling].stream_id, event_id=event.id),
        *tasks[tiling:],
    ]
    return racing, replace(racing, tasks=tuple(ordered), events=(*racing.events, event))


def recorded_too_early() -> tuple[Blob, Blob]:
    """The event that releases the kernel is recorded before the update instead of behind it."""
    blob = probes(1)
    tasks = list(blob.tasks)
    update = next(i for i, t in enumerate(tasks) if t.type is TaskType.UPDATE)
    record = next(i for i, t in enumerate(tasks) if t.type is TaskType.EVENT_RECORD and i > update)
    tasks.insert(update, tasks.pop(record))
    return replace(blob, tasks=tuple(tasks)), blob


def preloaded_context() -> tuple[Blob, Blob]:
    """A mix kernel whose context is fetched together with its entry, with too few and with enough NOPs."""
    return probes(1, "MixProbe", nop_count="6"), probes(1, "MixProbe", nop_count="7")


def main() -> None:
    """Write `NAME.sqt`, `NAME_repaired.sqt` and the inputs of two executions."""
    for name, pair in (("fed", fed_by_a_sink()), ("early", recorded_too_early()), ("preload", preloaded_context())):
        for suffix, blob in zip(("", "_repaired"), pair, strict=True):
            Path(f"{name}{suffix}.sqt").write_bytes(encode(blob))
    x = np.arange(1, 41, dtype=np.float32)
    np.savez("first.npz", x=x, n=np.array([5], np.int32))
    np.savez("second.npz", x=x, n=np.array([3], np.int32))


if __name__ == "__main__":
    main()
