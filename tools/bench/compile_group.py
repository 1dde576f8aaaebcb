"""Figures of compiling and loading: emission of ring entries from a task graph (R17), growth of the compiler.

The graph of R17 has two producers per node, taken from the nodes before it, and 64 streams; every edge between streams
has an event: a record, a wait, and the reset behind it.
"""

from __future__ import annotations

import subprocess
import sys
import time
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from emu_core.graph import CompileOptions
from emu_core.kernels import CoreType
from emu_core.plugins import PluginHost
from emu_plugins.runtime.builders import builder_for
from emu_plugins.runtime.emission import KERNEL, NOP, RECORD, RESET, WAIT, Emitter, TaskColumns
from emu_plugins.runtime.sqes import EVENT_TABLE, Place
from tools.bench.pairs import Pair, Side, UnequalError
from tools.bench.stock import stock_construct
from tools.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from emu_core.graph import Compiled
    from formats import CStruct

STREAMS = 64
NODES, PEER_NODES = 100_000, 2_000
SMALL_GRAPH, BIG_GRAPH, SINK_EVERY = 1_000, 100_000, 10
MOST_MIB = 2048
CHIP = "edu-large"
FAMILY = "v100"


def dag(nodes: int) -> TaskColumns:
    """The tasks of a random graph of `nodes` kernels, in list order: waits, kernel, records of each node."""
    random = np.random.Generator(np.random.PCG64(17))
    stream = np.arange(nodes) % STREAMS
    producer = (random.random((nodes, 2)) * np.arange(nodes)[:, None]).astype(np.int64)
    consumer = np.repeat(np.arange(nodes), 2)
    edges = np.stack([producer.ravel(), consumer])[:, 2:]
    edges = edges[:, stream[edges[0]] != stream[edges[1]]]
    event = np.arange(edges.shape[1])
    # Position in the list: node, then what comes first within it.
    owner = np.concatenate([edges[1], np.arange(nodes), edges[0]])
    rank = np.repeat([0, 1, 2], [len(event), nodes, len(event)])
    kind = np.repeat([WAIT, KERNEL, RECORD], [len(event), nodes, len(event)])
    order = np.lexsort((rank, owner))
    none = np.zeros(nodes, np.int64)
    events = np.concatenate([event, none, event]) & 0xFFFF
    kind, owner = kind[order].astype(np.int64), owner[order]
    is_kernel = (kind == KERNEL).astype(np.int64)
    return TaskColumns(
        kind, stream[owner], events[order], is_kernel * (0x12C040014000 + 64 * owner), is_kernel * (1 << 33) + owner,
        is_kernel * (1 + owner % 40), is_kernel * int(CoreType.AIV),
    )  # fmt: skip


@cache
def _host() -> PluginHost:
    return PluginHost()


def emitter() -> Emitter:
    """The product's side, as the loader makes it."""
    registry = _host().registry
    return Emitter(builder_for(registry, FAMILY), registry, FAMILY)


class Objects:
    """The same entries with a record each: lists per stream, then the generated build of each record."""

    def __init__(self, tasks: TaskColumns) -> None:
        registry = _host().registry
        build = builder_for(registry, FAMILY)
        at = Place(0, 0)
        ready = {
            KERNEL: build.kernel(at, core_type=CoreType.AIV, block_dim=1, schem=0, pc=0, args=0, stack=0),
            RECORD: build.event_record(at, 0),
            WAIT: build.event_wait(at, 0),
            NOP: build.nop(at),
            RESET: build.event_reset(at, 0),
        }
        names = ("AicoreKernelSqe", "EventRecordSqe", "EventWaitSqe", "PhSqe", "WriteValueSqe")
        self.structs: list[CStruct] = [registry.get(FAMILY, name) for name in names]
        self._fixed = [self._constants(struct, ready[kind]) for kind, struct in enumerate(self.structs)]
        columns = (tasks.kind, tasks.stream, tasks.event, tasks.pc, tasks.args, tasks.block_dim)
        self.rows = list(zip(*(column.tolist() for column in columns), strict=True))

    @staticmethod
    def _constants(struct: CStruct, ready: bytes) -> dict[str, int]:
        values = struct.parse(ready)
        return {f.name: values[f.name] for f in struct.named_fields if f.count is None and values[f.name]}

    def entries(self) -> list[list[tuple[int, dict[str, int]]]]:
        """Kind and values of each entry, by stream."""
        found: list[list[tuple[int, dict[str, int]]]] = [[] for _ in range(STREAMS)]
        for kind, stream, event, pc, args, block_dim in self.rows:
            line = found[stream]
            own = {"rt_stream_id": stream, "task_id": len(line) & 0xFFFF}
            if kind == KERNEL:
                own |= {**_halves("pc_addr", pc), **_halves("param_addr", args), "block_dim": block_dim}
            else:
                own["event_id"] = event
            line.append((kind, {**self._fixed[kind], **own}))
            if kind == WAIT:
                address = EVENT_TABLE + event // 4096 * 0x10000 + event % 4096 * 4
                own = {"rt_stream_id": stream, "task_id": len(line) & 0xFFFF, "event_id": event}
                line.append((RESET, {**self._fixed[RESET], **own, **_halves("write_addr", address)}))
        return found

    def build(self) -> list[bytes]:
        """The rings."""
        codecs = [struct.codec for struct in self.structs]
        return [
            b"".join(codecs[kind].build(codecs[kind].record(**values)) for kind, values in line)
            for line in self.entries()
        ]


