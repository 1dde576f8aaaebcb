"""Programs of the core figures: rings of simple entries, and the plugin with the engines that are only for measuring.

| entry | SQE type | does |
|---|---|---|
| work | 40 | takes 100 ns; carries a program counter, which a patch changes |
| patch | 41 | takes 100 ns, then writes its own program counter into a work entry of its stream, in the slot it names |
| held | 42 | holds an AI Core for as many nanoseconds as it says |
| record, wait | 4, 5 | the product's own event entries |

All are real entries in real rings of a device `edu-large`; record and wait come every `period` entries, and every
stream waits for the record of the stream before it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from emu_core.cores import CUBE, Demand
from emu_core.device import Device
from emu_core.engines import Effect, Handler, Launch, Run
from emu_core.hookspecs import hookimpl
from emu_core.journal import Writer
from emu_core.plans import Acts, Fixed, Holds
from emu_core.plugins import PluginHost
from emu_core.trace import EVENTS, Trace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import numpy.typing as npt

    from emu_core.engines import Outcome, Task
    from emu_core.trace import Event
    from formats import CStruct

    Units = npt.NDArray[np.uint8]

CHIP = "edu-large"
WORK, PATCH, HELD, RECORD, WAIT = 40, 41, 42, 4, 5
WORK_NS = 100
KERNEL = "AicoreKernelSqe"
AHEAD = 16
"""How far past itself a patch entry reaches: beyond the fetch buffer, so that the patch is seen."""


class BenchEngines:
    """The engines of this module, as a plugin."""

    @hookimpl
    def sqemu_engines(self, *, device: Device) -> Iterable[Handler]:
        """Work, patch and held entries."""
        held = Holds(device.cores, CUBE, ("EventWaitSqe", "timeout"))
        write = _patcher(device)

        def patch(task: Task) -> Outcome:
            return Run(WORK_NS, lambda: write(task))

        return (
            Handler("bench", "work", WORK, _work, effect=Effect.LOCAL, plan=Fixed(WORK_NS)),
            Handler("bench", "patch", PATCH, patch, effect=Effect.MEMORY, plan=Acts(WORK_NS, write)),
            Handler("bench", "held", HELD, _held, effect=Effect.RESOURCE, plan=held),
        )


def _work(_task: Task) -> Outcome:
    return Run(WORK_NS)


def _patcher(device: Device) -> Callable[[Task], None]:
    """What a patch entry does; layouts are looked up once."""
    struct, patch_sqe = device.layout(KERNEL), device.patch_sqe
    value, target = struct.field("pc_addr_low").read, struct.field("param_addr_low").read

    def write(task: Task) -> None:
        sqe, stream = task.sqe, task.stream.id
        patch_sqe(stream, target(sqe), {"pc_addr_low": value(sqe)}, struct, Writer(stream, task.task_id, "bench"))

    return write


def _held(task: Task) -> Outcome:
    share = Fraction(task.field("EventWaitSqe", "timeout"))
    return Launch(0, task.device.cores, Demand({CUBE: 1}, 1, share))


HOST = PluginHost([BenchEngines()])


@dataclass(frozen=True)
class Shape:
    """A program: `streams` rings of `tasks` entries, record and wait every `period`; `patches`: one in each period."""

    streams: int
    tasks: int
    period: int
    patches: bool = False

    @property
    def total(self) -> int:
        """Entries in all rings."""
        return self.streams * self.tasks

    def kinds(self) -> Iterator[tuple[int, int]]:
        """(SQE type, period) of each entry of a ring, in order."""
        for index in range(self.tasks):
            period, place = divmod(index, self.period)
            last = index - place + self.period > self.tasks
            if place == self.period - 2 and not last:
                yield RECORD, period
            elif place == self.period - 1 and not last:
                yield WAIT, period
            elif place == self.period - 3 and self.patches and self.target(index) < self.tasks:
                yield PATCH, period
            else:
                yield WORK, period

    def event(self, stream: int, period: int) -> int:
        """The event of one stream in one period."""
        return (period * self.streams + stream) & 0xFFFF

    def before(self, stream: int) -> int:
        """The stream that `stream` waits for."""
        return (stream - 1) % self.streams

    def target(self, index: int) -> int:
        """The slot that the patch in slot `index` writes to, which holds a work entry."""
        return (index // self.period + 1) * self.period + AHEAD % (self.period - 3)

    def units(self, stream: int, layouts: dict[str, CStruct]) -> Units:
        """The ring of one stream: shape (tasks, 64), uint8."""
        work = _bytes(layouts[KERNEL], {"type": WORK, "block_dim": 1, "kernel_credit": 254})
        ring = np.tile(work, (self.tasks, 1))
        for index, (kind, period) in enumerate(self.kinds()):
            if kind == RECORD:
                values = {"type": RECORD, "event_id": self.event(stream, period), "kernel_credit": 254}
                ring[index] = _bytes(layouts["EventRecordSqe"], values)
            elif kind == WAIT:
                values = {"type": WAIT, "event_id": self.event(self.before(stream), period), "kernel_credit": 255}
                ring[index] = _bytes(layouts["EventWaitSqe"], values)
            elif kind == PATCH:
                values = {"type": PATCH, "param_addr_low": self.target(index), "pc_addr_low": index}
                ring[index] = _bytes(layouts[KERNEL], values)
        return ring


def _bytes(struct: CStruct, values: dict[str, int]) -> Units:
    return np.frombuffer(struct.build(values), np.uint8)


def layouts() -> dict[str, CStruct]:
    """The layouts that programs use."""
    return {name: HOST.registry.get("v100", name) for name in (KERNEL, "EventRecordSqe", "EventWaitSqe")}


class Loaded:
    """A device with a program in its rings; `again` makes the program ready to run once more on the same rings."""

    def __init__(
        self, rings: list[Units], events: Iterable[type[Event]] = EVENTS, cores: int | None = None, **policies: str
    ) -> None:
        chip = HOST.chip(CHIP)
        self.device = Device(
            chip if cores is None else replace(chip, core_num_aic=cores), policies, HOST, trace=Trace(events)
        )
        self.streams = [self.device.create_stream(f"bench {i}", bound=False) for i in range(len(rings))]
        for stream, ring in zip(self.streams, rings, strict=True):
            stream.queue.extend(ring.reshape(-1))

    def run(self) -> Device:
        """Run all rings to their ends."""
        scheduler = self.device.scheduler
        for stream in self.streams:
            scheduler.ring_doorbell(stream)
        scheduler.run_until_idle()
        return self.device

    def again(self, *, decode: bool) -> None:
        """Head of every queue back to entry 0, no flag set, nothing in trace and journal; `decode`: nor decoded."""
        for stream in self.streams:
            stream.queue.head = 0
            if decode:
                stream.decoded = None
        self.device.signals.clear_all()
        if self.device.ordering is not None:
            self.device.ordering.forget_flags()
        self.device.clear_history()
