"""Cache flush, invalidate and write back context of an FFTS+ graph, 128 bytes (`reference/sqe_formats.md` 5)."""

from formats.cstruct import define

FftsPlusDataCtx = define(
    "v100",
    "FftsPlusDataCtx",
    128,
    """
    @0   context_type:16  successor_num:8  -:7  aten:1
    @4   -:8  -:8  cnt_init:8  cnt:8
    @8   -:32
    @12  successor_list:16*26
    @64  -:15  atm:1  -:16
    @68  pmg:2  ns:1  part_id:8  -:1  qos:4  -:16
    @72  thread_id:16  thread_dim:16
    @76  orig_consumer_counter:16  run_consumer_counter:16
    @80  address_base_l:32
    @84  address_base_h:32
    @88  address_offset:32
    @92  -:32
    @96  non_tail_num_outer:16  non_tail_num_inner:16
    @100 non_tail_length_inner:32
    @104 non_tail_stride_outer:32
    @108 non_tail_stride_inner:32
    @112 tail_num_outer:16  tail_num_inner:16
    @116 tail_length_inner:32
    @120 tail_stride_outer:32
    @124 tail_stride_inner:32
    """,
    match={"context_type": (9, 0xA, 0xB)},
)
