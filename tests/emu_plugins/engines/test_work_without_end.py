"""Programs and queues that would go on for ever end with a fault; those that only look like it do not."""

from __future__ import annotations

from itertools import pairwise

import pytest

from emu_core.errors import DeviceFault
from emu_core.model import Model
from emu_core.trace import TaskDone
from emu_plugins.engines import condition_programs as programs
from emu_plugins.engines.condition_machine import Machine, Spin
from formats.cond_isa import assemble

CONDITION_NS, NOP_NS = 1000, 100


class _Memory:
    """Bytes from address 0; `writes` are the addresses written."""

    def __init__(self, size=1 << 16):
        self.data = bytearray(size)
        self.writes = []

    def read(self, address, size):
        return bytes(self.data[address : address + size])

    def write(self, address, data):
        self.writes.append(address)
        self.data[address : address + len(data)] = data


def _machine(memory, budget=10_000):
    return Machine(memory, 0, "v100", budget)


class _Rings:
    """Model streams whose entries are condition programs."""

    def __init__(self, bench):
        self.bench = bench
        self.device = bench.device

    def stream(self, *texts, nops=0):
        """A bound stream with some NOPs, then an inline condition per text."""
        stream = self.bench.stream(bound=True)
        stream.model_id = 0
        for _ in range(nops):
            self.bench.add(stream, "nop")
        for text in texts:
            self.inline(stream, text)
        return stream

    def inline(self, stream, text, sub_type=6):
        layout = self.device.layout("FunctionCallSqe")
        header = {"rt_stream_id": stream.id, "task_id": stream.queue.next_task_id()}
        return stream.queue.append(programs.inline(layout, header, sub_type, text))

    def word(self, value):
        at = self.bench.room(8)
        self.device.memory.write(at, value.to_bytes(8, "little"))
        return at

    def model(self, head):
        """A model of one stream, called by a stream of its own."""

        def build(model_id):
            return Model(
                device=self.device, model_id=model_id, name="m", streams=(head,), head_streams=(head,),
                caller=self.bench.stream(), end=None, inputs=(), outputs=(), scratch=(), launch=lambda _: None,
            )  # fmt: skip

        return self.device.add_model(build)

    def done(self, stream):
        return sum(number == stream.id for number, *_ in self.bench.done())


@pytest.fixture
def rings(queues):
    """Makes a `_Rings`, by default with 300 condition steps."""
    return lambda steps="300", **policies: _Rings(queues(condition_steps=steps, **policies))


def test_two_queues_that_start_each_other_end_with_a_fault(rings):
    """Each executes goto and activate for the other; the chain has one budget, and rings gone over again count."""
    it = rings()
    first, second = it.stream(nops=3), it.stream(nops=3)
    for own, other in ((first, second), (second, first)):
        it.inline(own, f"goto_i {other.id}, 0\nactive_i {other.id}")
    it.bench.run(first)
    assert [f.id for f in it.bench.faults] == ["condition.loop"]
    assert 2 * 20 < it.done(first) + it.done(second) < 300


def test_a_chain_that_ends_is_no_loop(rings):
    """Thirty queues start one another, one after the other."""
    it = rings("400")
    queues = [it.stream() for _ in range(30)]
    for own, other in pairwise(queues):
        it.inline(own, f"goto_i {other.id}, 0\nactive_i {other.id}")
    it.bench.add(queues[-1], "nop")
    it.bench.run(queues[0])
    assert it.bench.faults == []
    assert [it.done(queue) for queue in queues] == [1] * 30


def test_models_that_execute_each_other_end_with_a_fault(rings):
    """Two models, each of whose streams executes the other model behind two NOPs."""
    it = rings()
    first, second = it.stream(nops=2), it.stream(nops=2)
    for own, other in ((first, it.model(second)), (second, it.model(first))):
        it.bench.add(own, "model_execute", other.id)
    it.bench.run(first)
    assert [(f.id, f.kind) for f in it.bench.faults] == [("condition.loop", "model_execute")]
    assert 60 < it.done(first) + it.done(second) < 300


def test_a_model_that_executes_itself_is_busy(rings):
    """Its stream works while it asks."""
    it = rings()
    stream = it.stream()
    it.bench.add(stream, "model_execute", it.model(stream).id)
    it.bench.run(stream)
    assert [f.id for f in it.bench.faults] == ["model.busy"]


