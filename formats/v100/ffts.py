"""Old FFTS entries: type 0, declared but filled by nobody (`reference/sqe_formats.md` 4.1)."""

from formats.cstruct import define
from formats.v100.sqe_header import HEADER

FftsKernelSqeLegacy = define(
    "v100",
    "FftsKernelSqeLegacy",
    64,
    HEADER,
    """
    @8   ffts_type:2  -:14  -:2  qos:4  sat:1  -:9
    @12  -:16  kernel_credit:8  schem:2  -:1  prefetch_cnt:5
    @16  pc_addr_low:32
    @20  pc_addr_high:16  -:16
    @24  param_addr_low:32
    @28  param_addr_high:16  -:16
    @32  stack_phy_base_low:32
    @36  stack_phy_base_high:32
    @40  -:32*6
    """,
    note="declared only; nothing tells it from other entries of type 0",
    sqe_type=0,
)

FftsSqe = define(
    "v100",
    "FftsSqe",
    64,
    HEADER,
    """
    @8   ffts_type:2  -:16  qos:4  -:10
    @12  -:16  kernel_credit:8  -:8
    @16  number_of_subtasks:6  -:2  number_of_ticked_cache:7  -:1  -:16
    @20  -:32
    @24  pointer_of_ffts_desc:49
         -:15
    @32  sub_task_length:8*32
    """,
    note="declared only; thread modes 2 and 3 of the old FFTS",
    sqe_type=0,
    match={"type": (0,), "ffts_type": (2, 3)},
)
