"""Figures of the core: dispatch, event loop, core pool, the whole pipeline, logging sites, memory (R6 to R13, R21).

The product's side is always a real `Device` with its rings in device memory; what is measured is `run_until_idle`.
"""

from __future__ import annotations

import subprocess
import sys
import time
from typing import TYPE_CHECKING

import numpy as np
import structlog

from emu_core.journal import HOST
from emu_core.trace import Patched, TaskDone, TaskWaits
from tools.bench import queues
from tools.bench.mockgpu import signal_writes
from tools.bench.naive import NaivePipeline, plugin_manager
from tools.bench.pairs import Pair, Side, UnequalError
from tools.bench.peers import EventProgram, PoolProgram
from tools.bench.queues import HELD, KERNEL, WORK, WORK_NS, Loaded, Shape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from emu_core.device import Device
    from emu_core.engines import Task
    from emu_core.trace import Event

STREAMS = 64
TASKS, PEER_TASKS = 10_000, 1_000
PRODUCT_TASKS, NAIVE_TASKS = 3_000, 200
CORES = 24
POOL_TASKS = 400
MEMORY_SQES = 10_000_000


def _same(what: str, left: object, right: object) -> None:
    if left != right:
        raise UnequalError(f"{what}: the two sides do not give the same result")


# ---- R6: dispatch --------------------------------------------------------------------------------------------------


def dispatch() -> tuple[Side, Side]:
    """R6: the handler of each of a thousand entries found and called: hook call, or code column and table."""
    device = Loaded([]).device
    hook = plugin_manager(device.chip.latencies.event_ns).hook.duration
    planner = device.scheduler.lanes.planner
    ring = Shape(1, 1000, 20).units(0, queues.layouts())
    codes = planner.codes_of(ring).tolist()
    kinds = (ring[:, 0] & 0x3F).tolist()
    found = [planner.kinds[code] for code in codes]
    _same("dispatch", [kind and kind.handler.sqe_type for kind in found], kinds)
    # Only work entries: what the others' engines do is not dispatch.
    codes = [code for code, kind in zip(codes, kinds, strict=True) if kind == WORK]
    task = device.scheduler.task(device.create_stream("r6", bound=False), 0, ring[0].tobytes())
    calls = [_duration] * len(planner.kinds)
    _same("duration", calls[codes[0]](task), hook(kind=WORK))

    def through_hooks() -> None:
        for _ in codes:
            hook(kind=WORK)

    def through_table() -> None:
        for code in codes:
            calls[code](task)

    return Side(through_hooks, len(codes)), Side(through_table, len(codes))


# ---- R7, R8: event loop --------------------------------------------------------------------------------------------


def _duration(_task: Task) -> int:
    """What the hook answers, as a function in a table."""
    return WORK_NS


def _ends(device: Device, streams: int) -> list[int]:
    """When the last entry of each stream ended."""
    rows = device.trace.slices().rows
    ends = np.zeros(streams, np.int64)
    np.maximum.at(ends, rows["stream"], rows["end"])
    return [int(end) for end in ends]


def _rings(shape: Shape) -> list[queues.Units]:
    layouts = queues.layouts()
    return [shape.units(number, layouts) for number in range(shape.streams)]


def _loop(loaded: Loaded) -> Callable[[], None]:
    def call() -> None:
        loaded.again(decode=False)
        loaded.run()

    return call


def event_loop(period: int) -> tuple[Side, Side]:
    """R8: 64 streams that wait for each other every `period` entries, nothing logged."""
    small = Shape(STREAMS, PEER_TASKS, period)
    event_ns = Loaded([]).device.chip.latencies.event_ns
    peer = EventProgram(small, event_ns)
    _same("event loop", _ends(Loaded(_rings(small)).run(), STREAMS), peer.run())
    shape = Shape(STREAMS, TASKS, period)
    product = Loaded(_rings(shape), ())
    return Side(peer.run, small.total), Side(_loop(product), shape.total)