def test_activating_oneself_for_ever_is_nothing(rings):
    """The order has no effect on the own queue."""
    it = rings()
    stream = it.stream("active_i 0\nactive_i 0")
    it.bench.run(stream)
    assert (it.done(stream), it.bench.faults) == (1, [])


def test_an_error_that_is_skipped_does_not_start_the_count_anew(queues):
    """A plain stream: an entry that fails, then a goto back to it; the host skips the fault again and again."""
    bench = queues(condition_steps="60")
    stream = bench.stream()
    bench.raw(stream, "CommonSqe", type=13)
    layout = bench.device.layout("FunctionCallSqe")
    stream.queue.append(programs.inline(layout, {}, 0, programs.label_goto(stream.id, 0)))
    bench.run(stream)
    ids = [f.id for f in bench.faults]
    assert ids == ["sqe.unknown-type"] * 21 + ["condition.loop"]
    bench.add(stream, "nop")
    stream.queue.append(programs.inline(layout, {}, 6, "nop"))
    bench.run(stream)
    assert len(bench.faults) == len(ids), "a doorbell of the host starts a new chain"


def test_memory_waits_that_wake_each_other_end_with_a_fault(rings):
    """Each writes, then spins on what the other writes: every wake writes again, until both budgets are used up."""
    it = rings()
    one, two = it.word(0), it.word(0)

    def ping(mine, other):
        return (
            f"llwi r3, {mine:#x}\nldr r1, [r3 + 0]\naddi r1, r1, 1\nsd r1, [r3 + 0]\nld r2, [{other:#x}]\nbeq r0, r0, 5"
        )

    first, second = it.stream(ping(one, two)), it.stream(ping(two, one))
    it.bench.run(first, second)
    assert {f.id for f in it.bench.faults} == {"condition.loop"}
    assert not it.done(first) + it.done(second)
    assert it.bench.device.clock.now == 0


def test_a_function_that_is_called_twice_in_the_same_state_does_not_spin():
    """Both calls take the same short loop with the same registers; it is the place in the caller that differs."""
    memory = _Memory()
    body = assemble("ld r4, [0x8]\naddi r3, r0, 0\nbne r3, r0, 7\naddi r3, r3, 1\nbeq r0, r0, 3\nnop\n")
    memory.write(256, body)
    calls = f"llwi r1, 256\nllwi r2, {len(body) // 4}\nfunc_call r1, r2\nfunc_call r1, r2\nfunc_call r1, r2\n"
    machine = _machine(memory)
    machine.run(assemble(calls))
    assert machine.steps > 3 * 6


def test_a_long_countdown_ends_and_keeps_no_history():
    """3000 laps, each in another state; a loop over one state is found within a few laps."""
    text = "addi r1, r0, 0x7ff\naddi r1, r1, 0x3b9\nld r2, [0x40]\naddi r1, r1, 0xfff\nbne r1, r0, 4\nnop\n"
    machine = _machine(_Memory(), 20_000)
    machine.run(assemble(text))
    assert machine.steps == 2 + 1 + 2 * 3000 + 1
    endless = _machine(_Memory(), 20_000)
    with pytest.raises(Spin):
        endless.run(assemble("ld r2, [0x40]\nbeq r0, r0, 2\n"))
    assert endless.steps < 20


def test_a_spin_over_a_cycle_of_states_is_found():
    """r1 counts 0 to 6 and starts again: the state comes back after seven laps."""
    machine = _machine(_Memory())
    with pytest.raises(Spin) as caught:
        machine.run(
            assemble("ld r2, [0x40]\naddi r1, r1, 1\naddi r3, r0, 7\nbne r1, r3, 2\naddi r1, r0, 0\nbeq r0, r0, 2")
        )
    assert caught.value.ranges == ((0x40, 8),)
    assert machine.steps < 300


@pytest.mark.parametrize(("words", "ok"), [(4096, True), (4097, False), (0xFFFFF, False)])
def test_a_called_program_has_at_most_4096_words(words, ok):
    """Loading it costs a step per 16 words."""
    memory = _Memory()
    for at in range(256, 256 + 4 * 4096, 4):
        memory.data[at : at + 4] = assemble("nop")
    machine = _machine(memory)
    program = assemble(f"llwi r1, 256\nllwi r2, {words}\nfunc_call r1, r2")
    if ok:
        machine.run(program)
        assert machine.steps == 3 + 4096 // 16 + 4096
        return
    with pytest.raises(DeviceFault) as caught:
        machine.run(program)
    assert (caught.value.id, str(words) in caught.value.what) == ("condition.call", True)


