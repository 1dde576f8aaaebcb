"""FFTS+ entry: type 0, ffts_type 4; graphs of contexts and every mix kernel (`reference/sqe_formats.md` 4.2)."""

from formats.cstruct import define
from formats.v100.sqe_header import FFTS_PLUS_HEADER

FftsPlusSqe = define(
    "v100",
    "FftsPlusSqe",
    64,
    FFTS_PLUS_HEADER,
    """
    @8   ffts_type:3  cmo:1  schedule_dfx_flag:1  -:7  wrr_ratio:4  dsa_sq_id:11  -:5
    @12  sqe_index:16  kernel_credit:8  sub_type:8
    @16  stack_phy_base_l:32
    @20  stack_phy_base_h:32
    @24  total_context_num:16  ready_context_num:16
    @28  preload_context_num:16  timeout:16
    @32  -:16  prefetch_ost_num:5  -:3  cmaint_ost_num:5  -:3
    @36  aic_prefetch_lower:5  -:3  aic_prefetch_upper:5  -:3  aiv_prefetch_lower:5  -:3
         aiv_prefetch_upper:5  -:3
    @40  context_address_base_l:32
    @44  context_address_base_h:17  -:15
    @48  pid:32
    @52  biz_flags:32
    @56  -:32
    @60  -:32
    """,
    note="a mix kernel has exactly one context; firmware features may swap bits of the stream and task ids",
    sqe_type=0,
    match={"type": (0,), "ffts_type": (4,)},
    meanings={
        "timeout": "limit of a graph; on an unbound stream an HCCL graph turns 0 into 1770 and 0xFFFF into 0",
        "sub_type": "6 or 7 for a mix kernel, 0x0A for the data cache lock, 0x5A and 0x5B for HCCL",
        "pid": "process, filled in by the driver on virtual devices",
    },
    enums={"sub_type": "ffts_sub_type"},
)
