"""Figures of what explains a run: snapshots and steps back (`emu_core.snapshot`)."""

from __future__ import annotations

import functools
import time
from typing import TYPE_CHECKING

import numpy as np

from emu_core.device import Device
from emu_core.snapshot.session import Idle
from emu_core.snapshot.travel import TimeTravel
from emu_plugins.runtime.sqes import Place, SqeBuilder
from tools.bench.pairs import Pair, Side, UnequalError
from tools.given_plugins import make_host

if TYPE_CHECKING:
    from emu_core.streams import Stream

TOUCHED = 256 << 20
TASKS = 100_000
BUDGET_MIB = 256
GOALS = (0.99, 0.5, 0.1)
"""Where steps back are taken, as parts of the run."""


def snapshot_of_memory() -> tuple[Side, Side]:
    """Copying 256 MiB with numpy, and a snapshot of a device on which as many bytes were written."""
    device = Device("ascend310p3", plugins=make_host())
    room = device.memory.allocate(TOUCHED, label="bench").address
    device.memory.write(room, np.arange(TOUCHED // 8, dtype=np.uint64).view(np.uint8))
    data = device.memory.view(room, TOUCHED)
    copy = device.snapshot().fork()
    if not np.array_equal(copy.memory.view(room, TOUCHED), data):
        raise UnequalError("a device made of the snapshot holds other bytes")
    del copy
    return Side(data.copy, TOUCHED), Side(device.snapshot, TOUCHED)


def _filled() -> tuple[Device, Stream]:
    """A device with 10^5 NOPs on one stream, about to start."""
    host = make_host()
    device = Device("edu-large", plugins=host)
    stream = device.create_stream("bench", bound=False)
    stream.queue.extend(SqeBuilder(host.registry, device.chip.family).nop(Place(stream.id, 0)) * TASKS)
    device.scheduler.ring_doorbell(stream)
    return device, stream


def _rerun(steps: int) -> int:
    """From the start to position `steps`, as one does without time travel; virtual nanoseconds then."""
    device, _ = _filled()
    device.scheduler.lanes.on = False
    for _ in range(steps):
        device.scheduler.step()
    return device.clock.now


@functools.cache
def _travelled() -> TimeTravel:
    """The run at its end, within the budget."""
    device, _ = _filled()
    travel = TimeTravel(device, Idle(), budget_mib=BUDGET_MIB)
    travel.proceed()
    if travel.bytes > BUDGET_MIB << 20:
        raise UnequalError(f"snapshots take {travel.bytes} bytes, more than the budget")
    return travel


def step_back() -> tuple[Side, Side]:
    """One step back in the middle of 10^5 tasks: running again from the start, and time travel."""
    travel = _travelled()
    middle = (travel.end or 0) // 2
    travel.run_to(middle)
    travel.back()
    if travel.device.clock.now != _rerun(middle - 1):
        raise UnequalError("a step back leads to another time than running again")

    def back() -> None:
        if travel.position < 2:
            travel.run_to(middle)
        travel.back()

    return Side(lambda: _rerun(middle - 1), 1), Side(back, 1)


def seconds_back() -> float:
    """The longest of some steps back in the run of 10^5 tasks, in seconds."""
    travel = _travelled()
    found = []
    for part in GOALS:
        travel.run_to(int(part * (travel.end or 0)))
        start = time.perf_counter()
        travel.back()
        found.append(time.perf_counter() - start)
    return max(found)


PAIRS = (
    Pair(
        "snapshot", "snapshot of 256 MiB touched, time", "numpy copy of these bytes", 1.5, 1.1, snapshot_of_memory,
        rounds=5, largest=True,
    ),
    Pair("step-back", "reverse step, 10^5 tasks", "running again from the start", 20, 50, step_back, rounds=3),
    Pair(
        "step-back-time", "longest reverse step, 10^5 tasks", "1 s", 1, 0.1, quotient=seconds_back, largest=True,
    ),
)  # fmt: skip
