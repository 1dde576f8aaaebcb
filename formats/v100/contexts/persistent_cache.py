"""Persistent cache context of an FFTS+ graph, 128 bytes (`reference/sqe_formats.md` 5)."""

from formats.cstruct import define

FftsPlusPersistentCacheCtx = define(
    "v100",
    "FftsPlusPersistentCacheCtx",
    128,
    """
    @0   context_type:16  successor_num:8  -:7  aten:1
    @4   -:8*2  pred_cnt_init:8  pred_cnt:8
    @8   -:8*4
    @12  successor_list:16*26
    @64  persistent_enable:1  -:7  -:8  persistent_size:16
    @68  persistent_id:32
    @72  -:32*14
    """,
    match={"context_type": (0x600,)},
)
