"""CCU part of a fusion: type 2 (`reference/sqe_formats.md` 6.8)."""

from formats.cstruct import define
from formats.v200.sqe_header import HEADER

_COMMON = """
    @8   mission_id:4  die_id:2  ccu_size:1  -:3  aic:1  sub_type:5  task_cnt:3  -:13
    @12  timeout:16  kernel_credit:8  -:5  sqe_length:3
    @16  inst_start_id:16  inst_cnt:16
    @20  inst_addr_key_value:32
"""

FusionCcuSqe = define(
    "v200",
    "FusionCcuSqe",
    64,
    HEADER,
    _COMMON,
    """
    @24  usr_data:32*10
    """,
    note="a CCU sub task takes four units",
    sqe_type=2,
    match={"type": (2,), "sub_type": tuple(range(8, 32))},
    meanings={
        "timeout": "limit of the mission; 0 never expires",
        "sub_type": "what the fusion is made of, one bit per part",
    },
    enums={"sub_type": "fusion_parts"},
)

FusionCcuSqe32B = define(
    "v200",
    "FusionCcuSqe32B",
    32,
    HEADER,
    _COMMON,
    """
    @24  usr_data:32*2
    """,
    note="half a unit: two of these share one",
    sqe_type=2,
    meanings={
        "timeout": "limit of the mission; 0 never expires",
        "sub_type": "what the fusion is made of, one bit per part",
    },
    enums={"sub_type": "fusion_parts"},
)
