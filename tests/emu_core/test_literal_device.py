"""The device against a literal one: one entry at a time, entries copied when fetched, own hand-written layouts.

The literal device knows the rules of the reference and nothing of the product: rings are byte arrays, an agenda of
(time, stream, order) steps is sorted before each step, and every fetched entry is a copy.
"""

from __future__ import annotations

from dataclasses import replace

from construct import Int8ul, Int16ul, Int32ul, Int64ul, Padding, Struct
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emu_core.device import Device
from emu_core.hookspecs import hookimpl
from emu_core.kernels import CoreType, Cost, KernelSpec
from emu_core.memory import Space
from emu_core.plugins import PluginHost
from emu_core.trace import TaskDone
from emu_plugins.runtime.sqes import Place, SqeBuilder

HEADER = Struct("kind" / Int8ul, "flags" / Int8ul, "blocks" / Int16ul, "stream" / Int16ul, "task" / Int16ul)
EVENT = Struct(Padding(8), "event" / Int16ul)
RESET = Struct(Padding(24), "event" / Int32ul, "use" / Int32ul)
UPDATE = Struct(
    Padding(24), "key_at" / Int64ul, "blocks_at" / Int64ul, "table_at" / Int64ul, "rows" / Int16ul,
    "stream" / Int16ul, "task" / Int16ul,
)  # fmt: skip
ROW = Struct("key" / Int64ul, "pc" / Int64ul, Padding(16))

KERNEL, HOLDER, RECORD, WAIT, WRITE = 0, 3, 4, 5, 8
NOP, PATCH = 103, 101
TS_BASE = 0x1240_0000_0000
TIMES = {KERNEL: 3000, RECORD: 500, WAIT: 0, WRITE: 100}
CORES, BLOCK_NS = 8, 1000
# 910B3: 1.8 GHz and 32 bytes per cycle and core are 57.6 bytes per nanosecond.
BLOCK_BYTES = 57_600
HOLDER_TIMES = {NOP: 100, PATCH: 2000}


class LiteralDevice:
    """Two rings of bytes, walked slowly.

    Attributes:
        rings: per stream the list of its 64-byte entries; an update writes here.
        executed: per run, (stream, slot) to the bytes that ran.
        ended: per run, (stream, slot) to the time it retired.
    """

    def __init__(self, rings, read, depth):
        self.rings = [[bytes(ring[at : at + 64]) for at in range(0, len(ring), 64)] for ring in rings]
        self.read = read
        self.depth = depth
        self.flags = set()
        self.now = 0
        self.free = CORES

    def run(self, order):
        """Activate the streams in `order`; step until nothing is left. Returns whether every entry retired."""
        count = len(self.rings)
        self.executed, self.ended, self.agenda, self.steps = {}, {}, [], 0
        self.head, self.fetched, self.parked = [0] * count, [None] * count, {}
        self.line, self.busy = [], [0] * count
        for stream in order:
            self.fetched[stream] = {}
            self.fetch(stream)
            self.plan(0, stream, self.look)
        while self.agenda:
            self.agenda.sort(key=lambda step: step[:3])
            self.now, stream, _, action = self.agenda.pop(0)
            action(stream)
        return all(self.head[s] == len(self.rings[s]) for s in range(count))

    def plan(self, delay, stream, action):
        """Put a step on the agenda."""
        self.steps += 1
        self.agenda.append((self.now + delay, stream, self.steps, action))

    def fetch(self, stream):
        """Copy everything from head to head + depth that was not copied before."""
        head = self.head[stream]
        for slot in range(head, min(head + self.depth + 1, len(self.rings[stream]))):
            self.fetched[stream].setdefault(slot, self.rings[stream][slot])

    def look(self, stream):
        """Take the copy of the entry at head."""
        slot = self.head[stream]
        if slot < len(self.rings[stream]):
            self.executed[stream, slot] = self.fetched[stream].pop(slot)
            self.start(stream)

    def start(self, stream):
        """Begin the entry, or park at a flag that is not set."""
        sqe = self.executed[stream, self.head[stream]]
        header = HEADER.parse(sqe)
        if header.kind == WAIT and EVENT.parse(sqe).event not in self.flags:
            self.parked.setdefault(EVENT.parse(sqe).event, []).append(stream)
            return
        time = HOLDER_TIMES[header.blocks] if header.kind == HOLDER else TIMES[header.kind]
        self.plan(time, stream, self.ask if header.kind == KERNEL else self.finish)

    def ask(self, stream):
        """The kernel is launched: its blocks stand in line for cores, one by one or (schem 1) all or none."""
        sqe = self.executed[stream, self.head[stream]]
        self.line.append([stream, HEADER.parse(sqe).blocks, sqe[15] & 3 == 1])
        self.serve()

    def serve(self):
        """Give free cores to the line, in its order; a batch that does not fit is passed."""
        for place in self.line:
            stream, blocks, batch = place
            while place[1] and self.free and not (batch and place[1] == blocks and self.free < blocks):
                place[1] -= 1
                self.free -= 1
                self.busy[stream] += 1
                self.plan(BLOCK_NS, stream, self.block)
        self.line = [place for place in self.line if place[1]]

    def block(self, stream):
        """One block ends."""
        self.free += 1
        self.busy[stream] -= 1
        self.serve()
        if not self.busy[stream] and all(place[0] != stream for place in self.line):
            self.finish(stream)

    def finish(self, stream):
        """Do what the entry does, and retire it."""
        slot = self.head[stream]
        sqe = self.executed[stream, slot]
        header = HEADER.parse(sqe)
        if header.kind == RECORD:
            event = EVENT.parse(sqe).event
            self.flags.add(event)
            for waiting in self.parked.pop(event, []):
                self.plan(0, waiting, self.start)
        elif header.kind == WRITE:
            self.flags.discard(RESET.parse(sqe).event)
        elif header.kind == HOLDER and header.blocks == PATCH:
            self.patch(UPDATE.parse(sqe))
        self.ended[stream, slot] = self.now
        self.head[stream] = slot + 1
        self.fetch(stream)
        self.plan(0, stream, self.look)

    def patch(self, update):
        """Rewrite block dim and program counter of the target in its ring."""
        key = int.from_bytes(self.read(TS_BASE + update.key_at, 8), "little")
        blocks = self.read(TS_BASE + update.blocks_at, 2)
        rows = [ROW.parse(self.read(TS_BASE + update.table_at + 32 * i, 32)) for i in range(update.rows)]
        (pc,) = [row.pc for row in rows if row.key == key]
        # Every entry is one slot, so task ids count slots.
        old = self.rings[update.stream][update.task]
        self.rings[update.stream][update.task] = old[:2] + blocks + old[4:32] + pc.to_bytes(6, "little") + old[38:]


