"""RDMA doorbell of a sunk model, two entries: type 20, sub types 2 and 3 (`reference/sqe_formats.md` 4.16)."""

from formats.cond_isa.forms import slots
from formats.cstruct import define
from formats.v100.sqe_header import HEADER

_COMMON = """
    @8   conds_sub_type:8  -:8*3
    @12  -:16  kernel_credit:8  -:7  csc:1
"""

RdmaSinkSqe1 = define(
    "v100",
    "RdmaSinkSqe1",
    64,
    HEADER,
    _COMMON,
    slots(
        3, "lhu:LoadImm slli1:ImmShift addi:Imm lhwi:Lhwi llwi:Llwi and1:Op slli2:ImmShift nop0:Imm nop1:Imm nop2:Imm"
    ),
    note="opens the locked pair",
    sqe_type=20,
    match={"type": (20,), "conds_sub_type": (2,)},
)

RdmaSinkSqe2 = define(
    "v100",
    "RdmaSinkSqe2",
    64,
    HEADER,
    _COMMON,
    slots(3, "lhwi1:Lhwi llwi1:Llwi or1:Op lhwi2:Lhwi llwi2:Llwi llwi3:Llwi csrrc:SystemCsr sd:Store csrrs:SystemCsr"),
    note="closes the locked pair",
    sqe_type=20,
    match={"type": (20,), "conds_sub_type": (3,)},
)
