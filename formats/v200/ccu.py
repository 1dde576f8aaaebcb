"""CCU mission: type 16; a second unit holds arguments 10 to 25 (`reference/sqe_formats.md` 6.8)."""

from formats.cstruct import define
from formats.v200.sqe_header import HEADER

CcuSqe = define(
    "v200",
    "CcuSqe",
    64,
    HEADER,
    """
    @8   mission_id:4  die_id:2  ccu_size:1  -:9  task_cnt:3  -:13
    @12  timeout:16  kernel_credit:8  -:5  sqe_length:3
    @16  inst_start_id:16  inst_cnt:16
    @20  inst_addr_key_value:32
    @24  usr_data:32*10
    """,
    note="sqe_length is 1",
    sqe_type=16,
    match={"type": (16,)},
    meanings={
        "timeout": "limit of the mission; 0 never expires",
        "task_cnt": "written 0",
        "usr_data": "arguments 0 to 9",
    },
)
