"""The program in a condition SQE itself, and the one a function call points to (`reference/sqe_formats.md` 4.16)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from formats.cond_isa.disassembler import Instruction, disassemble
from formats.errors import FormatError

if TYPE_CHECKING:
    from formats.decoded import Decoded

_FIRST_BYTE = 16
_LENGTH_MASK = 0xFFFFF


class Call(NamedTuple):
    """A program in device memory: its address, and its length in 32-bit words."""

    address: int
    words: int


def inline_program(decoded: Decoded) -> tuple[Instruction, ...]:
    """The instructions of words 4 to 15 of a condition SQE; their indexes count from word 4.

    Raises:
        FormatError: not a condition SQE (id `format.type`).
    """
    if "csc" not in decoded.values:
        raise FormatError(
            f"{decoded.struct.struct_name} is not a condition entry", id="format.type", remedy="give one of type 20"
        )
    return disassemble(decoded.struct.build(decoded.values)[_FIRST_BYTE:], decoded.struct.family)


def call_of(decoded: Decoded) -> Call | None:
    """The program a function call SQE calls, from its four loads; `None` for another SQE."""
    if decoded.struct.struct_name != "FunctionCallSqe":
        return None
    v = decoded.values
    r1, r2 = (
        v[f"lhwi{n}_immd"] << 49 | v[f"llwi{n}_immd_high"] << 32 | v[f"llwi{n}_immd_low"]
        for n in (1, 2)
    )  # fmt: skip
    return Call(r1, r2 & _LENGTH_MASK)
