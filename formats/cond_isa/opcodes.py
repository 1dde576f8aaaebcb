"""The instructions: mnemonic, form, fixed fields, operands (`reference/sqe_formats.md` 7)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from formats.cond_isa.forms import REGISTER_BITS, form
from formats.errors import FormatError
from formats.fields import layout

if TYPE_CHECKING:
    from collections.abc import Mapping

_SYNTAX: Mapping[str, str] = MappingProxyType({
    "Imm": "rd, rs1, immd",
    "ImmShift": "rd, rs1, shamt",
    "Op": "rd, rs1, rs2",
    "Lhwi": "rd, immd",
    "Llwi": "rd, value",
    "LoadImm": "rd, [address]",
    "Load": "rd, [rs1 + immd]",
    "Store": "rs2, [rs1 + offset]",
    "Branch": "rs1, rs2, jump_instr_offset",
    "Loop": "rs1, jump_instr_offset, delay_cycle",
    "SystemCsr": "rd, csr_reg, rs1",
    "StreamGotoI": "sq_id, sq_head",
    "StreamActiveI": "sq_id",
    "StreamGotoR": "rs1",
    "StreamActiveR": "rs1",
    "FuncCall": "rs1, rs2",
    "ErrorInstr": "",
})  # fmt: skip
"""How operands are written, by form; a name is a field, or a value split over two fields."""

_SPLIT = {
    "value": ("immd_low", "immd_high"),
    "address": ("immd_addr_low", "immd_addr_high"),
    "offset": ("immd_low", "immd_high"),
}
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Opcode:
    """One instruction: `fixed` are the fields that make it what it is; fields that are no operands are 0."""

    mnemonic: str
    form: str
    fixed: Mapping[str, int]
    syntax: str


def _rows(form_name: str, op_code: int, names: str, **more: int) -> list[Opcode]:
    """Instructions of one opcode; `names` is `mnemonic:func3` for each."""
    pairs = (word.split(":") for word in names.split())
    syntax = _SYNTAX[form_name]
    return [Opcode(name, form_name, {"op_code": op_code, "func3": int(f3), **more}, syntax) for name, f3 in pairs]


OPCODES = (
    Opcode("error", "ErrorInstr", {"err": 0}, ""),
    Opcode("nop", "Imm", {"op_code": 0x13}, ""),
    *_rows("Imm", 0x13, "addi:0 slti:2 sltiu:3 xori:4 ori:6 andi:7"),
    *_rows("ImmShift", 0x13, "slli:1 srli:5", func7=0),
    *_rows("ImmShift", 0x13, "srai:5", func7=0x10),
    *_rows("Op", 0x33, "add:0 sll:1 slt:2 sltu:3 xor:4 srl:5 or:6 and:7", func7=0),
    *_rows("Op", 0x33, "sub:0 sra:5", func7=0x20),
    *_rows("Op", 0x33, "mul:0", func7=0x01),
    *_rows("Lhwi", 0x5B, "lhwi:0"),
    *_rows("Llwi", 0x5B, "llwi:1"),
    *_rows("LoadImm", 0x07, "lb:0 lh:1 lw:2 ld:3 lbu:4 lhu:5 lwu:6"),
    *_rows("Load", 0x03, "ldr:3"),
    *_rows("Store", 0x27, "sb:0 sh:1 sw:2 sd:3"),
    *_rows("Branch", 0x63, "beq:0 bne:1 blt:4 bge:5 bltu:6 bgeu:7"),
    *_rows("Loop", 0x7B, "loop:0"),
    *_rows("SystemCsr", 0x73, "csrrw:1 csrrs:2 csrrc:3 bia:7"),
    *_rows("StreamGotoI", 0x2B, "goto_i:0"),
    *_rows("StreamActiveI", 0x2B, "active_i:1 deactive_i:2"),
    *_rows("StreamGotoR", 0x2B, "goto_r:4"),
    *_rows("StreamActiveR", 0x2B, "active_r:5 deactive_r:6"),
    *_rows("FuncCall", 0x6B, "func_call:0"),
)
"""All instructions; where two fit, the earlier one is meant (`nop` is an `addi` of zeros)."""

CSR_NAMES: Mapping[int, str] = MappingProxyType({
    0: "AXI_USER", 1: "CSQ_STATUS", 2: "EXECUTION_INFORMATION", 3: "JUMP_PC",
})  # fmt: skip
"""Control registers by number."""


@dataclass(frozen=True)
class Operand:
    """One operand: its name and the (offset, width) of its pieces in the instruction, lowest first."""

    name: str
    pieces: tuple[tuple[int, int], ...]

    @property
    def is_register(self) -> bool:
        """Whether it is written `r3`."""
        return self.name in {"rd", "rs1", "rs2"}

    @property
    def width(self) -> int:
        """Bits of the value."""
        return sum(width for _, width in self.pieces)

    def read(self, whole: int) -> int:
        """The value in an instruction."""
        value = up = 0
        for offset, width in self.pieces:
            value |= (whole >> offset & ((1 << width) - 1)) << up
            up += width
        return value

    def bits(self, value: int) -> int:
        """The bits of a value that fits."""
        whole = up = 0
        for offset, width in self.pieces:
            whole |= (value >> up & ((1 << width) - 1)) << offset
            up += width
        return whole


@dataclass(frozen=True)
class Encoding:
    """An instruction for one register width: words, the bits that are fixed, where the operands are."""

    opcode: Opcode
    words: int
    mask: int
    value: int
    operands: tuple[Operand, ...]


@dataclass(frozen=True)
class Isa:
    """All encodings of one register width, by opcode bits and by mnemonic."""

    register_bits: int
    by_op: Mapping[int, tuple[Encoding, ...]] = field(repr=False)
    by_name: Mapping[str, Encoding] = field(repr=False)


def isa_of(family: str) -> Isa:
    """The instruction set of a family; `FormatError` (id `format.unknown-family`) for a family without one."""
    bits = REGISTER_BITS.get(family)
    if bits is None:
        raise FormatError(
            f"family {family!r} has no condition instructions",
            id="format.unknown-family",
            remedy=f"use one of {', '.join(REGISTER_BITS)}",
        )
    return _isa(bits)


@cache
def _isa(register_bits: int) -> Isa:
    made = [_encoding(op, register_bits) for op in OPCODES]
    by_op: dict[int, tuple[Encoding, ...]] = {}
    for one in made:
        by_op[one.value & 0x7F] = (*by_op.get(one.value & 0x7F, ()), one)
    return Isa(register_bits, by_op, {one.opcode.mnemonic: one for one in made})


def _encoding(op: Opcode, register_bits: int) -> Encoding:
    fields = layout(form(op.form, register_bits))
    places = {f.name: (f.offset, f.width) for f in fields}
    names = _WORD.findall(op.syntax)
    operands = tuple(Operand(n, tuple(places[piece] for piece in _SPLIT.get(n, (n,)))) for n in names)
    words = fields[-1].end // 32
    free = sum(((1 << width) - 1) << offset for operand in operands for offset, width in operand.pieces)
    value = sum(number << places[name][0] for name, number in op.fixed.items())
    return Encoding(op, words, ((1 << 32 * words) - 1) ^ free, value, operands)
