"""What contexts of an FFTS+ graph share, 128 bytes (`reference/sqe_formats.md` 5)."""

from formats.cstruct import define

CONTEXT_HEAD = """
    @0   context_type:16  successor_num:8  -:7  aten:1
    @4   -:8  -:8  pred_cnt_init:8  pred_cnt:8
    @8   -:32
    @12  successor_list:16*26
"""
"""Words 0 to 15 of a context without a dump switch, for the tables of the kinds."""

DUMP_CONTEXT_HEAD = """
    @0   context_type:16  successor_num:8  -:6  dump_switch:1  aten:1
    @4   -:8  -:8  pred_cnt_init:8  pred_cnt:8
    @8   -:32
    @12  successor_list:16*26
"""
"""Words 0 to 15 of a context with a dump switch, for the tables of the kinds."""

FftsPlusComCtx = define(
    "v100",
    "FftsPlusComCtx",
    128,
    CONTEXT_HEAD,
    """
    @64  -:32*2
    @72  thread_id:16  thread_dim:16
    @76  -:32*13
    """,
    note="shown when the kind has no layout of its own",
)
