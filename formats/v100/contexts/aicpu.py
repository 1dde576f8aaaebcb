"""AICPU context of an FFTS+ graph, 128 bytes (`reference/sqe_formats.md` 5)."""

from formats.cstruct import define

FftsPlusAicpuCtx = define(
    "v100",
    "FftsPlusAicpuCtx",
    128,
    """
    @0   context_type:16  successor_num:8  -:6  dump_switch:1  aten:1
    @4   -:8  -:8  pred_cnt_init:8  pred_cnt:8
    @8   -:32
    @12  successor_context_id:16*26
    @64  -:15  atm:1  -:16
    @68  sqe_index:16  kernel_type:7  bm:1  topic_type:4  qos:3  -:1
    @72  thread_id:16  thread_dim:16
    @76  non_tail_block_dim:16  tail_block_dim:16
    @80  usr_data:32*9
    @116 -:32
    @120 subtopic_id:12  topic_id:6  group_id:6  usr_data_length:8
    @124 task_param_offset:32
    """,
    note="usr_data is words 4 to 12 of an AICPU kernel entry",
    match={"context_type": (0xC,)},
    meanings={"usr_data": "words 4 to 12 of an AICPU kernel entry"},
)
