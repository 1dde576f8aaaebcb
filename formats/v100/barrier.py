"""Barrier of cache maintenance: type 0 with the cmo bit (`reference/sqe_formats.md` 4.13)."""

from formats.cstruct import define
from formats.v100.sqe_header import HEADER

BarrierKernelSqe = define(
    "v100",
    "BarrierKernelSqe",
    64,
    HEADER,
    """
    @8   ffts_type:3  cmo:1  -:8  wrr_ratio:4  -:16
    @12  sqe_index:16  kernel_credit:8  schem:2  -:1  icache_prefetch_cnt:5
    @16  cmo_type:16  cmo_bitmap:6  -:10
    @20  cmo_info0_cmo_type:16  cmo_info0_cmo_id:16
    @24  cmo_info1_cmo_type:16  cmo_info1_cmo_id:16
    @28  cmo_info2_cmo_type:16  cmo_info2_cmo_id:16
    @32  cmo_info3_cmo_type:16  cmo_info3_cmo_id:16
    @36  cmo_info4_cmo_type:16  cmo_info4_cmo_id:16
    @40  cmo_info5_cmo_type:16  cmo_info5_cmo_id:16
    @44  -:32*5
    """,
    note="waits for up to six cache operations",
    sqe_type=0,
    match={"type": (0,), "ffts_type": (0,), "cmo": (1,), "cmo_type": (0,)},
)