def _cost(launch):
    return Cost(bytes=BLOCK_BYTES * launch.block_dim)


KERNELS = (KernelSpec("Idle", CoreType.AIV, (0, 1, 2), lambda _: None, _cost),)


class _Plugin:
    @hookimpl
    def sqemu_kernels(self):
        return KERNELS


HOST = PluginHost([_Plugin()])

EVENTS = st.integers(0, 1)
UPDATES = st.tuples(st.just("update"), st.integers(0, 19), st.integers(0, 2), st.integers(1, 8))
ENTRY = st.one_of(
    st.just(("nop",)),
    st.tuples(st.just("record"), EVENTS),
    st.tuples(st.just("wait"), EVENTS),
    st.tuples(st.just("reset"), EVENTS),
    st.tuples(st.just("kernel"), st.integers(1, 8), st.integers(0, 1)),
    UPDATES,
)
SOME = st.lists(ENTRY, max_size=4)


@st.composite
def _sinks(draw):
    """A main stream that waits for the other one, which patches it; other entries anywhere between."""
    main = [("wait", 0), *draw(SOME), ("kernel", draw(st.integers(1, 8)), draw(st.integers(0, 1))), *draw(SOME)]
    attached = [*draw(SOME), draw(UPDATES), *draw(st.lists(UPDATES, max_size=2)), ("record", 0), *draw(SOME)]
    return (main, attached) if draw(st.booleans()) else (attached, main)


PROGRAM = st.one_of(_sinks(), st.tuples(st.lists(ENTRY, max_size=9), st.lists(ENTRY, max_size=9)))


