"""The pipes of a core while it works on a chunk: what each does when, in cycles of a model (`reference/cgdr.md` 14).

A core has five pipes that run side by side: MTE2 brings data in, MTE1 feeds the Cube from L1, Cube, Vector, and MTE3
takes data out. Each does its own operations in program order; an operation starts when its pipe is free and what it
needs is done. Operands pass through device memory: Vector splits, MTE3 fills a staging slot, MTE2 loads it into L1.

| cost | figure | why |
|---|---|---|
| MTE2, MTE3 | 32 bytes per cycle | the DMA moves blocks of 32 bytes |
| MTE1 | 256 bytes per cycle | half a 16 x 16 float16 fractal |
| Cube | one 16 x 16 x 16 product per cycle | 8192 operations per cycle, the figure of the chip |
| Vector | 64 float32 per cycle | a repeat is 256 bytes wide |
| start of a transfer | 64 cycles | a round trip to memory; assumed |
| start of an instruction | 16 cycles | the depth of a pipeline; assumed |

The figures are a model: no source has measured ones for this kernel. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from emu_plugins.cgdr.constants import CHUNK_SIZE, FP16_BYTES, FP32_BYTES
from emu_plugins.cgdr.paths import VECTOR_STEPS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from emu_plugins.cgdr.items import WorkItem
    from emu_plugins.cgdr.paths import Geometry, Steps

FRACTAL = 16


class Pipe(StrEnum):
    """A pipe of a core."""

    MTE2 = "MTE2"
    MTE1 = "MTE1"
    CUBE = "Cube"
    VECTOR = "Vector"
    MTE3 = "MTE3"


@dataclass(frozen=True)
class PipeCosts:
    """The figures of the module text: bytes, bytes, products of 16, float32 per cycle; starts in cycles."""

    memory_bytes: int = 32
    l1_bytes: int = 256
    fractals: int = 1
    lanes: int = 64
    transfer_start: int = 64
    instruction_start: int = 16

    def memory(self, size: int) -> int:
        """Cycles of one transfer of `size` bytes from or to device memory."""
        return self.transfer_start + -(-size // self.memory_bytes)

    def l1(self, size: int) -> int:
        """Cycles of one transfer of `size` bytes from L1."""
        return self.instruction_start + -(-size // self.l1_bytes)

    def mmad(self, m: int, k: int, n: int) -> int:
        """Cycles of one product on the Cube."""
        products = -(-m // FRACTAL) * -(-k // FRACTAL) * -(-n // FRACTAL)
        return self.instruction_start + -(-products // self.fractals)

    def vector(self, elements: int, instructions: int = 1) -> int:
        """Cycles of `instructions` Vector instructions on `elements` float32 each."""
        return instructions * (self.instruction_start + -(-elements // self.lanes))


DEFAULT_COSTS = PipeCosts()


class PipeSpan(NamedTuple):
    """An operation of a pipe: cycles [start, end), what it does, and the staging slot it fills or reads (-1: none)."""

    pipe: Pipe
    start: int
    end: int
    what: str
    slot: int = -1
    product: str = ""


@dataclass(frozen=True)
class ChunkTimeline:
    """The operations of one chunk in program order."""

    spans: tuple[PipeSpan, ...]

    @property
    def cycles(self) -> int:
        """When the last one ends."""
        return max((span.end for span in self.spans), default=0)

    def busy(self, pipe: Pipe) -> int:
        """Cycles in which `pipe` works."""
        return sum(span.end - span.start for span in self.spans if span.pipe is pipe)


def chunk_timeline(
    geometry: Geometry, full: Steps, rows: int, *, slots: int = 2, costs: PipeCosts = DEFAULT_COSTS
) -> ChunkTimeline:
    """One chunk of `rows` rows of one work item on its own; `full` are the steps of a full one on the Cube."""
    steps = full if rows == CHUNK_SIZE else VECTOR_STEPS
    return ChunkTimeline(tuple(_Chunk(geometry, steps, rows, slots, costs).run()))


def core_cycles(
    geometry: Geometry, full: Steps, items: Iterable[WorkItem], *, slots: int = 2, costs: PipeCosts = DEFAULT_COSTS
) -> int:
    """Cycles of a core for its `items`, chunk after chunk."""
    known: dict[int, int] = {0: 0}

    def cycles(rows: int) -> int:
        if rows not in known:
            known[rows] = chunk_timeline(geometry, full, rows, slots=slots, costs=costs).cycles
        return known[rows]

    return sum(
        item.sequence.length // CHUNK_SIZE * cycles(CHUNK_SIZE) + cycles(item.sequence.length % CHUNK_SIZE)
        for item in items
    )


def launch_cycles(
    geometry: Geometry, full: Steps, items: Sequence[WorkItem], *, slots: int = 2, costs: PipeCosts = DEFAULT_COSTS
) -> int:
    """Cycles of the core that has most to do."""
    by_block: dict[int, list[WorkItem]] = {}
    for item in items:
        by_block.setdefault(item.block, []).append(item)
    return max((core_cycles(geometry, full, mine, slots=slots, costs=costs) for mine in by_block.values()), default=0)


def core_spans(
    geometry: Geometry, full: Steps, items: Iterable[WorkItem], *, slots: int = 2, costs: PipeCosts = DEFAULT_COSTS
) -> Iterator[tuple[WorkItem, int, PipeSpan]]:
    """(item, first row of the chunk, operation) of a core, in cycles since its launch began."""
    now = 0
    for item in items:
        for row in range(0, item.sequence.length, CHUNK_SIZE):
            rows = min(CHUNK_SIZE, item.sequence.length - row)
            chunk = chunk_timeline(geometry, full, rows, slots=slots, costs=costs)
            for span in chunk.spans:
                yield item, row, span._replace(start=span.start + now, end=span.end + now)
            now += chunk.cycles


@dataclass(frozen=True)
class PipeSlice:
    """An operation on virtual time: core, pipe, [start, end) in nanoseconds, and what it is part of.

    `what` and `slot` are those of a `PipeSpan`; `batch`, `head` and `row` name the sequence, the head and the chunk.
    """

    core: int
    pipe: Pipe
    start: Fraction
    end: Fraction
    what: str
    slot: int
    batch: int
    head: int
    row: int


def launch_slices(
    geometry: Geometry,
    full: Steps,
    items: Iterable[WorkItem],
    *,
    started: int,
    mhz: int,
    slots: int = 2,
    costs: PipeCosts = DEFAULT_COSTS,
) -> Iterator[PipeSlice]:
    """What every core of a launch does, core by core, if all blocks start at virtual nanosecond `started`."""
    by_block: dict[int, list[WorkItem]] = {}
    for item in items:
        by_block.setdefault(item.block, []).append(item)
    for core, mine in by_block.items():
        for item, row, span in core_spans(geometry, full, mine, slots=slots, costs=costs):
            start, end = (started + Fraction(cycles * 1000, mhz) for cycles in (span.start, span.end))
            yield PipeSlice(core, span.pipe, start, end, span.what, span.slot, item.sequence.batch, item.head, row)


class _Chunk:
    """Places the operations of a chunk one by one; methods give the end of what they placed."""

    def __init__(self, geometry: Geometry, steps: Steps, rows: int, slots: int, costs: PipeCosts) -> None:
        self._g, self._steps, self._n, self._slots, self._c = geometry, steps, rows, slots, costs
        self._k, self._av = geometry.align_k, geometry.av
        self._spans: list[PipeSpan] = []
        self._free = dict.fromkeys(Pipe, 0)
        self._slot_free = [0] * slots

    def run(self) -> list[PipeSpan]:
        """Every step in the device's order."""
        n, k, av = self._n, self._k, self._av
        self._load("K", n * self._g.dk, n * k)
        self._load("beta and g", 3 * n * self._g.hv, 2 * n, instructions=8)
        self._vector("beta K", n * k)
        self._vector("D and exp(G)", n * n, 4)
        self._load("Q", n * self._g.dk, n * k)
        self._attention()
        self._inverse()
        self._w()
        self._load("V", n * av, n * av)
        self._rest()
        return self._spans

    def _add(self, pipe: Pipe, what: str, cycles: int, after: int = 0, slot: int = -1, product: str = "") -> int:
        start = max(self._free[pipe], after)
        self._free[pipe] = start + cycles
        self._spans.append(PipeSpan(pipe, start, start + cycles, what, slot, product))
        return start + cycles

    def _vector(self, what: str, elements: int, instructions: int = 1, after: int = 0) -> int:
        return self._add(Pipe.VECTOR, what, self._c.vector(elements, instructions), after)

    def _load(self, what: str, halves: int, elements: int, instructions: int = 2) -> int:
        loaded = self._add(Pipe.MTE2, f"load {what}", self._c.memory(halves * FP16_BYTES), self._free[Pipe.VECTOR])
        return self._vector(f"widen {what}", elements, instructions, loaded)

    def _store(self, what: str, elements: int, size: int) -> int:
        cast = self._vector(f"round {what}", elements)
        return self._add(Pipe.MTE3, f"store {what}", self._c.memory(size), cast)

    def _stage(self, what: str, elements: int, slot: int, *, parts: int = 2) -> int:
        """`parts` float16 images of an operand into a slot, one after the other through the out queue."""
        done = self._slot_free[slot]
        for part in ("high", "low")[:parts]:
            made = self._vector(f"{what}: {part} part", elements, 2, done)
            done = self._add(Pipe.MTE3, f"{what}: {part} part", self._c.memory(elements * FP16_BYTES), made, slot)
        return done

    def _multiply(self, what: str, m: int, k: int, n: int, slot: int, after: int, terms: int = 2) -> int:
        """Both terms of a product whose operands are in `slot`; the slot is free when it ends."""
        left, right = m * k * FP16_BYTES, k * n * FP16_BYTES
        end = self._fed(f"{what} right", right, slot, after, what)
        for term in range(terms):
            ready = self._fed(f"{what} left {term}", left, slot, after, what)
            end = self._add(Pipe.CUBE, what, self._c.mmad(m, k, n), max(end, ready), slot, what)
        self._slot_free[slot] = end
        return end

    def _fed(self, what: str, size: int, slot: int, after: int, product: str) -> int:
        loaded = self._add(Pipe.MTE2, what, self._c.memory(size), after, slot, product)
        return self._add(Pipe.MTE1, what, self._c.l1(size), loaded, slot, product)

    def _fetch(self, what: str, elements: int, after: int) -> int:
        return self._vector(f"{what} from L0C", elements, 2, after)

    def _attention(self) -> None:
        """The queries are staged while the keys are multiplied, if there is a second slot for them."""
        n, k = self._n, self._k
        if not self._steps.attention:
            self._vector("A and P by dot products", self._g.dk, 2 * n * (n + 1))
            return
        last = self._slots - 1
        self._stage("beta K", n * k, 0)
        keys = self._stage("K^T", n * k, 0, parts=1)
        first = self._multiply("beta K K^T", n, k, n, 0, keys)
        queries = self._stage("scale Q", n * k, last)
        self._fetch("beta K K^T", n * n, first)
        second = self._multiply("scale Q K^T", n, k, n, last, queries)
        self._fetch("scale Q K^T", n * n, second)
        self._vector("A and P masked", n * n, 4)

    def _inverse(self) -> None:
        n = self._n
        if not self._steps.inverse:
            self._vector("inverse, row by row", n, n * (n - 1) // 2)
            return
        block = FRACTAL
        self._vector("inverse of 16 x 16 blocks", block, (n // block) * block * (block - 1) // 2)
        for size in (block, block, 2 * block):
            for side in ("inner", "outer"):
                name = f"inverse {size} {side}"
                self._stage(f"{name} left", size * size, 0)
                staged = self._stage(f"{name} right", size * size, 0)
                end = self._multiply(name, size, size, size, 0, staged, terms=4)
                self._fetch(name, size * size, end)

    def _w(self) -> None:
        n, k = self._n, self._k
        self._vector("beta exp(G) K", n * k)
        if not self._steps.w:
            self._vector("W", k, n * (n + 1) // 2)
            return
        self._stage("U", n * n, 0)
        staged = self._stage("beta exp(G) K", n * k, 0, parts=1)
        self._fetch("W", n * k, self._multiply("W", n, n, k, 0, staged))

    def _rest(self) -> None:
        n, k, av = self._n, self._k, self._av
        self._vector("beta V", n * av)
        if self._steps.fast:
            self._pair("V'", (("U", n, "beta V"), ("-W", k, "S")), loads_state=True)
            self._load("Q again", n * self._g.dk, n * k)
            self._pair("O", (("scale exp(G) Q", k, ""), ("P", n, "V'")))
        else:
            self._vector("U beta V", av, n * (n + 1) // 2)
            self._load("S", k * av * 2, k * av)
            self._vector("V'", av, n * self._g.dk)
            self._load("Q again", n * self._g.dk, n * k)
            self._vector("O", av, n * self._g.dk + n * (n + 1) // 2)
        self._store("O", n * av, n * av * FP16_BYTES)
        self._load("K again", n * self._g.dk, n * k)
        self._vector("exp(G) S", k * av)
        if self._steps.fast:
            staged = self._stage("weighted K^T", n * k, 0)
            self._fetch("update of S", k * av, self._multiply("update of S", k, n, av, 0, staged))
        else:
            self._vector("update of S", av, n * self._g.dk)
        self._store("S", k * av, k * av * FP32_BYTES)

    def _pair(self, what: str, parts: Sequence[tuple[str, int, str]], *, loads_state: bool = False) -> None:
        """Two products in one accumulator. A right operand without a name is in device memory already."""
        n, k, av, end = self._n, self._k, self._av, 0
        for left, depth, right in parts:
            if loads_state and right == "S":
                self._load("S", k * av * 2, k * av)
            staged = self._stage(left, n * depth, 0)
            if right:
                staged = self._stage(right, depth * av, 0, parts=1)
            end = self._multiply(what, n, depth, av, 0, staged)
        self._fetch(what, n * av, end)
