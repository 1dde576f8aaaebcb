"""AI Core and AI Vector kernels: types 0 and 1 (`reference/sqe_formats.md` 6.1)."""

from formats.cstruct import define
from formats.v200.sqe_header import HEADER

_COMMON = """
    @8   group_dim:16  group_block_dim:16
    @12  feature_flag:8  -:8  kernel_credit:8  die_friendly:1  mix:1  loose:1  stl:1  -:1  sqe_length:3
    @16  stack_phy_base_low:32
    @20  stack_phy_base_high:32
    @24  aic_pmg:2  aic_ns:1  aic_part_id:8  pi_mix:1  aic_qos:4  aic_wrr_rd:3  aic_wrr_wr:3
         aic_icache_prefetch_cnt:5  aiv_icache_prefetch_cnt:5
    @28  aiv_pmg:2  aiv_ns:1  aiv_part_id:8  -:1  aiv_qos:4  aiv_wrr_rd:3  aiv_wrr_wr:3  schem:2  ratio:8
    @32  aic_start_pc_low:32
    @36  aiv_start_pc_low:32
    @40  aic_start_pc_high:16  aiv_start_pc_high:16
    @44  aiv_simt_dcu_sm_size:32
    @48  aic_task_param_ptr_low:32
    @52  aic_task_param_ptr_high:32
    @56  aiv_task_param_ptr_low:32
    @60  aiv_task_param_ptr_high:32
"""

AicKernelSqe = define(
    "v200",
    "AicKernelSqe",
    64,
    HEADER,
    _COMMON,
    note="led by the cube cores; plain kernels fill one half only",
    sqe_type=0,
    match={"type": (0,)},
)

AivKernelSqe = define(
    "v200",
    "AivKernelSqe",
    64,
    HEADER,
    _COMMON,
    note="led by the vector cores; plain kernels fill one half only",
    sqe_type=1,
    match={"type": (1,)},
)
