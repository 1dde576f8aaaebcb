"""SDMA copies: type 11; word 4 differs from v200 (`reference/sqe_formats.md` 6.11)."""

from formats.cstruct import define
from formats.v200.sqe_header import HEADER

_COMMON = """
    @8   -:32
    @12  -:16  kernel_credit:8  -:8
    @16  opcode:8  sssv:1  dssv:1  sns:1  dns:1  sro:1  dro:1  stride:2  ie2:1  comp_en:1  allocate:1
         victim_hint:1  va_valid:1  -:10  -:1
    @20  sqe_id:16  mpam_part_id:8  mpamns:1  pmg:2  qos:4  d2d_offset_flag:1
    @24  src_stream_id:16  src_sub_stream_id:16
"""

MemcpyLinearSqe = define(
    "v201",
    "MemcpyLinearSqe",
    64,
    HEADER,
    _COMMON,
    """
    @28  dst_stream_id:16  dst_sub_stream_id:16
    @32  src_addr_low:32
    @36  src_addr_high:32
    @40  dst_addr_low:32
    @44  dst_addr_high:32
    @48  length_move:32
    @52  src_offset_low:32
    @56  dst_offset_low:32
    @60  src_offset_high:16  dst_offset_high:16
    """,
    sqe_type=11,
    match={"type": (11,), "ptr_mode": (0,), "stride": (0,)},
)

MemcpyStrideSqe = define(
    "v201",
    "MemcpyStrideSqe",
    64,
    HEADER,
    _COMMON,
    """
    @28  dst_stream_id:16  dst_sub_stream_id:16
    @32  src_addr_low:32
    @36  src_addr_high:32
    @40  dst_addr_low:32
    @44  dst_addr_high:32
    @48  length_move:32
    @52  src_stride_length:32
    @56  dst_stride_length:32
    @60  stride_num:32
    """,
    sqe_type=11,
    match={"type": (11,), "ptr_mode": (0,), "stride": (1,)},
)

MemcpyTwoDimSqe = define(
    "v201",
    "MemcpyTwoDimSqe",
    64,
    HEADER,
    _COMMON,
    """
    @28  num_outer:16  num_inner:16
    @32  src_addr_low:32
    @36  src_addr_high:32
    @40  stride_outer:32
    @44  stride_inner:32
    @48  length_inner:32
    @52  -:32*3
    """,
    sqe_type=11,
    match={"type": (11,), "ptr_mode": (0,), "stride": (2,)},
)
