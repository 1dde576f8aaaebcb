"""Condition entries: their programs are executed, and what they order is carried out."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emu_core.errors import DeviceFault
from emu_core.trace import TaskDone
from emu_plugins.engines import condition_programs as programs
from emu_plugins.engines.condition_machine import Machine, Order, Spin
from formats.cond_isa import assemble

CONDITION_NS, NOP_NS, WRITE_NS = 1000, 100, 100
MASK = (1 << 64) - 1


class _Memory:
    """Memory of a machine on its own: 64-bit words by address."""

    def __init__(self, data=None):
        self.bytes = {}
        for address, value in (data or {}).items():
            self.write(address, value.to_bytes(8, "little"))

    def read(self, address, size):
        return bytes(self.bytes.get(address + i, 0) for i in range(size))

    def write(self, address, data):
        self.bytes.update({address + i: byte for i, byte in enumerate(data)})


def _machine(text, data=None, budget=1000, own=0):
    machine = Machine(_Memory(data), own, "v100", budget)
    machine.run(assemble(text))
    return machine


# ---- single instructions -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("addi r3, r1, 5", 12),
        ("addi r3, r1, 0xfff", 6),
        ("add r3, r1, r2", 10),
        ("sub r3, r2, r1", MASK - 3),
        ("mul r3, r1, r2", 21),
        ("slti r3, r1, 0xfff", 0),
        ("slti r3, r1, 8", 1),
        ("sltiu r3, r1, 0xfff", 1),
        ("slt r3, r2, r1", 1),
        ("sltu r3, r1, r2", 0),
        ("xori r3, r1, 1", 6),
        ("xor r3, r1, r2", 4),
        ("ori r3, r1, 8", 15),
        ("or r3, r1, r2", 7),
        ("andi r3, r1, 6", 6),
        ("and r3, r1, r2", 3),
        ("slli r3, r1, 4", 112),
        ("sll r3, r1, r2", 56),
        ("srli r3, r1, 1", 3),
        ("srl r3, r1, r2", 0),
        ("addi r3, r0, 0xff0\nsrai r3, r3, 2", MASK - 3),
        ("addi r3, r0, 0xff0\nsra r3, r3, r2", MASK - 1),
        ("lhwi r3, 0x7fff\nllwi r3, 0x1ffffffffffff", MASK),
        ("addi r3, r0, 0xfff\nllwi r3, 0", 0xFFFE_0000_0000_0000),
        ("addi r0, r1, 1\nadd r3, r0, r0", 0),
        ("nop\naddi r3, r1, 0", 7),
        ("csrrw r0, 1, r1\ncsrrs r3, 1, r2", 7),
        ("csrrw r0, 2, r1\ncsrrc r0, 2, r2\ncsrrs r3, 2, r0", 4),
    ],
)
def test_arithmetic(text, result):
    """R1 is 7 and R2 is 3; the result is in R3."""
    assert _machine(f"addi r1, r0, 7\naddi r2, r0, 3\n{text}").registers[3] == result


@pytest.mark.parametrize(
    ("load", "result"),
    [
        ("lb", MASK - 0x77), ("lbu", 0x88), ("lh", MASK - 0x7877), ("lhu", 0x8788),
        ("lw", MASK - 0x7A797877), ("lwu", 0x85868788), ("ld", 0x8182838485868788),
    ],
)  # fmt: skip
def test_loads_of_an_address_extend_their_sign_or_not(load, result):
    """The word at 0x100 is 0x8182838485868788."""
    assert _machine(f"{load} r1, [0x100]", {0x100: 0x8182838485868788}).registers[1] == result


@pytest.mark.parametrize(("store", "kept"), [("sb", 0xFF88), ("sh", 0x8788), ("sw", 0x85868788)])
def test_stores_write_the_low_bytes_at_a_signed_offset(store, kept):
    """R1 - 8 is 0x100; the two bytes above the stored ones tell how many were written."""
    text = f"ld r2, [0x80]\naddi r1, r0, 0x108\n{store} r2, [r1 + 0xff8]"
    machine = _machine(text, {0x80: 0x8182838485868788, 0x100: 0xFFFF})
    size = max(2, {"sb": 1, "sh": 2, "sw": 4}[store])
    assert int.from_bytes(machine.memory.read(0x100, size), "little") == kept


def test_a_64_bit_store_and_an_indirect_load_move_a_word():
    """SD writes what LDR reads back."""
    text = "ld r2, [0x80]\naddi r1, r0, 0x100\nsd r2, [r1 + 8]\nldr r3, [r1 + 8]"
    assert _machine(text, {0x80: 1 << 63 | 5}).registers[3] == 1 << 63 | 5


@pytest.mark.parametrize(
    ("branch", "taken"),
    [("beq", False), ("bne", True), ("blt", True), ("bge", False), ("bltu", False), ("bgeu", True)],
)
def test_branches_compare_signed_or_unsigned(branch, taken):
    """R1 is -1 and R2 is 1."""
    text = f"addi r1, r0, 0xfff\naddi r2, r0, 1\n{branch} r1, r2, 4\naddi r3, r0, 1\nnop"
    assert (_machine(text).registers[3] == 0) is taken


def test_a_target_past_15_takes_its_upper_bits_from_the_jump_register():
    """Target 18 is 1 x 16 + 2."""
    text = "addi r1, r0, 1\ncsrrw r0, 3, r1\nbeq r0, r0, 2\n" + "addi r3, r0, 9\n" * 15 + "addi r4, r0, 5"
    machine = _machine(text)
    assert (machine.registers[3], machine.registers[4]) == (0, 5)


def test_a_loop_counts_down_and_waits_its_delay():
    """Three rounds of 10 ns: the body runs four times."""
    machine = _machine("addi r1, r0, 3\naddi r2, r2, 1\nloop r1, 1, 10")
    assert (machine.registers[2], machine.registers[1], machine.delay_ns) == (4, 0, 30)
    assert _machine("loop r0, 0, 10").delay_ns == 0


def test_orders_are_collected_and_the_own_goto_ends_the_program():
    """Queue 0 is the own one; what follows its goto is not executed."""
    text = (
        "active_i 3\ndeactive_i 4\ngoto_i 5, 6\naddi r1, r0, 7\nactive_r r1\ndeactive_r r1\nllwi r2, 0x90005\n"
        "goto_r r2\ngoto_i 0, 2\nactive_i 9"
    )
    assert _machine(text).orders == [
        Order("activate", 3), Order("deactivate", 4), Order("goto", 5, 6), Order("activate", 7),
        Order("deactivate", 7), Order("goto", 5, 9), Order("goto", 0, 2),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "id_"),
    [
        (".word 0x00000005", "condition.instruction"),
        ("bia r0, 0, r0", "condition.instruction"),
        ("beq r0, r0, 2\nllwi r1, 0\nnop", "condition.instruction"),
        ("error", "condition.error"),
        ("beq r0, r0, 0", "condition.loop"),
        ("addi r1, r1, 1\nbeq r0, r0, 0", "condition.loop"),
        ("addi r1, r0, 8\naddi r2, r0, 1\nfunc_call r1, r2", "condition.call"),
    ],
)
def test_programs_that_cannot_go_on_are_faults(text, id_):
    """Unknown words, a jump into an instruction, the error exit, endless loops, a call to an odd address."""
    with pytest.raises(DeviceFault) as caught:
        _machine(text)
    assert (caught.value.id, caught.value.ts_code) == (id_, 0x4)


def test_a_program_that_calls_itself_ends_after_eight_levels():
    """The recursion has no way out."""
    program = assemble("addi r1, r0, 0x100\naddi r2, r0, 3\nfunc_call r1, r2")
    machine = Machine(_Memory(), 0, "v100", 1000)
    machine.memory.write(0x100, program)
    with pytest.raises(DeviceFault, match="more than 8 deep") as caught:
        machine.run(program)
    assert caught.value.id == "condition.call"


def test_a_program_that_waits_for_memory_spins_on_what_it_read():
    """It reads two words and comes back to the same state."""
    with pytest.raises(Spin) as caught:
        _machine("ld r1, [0x100]\nlw r2, [0x208]\nbeq r1, r2, 0\nnop")
    assert caught.value.ranges == ((0x100, 8), (0x208, 4))


WORDS = st.lists(st.integers(0, (1 << 32) - 1), max_size=12)
TEXTS = st.lists(
    st.sampled_from(
        [
            "nop", "addi r1, r1, 1", "addi r2, r0, 3", "beq r1, r2, 0", "bne r1, r2, 2", "loop r1, 0, 5",
            "ld r3, [0x100]", "sd r3, [r1 + 8]", "csrrw r1, 3, r2", "csrrw r0, 3, r0", "goto_i 0, 1", "active_i 2",
            "func_call r0, r2", "error",
        ]
    ),
    max_size=14,
)  # fmt: skip


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.one_of(WORDS.map(lambda ws: b"".join(w.to_bytes(4, "little") for w in ws)),
                 TEXTS.map(lambda lines: assemble("\n".join(lines)))))  # fmt: skip
def test_every_program_ends(program):
    """Any words at all: an end, a fault or a spin, within the budget."""
    machine = Machine(_Memory(), 0, "v100", 200)
    with suppress(DeviceFault, Spin):
        machine.run(program)
    assert machine.steps <= 201


# ---- entries -----------------------------------------------------------------------------------------------------


class _Conditions:
    """Model streams with condition entries."""

    def __init__(self, bench):
        self.bench = bench
        self.device = bench.device

    def stream(self, nops=0):
        stream = self.bench.stream(bound=True)
        stream.model_id = 0
        for _ in range(nops):
            self.bench.add(stream, "nop")
        return stream

    def header(self, stream):
        return {"rt_stream_id": stream.id, "task_id": stream.queue.next_task_id()}

    def call(self, stream, sub_type, text):
        """An entry that calls the program in device memory."""
        code = assemble(text)
        at = self.device.memory.allocate(len(code), label="program", align=256).address
        self.device.memory.write(at, code)
        layout = self.device.layout("FunctionCallSqe")
        sqe = programs.function_call(layout, self.header(stream), sub_type, at, len(code) // 4)
        return stream.queue.append(sqe)

    def inline(self, stream, sub_type, text):
        layout = self.device.layout("FunctionCallSqe")
        return stream.queue.append(programs.inline(layout, self.header(stream), sub_type, text))

    def word(self, value):
        at = self.bench.room(8)
        self.device.memory.write(at, (value & MASK).to_bytes(8, "little"))
        return at

    def order(self):
        return [(stream, slot) for stream, slot, _, _ in self.bench.done()]


@pytest.fixture
def lab(queues):
    """Makes a `_Conditions`."""
    return lambda **policies: _Conditions(queues(**policies))


@pytest.mark.parametrize(
    ("condition", "holds"),
    [(0, (False, True, False)), (1, (True, False, True)), (2, (False, False, True)), (3, (False, True, True)),
     (4, (True, False, False)), (5, (True, True, False))],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["value", "memory"])
def test_a_stream_switch_starts_its_stream_when_the_comparison_holds(lab, condition, holds, kind):
    """-3, 2 and 7 against 2, for each of the six comparisons, with the value in the program or in memory."""
    for value, expected in zip((-3, 2, 7), holds, strict=True):
        it = lab()
        target, main = it.stream(nops=1), it.stream()
        at = it.word(value)
        if kind == "value":
            it.call(main, 4, programs.stream_switch(at, 2, condition, target.id))
        else:
            it.call(main, 5, programs.stream_switch_ex(at, it.word(2), condition, target.id))
        it.bench.add(main, "nop")
        it.bench.run(main)
        done = it.bench.done()
        assert ((0, 0, "nop", CONDITION_NS + NOP_NS) in done) is expected
        assert (1, 1, "nop", CONDITION_NS + NOP_NS) in done


def test_stream_active_starts_streams_from_entry_0_in_every_execution(lab):
    """Two streams of two NOPs each run again when the model is executed again."""
    it = lab()
    first, second, main = it.stream(nops=2), it.stream(nops=2), it.stream()
    it.call(main, 6, programs.stream_active([first.id, second.id]))
    for _ in range(2):
        it.bench.run(main)
    assert it.order() == [(2, 0), (0, 0), (1, 0), (0, 1), (1, 1)] * 2


def test_activating_a_stream_that_works_is_reported_as_repeated(lab):
    """TS code 0x2D."""
    it = lab()
    target, main = it.stream(nops=30), it.stream()
    it.inline(main, 6, f"active_i {target.id}")
    it.bench.run(target, main)
    (fault,) = it.bench.faults
    assert (fault.id, fault.ts_code, fault.kind) == ("condition.order", 0x2D, "stream_active")
    assert "activate 0: it is in state working" in fault.what


@pytest.mark.parametrize(
    ("text", "why"),
    [("active_i 9", "there is no such queue"), ("goto_i 0, 2", "its entries are 0 to 1"),
     ("goto_i 1, 4", "its entries are 0 to 0")],
)  # fmt: skip
def test_orders_to_queues_or_entries_that_do_not_exist_are_faults(lab, text, why):
    """Queue 0 has two entries, the own queue 1 has one."""
    it = lab()
    it.stream(nops=2)
    main = it.stream()
    it.inline(main, 6, text)
    it.bench.run(main)
    (fault,) = it.bench.faults
    assert (fault.id, fault.ts_code) == ("condition.order", 0x4)
    assert why in fault.what


def test_going_to_an_entry_of_a_stream_that_works_is_a_fault(lab):
    """Only an idle stream can be sent somewhere."""
    it = lab()
    target, main = it.stream(nops=30), it.stream()
    it.inline(main, 6, f"goto_i {target.id}, 3")
    it.bench.run(target, main)
    assert "goto 0:3: it is in state working" in it.bench.faults[0].what


@pytest.mark.parametrize(("index", "slot"), [(0, 1), (1, 2), (2, 3), (7, 3)])
def test_a_label_switch_goes_to_the_label_of_its_index(lab, index, slot):
    """Three labels; an index that is too large takes the last one."""
    it = lab()
    main = it.stream()
    table = it.bench.room(24)
    for number in range(3):
        word = programs.label_word(main.id, number + 1)
        it.device.memory.write(table + 8 * number, word.to_bytes(8, "little"))
    it.call(main, 7, programs.label_switch(it.word(index), table, 3))
    for _ in range(3):
        it.bench.add(main, "nop")
    it.bench.run(main)
    assert it.order() == [(0, 0), *((0, s) for s in range(slot, 4))]


def test_a_loop_over_a_label_runs_until_the_value_in_memory_changes(lab):
    """The body counts in memory; the switch goes back to label 0 while the counter is less than 3."""
    it = lab()
    counter = it.word(0)
    main = it.stream()
    it.call(main, 4, f"ld r1, [{counter:#x}]\naddi r1, r1, 1\nlhwi r2, {counter >> 49}\nllwi r2, {counter:#x}\n"
                     "sd r1, [r2 + 0]")  # fmt: skip
    it.bench.add(main, "nop")
    it.call(main, 7, f"ld r1, [{counter:#x}]\naddi r2, r0, 3\nbge r1, r2, 6\n{programs.label_goto(main.id, 0)}nop")
    it.bench.add(main, "nop")
    it.bench.run(main)
    assert it.order() == [(0, 0), (0, 1), (0, 2)] * 3 + [(0, 3)]
    assert it.device.memory.read(counter, 8) == (3).to_bytes(8, "little")
    assert it.bench.done()[-1][3] == 3 * (2 * CONDITION_NS + NOP_NS) + NOP_NS


def test_a_label_that_is_gone_to_for_ever_is_a_fault(lab):
    """Of 50 steps each lap takes three, one for the goto and one per entry gone over again: 17 laps, then a fault."""
    it = lab(condition_steps="50")
    main = it.stream(nops=1)
    it.inline(main, 0, programs.label_goto(main.id, 0))
    it.bench.run(main)
    (fault,) = it.bench.faults
    assert (fault.id, fault.slot, fault.kind) == ("condition.loop", 1, "condition_inline")
    assert len(it.order()) == 2 * 17 + 1


def test_a_label_of_another_stream_is_activated_and_gone_to(lab):
    """Activate, goto, switch off oneself: the other stream starts at entry 2; activating oneself does nothing."""
    it = lab()
    other, main = it.stream(nops=4), it.stream()
    it.inline(main, 0, f"active_i {other.id}\nactive_i {main.id}\ngoto_i {other.id}, 2\ndeactive_i {main.id}")
    it.bench.add(main, "nop")
    it.bench.run(main)
    assert it.order() == [(1, 0), (0, 2), (0, 3)]


def test_what_was_fetched_is_thrown_away_by_a_goto(lab):
    """An entry that is rewritten before the stream comes back to it runs with its new bytes, without a hazard."""
    it = lab()
    main = it.stream(nops=1)
    value = it.word(0)
    it.call(main, 4, f"ld r1, [{value:#x}]\naddi r2, r0, 1\nbeq r1, r2, 6\n{programs.label_goto(main.id, 0)}nop")
    it.bench.add(main, "nop")

    def change():
        it.device.patch_sqe(main.id, 0, {"task_type": 57}, it.device.layout("PhSqe"))
        it.device.memory.write(value, (1).to_bytes(8, "little"))

    it.device.clock.at(2500, 9, change)
    it.bench.run(main)
    kinds = [e.kind for e in it.device.trace if isinstance(e, TaskDone) and e.slot == 0]
    assert kinds[0] == "nop"
    assert kinds[-1] == "place_holder"
    assert it.device.hazards == []


def test_a_stream_can_switch_itself_off(lab):
    """Nothing behind the entry runs, and the stream is idle."""
    it = lab()
    main = it.stream()
    it.inline(main, 4, "deactive_i 0")
    it.bench.add(main, "nop")
    it.bench.run(main)
    assert it.order() == [(0, 0)]
    assert (main.state.name, main.queue.head, main.queue.enabled) == ("IDLE", 1, False)


def test_another_stream_is_switched_off_before_its_next_entry(lab):
    """After 1000 ns the tenth NOP of 100 ns ends; two more may not start."""
    it = lab()
    other, main = it.stream(nops=20), it.stream()
    it.inline(main, 4, f"deactive_i {other.id}")
    it.bench.run(other, main)
    assert other.state.name == "IDLE"
    assert other.queue.head < 12


@pytest.mark.parametrize(
    ("mode", "wrong", "right"),
    [(0, 6, 8), (1, 8, 7), (2, 8, 1), (3, MASK, 8)],
    ids=["greater or equal", "equal", "and", "nor"],
)
def test_a_memory_wait_parks_until_the_value_fits(lab, mode, wrong, right):
    """The wait is for 7; a write that does not fit wakes it in vain, the next one lets it pass."""
    it = lab()
    at = it.word(MASK if mode == 3 else 0)
    waiter, setter = it.stream(), it.stream()
    it.call(waiter, 9, programs.memory_wait(at, 7, mode))
    for value in (wrong, right):
        parts = {"write_value_part0": value & 0xFFFFFFFF, "write_value_part1": value >> 32}
        it.bench.raw(setter, "WriteValueSqe", type=8, va=1, awsize=3, write_addr=at, **parts)
    it.bench.run(waiter, setter)
    assert (0, 0, "memory_wait", 2 * WRITE_NS + CONDITION_NS) in it.bench.done()
    assert it.device.memory.on_write is None


def test_a_memory_wait_without_a_writer_is_a_deadlock_that_names_the_address(lab):
    """Nobody writes there."""
    it = lab()
    at = it.word(0)
    waiter = it.stream()
    it.call(waiter, 9, programs.memory_wait(at, 7, 1))
    it.bench.run(waiter)
    (blocked,) = it.device.scheduler.blocked([waiter])
    assert (blocked.kind, blocked.signal) == ("memory_wait", f"memory {at:#x}")
    assert blocked.setter == "no entry of any stream sets it"


def test_the_writer_of_an_awaited_value_is_found_for_the_report(lab):
    """It lies behind a wait that never ends."""
    it = lab()
    at = it.word(0)
    waiter, setter = it.stream(), it.stream()
    it.call(waiter, 9, programs.memory_wait(at, 7, 1))
    it.bench.add(setter, "event_wait", 1)
    it.bench.raw(setter, "WriteValueSqe", type=8, va=1, awsize=3, write_addr=at)
    it.bench.run(waiter, setter)
    blocked, _ = it.device.scheduler.blocked([waiter, setter])
    assert blocked.setter == "stream 1 task 1 (write_value) would set it, but stream 1 is at task 0"


def test_two_streams_may_wait_for_the_same_memory(lab):
    """One write wakes both; writes elsewhere wake none."""
    it = lab()
    at = it.word(0)
    waiters = [it.stream(), it.stream()]
    for waiter in waiters:
        it.call(waiter, 9, programs.memory_wait(at, 1, 1))
    it.bench.run(*waiters)
    it.device.memory.write(it.bench.room(8), bytes(8))
    it.device.scheduler.run_until_idle()
    assert it.order() == []
    it.device.memory.write(at, (1).to_bytes(8, "little"))
    it.device.scheduler.run_until_idle()
    assert it.order() == [(0, 0), (1, 0)]


def test_a_program_in_unallocated_memory_is_a_memory_fault(lab):
    """The call is checked like any access."""
    it = lab()
    main = it.stream()
    layout = it.device.layout("FunctionCallSqe")
    main.queue.append(programs.function_call(layout, it.header(main), 4, 0x1000, 4))
    it.bench.run(main)
    assert [(f.id, f.ts_code) for f in it.bench.faults] == [("memory.bounds", 0x103)]


def test_the_inline_program_of_an_entry_is_decoded_as_the_layout_says(lab):
    """The call that is built is the one that `formats` reads back."""
    from formats.cond_isa import call_of

    it = lab()
    main = it.stream()
    layout = it.device.layout("FunctionCallSqe")
    sqe = programs.function_call(layout, it.header(main), 9, 0x12C0_4000_0100, 103)
    decoded = it.device.host.registry.decode("v100", sqe)
    assert call_of(decoded) == (0x12C0_4000_0100, 103)
