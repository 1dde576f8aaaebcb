"""AI Core and AI Vector kernels: types 0 and 2 (`reference/sqe_formats.md` 10)."""

from formats.arch5162.sqe_header import HEADER
from formats.cstruct import define

_COMMON = """
    @8   -:32
    @12  scheme:2  -:14  kernel_credit:8  -:8
    @16  i_cache_prefetch_cnt:7  ai_cache_en:1  wrr_ratio_wr:3  wrr_ratio_rd:3  mte_port_aw_ostd_wl:9
         mte_port_ar_ostd_wl:9
    @20  load_monitor_en:1  -:3  qos:4  ai_cache_fm_flag:1  -:23
    @24  stack_phy_base_low:32
    @28  stack_phy_base_high:32
    @32  aic_start_pc_low:32
    @36  aic_start_pc_high:16  -:16
    @40  task_param_ptr_low:32
    @44  task_param_ptr_high:32
    @48  -:32*4
"""

AicKernelSqe = define(
    "arch5162",
    "AicKernelSqe",
    64,
    HEADER,
    _COMMON,
    note="tuning fields are written 0",
    sqe_type=0,
    match={"type": (0,)},
    meanings={"qos": "written 0"},
)

AivKernelSqe = define(
    "arch5162",
    "AivKernelSqe",
    64,
    HEADER,
    _COMMON,
    note="tuning fields are written 0",
    sqe_type=2,
    match={"type": (2,)},
    meanings={"qos": "written 0"},
)
