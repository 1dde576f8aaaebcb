"""Reset of a queue head with the program in the entry: type 20 (`reference/sqe_formats.md` 4.16)."""

from formats.cond_isa.forms import slots
from formats.cstruct import define
from formats.v100.sqe_header import HEADER

StreamResetHeadSqe = define(
    "v100",
    "StreamResetHeadSqe",
    64,
    HEADER,
    """
    @8   -:32
    @12  -:16  kernel_credit:8  -:7  csc:1
    """,
    slots(
        3,
        "lhwi1:Lhwi llwi1:Llwi llwi2:Llwi csrrc:SystemCsr sw:Store csrrs:SystemCsr goto_i:StreamGotoI "
        "nop0:Imm nop1:Imm",
    ),
    note="not used by the current runtime; no sub type of its own",
    sqe_type=20,
)
