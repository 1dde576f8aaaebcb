"""AI Core and AI Vector kernels: types 0 and 1 (`reference/sqe_formats.md` 6.12)."""

from formats.arch9201.sqe_header import HEADER
from formats.cstruct import define

_COMMON = """
    @8   group_dim:16  group_block_dim:16
    @12  feature_flag:8  -:8  kernel_credit:8  die_friendly:1  mix:1  loose:1  -:1  ost:1  sqe_length:3
    @16  aic_mte_port_ar_ostd:8  aic_mte_port_aw_ostd:8  aiv_mte_port_ar_ostd:8  aiv_mte_port_aw_ostd:8
    @20  aiv_dcache_prefetch_cnt:7  -:1  aic_dcache_prefetch_cnt:7  -:1  aiv_icache_prefetch_cnt:7  -:1
         aic_icache_prefetch_cnt:7  -:1
    @24  aic_pmg:2  aic_ns:1  aic_part_id:8  pi_mix:1  aic_qos:4  aic_wrr_rd:3  aic_wrr_wr:3
         get_nxt_task_mode:1  -:1  aic_pre_allocate_disable:1  aiv_pre_allocate_disable:1  -:6
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
    "arch9201",
    "AicKernelSqe",
    64,
    HEADER,
    _COMMON,
    note="led by the cube cores; plain kernels fill one half only",
    sqe_type=0,
    match={"type": (0,)},
)

AivKernelSqe = define(
    "arch9201",
    "AivKernelSqe",
    64,
    HEADER,
    _COMMON,
    note="led by the vector cores; plain kernels fill one half only",
    sqe_type=1,
    match={"type": (1,)},
)
