"""Mix context: cube and vector cores together of an FFTS+ graph, 128 bytes (`reference/sqe_formats.md` 5)."""

from formats.cstruct import define

FftsPlusMixAicAivCtx = define(
    "v100",
    "FftsPlusMixAicAivCtx",
    128,
    """
    @0   context_type:16  successor_num:8  -:6  dump_switch:1  aten:1
    @4   prefetch_config:8  -:8  pred_cnt_init:8  pred_cnt:8
    @8   -:16  policy_pri:16
    @12  successor_list:16*26
    @64  -:1  schem:2  aic_icache_prefetch_cnt:5  aiv_icache_prefetch_cnt:5  -:2  atm:1
         prefetch_enable_bitmap:4  -:4  prefetch_once_bitmap:4  -:4
    @68  pmg:2  ns:1  part_id:8  -:1  qos:4  non_tail_block_ratio_n:8  tail_block_ratio_n:8
    @72  thread_id:16  thread_dim:16
    @76  non_tail_block_dim:16  tail_block_dim:16
    @80  aic_task_param_ptr_l:32
    @84  aic_task_param_ptr_h:16  aic_task_param_ptr_offset:16
    @88  aiv_task_param_ptr_l:32
    @92  aiv_task_param_ptr_h:16  aiv_task_param_ptr_offset:16
    @96  non_tail_aic_task_start_pc_l:32
    @100 non_tail_aic_task_start_pc_h:16  tail_aic_task_start_pc_h:16
    @104 tail_aic_task_start_pc_l:32
    @108 non_tail_aiv_task_start_pc_l:32
    @112 non_tail_aiv_task_start_pc_h:16  tail_aiv_task_start_pc_h:16
    @116 tail_aiv_task_start_pc_l:32
    @120 src_slot:16*4
    """,
    note="the update task patches it; the high halves of the tail entries stand before their low halves",
    match={"context_type": (6, 7)},
)
