"""Condition entry that reads and clears the float status: type 20, sub type 8 (`reference/sqe_formats.md` 6.9)."""

from formats.cond_isa.forms import slots
from formats.cstruct import define
from formats.v200.sqe_header import HEADER

GetFloatStatusSqe = define(
    "v201",
    "GetFloatStatusSqe",
    64,
    HEADER,
    """
    @8   conds_sub_type:8  -:16  -:7  csc:1
    @12  -:16  kernel_credit:8  -:4  debug_flag:1  sqe_length:3
    """,
    slots(
        4,
        "ldi:LoadImm llwi:Llwi sd_overflow_cnt:Store sd_zero0:Store sd_zero1:Store sd_zero2:Store "
        "sd_zero3:Store sd_zero4:Store sd_zero5:Store sd_zero6:Store",
    ),
    note="the program is in the entry itself",
    sqe_type=20,
    match={"type": (20,), "conds_sub_type": (8,)},
)