class _Built:
    """The product's device with the program in two model-bound streams."""

    def __init__(self, program, depth, *, ahead=True):
        policies = {"prefetch_depth": str(depth), "update_after_consume": "ignore"}
        chip = replace(HOST.chip("ascend910b3"), core_num_aiv=CORES)
        self.device = Device(chip, policies, HOST, record_rings=True)
        self.device.scheduler.lanes.on = ahead
        self.device.scheduler.lanes.least = 1
        self.build = SqeBuilder(HOST.registry, "v100")
        self.streams = [self.device.create_stream(name, bound=True) for name in ("a", "b")]
        for stream in self.streams:
            stream.model_id = 0
        self.entries = [self._descriptor(key) for key in (0, 1, 2)]
        self.table = self._table()
        self.kernels = [(s, i) for s in (0, 1) for i, entry in enumerate(program[s]) if entry[0] == "kernel"]
        for number, part in enumerate(program):
            for entry in part:
                self._append(self.streams[number], entry)

    def _descriptor(self, key):
        spec = KERNELS[0]
        at = self.device.memory.allocate(64, label="kernel").address
        raw = {
            "magic": int.from_bytes(b"SQEMUKRN", "little"),
            "kernel_key": spec.key,
            "core_type": 1,
            "tiling_key": key,
        }
        self.device.memory.write(at, self.device.runtime_layout("KernelDescriptor").build(raw))
        return at

    def _ts(self, data):
        at = self.device.memory.allocate(len(data), label="cell", space=Space.TS).address
        self.device.memory.write(at, data)
        return at - TS_BASE

    def _table(self):
        return self._ts(b"".join(ROW.build({"key": k, "pc": pc}) for k, pc in enumerate(self.entries)))

    def _append(self, stream, entry):
        place = Place(stream.id, stream.queue.next_task_id())
        kind, *values = entry
        if kind == "update" and not self.kernels:
            kind = "nop"
        if kind == "nop":
            sqe = self.build.nop(place)
        elif kind == "kernel":
            sqe = self.build.kernel(
                place,
                core_type=CoreType.AIV,
                block_dim=values[0],
                schem=values[1],
                pc=self.entries[0],
                args=64,
                stack=0,
            )
        elif kind == "update":
            target, key, blocks = values
            to_stream, to_slot = self.kernels[target % len(self.kernels)]
            sqe = self.build.update(
                place,
                key_offset=self._ts(key.to_bytes(8, "little")),
                block_dim_offset=self._ts(blocks.to_bytes(4, "little")),
                table_offset=self.table,
                rows=3,
                target=Place(to_stream, to_slot),
            )
        else:
            sqe = getattr(self.build, f"event_{kind}")(place, values[0])
        stream.queue.append(sqe)

    def run(self, order):
        """One execution; returns what ran, when it retired, and whether every entry did."""
        mark = len(self.device.trace)
        for number in order:
            self.device.scheduler.activate(self.streams[number])
        self.device.scheduler.run_until_idle()
        assert self.device.scheduler.faults == []
        executed = {(s.id, slot): sqe for s in self.streams for slot, sqe in s.executed.items()}
        ended = {(e.stream, e.slot): e.time for e in self.device.trace.since(mark) if isinstance(e, TaskDone)}
        return executed, ended, all(s.queue.head == s.queue.tail for s in self.streams)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(PROGRAM, st.integers(0, 10), st.permutations([0, 1]), st.booleans())
def test_any_two_stream_program_runs_as_on_the_literal_device(program, depth, order, ahead):
    """The same bytes execute in each slot and retire at the same time, over up to three executions."""
    built = _Built(program, depth, ahead=ahead)
    rings = [s.queue.contents() for s in built.streams]
    literal = LiteralDevice(rings, built.device.memory.read, depth)
    for _ in range(3):
        executed, ended, done = built.run(order)
        assert literal.run(order) == done
        assert executed == literal.executed
        assert ended == literal.ended
        assert [s.queue.contents() for s in built.streams] == [b"".join(ring) for ring in literal.rings]
        if not done:
            break


def test_both_devices_show_the_edge_of_the_window():
    """Wait, reset, N NOPs, kernel at depth 8: the patch arrives for N = 7 and is missed for N = 6."""
    for nops, blocks in ((6, 1), (7, 5)):
        main = [("wait", 0), ("reset", 0), *[("nop",)] * nops, ("kernel", 1, 0)]
        built = _Built((main, [("update", 0, 2, 5), ("record", 0)]), 8)
        literal = LiteralDevice([s.queue.contents() for s in built.streams], built.device.memory.read, 8)
        executed, ended, _ = built.run([0, 1])
        assert literal.run([0, 1])
        assert (executed, ended) == (literal.executed, literal.ended)
        assert HEADER.parse(literal.executed[0, nops + 2]).blocks == blocks
        assert literal.ended[0, nops + 2] == 2000 + 500 + 0 + 100 + 100 * nops + 3000 + BLOCK_NS


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.lists(st.tuples(st.just("kernel"), st.integers(1, 8), st.integers(0, 1)), max_size=4), min_size=2,
             max_size=2)
)  # fmt: skip
def test_kernels_of_two_streams_share_the_cores_as_on_the_literal_device(program):
    """Normal and batch launches of 1 to 8 blocks on 8 cores end at the same times."""
    built = _Built(program, 8)
    literal = LiteralDevice([s.queue.contents() for s in built.streams], built.device.memory.read, 8)
    _, ended, done = built.run([0, 1])
    assert literal.run([0, 1])
    assert done
    assert ended == literal.ended