def _halves(name: str, value: int) -> dict[str, int]:
    return {f"{name}_low": value & 0xFFFF_FFFF, f"{name}_high": value >> 32}


def _prepared() -> tuple[Objects, TaskColumns, Callable[[], object], int]:
    """The peer's small graph, checked against the product; the product's call on the large one, and its entries."""
    small, large, product = dag(PEER_NODES), dag(NODES), emitter()
    peer = Objects(small)
    rings = product.emit(small, STREAMS)
    if [rings.of(stream).tobytes() for stream in range(STREAMS)] != peer.build():
        raise UnequalError("emission: the two sides do not give the same bytes")
    return peer, small, lambda: product.emit(large, STREAMS), len(product.emit(large, STREAMS).entries)


def emission() -> tuple[Side, Side]:
    """R17: task columns to rings, against an object per entry and the generated build."""
    peer, small, call, entries = _prepared()
    count = len(emitter().emit(small, STREAMS).entries)
    return Side(peer.build, count), Side(call, entries)


def emission_construct() -> tuple[Side, Side]:
    """R17: the same, against stock construct building ready dicts."""
    peer, _, call, entries = _prepared()
    stock = [stock_construct(struct) for struct in peer.structs]
    some = [(kind, _whole(peer.structs[kind], values)) for line in peer.entries() for kind, values in line[:4]]

    def build() -> None:
        for kind, values in some:
            stock[kind].build(values)

    return Side(build, len(some)), Side(call, entries)


def _whole(struct: CStruct, values: Mapping[str, int]) -> dict[str, Any]:
    """Every field of a record, halves apart, as stock construct wants it: reserved arrays are one number, 0."""
    found = struct.parse(struct.build(values))
    return {name: 0 if isinstance(value, list) else value for name, value in found.items()}


# ---- growth of the compiler ----------------------------------------------------------------------------------------


def graph(nodes: int) -> dict[str, Any]:
    """A chain of `nodes` operators in tens: the first of each reads a run-time value and sinks."""
    listed = [
        {
            "name": f"n{i}",
            "type": "TilingProbe",
            "inputs": ["x", "n"] if i % SINK_EVERY == 0 else [f"t{i - 1}", "c"],
            "outputs": [f"t{i}"],
        }
        for i in range(nodes)
    ]
    return {
        "format": "sqemu-graph", "version": 1, "name": "growth", "options": {"ge.tiling_schedule_optimize": "1"},
        "inputs": [{"name": "x", "dtype": "float32", "shape": [40]}, {"name": "n", "dtype": "int32", "shape": [1]}],
        "constants": [{"name": "c", "dtype": "int32", "shape": [1], "data": [1]}],
        "nodes": listed, "outputs": [f"t{nodes - 1}"],
    }  # fmt: skip


def compiled(nodes: int) -> Compiled:
    """That graph, compiled."""
    from emu_core.api import compile_with_report  # noqa: PLC0415 - beside its only use

    return compile_with_report(graph(nodes), CHIP, CompileOptions(offline=True), _host())


def _per_node(nodes: int) -> float:
    """Seconds of processor time per node, the smaller of two."""
    times = []
    for _ in range(2):
        start = time.process_time()
        compiled(nodes)
        times.append((time.process_time() - start) / nodes)
    return min(times)


def growth() -> float:
    """Time per node of a graph of 100 000, by that of one of 1 000."""
    with Progress("compiling graph", 2) as progress:
        small = _per_node(SMALL_GRAPH)
        progress.step()
        large = _per_node(BIG_GRAPH)
        progress.step()
    return large / small


def peak_memory() -> float:
    """Most resident memory of a process that compiles 100 000 nodes, in MiB."""
    code = (
        "import resource; from tools.bench.compile_group import BIG_GRAPH, compiled; compiled(BIG_GRAPH); "
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)"
    )
    found = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=True, text=True)  # noqa: S603 - our own arguments
    return float(found.stdout)


PAIRS = (
    Pair("R17", "task columns to rings", "an object per entry, generated build", 15, 25, emission, rounds=5),
    Pair("R17-construct", "task columns to rings", "stock construct, dicts", 300, 500, emission_construct, rounds=5),
    Pair("growth-nodes", "time per node, 10^5 nodes", "the same with 10^3", 1.5, 1.1, quotient=growth, largest=True),
    Pair("memory-nodes", "MiB to compile 10^5 nodes", "1 MiB", MOST_MIB, 1024, quotient=peak_memory, largest=True),
)  # fmt: skip
