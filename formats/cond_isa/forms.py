"""Instruction words of condition SQEs as field tables, for both register widths (`reference/sqe_formats.md` 7).

Families v100 and v200 number registers with 3 bits, v201 and arch9201 with 4; everything else of a
word is the same. A form is a table in the text form of :mod:`formats.fields`, in which `{rd}`, `{rs1}`
and `{rs2}` stand for a register number and the bits up to the next field.
"""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

FORMS: Mapping[str, str] = MappingProxyType({
    "Load": "op_code:7 {rd} func3:3 {rs1} immd:12",
    "LoadImm": "op_code:7 {rd} func3:3 immd_addr_high:17 / immd_addr_low:32",
    "Store": "op_code:7 immd_low:5 func3:3 {rs1} {rs2} immd_high:7",
    "Imm": "op_code:7 {rd} func3:3 {rs1} immd:12",
    "ImmShift": "op_code:7 {rd} func3:3 {rs1} shamt:6 func7:6",
    "Op": "op_code:7 {rd} func3:3 {rs1} {rs2} func7:7",
    "Lhwi": "op_code:7 {rd} func3:3 -:2 immd:15",
    "Llwi": "op_code:7 {rd} func3:3 immd_high:17 / immd_low:32",
    "Branch": "op_code:7 jump_instr_offset:4 -:1 func3:3 {rs1} {rs2} -:7",
    "StreamActiveI": "op_code:7 {rd} func3:3 -:5 sq_id:12",
    "StreamActiveR": "op_code:7 {rd} func3:3 {rs1} -:12",
    "StreamGotoI": "op_code:7 {rd} func3:3 -:17 / sq_id:11 -:5 sq_head:16",
    "StreamGotoR": "op_code:7 {rd} func3:3 {rs1} -:12",
    "Loop": "op_code:7 jump_instr_offset:4 -:1 func3:3 {counter} delay_cycle:13",
    "SystemCsr": "op_code:7 {rd} func3:3 {rs1} csr_reg:12",
    "FuncCall": "op_code:7 -:3 -:2 func3:3 {rs1} {rs2} -:7",
    "ErrorInstr": "err:32",
})  # fmt: skip
"""Forms by the name of their C struct without its prefix; `/` separates the words of a 64-bit instruction."""

REGISTER_BITS: Mapping[str, int] = MappingProxyType({"v100": 3, "v200": 3, "v201": 4, "arch9201": 4})
"""Bits of a register number by family."""

_REGISTERS = {
    3: {"rd": "rd:3 -:2", "rs1": "rs1:3 -:2", "rs2": "rs2:3 -:2", "counter": "rs1:3 -:1"},
    4: {"rd": "rd:4 -:1", "rs1": "rs1:4 -:1", "rs2": "rs2:4 -:1", "counter": "rs1:4"},
}
_NAME = re.compile(r"[a-z]\w*(?=:)")


def form(name: str, register_bits: int) -> str:
    """The table of one form, one line per word."""
    return FORMS[name].format_map(_REGISTERS[register_bits]).replace(" / ", "\n")


def slots(register_bits: int, text: str) -> str:
    """Tables of instruction slots that follow each other, for example `lhwi1:Lhwi nop0:Imm`.

    Field names get the name of their slot in front: `lhwi1_op_code`, `nop0_immd`.
    """
    pairs = (word.split(":") for word in text.split())
    return "\n".join(_NAME.sub(rf"{slot}_\g<0>", form(name, register_bits)) for slot, name in pairs)