def test_a_spin_over_too_many_places_is_a_fault():
    """1025 words are read before the program comes back to the same state."""
    memory = _Memory(1 << 20)
    text = (
        "addi r1, r0, 0\naddi r4, r0, 0x401\nldr r2, [r1 + 0]\naddi r1, r1, 8\naddi r3, r3, 1\nbne r3, r4, 2\n"
        "beq r0, r0, 6"
    )
    with pytest.raises(DeviceFault, match="more than 1024 places") as caught:
        _machine(memory, 100_000).run(assemble(text))
    assert caught.value.id == "condition.loop"


def test_the_float_status_stores_a_count_of_zero_and_seven_zeros(queues):
    """Its counter is a register, which reads 0 here; what lay at the address before is overwritten."""
    bench = queues()
    stream, at = bench.stream(), bench.room(128)
    bench.device.memory.write(at, b"\xff" * 128)
    stores = "".join(f"sd r0, [r2 + {offset}]\n" for offset in range(8, 64, 8))
    text = f"ld r1, [0x6a0000010]\nllwi r2, {at:#x}\nsd r1, [r2 + 0]\n{stores}"
    layout = bench.device.layout("FunctionCallSqe")
    stream.queue.append(programs.inline(layout, {"pre_p": 1}, 8, text))
    bench.run(stream)
    assert bench.done() == [(0, 0, "get_float_status", CONDITION_NS)]
    assert bench.device.memory.read(at, 65) == bytes(64) + b"\xff"


def test_a_reset_of_a_queue_head_sends_its_queue_to_entry_0(rings):
    """It clears bits of the AXI attributes, writes a register, sets them again, and goes to entry 0 of the queue."""
    it = rings()
    target, main = it.stream(nops=2), it.stream()
    text = (
        "lhwi r1, 0\nllwi r1, 0x6a0001014\nllwi r2, 1\ncsrrc r0, 0, r2\nsw r2, [r1 + 0]\ncsrrs r0, 0, r2\n"
        f"goto_i {target.id}, 0"
    )
    it.bench.run(target)
    assert (target.queue.head, it.done(target)) == (2, 2)
    it.inline(main, text, sub_type=0)
    it.bench.run(main)
    assert it.bench.faults == []
    assert (target.queue.head, target.queue.pending, it.done(target)) == (0, 2, 2)


@pytest.mark.parametrize(("address", "policy", "ids"), [
    (0x6A0001014, "complete", []), (0x6A0001014, "fault", ["memory.bounds"]), (0x1000, "complete", ["memory.bounds"]),
])  # fmt: skip
def test_only_what_may_be_a_register_is_taken_for_one(rings, address, policy, ids):
    """Addresses of 32 bits are none, and with absent_hardware=fault no address is."""
    it = rings(absent_hardware=policy)
    stream = it.stream()
    it.inline(stream, f"llwi r1, {address:#x}\nsd r1, [r1 + 0]\nld r2, [{address:#x}]", sub_type=0)
    it.bench.run(stream)
    assert [f.id for f in it.bench.faults] == ids


@pytest.mark.parametrize(
    ("sub_type", "kind"), [(10, "rdma_value_modify"), (24, "capture_condition"), (25, "capture_jump_back")]
)
def test_called_programs_of_the_other_sub_types_are_executed(queues, sub_type, kind):
    """The program adds 1 to a word in memory."""
    bench = queues()
    stream, at = bench.stream(), bench.room(8)
    bench.device.memory.write(at, (41).to_bytes(8, "little"))
    code = assemble(f"llwi r3, {at:#x}\nldr r1, [r3 + 0]\naddi r1, r1, 1\nsd r1, [r3 + 0]")
    where = bench.device.memory.allocate(len(code), label="program", align=256).address
    bench.device.memory.write(where, code)
    layout = bench.device.layout("FunctionCallSqe")
    stream.queue.append(programs.function_call(layout, {}, sub_type, where, len(code) // 4))
    bench.run(stream)
    assert int.from_bytes(bench.device.memory.read(at, 8), "little") == 42
    assert [e.kind for e in bench.device.trace if isinstance(e, TaskDone)] == [kind]
