"""Condition entry that ends a DQS schedule: type 20, sub type 15 (`reference/sqe_formats.md` 6.9)."""

from formats.cond_isa.forms import slots
from formats.cstruct import define
from formats.v200.sqe_header import HEADER

DqsSchedEndSqe = define(
    "v200",
    "DqsSchedEndSqe",
    64,
    HEADER,
    """
    @8   conds_sub_type:8  -:16  -:7  csc:1
    @12  -:16  kernel_credit:8  -:5  sqe_length:3
    """,
    slots(
        3,
        "lhwi_mbuf_snapshot:Lhwi llwi_mbuf_snapshot:Llwi reset_snap_shot:Store llwi:Llwi lhwi:Lhwi "
        "gotor:StreamGotoR nop0:Imm nop1:Imm nop2:Imm nop3:Imm",
    ),
    note="the program is in the entry itself",
    sqe_type=20,
    match={"type": (20,), "conds_sub_type": (15,)},
)
