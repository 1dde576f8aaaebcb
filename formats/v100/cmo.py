"""Cache maintenance: type 0 with the cmo bit (`reference/sqe_formats.md` 4.13)."""

from formats.cstruct import define
from formats.v100.sqe_header import HEADER

CmoKernelSqe = define(
    "v100",
    "CmoKernelSqe",
    64,
    HEADER,
    """
    @8   ffts_type:3  cmo:1  -:8  wrr_ratio:4  -:16
    @12  sqe_index:16  kernel_credit:8  schem:2  -:1  icache_prefetch_cnt:5
    @16  cmo_type:16  cmo_id:16
    @20  -:32
    @24  -:32
    @28  -:32
    @32  opcode:8  ie2:1  sssv:1  dssv:1  sns:1  dns:1  qos:4  sro:1  dro:1  part_id:8  mpam:1  pmg:2
         format:1  -:1
    @36  src_stream_id:16  src_sub_stream_id:16
    @40  num_outer:16  num_inner:16
    @44  length:32
    @48  src_addr_low:32
    @52  src_addr_high:32
    @56  stride_outer:32
    @60  stride_inner:32
    """,
    note="chips with cache maintenance version 2 use SDMA entries instead",
    sqe_type=0,
    match={"type": (0,), "ffts_type": (0,), "cmo": (1,), "cmo_type": (1, 2, 3)},
    meanings={"pmg": "performance monitor group; 0"},
)
