"""Case switch contexts of an FFTS+ graph, 128 bytes (`reference/sqe_formats.md` 5)."""

from formats.cstruct import define

_COMMON = """
    @0   context_type:16  successor_num:8  -:7  aten:1
    @4   start_label_id:8  label_list_len:8  pred_cnt_init:8  pred_cnt:8
    @8   -:32
    @12  successor_list:16*26
"""

FftsPlusCaseSwitchCtx = define(
    "v100",
    "FftsPlusCaseSwitchCtx",
    128,
    _COMMON,
    """
    @64  -:15  atm:1  -:16
    @68  -:32
    @72  thread_id:16  thread_dim:16
    @76  ar_size:3  snoop:1  -:4  ar_cache:4  ar_prot:3  va:1  -:16
    @80  load_address0_base_l:32
    @84  load_address0_base_h:17  -:14  ld0_en:1
    @88  load_address0_offset:32
    @92  -:32
    @96  load_address1_base_l:32
    @100 load_address1_base_h:17  -:14  ld1_en:1
    @104 load_address1_offset:32
    @108 -:32*5
    """,
    match={"context_type": (0x20D,)},
)

FftsPlusCaseDefaultCtx = define(
    "v100",
    "FftsPlusCaseDefaultCtx",
    128,
    _COMMON,
    """
    @64  -:16  -:16
    @68  -:32*15
    """,
    note="same kind number as the switch; nothing tells it apart when no operand is loaded",
)