def core_pool() -> tuple[Side, Side]:
    """R7: 64 streams whose every entry holds one of 24 cores.

    Times are so long and random that no two entries end at once: who would be first then is not the same in simpy.
    """
    random = np.random.Generator(np.random.PCG64(7))
    times = random.integers(1 << 20, 1 << 30, (STREAMS, POOL_TASKS))
    struct = queues.layouts()["EventWaitSqe"]
    rings = [
        np.stack([np.frombuffer(struct.build({"type": HELD, "timeout": int(t)}), np.uint8) for t in row])
        for row in times
    ]
    peer = PoolProgram(times.tolist(), CORES)
    _same("core pool", _ends(Loaded(rings, cores=CORES).run(), STREAMS), peer.run())
    return Side(peer.run, times.size), Side(_loop(Loaded(rings, (), cores=CORES)), times.size)


# ---- R9, R10: the whole pipeline -----------------------------------------------------------------------------------


def _pipeline(loaded: Loaded, kinds: Iterable[type[Event]]) -> tuple[bytes, bytes]:
    """Run, write the log (events of these kinds) and the trace (a row per entry)."""
    trace = loaded.run().trace
    return trace.lines(kinds), trace.slices().rows.tobytes()


def _check_pipeline(shape: Shape, naive: NaivePipeline) -> None:
    """Same end times, same rings, as many log lines and trace rows, the same patches."""
    naive.run()
    loaded = Loaded(_rings(shape), (TaskDone, Patched))
    log, trace = _pipeline(loaded, (TaskDone, Patched))
    _same("ends", _ends(loaded.device, shape.streams), naive.ends)
    _same("rings", [s.queue.contents() for s in loaded.streams], [bytes(ring) for ring in naive.rings])
    _same("log lines", log.count(b"\n"), naive.log.count("\n"))
    _same("trace rows", len(trace) // loaded.device.trace.slices().rows.itemsize, shape.total)
    _same("patches", len(loaded.device.journal), log.count(b"sqe.patch"))


def pipeline(period: int, kinds: Sequence[type[Event]]) -> tuple[Side, Side]:
    """R9, R10: decode, dispatch, clock, patch, log of events of `kinds`, trace."""
    small = Shape(STREAMS, NAIVE_TASKS + period, period, patches=True)
    event_ns = Loaded([]).device.chip.latencies.event_ns
    naive = NaivePipeline(small, _rings(small), queues.layouts(), event_ns)
    _check_pipeline(small, naive)
    shape = Shape(STREAMS, PRODUCT_TASKS, period, patches=True)
    loaded = Loaded(_rings(shape), (TaskDone, Patched))

    def product() -> None:
        loaded.again(decode=True)
        _pipeline(loaded, kinds)

    return Side(naive.run, small.total), Side(product, shape.total)


# ---- R13, R15, R21 -------------------------------------------------------------------------------------------------


def disabled_site() -> tuple[Side, Side]:
    """R13: a site whose event is off: a filtered call of a bound structlog logger, or the product's hoisted flag."""
    logger = structlog.wrap_logger(
        structlog.ReturnLogger(), wrapper_class=structlog.make_filtering_bound_logger(30)
    ).bind()
    _same("off", logger.info("task.wait", time=1, stream=2, slot=3), None)
    trace = Loaded([], ()).device.trace
    sites = range(1000)
    log = trace.log if trace.wants(TaskWaits) else None

    info = logger.info

    def theirs() -> None:
        for at in sites:
            info("task.wait", time=at, stream=2, slot=3)
            info("task.wait", time=at, stream=2, slot=3)
            info("task.wait", time=at, stream=2, slot=3)
            info("task.wait", time=at, stream=2, slot=3)

    def ours() -> None:
        for at in sites:
            if log is not None:
                log((at, 2, 3))
            if log is not None:
                log((at, 2, 3))
            if log is not None:
                log((at, 2, 3))
            if log is not None:
                log((at, 2, 3))

    return Side(theirs, 4 * len(sites)), Side(ours, 4 * len(sites))


def audited_patch(*, at_once: bool) -> tuple[Side, Side]:
    """R15: a field of submitted entries patched on the device, journalled and traced, against a rebuilt record.

    `at_once`: of 500 entries in one call, or in a call each.
    """
    from tools.bench.stock import stock_construct  # noqa: PLC0415 - beside its only use

    struct = queues.layouts()[KERNEL]
    loaded = Loaded(_rings(Shape(1, 1000, 1000)), (Patched,))
    device, stream = loaded.device, loaded.streams[0]
    stock = stock_construct(struct)
    record = stream.queue.entry(0)

    def rebuild() -> bytes:
        values = stock.parse(record)
        values["pc_addr_low"] = 7
        return stock.build(values)

    device.patch_sqe(stream.id, 0, {"pc_addr_low": 7}, struct, HOST)
    _same("patch", stream.queue.entry(0), rebuild())

    slots = np.arange(500)

    def each() -> None:
        device.clear_history()
        for slot in range(500):
            device.patch_sqe(stream.id, slot, {"pc_addr_low": slot}, struct, HOST)

    def all_at_once() -> None:
        device.clear_history()
        device.patch_many(stream.id, slots, {"pc_addr_low": slots}, struct, HOST)

    each()
    rows = list(device.journal)
    all_at_once()
    _same("values after", [row.after for row in rows], slots.tolist())
    _same(
        "journal",
        [(r.slot, r.task, r.field, r.after) for r in device.journal],
        [(r.slot, r.task, r.field, r.after) for r in rows],
    )
    return Side(rebuild, 1), Side(all_at_once if at_once else each, 500)


def peak_memory() -> float:
    """R21: most resident memory of a process that runs 10^7 entries with the whole trace on, by ring bytes."""
    command = [sys.executable, "-m", "tools.bench.memory_run", str(MEMORY_SQES)]
    found = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)  # noqa: S603 - our own arguments
    return float(found.stdout)


