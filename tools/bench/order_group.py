"""Figures of what follows orders: vector clocks beside a run that follows none, and exploring beside running.

| figure | what | beside | at most |
|---|---|---|---|
| `ordering-20` | policy `ordering=report`, every task logged, sync every 20 | the same rings, neither | 4 times |
| `ordering-200` | the same, sync every 200 | | 8 times |
| `explore` | a graph compiled, and 100 schedules of it, each loaded anew | compiled, loaded, run once | 100 times |
"""

from __future__ import annotations

import numpy as np

from emu_core.api import compile_graph
from emu_core.device import Device
from emu_core.trace import Patched, TaskDone
from tools.bench.pairs import Pair, Side, UnequalError
from tools.bench.queues import Loaded, Shape, layouts
from tools.explore.outcomes import Subject
from tools.explore.run import explore
from tools.given_plugins import make_host

STREAMS, TASKS = 64, 3_000
SCHEDULES = 100


def followed(period: int) -> tuple[Side, Side]:
    """64 streams that wait for each other every `period` entries, followed and logged, beside neither."""
    shape = Shape(STREAMS, TASKS, period)
    rings = [shape.units(number, layouts()) for number in range(STREAMS)]
    plain, on = Loaded(rings, ()), Loaded(rings, (TaskDone, Patched), ordering="report")
    ends = [loaded.run().clock.now for loaded in (plain, on)]
    if ends[0] != ends[1] or on.device.hazards:
        raise UnequalError("following orders changes the run, or reports what is ordered")

    def run(loaded: Loaded) -> None:
        loaded.again(decode=True)
        loaded.run()

    return Side(lambda: run(plain), 1), Side(lambda: run(on), 1)


def explored() -> tuple[Side, Side]:
    """One run of a graph with an operator that sinks, and 100 schedules of it."""
    host = make_host()
    graph = {
        "format": "sqemu-graph", "version": 1, "name": "probe",
        "options": {"ge.tiling_schedule_optimize": "1"},
        "inputs": [{"name": "x", "dtype": "float32", "shape": [40]}, {"name": "n", "dtype": "int32", "shape": [1]}],
        "nodes": [{"name": "op0", "type": "TilingProbe", "inputs": ["x", "n"], "outputs": ["y"]}],
        "outputs": ["y"],
    }  # fmt: skip
    arrays = {"x": np.arange(40, dtype=np.float32), "n": np.array([3], np.int32)}
    chip = "ascend310p3"

    def once() -> None:
        Device(chip, plugins=host).load(compile_graph(graph, chip, plugins=host)).execute(arrays)

    def many() -> bool:
        blob = compile_graph(graph, chip, plugins=host)
        return explore(Subject(blob, chip, {}, host, [arrays]), SCHEDULES, 0).ok

    if not many():
        raise UnequalError("the program depends on the schedule")
    return Side(once, 1), Side(many, 1)


OFF = "the same rings, not followed, not logged"
PAIRS = (
    Pair("ordering-20", "clocks and task log, sync every 20", OFF, 4, 3, lambda: followed(20), largest=True),
    Pair("ordering-200", "clocks and task log, sync every 200", OFF, 8, 2, lambda: followed(200), largest=True),
    Pair("explore", f"{SCHEDULES} schedules", "one run", SCHEDULES, 50, explored, rounds=3, largest=True),
)
