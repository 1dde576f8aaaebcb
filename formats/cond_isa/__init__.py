"""Condition instruction set: forms of instruction words, disassembler, assembler (`reference/sqe_formats.md` 7).

| name | what |
|---|---|
| `disassemble(data, family)` | instructions of a program, with text and operand values |
| `assemble(text, family)` | the bytes; the exact inverse |
| `listing(program)` | lines for a reader |
| `inline_program(decoded)` | the instructions in a condition SQE |
| `call_of(decoded)` | address and length of the program a function call SQE calls |
"""

from formats.cond_isa.assembler import assemble
from formats.cond_isa.disassembler import Instruction, disassemble, listing
from formats.cond_isa.opcodes import CSR_NAMES, OPCODES, Opcode
from formats.cond_isa.sqe_program import Call, call_of, inline_program

__all__ = [
    "CSR_NAMES",
    "OPCODES",
    "Call",
    "Instruction",
    "Opcode",
    "assemble",
    "call_of",
    "disassemble",
    "inline_program",
    "listing",
]