def cost_growth() -> float:
    """Time per entry of a run of 10^6 entries, by that of one of 10^4; the smallest of three each."""
    return _per_task(1_000_000) / _per_task(10_000)


def _per_task(total: int) -> float:
    streams = 8
    loaded = Loaded(_rings(Shape(streams, total // streams, 50)), ())
    repeats = max(3, 300_000 // total)
    times = []
    for _ in range(3):
        start = time.perf_counter()
        for _ in range(repeats):
            loaded.again(decode=True)
            loaded.run()
        times.append((time.perf_counter() - start) / repeats / total)
    return min(times)


SIMPY, NAIVE = "simpy, a process per stream", "construct + pluggy + simpy + structlog, by their guides"

PAIRS = (
    Pair("R6", "table dispatch, call included", "pluggy first-result hook, 3 plugins", 30, 50, dispatch),
    Pair("R7", "event loop, pool of 24 cores", "simpy.Resource", 8, 12, core_pool, rounds=5),
    Pair("R8", "event loop, sync every 50", SIMPY, 25, 45, lambda: event_loop(50), rounds=5),
    Pair("R8-10", "event loop, sync every 10", SIMPY, 5, 8.8, lambda: event_loop(10), rounds=5),
    Pair("R9", "pipeline, every task logged", NAIVE, 40, 70, lambda: pipeline(20, (TaskDone, Patched)), rounds=3),
    Pair("R10", "pipeline, patches logged, sync every 20", NAIVE, 100, 170, lambda: pipeline(20, (Patched,)), rounds=3),
    Pair(
        "R10-200", "pipeline, patches logged, sync every 200", NAIVE, 300, 600, lambda: pipeline(200, (Patched,)),
        rounds=3,
    ),
    Pair("R11", "signal-write SQEs", "tinygrad mock GPU, RELEASE_MEM", 8, 18, signal_writes),
    Pair(
        "R15-audited", "patches in bulk, journalled", "stock construct: rebuild", 200, 370,
        lambda: audited_patch(at_once=True),
    ),
    Pair(
        "R15-single", "one patch a call, journalled", "stock construct: rebuild", 30, 60,
        lambda: audited_patch(at_once=False),
    ),
    Pair("R21", "peak memory of 10^7 SQEs", "bytes of their rings", 4, 2, quotient=peak_memory, largest=True),
    Pair("growth", "time per task, 10^6 tasks", "the same with 10^4", 1.5, 1.1, quotient=cost_growth, largest=True),
)  # fmt: skip
