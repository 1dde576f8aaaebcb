"""Label goto with the program in the entry: type 20 (`reference/sqe_formats.md` 4.16)."""

from formats.cond_isa.forms import slots
from formats.cstruct import define
from formats.v100.sqe_header import HEADER

LabelGotoSqe = define(
    "v100",
    "LabelGotoSqe",
    64,
    HEADER,
    """
    @8   -:32
    @12  -:16  kernel_credit:8  -:7  csc:1
    """,
    slots(
        3,
        "active_i:StreamActiveI loop_active:Loop nop1:Imm goto_i:StreamGotoI loop_goto:Loop "
        "de_active_i:StreamActiveI nop20:Imm nop21:Imm nop22:Imm nop23:Imm nop24:Imm",
    ),
    note="not used by the current runtime; no sub type of its own",
    sqe_type=20,
)
