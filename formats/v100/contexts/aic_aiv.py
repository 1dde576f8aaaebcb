"""AI Core or AI Vector context of an FFTS+ graph, 128 bytes (`reference/sqe_formats.md` 5)."""

from formats.cstruct import define

FftsPlusAicAivCtx = define(
    "v100",
    "FftsPlusAicAivCtx",
    128,
    """
    @0   context_type:16  successor_num:8  -:6  dump_switch:1  aten:1
    @4   prefetch_config:8  -:8  pred_cnt_init:8  pred_cnt:8
    @8   -:16  policy_pri:16
    @12  successor_list:16*26
    @64  -:1  schem:2  icache_prefetch_cnt:5  -:7  atm:1  prefetch_enable_bitmap:4  -:4
         prefetch_once_bitmap:4  -:4
    @68  pmg:2  ns:1  part_id:8  -:1  qos:4  -:16
    @72  thread_id:16  thread_dim:16
    @76  non_tail_block_dim:16  tail_block_dim:16
    @80  task_param_ptr_base_l:32
    @84  task_param_ptr_base_h:16  task_param_ptr_offset:16
    @88  -:32
    @92  -:32
    @96  non_tail_task_start_pc_l:32
    @100 non_tail_task_start_pc_h:16  -:16
    @104 tail_task_start_pc_l:32
    @108 tail_task_start_pc_h:16  -:16
    @112 -:32
    @116 -:32
    @120 src_slot:16*4
    """,
    match={"context_type": (0, 1)},
)
