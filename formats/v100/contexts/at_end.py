"""End of automatic threads of an FFTS+ graph, 128 bytes (`reference/sqe_formats.md` 5)."""

from formats.cstruct import define

FftsPlusAtEndCtx = define(
    "v100",
    "FftsPlusAtEndCtx",
    128,
    """
    @0   context_type:16  at_start_slot_number:8  out_label_slot_number:7  aten:1
    @4   -:8  -:8  pred_cnt_init:8  pred_cnt:8
    @8   -:32
    @12  succ_at_start_slot:16*12
    @36  succ_out_label_slot:16*12
    @60  -:16  -:16
    @64  -:16  -:16
    @68  -:16  -:16
    @72  thread_id:16  -:16
    @76  -:16  -:16
    @80  -:32*12
    """,
    match={"context_type": (0x400,)},
)
