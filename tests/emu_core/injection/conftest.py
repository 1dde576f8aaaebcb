"""One probe operator on a 310P3, loaded twice: plainly, and with a plan at work.

Times by the table of docs/device.md, without a plan: model execute 1000, AI CPU launch 5000 and tiling 10000 (16000),
update 2000 (18000), record 500: the event is set at 18500. Reset 100 and five NOPs of 100: the kernel starts at 19100.
"""

from __future__ import annotations

import numpy as np
import pytest

from emu_core.api import compile_graph
from emu_core.device import Device
from emu_core.graph import CompileOptions
from emu_core.injection import Injections, judge, shrunk
from emu_core.injection.plan import plan_of

CHIP = "ascend310p3"


def graph(*, operator="TilingProbe", sink="1", elements=40):
    """A graph of one operator `op` with inputs x and n."""
    inputs = [("x", "float32", elements), ("n", "int32", 1)]
    return {
        "format": "sqemu-graph", "version": 1, "name": "one", "options": {"ge.tiling_schedule_optimize": sink},
        "inputs": [{"name": name, "dtype": dtype, "shape": [size]} for name, dtype, size in inputs],
        "nodes": [{"name": "op", "type": operator, "inputs": ["x", "n"], "outputs": ["y"]}], "outputs": ["y"],
    }  # fmt: skip


def numbers(n=3, elements=40):
    """Arrays x and n."""
    return {"x": np.arange(elements, dtype=np.float32), "n": np.array([n], np.int32)}


class Injected:
    """A program with a plan, and what it gives without it."""

    def __init__(self, host, injections, *, chip=CHIP, policies=None, **wanted):
        policies = dict(policies or {})
        nops = {"nop_count": policies.pop("nop_count")} if "nop_count" in policies else {}
        blob = compile_graph(graph(**wanted), chip, CompileOptions(offline=False, policies=nops), host)
        self.plain = Device(chip, policies, host).load(blob)
        plan = plan_of(*injections)
        smaller, self.limits = shrunk(self.plain.device.chip, plan)
        self.model = Device(smaller, policies, host, record_rings=True).load(blob)
        self.at_work = Injections(self.model, plan)

    def run(self, n=3):
        """One execution of both; gives plain result, result with the plan, verdict."""
        plain = self.plain.execute(numbers(n))
        found = self.at_work.execute(numbers(n))
        return plain, found, judge(plain, found, self.limits, self.at_work.fired)

    @property
    def told(self):
        """What was done so far, one sentence each."""
        return [fired.text() for fired in self.at_work.fired]


@pytest.fixture
def injected(host):
    """Makes an `Injected`: `injected(injection, …, policies=…)`."""

    def make(*injections, **wanted):
        return Injected(host, injections, **wanted)

    return make
