"""Label switch with the program in the entry: type 20 (`reference/sqe_formats.md` 4.16)."""

from formats.cond_isa.forms import slots
from formats.cstruct import define
from formats.v100.sqe_header import HEADER

LabelSwitchSqe = define(
    "v100",
    "LabelSwitchSqe",
    72,
    HEADER,
    """
    @8   -:32
    @12  -:16  kernel_credit:8  -:7  csc:1
    """,
    slots(
        3,
        "ldi:LoadImm lhwi:Lhwi llwi:Llwi bne:Branch goto_i:StreamGotoI loop_goto:Loop "
        "active_i:StreamActiveI de_active_i:StreamActiveI nop0:Imm nop1:Imm nop2:Imm",
    ),
    note="72 bytes, longer than a queue slot: it cannot be submitted",
    sqe_type=20,
)
