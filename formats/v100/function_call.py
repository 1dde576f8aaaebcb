"""Condition SQE that calls a program in device memory: type 20 (`reference/sqe_formats.md` 4.16, 7)."""

from formats.cstruct import define
from formats.v100.sqe_header import HEADER

FunctionCallSqe = define(
    "v100",
    "FunctionCallSqe",
    64,
    HEADER,
    """
    @8   conds_sub_type:8  -:8*3
    @12  model_id:16  kernel_credit:8  -:7  csc:1
    @16  lhwi1_op_code:7  lhwi1_rd:3  -:2  lhwi1_func3:3  -:2  lhwi1_immd:15
    @20  llwi1_op_code:7  llwi1_rd:3  -:2  llwi1_func3:3  llwi1_immd_high:17
    @24  llwi1_immd_low:32
    @28  lhwi2_op_code:7  lhwi2_rd:3  -:2  lhwi2_func3:3  -:2  lhwi2_immd:15
    @32  llwi2_op_code:7  llwi2_rd:3  -:2  llwi2_func3:3  llwi2_immd_high:17
    @36  llwi2_immd_low:32
    @40  func_call_op_code:7  -:3  -:2  func_call_func3:3  func_call_rs1:3  -:2  func_call_rs2:3  -:2  -:7
    @44  nop0_op_code:7  nop0_rd:3  -:2  nop0_func3:3  nop0_rs1:3  -:2  nop0_immd:12
    @48  nop1_op_code:7  nop1_rd:3  -:2  nop1_func3:3  nop1_rs1:3  -:2  nop1_immd:12
    @52  nop2_op_code:7  nop2_rd:3  -:2  nop2_func3:3  nop2_rs1:3  -:2  nop2_immd:12
    @56  nop3_op_code:7  nop3_rd:3  -:2  nop3_func3:3  nop3_rs1:3  -:2  nop3_immd:12
    @60  nop4_op_code:7  nop4_rd:3  -:2  nop4_func3:3  nop4_rs1:3  -:2  nop4_immd:12
    """,
    note="words 4 to 6 load the program address, 7 to 9 its length in words, word 10 calls it",
    sqe_type=20,
    match={"type": (20,), "conds_sub_type": (1, 4, 5, 6, 7, 9, 10, *range(11, 26))},
    meanings={"model_id": "model id for sub type 1, else 0"},
)
