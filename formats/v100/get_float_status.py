"""Condition entry that reads and clears the float status: type 20, sub type 8 (`reference/sqe_formats.md` 4.16)."""

from formats.cond_isa.forms import slots
from formats.cstruct import define
from formats.v100.sqe_header import HEADER

GetFloatStatusSqe = define(
    "v100",
    "GetFloatStatusSqe",
    64,
    HEADER,
    """
    @8   conds_sub_type:8  -:8*3
    @12  -:16  kernel_credit:8  -:6  debug_flag:1  csc:1
    """,
    slots(
        3,
        "ldi:LoadImm llwi:Llwi sd_overflow_cnt:Store sd_zero0:Store sd_zero1:Store sd_zero2:Store "
        "sd_zero3:Store sd_zero4:Store sd_zero5:Store sd_zero6:Store",
    ),
    note="the program is in the entry itself; pre_p 1",
    sqe_type=20,
    match={"type": (20,), "conds_sub_type": (8,)},
)
