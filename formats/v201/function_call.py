"""Condition entry that calls a program in device memory: type 20 (`reference/sqe_formats.md` 6.9, 7)."""

from formats.cond_isa.forms import slots
from formats.cstruct import define
from formats.v200.sqe_header import HEADER

FunctionCallSqe = define(
    "v201",
    "FunctionCallSqe",
    64,
    HEADER,
    """
    @8   conds_sub_type:8  model_id:16  -:7  csc:1
    @12  -:16  kernel_credit:8  -:4  debug_flag:1  sqe_length:3
    """,
    slots(
        4, "lhwi1:Lhwi llwi1:Llwi lhwi2:Lhwi llwi2:Llwi func_call:FuncCall nop0:Imm nop1:Imm nop2:Imm nop3:Imm nop4:Imm"
    ),
    note="words 4 to 6 load the program address, 7 to 9 its length in words, word 10 calls it",
    sqe_type=20,
    match={"type": (20,), "conds_sub_type": (1, 4, 5, 6, 7, 9, *range(10, 15), *range(16, 26))},
    meanings={"model_id": "model id for sub type 1, else 0"},
)
