"""AI Core or AI Vector kernel: type 0, ffts_type 0, 1 or 5 (`reference/sqe_formats.md` 4.1)."""

from formats.cstruct import define
from formats.v100.sqe_header import HEADER

AicoreKernelSqe = define(
    "v100",
    "AicoreKernelSqe",
    64,
    HEADER,
    """
    @8   ffts_type:3  -:9  wrr_ratio:4  -:16
    @12  sqe_index:16  kernel_credit:8  schem:2  -:1  icache_prefetch_cnt:5
    @16  stack_phy_base_low:32
    @20  stack_phy_base_high:32
    @24  -:32
    @28  pmg:2  ns:1  part_id:8  -:1  qos:4  -:16
    @32  pc_addr_low:32
    @36  pc_addr_high:16  -:16
    @40  param_addr_low:32
    @44  param_addr_high:32
    @48  args_size:32
    @52  biz_flags:32
    @56  -:32
    @60  -:32
    """,
    note="a kernel with a minimum stack size keeps its stack level in bits 31:20 of param_addr_high",
    sqe_type=0,
    match={"type": (0,), "ffts_type": (0, 1, 5)},
)
