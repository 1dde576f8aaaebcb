"""SDMA copy by descriptor: type 11 in pointer mode (`reference/sqe_formats.md` 6.5)."""

from formats.cstruct import define
from formats.v200.sqe_header import HEADER

MemcpyPtrSqe = define(
    "v200",
    "MemcpyPtrSqe",
    64,
    HEADER,
    """
    @8   -:32
    @12  -:16  kernel_credit:8  -:8
    @16  sdma_sqe_base_addr_low:32
    @20  sdma_sqe_base_addr_high:17  -:14  va:1
    @24  -:32*10
    """,
    note="the descriptor has 64 bytes, laid out as an SDMA entry",
    sqe_type=11,
    match={"type": (11,), "ptr_mode": (1,)},
)

MemcpyAddrInfo = define(
    "v200",
    "MemcpyAddrInfo",
    64,
    """
    @0   -:64*4
    @32  src:64
    @40  dst:64
    @48  len:32
    @52  -:32*3
    """,
    note="descriptor of a copy; its first 32 bytes become words 0 to 7 of an SDMA entry",
)

CmoAddrInfo = define(
    "v200",
    "CmoAddrInfo",
    64,
    """
    @0   -:32*7
    @28  num_outer:16  num_inner:16
    @32  src:64
    @40  stride_outer:32
    @44  stride_inner:32
    @48  len_inner:32
    @52  -:32*3
    """,
    note="descriptor of a cache operation; its first bytes become the head of an SDMA entry",
)
