"""Stream switch with the program in the entry: type 20, sub types 4 and 5 (`reference/sqe_formats.md` 4.16)."""

from formats.cond_isa.forms import slots
from formats.cstruct import define
from formats.v100.sqe_header import HEADER

_COMMON = """
    @8   conds_sub_type:8  -:8*3
    @12  -:16  kernel_credit:8  -:7  csc:1
"""

StreamSwitchSqe = define(
    "v100",
    "StreamSwitchSqe",
    64,
    HEADER,
    _COMMON,
    slots(
        3,
        "ldi:LoadImm lhwi:Lhwi llwi:Llwi bne:Branch active_i:StreamActiveI loop:Loop "
        "de_active_i:StreamActiveI nop0:Imm nop1:Imm nop2:Imm",
    ),
    note="the current runtime calls a program instead",
    sqe_type=20,
    match={"type": (20,), "conds_sub_type": (4,), "ldi_op_code": (7,)},
)

StreamSwitchExSqe = define(
    "v100",
    "StreamSwitchExSqe",
    64,
    HEADER,
    _COMMON,
    slots(
        3,
        "var_ldi:LoadImm value_ldi:LoadImm bne:Branch active_i:StreamActiveI loop:Loop "
        "de_active_i:StreamActiveI nop0:Imm nop1:Imm nop2:Imm nop3:Imm",
    ),
    note="the current runtime calls a program instead",
    sqe_type=20,
    match={"type": (20,), "conds_sub_type": (5,), "var_ldi_op_code": (7,)},
)
