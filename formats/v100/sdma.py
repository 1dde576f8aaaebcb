"""SDMA copy and reduction: type 11, and cache maintenance on newer chips (`reference/sqe_formats.md` 4.10)."""

from formats.cstruct import define
from formats.v100.sqe_header import HEADER

_COMMON = """
    @8   -:32
    @12  -:16  kernel_credit:8  ptr_mode:1  -:7
"""

MemcpyAsyncSqe = define(
    "v100",
    "MemcpyAsyncSqe",
    64,
    HEADER,
    _COMMON,
    """
    @16  opcode:8  ie2:1  sssv:1  dssv:1  sns:1  dns:1  qos:4  sro:1  dro:1  part_id:8  mpam:1
         d2d_offset_flag:1  -:3
    @20  src_stream_id:16  src_sub_stream_id:16
    @24  dst_stream_id:16  dst_sub_stream_id:16
    @28  length:32
    @32  src_addr_low:32
    @36  src_addr_high:32
    @40  dst_addr_low:32
    @44  dst_addr_high:32
    @48  src_offset_low:32
    @52  dst_offset_low:32
    @56  src_offset_high:16  dst_offset_high:16
    @60  -:32
    """,
    note="pre_p is 1 when the addresses are themselves read from memory",
    sqe_type=11,
    match={"type": (11,), "ptr_mode": (0,)},
)

MemcpyAsyncPtrSqe = define(
    "v100",
    "MemcpyAsyncPtrSqe",
    64,
    HEADER,
    _COMMON,
    """
    @16  sdma_sqe_base_addr_low:32
    @20  sdma_sqe_base_addr_high:17  -:14  va:1
    @24  -:32*10
    """,
    note="the copy is described by a descriptor; wr_cqe 1",
    sqe_type=11,
    match={"type": (11,), "ptr_mode": (1,)},
)
