"""Executes condition programs: registers, branches, device memory, and orders to queues (`reference/sqe_formats.md` 7).

A program reads memory while it runs, and its stores happen at once; what it orders queues to do is a list of
`Order` that the engine carries out when the time of the entry is up. What the reference leaves open:

| instruction | reading |
|---|---|
| LHWI, LLWI | each replaces its own bits (63 to 49, 48 to 0) of the register |
| immediates of 12 bits | signed; compare BLT and BGE signed, BLTU and BGEU unsigned |
| branch | target word = CSR 3 × 16 + the four bits; CSR 3 is 0 at the start of a program |
| LOOP rs1 | if rs1 is not 0: rs1 -= 1, wait the delay (1 ns per cycle), branch; R0 falls through |
| GOTO_R | rs1 is laid out as word 1 of GOTO_I: queue in bits 10 to 0, head in bits 31 to 16 |
| GOTO of the own queue | ends the program |
| CSR 0, 1, 2 | plain storage |
| FUNC_CALL | runs a program of at most 4096 words, then goes on behind the call; eight levels at most |

A program that comes back to a state it was in before, without a store in between, will not end unless memory changes:
it *spins*, and the engine parks the stream until somebody writes to what the program has read. Only one earlier state
is kept, and replaced at growing distances, so a long program costs no memory; a spin is found after a few laps. The
vendor's longest program has 125 words; loading one costs a step per 16 words.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

from emu_core import codes
from emu_core.errors import DeviceFault
from formats.cond_isa import disassemble

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from formats.cond_isa import Instruction

MASK = (1 << 64) - 1
SIGN = 1 << 63
JUMP_CSR = 3
DEEPEST = 8
ALIGNMENT = 256
LENGTH_MASK = 0xFFFFF
LONGEST = 4096
WORDS_PER_STEP = 16
MOST_RANGES = 1024
LOW_49 = (1 << 49) - 1


class Memory(Protocol):
    """What a program reads and writes."""

    def read(self, address: int, size: int) -> bytes:
        """Copy of `size` bytes."""

    def write(self, address: int, data: bytes) -> None:
        """Write `data`."""


@dataclass(frozen=True)
class Order:
    """What a program wants of a queue: `activate`, `deactivate`, or `goto` entry `head`."""

    what: str
    queue: int
    head: int = 0


@dataclass
class Spin(Exception):  # noqa: N818 - an answer, not an error
    """The program waits for memory to change: the ranges it has read."""

    ranges: tuple[tuple[int, int], ...]


class _End(Exception):  # noqa: N818 - the program has sent its own queue elsewhere
    """Nothing more is executed."""


@dataclass
class Machine:
    """One execution of a program.

    Attributes:
        memory: device memory on behalf of the task. own: the queue that executes. family: of the instructions.
        budget: instructions that may be executed. Afterwards: `orders`, `delay_ns` of loops, `steps` executed.
    """

    memory: Memory
    own: int
    family: str
    budget: int
    registers: list[int] = field(default_factory=lambda: [0] * 16)
    csr: dict[int, int] = field(default_factory=dict)
    orders: list[Order] = field(default_factory=list)
    read: dict[tuple[int, int], None] = field(default_factory=dict)
    delay_ns: int = 0
    steps: int = 0
    path: list[int] = field(default_factory=list)
    kept: tuple[object, ...] | None = None
    laps: int = 0
    patience: int = 1

    def run(self, program: bytes) -> None:
        """Execute from word 0 until the end of the program, or an order to the own queue.

        Raises:
            Spin: it waits for memory. DeviceFault: a bad instruction (`condition.instruction`), its error exit
                (`condition.error`), too many steps (`condition.loop`), a bad call (`condition.call`), bad memory.
        """
        try:
            self._program(program, 0)
        except _End:
            return

    def _program(self, program: bytes, depth: int) -> None:
        if depth > DEEPEST:
            raise _fault(f"programs call each other more than {DEEPEST} deep", "condition.call")
        code = _decoded(program, self.family)
        words = len(program) // 4
        at = 0
        self.csr[JUMP_CSR] = 0
        while at < words:
            one = code.get(at)
            if one is None:
                raise _fault(f"a jump to word {at} lands inside an instruction", "condition.instruction")
            self._count()
            target = self._execute(one, depth)
            if target is not None and target <= at:
                self._look_back(target)
            at = at + len(one.words) if target is None else target

    def _count(self, steps: int = 1) -> None:
        self.steps += steps
        if self.steps > self.budget:
            raise _fault(
                f"this entry had {max(self.budget, 0)} condition steps left of its chain of activations: the program "
                "or the queue loops",
                "condition.loop",
                "check the labels, or raise policy condition_steps",
            )

    def _look_back(self, target: int) -> None:
        """Compare with the state kept; keep this one instead at laps 1, 2, 4, 8 … since."""
        state = (target, *self.path, None, *self.registers, *sorted(self.csr.items()))
        if state == self.kept:
            if not self.read:
                raise _fault("the program loops for ever and reads nothing that could change", "condition.loop")
            if len(self.read) > MOST_RANGES:
                raise _fault(f"the program waits for more than {MOST_RANGES} places in memory", "condition.loop")
            raise Spin(tuple(self.read))
        self.laps += 1
        if self.laps == self.patience:
            self.kept, self.laps, self.patience = state, 0, 2 * self.patience

    def _execute(self, one: Instruction, depth: int) -> int | None:
        """Do one instruction; returns the word to branch to, or None for the next one."""
        name, v = one.mnemonic, one.operands
        if name in _ALU:
            second = _signed_12(v["immd"]) if "immd" in v else v["shamt"] if "shamt" in v else self.get(v["rs2"])
            self._set(v["rd"], _ALU[name](self.get(v["rs1"]), second & MASK))
        elif name in _BRANCH:
            if _BRANCH[name](self.get(v["rs1"]), self.get(v["rs2"])):
                return self._target(v["jump_instr_offset"])
        elif name in _DO:
            return _DO[name](self, v)
        elif name == "func_call":
            self._call(self.get(v["rs1"]), self.get(v["rs2"]) & LENGTH_MASK, one.index, depth)
        elif name != "nop":
            raise _unknown(one)
        return None

    def get(self, register: int) -> int:
        """The value of a register; R0 is 0."""
        return self.registers[register]

    def _set(self, register: int, value: int) -> None:
        if register:
            self.registers[register] = value & MASK

    def _target(self, low: int) -> int:
        return self.csr[JUMP_CSR] << 4 | low

    def _call(self, address: int, words: int, at: int, depth: int) -> None:
        if address % ALIGNMENT:
            raise _fault(f"the program at {address:#x} is not aligned to {ALIGNMENT} bytes", "condition.call")
        if words > LONGEST:
            raise _fault(
                f"the program at {address:#x} has {words} words, the longest that is executed here has {LONGEST}",
                "condition.call",
                "check the length in the second register of the call",
            )
        self._count(words // WORDS_PER_STEP)
        kept = self.csr[JUMP_CSR]
        self.path.append(at)
        self._program(self.memory.read(address, 4 * words), depth + 1)
        self.path.pop()
        self.csr[JUMP_CSR] = kept

    def load(self, register: int, address: int, size: int, *, signed: bool) -> None:
        """Read memory into a register, and remember what was read."""
        address &= MASK
        self.read[address, size] = None
        self._set(register, int.from_bytes(self.memory.read(address, size), "little", signed=signed))

    def store(self, v: Mapping[str, int], size: int) -> None:
        """Write the low bytes of rs2 to memory."""
        address = self.get(v["rs1"]) + _signed_12(v["offset"]) & MASK
        self.memory.write(address, (self.get(v["rs2"]) & (1 << 8 * size) - 1).to_bytes(size, "little"))
        self.kept, self.laps, self.patience = None, 0, 1

    def order(self, what: str, queue: int, head: int = 0) -> None:
        """Want something of a queue."""
        self.orders.append(Order(what, queue, head))
        if what == "goto" and queue == self.own:
            raise _End

    def goto_word(self, word: int) -> None:
        """The order of GOTO_R."""
        self.order("goto", word & 0x7FF, word >> 16 & 0xFFFF)

    def loop(self, v: Mapping[str, int]) -> int | None:
        """LOOP: the word to branch to, or None."""
        count = self.get(v["rs1"])
        if not count:
            return None
        self._set(v["rs1"], count - 1)
        self.delay_ns += v["delay_cycle"]
        return self._target(v["jump_instr_offset"])

    def change(self, v: Mapping[str, int], change: Callable[[int, int], int]) -> None:
        """Change a control register; rd gets its old value."""
        number = v["csr_reg"]
        old = self.csr.get(number, 0)
        self.csr[number] = change(old, self.get(v["rs1"])) & MASK
        self._set(v["rd"], old)

    def high(self, v: Mapping[str, int]) -> None:
        """LHWI."""
        self._set(v["rd"], self.get(v["rd"]) & LOW_49 | v["immd"] << 49)

    def low(self, v: Mapping[str, int]) -> None:
        """LLWI."""
        self._set(v["rd"], self.get(v["rd"]) & ~LOW_49 | v["value"])


def _signed_12(value: int) -> int:
    return value - (1 << 12) if value & 1 << 11 else value


def _signed(value: int) -> int:
    return value - (1 << 64) if value & SIGN else value


_ADD: Callable[[int, int], int] = lambda a, b: a + b  # noqa: E731 - a row of the tables below, used twice
_ALU: Mapping[str, Callable[[int, int], int]] = {
    "addi": _ADD, "add": _ADD,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "slti": lambda a, b: int(_signed(a) < _signed(b)), "slt": lambda a, b: int(_signed(a) < _signed(b)),
    "sltiu": lambda a, b: int(a < b), "sltu": lambda a, b: int(a < b),
    "xori": lambda a, b: a ^ b, "xor": lambda a, b: a ^ b,
    "ori": lambda a, b: a | b, "or": lambda a, b: a | b,
    "andi": lambda a, b: a & b, "and": lambda a, b: a & b,
    "slli": lambda a, b: a << (b & 63), "sll": lambda a, b: a << (b & 63),
    "srli": lambda a, b: a >> (b & 63), "srl": lambda a, b: a >> (b & 63),
    "srai": lambda a, b: _signed(a) >> (b & 63), "sra": lambda a, b: _signed(a) >> (b & 63),
}  # fmt: skip
_BRANCH: Mapping[str, Callable[[int, int], bool]] = {
    "beq": lambda a, b: a == b,
    "bne": lambda a, b: a != b,
    "blt": lambda a, b: _signed(a) < _signed(b),
    "bge": lambda a, b: _signed(a) >= _signed(b),
    "bltu": lambda a, b: a < b,
    "bgeu": lambda a, b: a >= b,
}


def _loads(size: int, *, signed: bool) -> Callable[[Machine, Mapping[str, int]], None]:
    return lambda m, v: m.load(v["rd"], v["address"], size, signed=signed)


def _stores(size: int) -> Callable[[Machine, Mapping[str, int]], None]:
    return lambda m, v: m.store(v, size)


def _error_exit(_machine: Machine, _v: Mapping[str, int]) -> None:
    raise _fault("the program took its error exit", "condition.error")


_DO: Mapping[str, Callable[[Machine, Mapping[str, int]], int | None]] = {
    **{name: _loads(1 << i, signed=True) for i, name in enumerate(("lb", "lh", "lw", "ld"))},
    **{name: _loads(1 << i, signed=False) for i, name in enumerate(("lbu", "lhu", "lwu"))},
    **{name: _stores(1 << i) for i, name in enumerate(("sb", "sh", "sw", "sd"))},
    "ldr": lambda m, v: m.load(v["rd"], m.get(v["rs1"]) + _signed_12(v["immd"]), 8, signed=False),
    "lhwi": Machine.high,
    "llwi": Machine.low,
    "loop": Machine.loop,
    "csrrw": lambda m, v: m.change(v, lambda _, new: new),
    "csrrs": lambda m, v: m.change(v, lambda old, new: old | new),
    "csrrc": lambda m, v: m.change(v, lambda old, new: old & ~new),
    "goto_i": lambda m, v: m.order("goto", v["sq_id"], v["sq_head"]),
    "goto_r": lambda m, v: m.goto_word(m.get(v["rs1"])),
    "active_i": lambda m, v: m.order("activate", v["sq_id"]),
    "active_r": lambda m, v: m.order("activate", m.get(v["rs1"])),
    "deactive_i": lambda m, v: m.order("deactivate", v["sq_id"]),
    "deactive_r": lambda m, v: m.order("deactivate", m.get(v["rs1"])),
    "error": _error_exit,
}


@lru_cache(maxsize=16)
def _decoded(program: bytes, family: str) -> Mapping[int, Instruction]:
    return {one.index: one for one in disassemble(program, family)}


def _fault(what: str, fault_id: str, remedy: str = "") -> DeviceFault:
    return DeviceFault(what, ts_code=codes.ILLEGAL_PARAM, error_type=32, id=fault_id, remedy=remedy)


def _unknown(one: Instruction) -> DeviceFault:
    return _fault(f"word {one.index} of the program, {one.text}, is no instruction that is known here",
                  "condition.instruction")  # fmt: skip
